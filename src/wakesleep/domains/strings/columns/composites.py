"""Known things inside values: addresses, dates, times and identifiers are read as one part, the rest around them.

Each is found by a regex and replaced by one character of the private use area. What remains is read off as any column,
and the replaced texts are a column of their own, explained by the concepts that write them.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from wakesleep.domains.strings.columns.candidates import read_whole, stray_scores
from wakesleep.domains.strings.columns.checks import Checked
from wakesleep.domains.strings.columns.choices import Either, Listing, Maybe
from wakesleep.domains.strings.columns.concepts import Concept
from wakesleep.domains.strings.columns.dates import MONTHS, WEEKDAYS
from wakesleep.domains.strings.columns.known import known_programs
from wakesleep.domains.strings.columns.nodes import Literal, Node, Run
from wakesleep.domains.strings.columns.prior import free_parameters, log_prior
from wakesleep.domains.strings.columns.sequences import Series, series
from wakesleep.domains.strings.columns.slots import Reading
from wakesleep.domains.strings.columns.words import Words

FIRST_MARK = 0xE000
"""Code point that stands for the first kind of thing found."""
LEAST_HOLDING_SHARE = 0.6
"""Share of the values that must hold a thing before it is read as one part."""
LONGEST_COMPOSITE = 300
_ALONE = r"(?<![0-9A-Za-z])(?:{})(?![0-9A-Za-z])"
_NAMED_MONTH = rf"(?:{'|'.join(m[:3] for m in MONTHS)})[a-z]{{0,6}}"
_NAMED_DAY = rf"(?:{'|'.join(d[:3] for d in WEEKDAYS)})[a-z]{{0,6}}"
_CLOCK = (
    r"[0-9]{1,2}:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?(?: ?[AaPp][Mm])?"
    r"(?:(?<=:[0-9]{2}:[0-9]{2})(?:Z|[+-][0-9]{2}:?[0-9]{2}))?"
)
_DAY = (
    r"[12][0-9]{3}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2(?:[12][0-9]{3}|[0-9]{2})"
    rf"|(?:{_NAMED_DAY},? )?(?:[0-9]{{1,2}}([-/ ]){_NAMED_MONTH}\3[0-9]{{2,4}}"
    rf"|{_NAMED_MONTH} [0-9]{{1,2}},? [0-9]{{4}})"
)
NUMBER, DECIMAL = "number with a check digit", "decimal number"
FINDERS: dict[str, str] = {
    "URL": r"[a-z][a-z0-9+]{1,8}://[^\s\"'<>|,;()\[\]]+",
    "e-mail": r"[0-9A-Za-z._+-]+@[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*\.[A-Za-z]{2,10}",
    "UUID": r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}",
    "MAC": r"[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}",
    "date with time": rf"(?:{_DAY})(?:[T ]{_CLOCK})",
    "date": _DAY,
    "date and time in digits": r"(?:19|20)[0-9]{2}[01][0-9][0-3][0-9](?:[0-2][0-9][0-5][0-9][0-5][0-9])?",
    "time": _CLOCK,
    "IPv4": r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}",
    "month": r"[12][0-9]{3}[-/](?:0[1-9]|1[0-2])",
    "thousands": r"[-+]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?",
    DECIMAL: r"[0-9]+(?:\.[0-9]+)?",
    NUMBER: r"[0-9](?:[ .-]?[0-9]){5,}",
}
"""What is looked for between characters that are neither letters nor digits, in this order."""
_COMPILED = {name: re.compile(_ALONE.format(f"(?:{regex})")) for name, regex in FINDERS.items()}
_COMPILED[DECIMAL] = re.compile(rf"(?<![0-9.,/]){FINDERS[DECIMAL]}(?![0-9.,/]*[0-9])")
_COMPILED[NUMBER] = re.compile(rf"(?<![0-9]){FINDERS[NUMBER]}(?![0-9])")


def composites(values: Sequence[str], reading: Reading) -> list[Node]:
    """Returns programs in which things found inside the values are one part each."""
    if max(map(len, values)) > LONGEST_COMPOSITE:
        return []
    short, parts = _abbreviated(values, reading)
    if not parts or all(len(v) == 1 for v in short):
        return []
    found = [_restored(node, parts) for _, node in read_whole(short, reading)]
    return [node for node in found if node is not None]


def _abbreviated(values: Sequence[str], reading: Reading) -> tuple[list[str], dict[str, Node]]:
    """Returns the values with one character for each thing found, and the program of what it stands for."""
    short, parts = list(values), dict[str, Node]()
    for name, finder in _COMPILED.items():
        held = [[m[0] for m in finder.finditer(v)] for v in short]
        texts = list(dict.fromkeys(t for each in held for t in each))
        if sum(map(bool, held)) < LEAST_HOLDING_SHARE * len(values) or len(texts) < 2:
            continue
        node = _best_known(texts, reading)
        if node is not None and _fits(name, node, texts):
            mark = chr(FIRST_MARK + len(parts))
            parts[mark] = node
            short = [finder.sub(mark, v) for v in short]
    return short, parts


def _best_known(texts: Sequence[str], reading: Reading) -> Node | None:
    """Returns the likeliest concept that writes every text; None if none does."""
    strays = stray_scores(texts)

    def worth(node: Node) -> float:
        own = log_prior(node, reading.weights) - 0.5 * free_parameters(node) * math.log(len(texts) + 1)
        return own + sum(map(node.log_prob, strays))

    known = [node for _, node in known_programs(texts, reading)]
    best = max(known, key=worth, default=None)
    return None if best is None or worth(best) == -math.inf else best


def _fits(name: str, node: Node, texts: Sequence[str]) -> bool:
    """Returns whether numbers have a check digit, or decimals that only some have: other numbers are read as digits."""
    if name == DECIMAL:
        return 0 < sum("." in t for t in texts) < len(texts)
    return name != NUMBER or (isinstance(node, Concept) and isinstance(node.body, Checked))


def _restored(node: Node, parts: dict[str, Node]) -> Node | None:  # noqa: PLR0911, one return for each kind of node
    """Returns a program with each mark replaced by what it stands for; None where that cannot be."""
    match node:
        case Literal(text):
            return series(*(parts.get(c, c) for c in text)) if text else node
        case Run(members, _, habit):
            return None if any(members.holds(c) or c in habit for c in parts) else node
        case Words(words, _, _, other):
            free = not any(c in w for c in parts for w in words)
            return node if free and (other is None or _restored(other, parts) == other) else None
        case Series(below):
            each = [_restored(p, parts) for p in below]
            return None if None in each else series(*(p for p in each if p is not None))
        case Maybe(part, _):
            inner = _restored(part, parts)
            return None if inner is None else replace(node, part=inner)
        case Either(branches, _):
            kept = [_restored(b, parts) for b in branches]
            return None if None in kept else replace(node, branches=tuple(b for b in kept if b is not None))
        case Listing(item, separator, _):
            one, between = _restored(item, parts), _restored(separator, parts)
            return None if one is None or between is None else replace(node, item=one, separator=between)
    return node
