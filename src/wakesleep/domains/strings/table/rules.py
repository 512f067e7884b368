"""The rule of a column: what each of its values has to be, and why a value is refused."""

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from wakesleep.domains.strings.columns.checks import CHECKS
from wakesleep.domains.strings.columns.dates import DATE_FIELDS, Date
from wakesleep.domains.strings.table.dialects import whole
from wakesleep.domains.strings.table.known_lists import list_name
from wakesleep.errors import Refusal, require_one_of

TYPES = ("text", "category", "boolean", "integer", "number", "date")
NUMBER_REGEX = r"[+\-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+\-]?[0-9]+)?"
INTEGER = r"[+\-]?[0-9]+(?:\.0*)?"
MOST_NAMED = 5
LONGEST_PATTERN_ALONE = 60
"""Characters of a pattern before which it is told what it says."""
LONGEST_CHECKED = 100
"""Characters of a value with check digits; the longest known, an IBAN in groups, has 42."""
SAFE_DAY = 28
"""Every month has it."""


@dataclass(frozen=True)
class Rule:
    """What is asked of a column; the defaults ask for nothing."""

    type: str = "text"
    nulls: float = 1.0
    """The largest share of rows without a value; with 0 each such row is an alarm."""
    missing: tuple[str, ...] = ()
    """Texts that stand for a missing value."""
    unique: bool = False
    one_of: tuple[str, ...] | None = None
    pattern: str = ""
    longest: int | None = None
    """The most characters of a value."""
    low: float | None = None
    high: float | None = None
    form: str = ""
    """The format of dates, by which days that a month does not have are refused."""
    check_digits: str = ""
    says: str = ""
    """The pattern in words, for people alone."""
    alarms: float | None = None
    """The share of rows of the same kind that is expected to be refused."""
    tolerate: float = 0.0
    """The share of rows that may be refused before the table is."""

    def __post_init__(self) -> None:
        """Refuses what cannot be a rule."""
        require_one_of("type", self.type, TYPES)
        for name, share in (("nulls", self.nulls), ("tolerate", self.tolerate)):
            if not 0 <= share <= 1:
                raise Refusal(f"{name} must be a share between 0 and 1, but {share} was given.")
        if self.check_digits:
            require_one_of("check digits", self.check_digits, tuple(CHECKS))
        if self.low is not None and self.high is not None and not self.low <= self.high:
            raise Refusal(f"A range must rise, but it goes from {self.low} to {self.high}.")
        if unknown := [f for f in re.findall("%(.?)", self.form) if f not in DATE_FIELDS]:
            raise Refusal(f"The date format {self.form!r} has the unknown field %{unknown[0]}.")
        if self.pattern:
            require_linear(self.pattern)

    @cached_property
    def listed(self) -> tuple[str, ...] | None:
        """The values of the list; those of a boolean also as true, True and TRUE, since libraries differ in that."""
        if self.type != "boolean" or self.one_of is None:
            return self.one_of
        return tuple(dict.fromkeys(f(v) for v in self.one_of for f in (str, str.lower, str.capitalize, str.upper)))

    @property
    def numeric(self) -> bool:
        """Whether values are numbers."""
        return self.type in ("integer", "number")

    def is_null(self, value: str | None) -> bool:
        """Whether a value counts as missing."""
        return not value or value in self.missing

    def refused(self, values: Collection[str]) -> set[str]:
        """Returns those of some distinct values, none of them null, that the rule refuses."""
        if self.one_of is not None:
            return set(values).difference(self.listed or ())
        kept, out = list(values), set[str]()
        if self.longest is not None:
            out = {v for v in kept if len(v) > self.longest}
            kept = [v for v in kept if v not in out] if out else kept
        for pattern in filter(None, (self._spelling, self.pattern)):
            good = matching(pattern, kept)
            if not all(good):
                out.update(v for v, ok in zip(kept, good, strict=True) if not ok)
                kept = [v for v, ok in zip(kept, good, strict=True) if ok]
        if self.numeric:
            low, high = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
            return out.union(v for v in kept if not low <= float(v) <= high)
        if self.form or self.check_digits:
            return out.union(v for v in kept if not self._also(v))
        return out

    def matches(self, values: Collection[str | None]) -> list[bool]:
        """Returns whether each value fits; nulls do where some are allowed."""
        bad = self.refused({v for v in values if v and v not in self.missing})
        return [self.nulls > 0 if self.is_null(v) else v not in bad for v in values]

    @property
    def _spelling(self) -> str:
        """The pattern that the type asks for."""
        if self.numeric:
            return INTEGER if self.type == "integer" else NUMBER_REGEX
        return date_pattern(self.form) if self.form else ""

    @cached_property
    def _calendar(self) -> tuple[Date, re.Pattern[str]]:
        pieces = re.split("(%.)", self.form)
        named = "".join(f"({DATE_FIELDS[p[1]][0]})" if p in ("%d", "%e") else _piece(p) for p in pieces)
        return Date(self.form), re.compile(named)

    def _also(self, value: str) -> bool:
        """Whether a value of the right spelling has the right check digits, or is a day of the calendar."""
        if self.check_digits:
            if not value.isascii() or len(value) > LONGEST_CHECKED:
                return False
            make, place, size = CHECKS[self.check_digits]
            at = len(value) - size if place < 0 else place
            return make(value[:at] + value[at + size :]) == value[at : at + size]
        date, day = self._calendar
        match = day.fullmatch(value)
        if match is not None and match.groups() and int(match[1]) <= SAFE_DAY and "%a" not in self.form.lower():
            return True
        return date.log_prob(value) > -math.inf

    def why(self, value: str | None) -> str:  # noqa: PLR0911, one return for each reason
        """Returns why a value is refused."""
        if self.is_null(value):
            return "empty"
        assert value is not None
        if self.longest is not None and len(value) > self.longest:
            return f"{len(value):,} characters"
        if self.one_of is not None:
            return _resemblance(value, self.one_of) or "not one of the known values"
        if self._spelling and not matching(self._spelling, [value])[0]:
            return f"not {_kind(self)}"
        if self.numeric and self.low is not None and float(value) < self.low:
            return "below the range"
        if self.numeric and self.high is not None and float(value) > self.high:
            return "above the range"
        if self.pattern and not matching(self.pattern, [value])[0]:
            return _space(value) or "does not match the pattern"
        return "wrong check digits" if self.check_digits else "no day of the calendar"

    @property
    def expected(self) -> str:
        """Returns what the rule asks for, in a few words."""
        if self.one_of is not None:
            more = f" or {len(self.one_of) - MOST_NAMED} others" * (len(self.one_of) > MOST_NAMED)
            return f"one of {', '.join(self.one_of[:MOST_NAMED])}{more}"
        if self.numeric:
            return _kind(self) + _between(self.low, self.high)
        if known := list_name(self.pattern, self.says):
            return known
        if self.pattern:
            says = f"{self.says}: " * (bool(self.says) and len(self.pattern) > LONGEST_PATTERN_ALONE)
            return (
                says + self.pattern + (f" with right check digits ({self.check_digits})" if self.check_digits else "")
            )
        if self.form:
            return _kind(self)
        return "any text" if self.longest is None else f"at most {self.longest:,} characters"


def _piece(piece: str) -> str:
    return f"(?:{DATE_FIELDS[piece[1]][0]})" if piece.startswith("%") else re.escape(piece)


def date_pattern(form: str) -> str:
    """Returns the pattern of a date format; it does not know how many days a month has."""
    return Date(form).regex


def matching(pattern: str, values: list[str]) -> list[bool]:
    """Returns whether each value fits a pattern, in time that is linear in its length."""
    import polars as pl

    if not values:
        return []
    found: list[bool] = pl.Series(values, dtype=pl.String).str.contains(whole(pattern, "rust")).to_list()
    return found


def require_linear(pattern: str) -> None:
    """Refuses a pattern that cannot be read, or is too large to be matched in linear time."""
    import polars as pl

    try:
        matching(pattern, [""])
    except pl.exceptions.PolarsError as error:
        said = str(error).splitlines()[0][:100]
        raise Refusal(f"The pattern {pattern[:80]!r} cannot be used ({said}): write shorter counts.") from None


def _kind(rule: Rule) -> str:
    names = {"integer": "a whole number", "number": "a number"}
    return f"a date by {rule.form}" if rule.form else names.get(rule.type, "a text")


def _between(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    if high is None:
        return f" from {low:.15g}"
    return f" up to {high:.15g}" if low is None else f" from {low:.15g} to {high:.15g}"


def _resemblance(value: str, known: tuple[str, ...]) -> str:
    """Returns what a refused value has in common with a known one, or nothing."""
    if value.strip() in known:
        return _space(value)
    folded = {k.casefold(): k for k in known}
    return f"{folded[value.casefold()]!r} in another case" if value.casefold() in folded else ""


def _space(value: str) -> str:
    if value == value.strip():
        return ""
    return f"white space at the {'start' if value[:1].isspace() else 'end'}"
