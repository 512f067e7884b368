"""Notations read off a column: numbers as people write them (signs, currencies, thousands, decimals), and base64."""

import re
from collections import Counter
from collections.abc import Sequence

from wakesleep.domains.strings.columns.characters import chars
from wakesleep.domains.strings.columns.choices import Either, Listing, Maybe
from wakesleep.domains.strings.columns.concepts import Concept, whole_number
from wakesleep.domains.strings.columns.counts import between, exactly
from wakesleep.domains.strings.columns.lengths import counts_of, slot_counts
from wakesleep.domains.strings.columns.nodes import Literal, Node, Run
from wakesleep.domains.strings.columns.sequences import series
from wakesleep.domains.strings.columns.slot import Slot
from wakesleep.domains.strings.columns.slots import Reading
from wakesleep.domains.strings.columns.words import Words

_AMOUNT = re.compile(
    r"(?P<sign>[-+]?)(?P<before>[$€£¥₹]? ?)"
    r"(?:(?P<indian>[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3})|"
    r"(?P<grouped>[0-9]{1,3}(?P<separator>[,.' ])[0-9]{3}(?:(?P=separator)[0-9]{3})*)|(?P<whole>[0-9]+))"
    r"(?P<decimals>[.,][0-9]+)?(?P<after> ?(?:%|[€£$]|USD|EUR)?)(?P<end> *)"
)
MOST_GROUPS = 4


def amount_concepts(values: Sequence[str], reading: Reading) -> list[Concept]:
    """Returns amounts, percentages or plain decimals, if nearly all values are such."""
    matches = [m for m in map(_AMOUNT.fullmatch, values) if m]
    if len(matches) < 0.9 * len(values) or not matches:
        return []
    rows = [m.groupdict() for m in matches]
    parts: list[Node | str] = [_sometimes(rows, "sign"), _sometimes(rows, "before"), _digits(rows, reading)]
    parts += [_decimals(rows, reading), _sometimes(rows, "after"), _sometimes(rows, "end")]
    return [Concept(_name(rows), series(*parts), fitted=True)]


def _name(rows: Sequence[dict[str, str]]) -> str:
    if any("%" in r["after"] for r in rows):
        return "percentage"
    if any(r["before"].strip() or r["after"].strip() for r in rows):
        return "amount of money"
    grouped = any(r["grouped"] or r["indian"] for r in rows)
    return (
        "number with thousands" if grouped else "decimal number" if any(r["decimals"] for r in rows) else "whole number"
    )


def _sometimes(rows: Sequence[dict[str, str]], field: str) -> Node:
    """Returns a text that is always, sometimes or never there."""
    table = Counter(r[field] for r in rows)
    texts = [t for t in table if t]
    if not texts:
        return Literal("")
    total = sum(table.values())
    there = total - table[""]
    found: Node = Literal(texts[0])
    if len(texts) > 1:
        found = Words(tuple(texts), tuple(table[t] / there for t in texts))
    return found if not table[""] else Maybe(found, there / total)


def _digits(rows: Sequence[dict[str, str]], reading: Reading) -> Node:
    """Returns the digits before the decimals, in thousands if any value has them."""
    digit = chars("digit")
    separators = {r["separator"] for r in rows if r["grouped"]}
    padded = any(len(t) > 1 and t[0] == "0" for t in (r["whole"] or r["grouped"] or r["indian"] for r in rows))
    if any(r["indian"] for r in rows):
        return _indian(rows)
    if not separators:
        counts = counts_of(Slot(tuple(r["whole"] for r in rows), not padded), reading.generality)
        return Run(digit, counts) if padded or counts.fixed else whole_number(counts)
    separator = sorted(separators)[0]
    firsts = Counter(len((r["grouped"] or r["whole"]).split(separator)[0]) for r in rows)
    groups = Counter(len(r["grouped"].split(separator)) - 1 for r in rows if r["grouped"])
    there = sum(groups.values()) / len(rows)
    lengths = slot_counts(Counter({1: 1, 2: 1, 3: 1}) + Counter(k for k in firsts.elements() if k <= 3), "narrow")
    first = Run(digit, lengths) if padded else whole_number(lengths)
    counts = slot_counts(groups + Counter({1: 1, min(max(groups) + 1, MOST_GROUPS): 1}), "narrow")
    return series(
        first, Maybe(series(separator, Listing(Run(digit, exactly(3)), Literal(separator), counts)), min(there, 0.99))
    )


def _indian(rows: Sequence[dict[str, str]]) -> Node:
    """Returns digits in groups of two before the last three: 12,34,567."""
    long = sum(bool(r["indian"] or r["grouped"]) for r in rows)
    two = series(",", Run(chars("digit"), exactly(2)))
    groups = series(
        whole_number(between(1, 2)), Listing(two, Literal(""), between(0, 3)), ",", Run(chars("digit"), exactly(3))
    )
    return Either((whole_number(between(1, 3)), groups), (1 - long / (len(rows) + 1), long / (len(rows) + 1)))


def _decimals(rows: Sequence[dict[str, str]], reading: Reading) -> Node:
    texts = [r["decimals"] for r in rows if r["decimals"]]
    if not texts:
        return Literal("")
    point = Counter(t[0] for t in texts).most_common(1)[0][0]
    found = series(point, Run(chars("digit"), slot_counts(Counter(len(t) - 1 for t in texts), reading.generality)))
    return found if len(texts) == len(rows) else Maybe(found, len(texts) / len(rows))


_BASE64 = re.compile(r"(?:[0-9A-Za-z+/]{4})*[0-9A-Za-z+/]{2,3}(={1,2})")


def base64_texts(values: Sequence[str], reading: Reading) -> list[Concept]:
    """Returns base64 that ends in padding, with the lengths seen."""
    matches = [_BASE64.fullmatch(v) for v in values]
    if not all(m and len(m[0]) % 4 == 0 for m in matches):
        return []
    ends = Counter(m[1] for m in matches if m)
    body = Run(chars("alnum", extra="+/"), slot_counts(Counter(len(v.rstrip("=")) for v in values), reading.generality))
    end = Words(tuple(ends), tuple(k / len(values) for k in ends.values())) if len(ends) > 1 else Literal(min(ends))
    return [Concept("base64", series(body, end), fitted=True)]
