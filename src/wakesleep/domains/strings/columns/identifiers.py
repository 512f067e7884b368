"""Named concepts: numbers with check digits, identifiers, notations of computing and of trade."""

from collections.abc import Callable

from wakesleep.domains.strings.columns import codes
from wakesleep.domains.strings.columns.characters import chars
from wakesleep.domains.strings.columns.checks import Checked
from wakesleep.domains.strings.columns.choices import Either, Listing, Maybe
from wakesleep.domains.strings.columns.counts import Counts, between, exactly
from wakesleep.domains.strings.columns.nodes import Literal, Node, Run
from wakesleep.domains.strings.columns.sequences import series
from wakesleep.domains.strings.columns.vocabulary import vocabularies
from wakesleep.domains.strings.columns.words import Words

ANY_DIGIT = chars("digit")
REGIONS = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


def _digits(count: int) -> Run:
    return Run(ANY_DIGIT, exactly(count))


def _evenly(words: tuple[str, ...]) -> Words:
    return Words(words, (1 / len(words),) * len(words))


def _isin() -> Node:
    number = Run(chars("upper digit"), exactly(9), usual=ANY_DIGIT)
    return Checked(series(_evenly(codes.COUNTRIES), number), "isin", 12, 12, "[A-Z]{2}[0-9A-Z]{9}[0-9]")


def _orcid() -> Node:
    start = Words(("0000-000", "0009-000"), (0.95, 0.05))
    payload = series(start, _digits(1), "-", _digits(4), "-", _digits(3))
    return Checked(payload, "mod11_2", 19, 19, "000[09]-000[0-9]-[0-9]{4}-[0-9]{3}[0-9X]")


def _cpf() -> Node:
    payload = series(_digits(3), ".", _digits(3), ".", _digits(3), "-")
    return Checked(payload, "cpf", 14, 14, r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}")


def roman_places() -> list[Words]:
    """Returns the ways to write 1 to 9 units, tens and hundreds, and 1 to 3 thousands."""
    found = []
    for one, five, ten in (("I", "V", "X"), ("X", "L", "C"), ("C", "D", "M")):
        small = [one * k for k in (1, 2, 3)]
        found.append(_evenly((*small, one + five, five, *(five + s for s in small), one + ten)))
    return [*found, _evenly(("M", "MM", "MMM"))]


def _roman() -> Node:
    """Returns numerals by their last place that is not empty: units, tens, hundreds or thousands."""
    units, tens, hundreds, thousands = roman_places()
    rare, often = Maybe(thousands, 0.02), Maybe(tens, 0.5)
    last_units = series(rare, Maybe(hundreds, 0.05), often, units)
    last_tens = series(rare, Maybe(hundreds, 0.05), tens)
    return Either((last_units, last_tens, series(rare, hundreds), thousands), (0.88, 0.1, 0.015, 0.005))


def _duration() -> Node:
    """Returns ISO 8601 durations that have a last part: days alone, or hours, minutes or seconds after T."""
    number = Run(ANY_DIGIT, Counts(1, 4, ((1, 0.5), (2, 0.5)), 0.1))
    years, months, days = (Maybe(series(number, unit), 0.1) for unit in "YMD")
    hours, minutes = Maybe(series(number, "H"), 0.5), Maybe(series(number, "M"), 0.5)
    last = Either(
        (series(number, "H"), series(hours, number, "M"), series(hours, minutes, number, "S")), (0.2, 0.4, 0.4)
    )
    whole = Either(
        (series(number, "Y"), series(years, number, "M"), series(years, months, number, "D"), series(number, "W")),
        (0.2, 0.2, 0.5, 0.1),
    )
    return series("P", Either((whole, series(years, months, days, "T", last)), (0.3, 0.7)))


def _zone() -> Node:
    name = series(Run(chars("upper"), exactly(1)), Run(chars("letter"), Counts(2, 14, (), 1.0), usual=chars("lower")))
    return series(_evenly(REGIONS), "/", Listing(name, Literal("_"), Counts(1, 4, ((1, 0.7), (2, 0.3)), 0.1)))


def _mime() -> Node:
    kinds = vocabularies()["kind of MIME type"]
    return series(_evenly(kinds), "/", Run(chars("lower digit", extra="-.+"), between(2, 40), usual=chars("lower")))


IDENTIFIERS: dict[str, Callable[[], Node]] = {
    "BIC": lambda: series(
        Run(chars("upper"), exactly(6)),
        Run(chars("upper digit"), exactly(2)),
        Maybe(Run(chars("upper digit"), exactly(3)), 0.5),
    ),
    "ISIN": _isin,
    "ORCID": _orcid,
    "CUSIP": lambda: Checked(Run(chars("upper digit"), exactly(8)), "cusip", 9, 9, "[0-9A-Z]{8}[0-9]"),
    "routing number of a bank": lambda: Checked(_digits(8), "routing", 9, 9, "[0-9]{9}"),
    "Spanish identity number": lambda: Checked(_digits(8), "dni", 9, 9, "[0-9]{8}[A-Z]"),
    "Brazilian taxpayer": _cpf,
    "vehicle identification number": lambda: Run(chars(extra="ABCDEFGHJKLMNPRSTUVWXYZ0123456789"), exactly(17)),
    "Roman numeral": _roman,
    "ISO 8601 duration": _duration,
    "time zone": _zone,
    "MIME type": _mime,
}
