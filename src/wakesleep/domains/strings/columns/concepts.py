# ruff: noqa: D102, overridden methods are explained in `Node`
"""Named concepts: programs that are known before a column is seen."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from wakesleep.domains.strings.columns import codes
from wakesleep.domains.strings.columns.characters import Chars, chars
from wakesleep.domains.strings.columns.checks import Checked
from wakesleep.domains.strings.columns.choices import Either, Listing, Maybe
from wakesleep.domains.strings.columns.counts import Counts, between, exactly
from wakesleep.domains.strings.columns.identifiers import IDENTIFIERS
from wakesleep.domains.strings.columns.nodes import Ends, Literal, Node, Run
from wakesleep.domains.strings.columns.numbers import Number
from wakesleep.domains.strings.columns.sequences import series
from wakesleep.domains.strings.columns.vocabulary import vocabularies
from wakesleep.domains.strings.columns.words import Words


@dataclass(frozen=True)
class Concept(Node):
    """A program with a name; it writes what its body writes."""

    name: str
    body: Node
    fitted: bool = False
    """Whether the body was fitted to the column, so that its parameters count."""

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return self.body.exact

    def ends(self, x: str, i: int) -> Ends:
        return self.body.ends(x, i)

    def log_prob(self, x: str) -> float:
        return self.body.log_prob(x)

    def sample(self, rng: random.Random) -> str:
        return self.body.sample(rng)

    @property
    def regex(self) -> str:
        return self.body.regex

    @property
    def alphabet(self) -> Chars | None:
        return self.body.alphabet

    @property
    def first(self) -> Chars | None:
        return self.body.first

    @property
    def fixed(self) -> bool:
        return self.body.fixed

    def parts_below(self) -> Sequence[Node]:
        return (self.body,)


def about(low: int, high: int, mean: int, spread: float = 0.3) -> Counts:
    """Returns counts of a range that peak near a mean: half-width of about the mean itself."""
    weights = {k: max(0.0, 1 - abs(k - mean) / (mean + 1)) for k in range(low, high + 1)}
    total = sum(weights.values())
    return Counts(low, high, tuple((k, w / total) for k, w in weights.items() if w), spread)


def _run(name: str, counts: Counts | int, extra: str = "") -> Run:
    return Run(chars(name, extra=extra), exactly(counts) if isinstance(counts, int) else counts)


def _mostly_lower(name: str, extra: str, counts: Counts) -> Run:
    """Returns a run of characters of a set that are mostly small letters."""
    return Run(chars(name, extra=extra), counts, usual=chars("lower"))


def evenly(words: Sequence[str]) -> Words:
    """Returns a list of words, each alike."""
    return Words(tuple(words), (1 / len(words),) * len(words))


def whole(digits: int) -> Node:
    """Returns a whole number without leading zeros."""
    first = Run(chars(extra="123456789"), exactly(1))
    return Either((Literal("0"), series(first, _run("digit", between(0, digits - 1)))), (0.1, 0.9))


def whole_number(counts: Counts) -> Concept:
    """Returns whole numbers of as many digits as the counts say, without leading zeros.

    p(0) = p(one digit) / 10; any other number has (1 - p(0)) p(digits) / 9 / 10^(digits - 1).
    """
    first = Run(chars(extra="123456789"), exactly(1))
    alone = math.exp(counts.log_prob(1)) if counts.low <= 1 else 0.0
    body: Node = series(first, _run("digit", counts.shifted(-1)))
    if alone:
        zero = alone / 10
        body = Either((Literal("0"), body), (zero, 1 - zero))
    return Concept(f"whole number of {counts.words()} digits", body, fitted=True)


def _domain() -> Node:
    """Returns a host that ends with letters."""
    label = _mostly_lower("lower digit", "-", about(1, 40, 8))
    return series(
        Listing(label, Literal("."), Counts(1, 4, ((1, 0.8), (2, 0.2)), 0.1)), ".", _run("lower", about(2, 10, 3, 0.1))
    )


def _email() -> Node:
    local = Listing(
        _mostly_lower("alnum", "_+-", about(1, 40, 7)), Literal("."), Counts(1, 4, ((1, 0.6), (2, 0.4)), 0.1)
    )
    label = _mostly_lower("alnum", "-", about(1, 40, 8))
    host = Listing(label, Literal("."), Counts(1, 4, ((1, 0.8), (2, 0.2)), 0.1))
    return series(local, "@", host, ".", _mostly_lower("letter", "", about(2, 10, 3, 0.1)))


def _url() -> Node:
    rest = _mostly_lower("alnum", "-._~:/?#[]@!$&'()*+,;=%", Counts(0, None, (), 1.0, 25.0))
    scheme = Words(("http", "https"), (0.3, 0.7))
    host = Listing(_mostly_lower("alnum", "-", about(1, 40, 7)), Literal("."), Counts(2, 5, ((2, 0.5), (3, 0.5)), 0.1))
    return series(scheme, "://", host, Maybe(series(":", Number(1, 65535)), 0.02), Maybe(series("/", rest), 0.9))


def _ipv6() -> Node:
    group = _run("hex lower", between(1, 4))
    full = Listing(group, Literal(":"), exactly(8))
    short = series(Listing(group, Literal(":"), between(0, 4)), "::", Listing(group, Literal(":"), between(0, 3)))
    return Either((full, short), (0.5, 0.5))


def _semver() -> Node:
    label = Listing(
        Run(chars("alnum", extra="-"), about(1, 20, 4)), Literal("."), Counts(1, 5, ((1, 0.5), (2, 0.5)), 0.1)
    )
    core = series(whole(4), ".", whole(4), ".", whole(4))
    return series(core, Maybe(series("-", label), 0.1), Maybe(series("+", label), 0.03))


def _uuid(kind: str) -> Node:
    parts: list[Node | str] = []
    for k in (8, 4, 4, 4, 12):
        parts += [_run(kind, k), "-"]
    return series(*parts[:-1])


def _mac(kind: str, separator: str) -> Node:
    return Listing(_run(kind, 2), Literal(separator), exactly(6))


def _iban(groups: bool) -> Node:
    country = evenly(codes.COUNTRIES)
    account = Run(chars("upper digit"), about(11, 30, 18, 0.1), usual=chars("digit"))
    if groups:
        four = Run(chars("upper digit"), exactly(4), usual=chars("digit"))
        tail = series(
            Listing(four, Literal(" "), between(2, 7)), Maybe(series(" ", _run("upper digit", between(1, 3))), 0.5)
        )
        return Checked(
            series(country, " ", tail), "iban", 15, 42, r"[A-Z]{2}[0-9]{2}(?: [0-9A-Z]{4}){2,7}(?: [0-9A-Z]{1,3})?"
        )
    return Checked(series(country, account), "iban", 15, 34, "[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}")


def _isbn13(hyphens: bool) -> Node:
    start = Words(("978", "979"), (0.9, 0.1))
    if not hyphens:
        return Checked(series(start, _run("digit", 9)), "ean", 13, 13, "97[89][0-9]{10}")
    groups = series(
        "-", _run("digit", between(1, 5)), "-", _run("digit", between(1, 7)), "-", _run("digit", between(1, 6)), "-"
    )
    return Checked(series(start, groups), "ean", 11, 26, "97[89]-[0-9]{1,5}-[0-9]{1,7}-[0-9]{1,6}-[0-9]")


def _phone(international: bool) -> Node:
    if international:
        return series("+", Run(chars(extra="123456789"), exactly(1)), _run("digit", about(6, 14, 11)))
    return series("(", _run("digit", 3), ") ", _run("digit", 3), "-", _run("digit", 4))


MAKERS: dict[str, Callable[[], Node]] = {
    "e-mail address": _email,
    "URL": _url,
    "domain name": _domain,
    "IPv4 address": lambda: series(*[p for _ in range(3) for p in (Number(0, 255), ".")], Number(0, 255)),
    "IPv6 address": _ipv6,
    "MAC address": lambda: _mac("hex lower", ":"),
    "MAC address in capitals": lambda: _mac("hex upper", ":"),
    "MAC address with hyphens": lambda: _mac("hex lower", "-"),
    "MAC address in capitals with hyphens": lambda: _mac("hex upper", "-"),
    "UUID": lambda: _uuid("hex lower"),
    "UUID in capitals": lambda: _uuid("hex upper"),
    "semantic version": _semver,
    "IBAN": lambda: _iban(False),
    "IBAN in groups of four": lambda: _iban(True),
    "ISBN-13": lambda: _isbn13(False),
    "ISBN-13 with hyphens": lambda: _isbn13(True),
    "ISBN-10": lambda: Checked(_run("digit", 9), "isbn10", 10, 10, "[0-9]{9}[0-9X]"),
    "EAN-13": lambda: Checked(_run("digit", 12), "ean", 13, 13, "[0-9]{13}"),
    "EAN-8": lambda: Checked(_run("digit", 7), "ean", 8, 8, "[0-9]{8}"),
    "UPC": lambda: Checked(_run("digit", 11), "ean", 12, 12, "[0-9]{12}"),
    "card number": lambda: Checked(_run("digit", 15), "luhn", 16, 16, "[0-9]{16}"),
    "Luhn number of 15 digits": lambda: Checked(_run("digit", 14), "luhn", 15, 15, "[0-9]{15}"),
    "card number in groups": lambda: Checked(
        series(*[p for _ in range(3) for p in (_run("digit", 4), " ")], _run("digit", 3)),
        "luhn",
        19,
        19,
        "[0-9]{4}(?: [0-9]{4}){3}",
    ),
    "phone number": lambda: _phone(True),
    "phone number of North America": lambda: _phone(False),
    "hex colour": lambda: series("#", _run("hex lower", 6)),
    "hex colour in capitals": lambda: series("#", _run("hex upper", 6)),
    **IDENTIFIERS,
}


PART_MAKERS: dict[str, Callable[[], Node]] = {
    "year": lambda: Number(1800, 2099, 4),
    "minute or second": lambda: Number(0, 59, 2),
    "hour": lambda: Number(0, 23, 2),
    "day of the month": lambda: Number(1, 31, 2),
    "month number": lambda: Number(1, 12, 2),
    "week": lambda: Number(1, 53, 2),
}
"""Concepts that are proposed for parts of values only."""


def is_known(name: str) -> bool:
    """Returns whether there is a concept of that name."""
    return name in MAKERS or name in PART_MAKERS or name in vocabularies()


@cache
def concept(name: str) -> Concept:
    """Returns the concept of that name."""
    if name in vocabularies():
        return Concept(name, evenly(vocabularies()[name]))
    return Concept(name, (MAKERS.get(name) or PART_MAKERS[name])())
