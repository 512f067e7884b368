"""Named concepts: numbers with check digits, identifiers, notations of computing and of trade."""

from collections.abc import Callable

from wakesleep.domains.strings.columns import codes
from wakesleep.domains.strings.columns.characters import chars
from wakesleep.domains.strings.columns.checks import Checked
from wakesleep.domains.strings.columns.choices import Either, Listing, Maybe
from wakesleep.domains.strings.columns.counts import Counts, between, exactly
from wakesleep.domains.strings.columns.nodes import Literal, Node, Run
from wakesleep.domains.strings.columns.numbers import Number
from wakesleep.domains.strings.columns.sequences import series
from wakesleep.domains.strings.columns.vocabulary import vocabularies
from wakesleep.domains.strings.columns.words import Words

ANY_DIGIT = chars("digit")
VIN_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789"
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


def _letters(text: str) -> Run:
    return Run(chars(extra=text), exactly(1))


def _canadian(separator: str) -> Node:
    first, other = _letters("ABCEGHJKLMNPRSTVXY"), _letters("ABCEGHJKLMNPRSTVWXYZ")
    return series(first, _digits(1), other, separator, _digits(1), other, _digits(1))


def _british() -> Node:
    """Returns postcodes: an area of one or two letters, a district that may end in a letter, three characters."""
    first, second = _letters("ABCDEFGHIJKLMNOPRSTUWYZ"), _letters("ABCDEFGHKLMNOPQRSTUVWXY")
    last = _letters("ABCDEFGHJKPSTUWXYMNRV")
    district = Either(
        (_digits(1), series(_letters("123456789"), _digits(1)), series(_digits(1), last)), (0.4, 0.5, 0.1)
    )
    unit = Run(chars(extra="ABDEFGHJLNPQRSTUWXYZ"), exactly(2))
    return series(first, Maybe(second, 0.7), district, " ", _digits(1), unit)


def _spanish() -> Node:
    """Returns identity numbers of residents: X, Y or Z, seven digits and a letter."""
    foreign = Checked(series(_letters("XYZ"), _digits(7)), "nie", 9, 9, "[XYZ][0-9]{7}[A-Z]")
    return Either((Checked(_digits(8), "dni", 9, 9, "[0-9]{8}[A-Z]"), foreign), (0.6, 0.4))


def _network() -> Node:
    return series(*[p for _ in range(3) for p in (Number(0, 255), ".")], Number(0, 255), "/", Number(0, 32))


def _colour(name: str, second: str, last: int, more: str = "") -> Node:
    return series(
        f"{name}(", Number(0, 360 if more else 255), second, Number(0, last), more, second, Number(0, last), f"{more})"
    )


_BASE58 = chars(extra="123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")
_URL_SAFE = chars("alnum", extra="-_")

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
    "vehicle identification number": lambda: Run(chars(extra=VIN_LETTERS), exactly(17)),
    "Roman numeral": _roman,
    "ISO 8601 duration": _duration,
    "time zone": _zone,
    "MIME type": _mime,
    "Canadian postal code": lambda: _canadian(" "),
    "Canadian postal code without a space": lambda: _canadian(""),
    "British postcode": _british,
    "Spanish identity number of citizens and residents": _spanish,
    "ZIP code": lambda: series(_digits(5), Maybe(series("-", _digits(4)), 0.3)),
    "IPv4 network": _network,
    "RGB colour": lambda: _colour("rgb", ", ", 255),
    "RGB colour without spaces": lambda: _colour("rgb", ",", 255),
    "HSL colour": lambda: _colour("hsl", ", ", 100, "%"),
    "vehicle identification number with its check digit": lambda: Checked(
        Run(chars(extra=VIN_LETTERS), exactly(16)),
        "vin",
        17,
        17,
        f"{chars(extra=VIN_LETTERS).regex}{{8}}[0-9X]{chars(extra=VIN_LETTERS).regex}{{8}}",
    ),
    "Maidenhead locator": lambda: series(
        Run(chars(extra="ABCDEFGHIJKLMNOPQR"), exactly(2)),
        _digits(2),
        Maybe(Run(chars(extra="abcdefghijklmnopqrstuvwx"), exactly(2)), 0.7),
    ),
    "ATC code": lambda: series(
        _letters("ABCDGHJLMNPRSV"), Number(1, 16, 2), Run(chars("upper"), exactly(2)), Number(1, 99, 2)
    ),
    "ICD-10 code": lambda: series(
        _letters("ABCDEFGHIJKLMNOPQRSTVWXYZ"), _digits(2), Maybe(series(".", Run(ANY_DIGIT, between(1, 2))), 0.7)
    ),
    "arXiv identifier": lambda: series(Number(7, 29, 2), Number(1, 12, 2), ".", _digits(5)),
    "square of a chessboard": lambda: series(_letters("abcdefgh"), _letters("12345678")),
    "JSON web token": lambda: series(
        "eyJ",
        Run(_URL_SAFE, Counts(10, None, (), 1.0, 40.0)),
        ".eyJ",
        Run(_URL_SAFE, Counts(10, None, (), 1.0, 60.0)),
        ".",
        Run(_URL_SAFE, Counts(20, None, (), 1.0, 30.0)),
    ),
    "ULID": lambda: series(_letters("01234567"), Run(chars(extra="0123456789ABCDEFGHJKMNPQRSTVWXYZ"), exactly(25))),
    "Bitcoin address": lambda: series(_letters("13"), Run(_BASE58, between(25, 33))),
    "DOI": lambda: series(
        "10.",
        Run(ANY_DIGIT, between(4, 6)),
        "/",
        Run(chars("alnum", extra="-._;()/:"), Counts(2, None, (), 1.0, 16.0), usual=chars("lower digit")),
    ),
}
