# ruff: noqa: D102, overridden methods are explained in `Node`
"""Calendar dates and times of day in their many formats; a day that the month does not have is impossible."""

import math
import random
import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from wakesleep.domains.strings.columns.characters import Chars, chars, escape
from wakesleep.domains.strings.columns.nodes import Ends, Node

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
USUAL_YEARS = (1900, 2099)
USUAL = 0.99
"""Probability of a year of the usual ones; the others from 1000 to 2999 share the rest."""
POSSIBLE_YEARS = (1000, 2999)
LEAP_CYCLE = 2000
"""Two-digit years are taken as 2000 to 2099 when the length of February is asked for."""

_DAY = r"(?:0[1-9]|[12][0-9]|3[01])"
_DAY_PLAIN = r"(?:[12][0-9]|3[01]|[1-9])"
_MONTH = r"(?:0[1-9]|1[0-2])"
_MONTH_PLAIN = r"(?:1[0-2]|[1-9])"


def _names(words: tuple[str, ...], length: int | None = None) -> str:
    return f"(?:{'|'.join(w[:length] for w in words)})"


DATE_FIELDS: dict[str, tuple[str, int, int]] = {
    "Y": ("[12][0-9]{3}", 4, 4),
    "y": ("[0-9]{2}", 2, 2),
    "m": (_MONTH, 2, 2),
    "n": (_MONTH_PLAIN, 1, 2),
    "b": (_names(MONTHS, 3), 3, 3),
    "B": (_names(MONTHS), 3, 9),
    "U": (_names(tuple(m.upper() for m in MONTHS), 3), 3, 3),
    "d": (_DAY, 2, 2),
    "e": (_DAY_PLAIN, 1, 2),
    "a": (_names(WEEKDAYS, 3), 3, 3),
    "A": (_names(WEEKDAYS), 6, 9),
    "H": ("(?:[01][0-9]|2[0-3])", 2, 2),
    "k": ("(?:1[0-9]|2[0-3]|[0-9])", 1, 2),
    "I": ("(?:0[1-9]|1[0-2])", 2, 2),
    "l": ("(?:1[0-2]|[1-9])", 1, 2),
    "M": ("[0-5][0-9]", 2, 2),
    "S": ("[0-5][0-9]", 2, 2),
    "p": ("[AP]M", 2, 2),
    "P": ("[ap]m", 2, 2),
    "z": (r"[+\-](?:0[0-9]|1[0-4])(?:00|30|45)", 5, 5),
    "Z": (r"[+\-](?:0[0-9]|1[0-4]):(?:00|30|45)", 6, 6),
    **{str(k): (f"[0-9]{{{k}}}", k, k) for k in range(1, 10)},
}
"""Regex, least and greatest length of each field; U is a month's name in capitals, 3 three digits of a second."""
ALIKE = {
    "y": 100,
    **dict.fromkeys("mnbBU", 12),
    "H": 24,
    "k": 24,
    "I": 12,
    "l": 12,
    "M": 60,
    "S": 60,
    "p": 2,
    "P": 2,
    **{str(k): 10**k for k in range(1, 10)},
}
"""Fields of which each value is alike, with the number of values."""
ZONE_MINUTES = {"00": 0.8, "30": 0.15, "45": 0.05}
DRAWN_ORDER = "YymnbBUdeaAHkIlMSpPzZ123456789"
"""Fields in the order in which they are drawn: a day after its month and year."""
_TOKEN = re.compile("%([A-Za-z1-9])|([^%]+)")


@dataclass(frozen=True)
class Date(Node):
    """A date by a format such as "%Y-%m-%d": p(year) / 12 / days of the month; weekday names must agree with the date.

    Without a day each month is alike; without a year February has 29 days. Hours, minutes and seconds are each alike.
    """

    form: str
    habits: tuple[tuple[str, str], ...] = ()
    """Fields that were the same in all values seen, with their texts: then p = habitual [same] + (1 - habitual) p."""
    habitual: float = 0.0
    years: tuple[int, int] | None = None
    """First and last year seen, as written: p(year) = habitual [between them] / their number + (1 - habitual) p."""
    exact = False

    @cached_property
    def _pieces(self) -> list[tuple[str, str]]:
        return [(m[1] or "", m[2] or "") for m in _TOKEN.finditer(self.form)]

    @cached_property
    def _reader(self) -> re.Pattern[str]:
        return re.compile("".join(f"({DATE_FIELDS[f][0]})" if f else escape(text) for f, text in self._pieces))

    @cached_property
    def _lengths(self) -> tuple[int, int]:
        fixed = sum(len(text) for _, text in self._pieces)
        fields = [DATE_FIELDS[f] for f, _ in self._pieces if f]
        return fixed + sum(f[1] for f in fields), fixed + sum(f[2] for f in fields)

    def ends(self, x: str, i: int) -> Ends:
        found: Ends = {}
        least, most = self._lengths
        for j in range(i + least, min(i + most, len(x)) + 1):
            log_p = self._log_match(self._reader.fullmatch(x, i, j))
            if log_p > -math.inf:
                found[j] = log_p
        return found

    def log_prob(self, x: str) -> float:
        return self._log_match(self._reader.fullmatch(x))

    def _log_match(self, match: re.Match[str] | None) -> float:
        if match is None:
            return -math.inf
        fields = dict(zip((f for f, _ in self._pieces if f), match.groups(), strict=True))
        year, month = _year(fields), _month(fields)
        day = int(fields.get("d") or fields.get("e") or 0)
        if month is not None and day > _days(year, month):
            return -math.inf
        log_p = _log_weekday(fields, year, month, day)
        for f, text in fields.items():
            if f not in "aA":
                log_p += self._log_field(f, text, _field_chance(f, text, year, month), year, month)
        return log_p

    def _log_field(self, f: str, text: str, chance: float, year: int | None, month: int | None) -> float:
        if f in "Yy" and self.years is not None:
            first, last = self.years
            here = (first <= int(text) <= last) / (last - first + 1)
            return math.log(self.habitual * here + (1 - self.habitual) * chance)
        same = self._same.get(f)
        if same is None or (f in "de" and month is not None and int(same) > _days(year, month)):
            return math.log(chance)
        return math.log(self.habitual * (text == same) + (1 - self.habitual) * chance)

    @cached_property
    def _same(self) -> dict[str, str]:
        return dict(self.habits)

    def sample(self, rng: random.Random) -> str:
        same = {f: text for f, text in self.habits if rng.random() < self.habitual}
        if self.years is not None and rng.random() < self.habitual:
            usual = rng.randint(*self.years)
            same |= {"Y": f"{usual:04d}", "y": f"{usual:02d}"}
        fields: dict[str, str] = {}
        for f in sorted((f for f, _ in self._pieces if f), key=DRAWN_ORDER.index):
            year, month = _year(fields), _month(fields)
            fits = f not in "de" or month is None or f not in same or int(same[f]) <= _days(year, month)
            fields[f] = same[f] if f in same and fits else _draw_field(f, fields, year, month, rng)
        return "".join(fields[f] if f else text for f, text in self._pieces)

    @property
    def regex(self) -> str:
        """Wider than the support: any day up to 31 in every month, any weekday."""
        return "".join(DATE_FIELDS[f][0] if f else escape(text) for f, text in self._pieces)

    @property
    def alphabet(self) -> Chars:
        letters = "".join(MONTHS + WEEKDAYS)
        return chars("digit", extra=letters + letters.upper() + "Ppm+-:" + "".join(t for _, t in self._pieces))

    @property
    def first(self) -> Chars:
        f, text = self._pieces[0]
        return chars(extra=text[0]) if text else chars("letter") if f in "bBUaApP" else chars("digit", extra="+-")

    @property
    def fixed(self) -> bool:
        return self._lengths[0] == self._lengths[1]


def _days(year: int | None, month: int) -> int:
    return 29 if year is None and month == 2 else monthrange(year or 2000, month)[1]


def _field_chance(f: str, text: str, year: int | None, month: int | None) -> float:
    """Returns p(field) given those before it: year, month, day; weekdays follow from them."""
    if f in ALIKE:
        return 1 / ALIKE[f]
    if f == "Y":
        count = USUAL_YEARS[1] - USUAL_YEARS[0] + 1
        usual = USUAL_YEARS[0] <= int(text) <= USUAL_YEARS[1]
        return USUAL / count if usual else (1 - USUAL) / (POSSIBLE_YEARS[1] - POSSIBLE_YEARS[0] + 1 - count)
    if f in "de":
        return 1 / (_days(year, month) if month is not None else 31)
    return ZONE_MINUTES[text[-2:]] / 30


def _draw_field(f: str, fields: dict[str, str], year: int | None, month: int | None, rng: random.Random) -> str:
    """Returns a field, given those that were drawn before it."""
    if f in "aA":
        day = int(fields.get("d") or fields.get("e") or 0)
        known = year is not None and month is not None and day
        name = WEEKDAYS[_weekday(year, month, day)] if known else rng.choice(WEEKDAYS)  # type: ignore[arg-type]
        return name[:3] if f == "a" else name
    if f in "zZ":
        minutes = rng.choices(list(ZONE_MINUTES), list(ZONE_MINUTES.values()))[0]
        return f"{rng.choice('+-')}{rng.randrange(15):02d}{':' if f == 'Z' else ''}{minutes}"
    if f in "pP":
        half = rng.choice(("AM", "PM"))
        return half if f == "p" else half.lower()
    if f == "Y":
        return f"{rng.randint(*USUAL_YEARS) if rng.random() < USUAL else _unusual_year(rng):04d}"
    if f in "bBU":
        name = rng.choice(MONTHS)
        return name if f == "B" else name[:3] if f == "b" else name[:3].upper()
    low = 1 if f in "Ilmnde" else 0
    count = ALIKE[f] if f in ALIKE else _days(year, month) if month is not None else 31
    drawn = rng.randrange(low, low + count)
    return str(drawn) if f in "klne" else str(drawn).zfill(int(f) if f.isdigit() else 2)


def _unusual_year(rng: random.Random) -> int:
    while True:
        year = rng.randint(*POSSIBLE_YEARS)
        if not USUAL_YEARS[0] <= year <= USUAL_YEARS[1]:
            return year


def _year(fields: dict[str, str]) -> int | None:
    if "Y" in fields:
        return int(fields["Y"])
    return LEAP_CYCLE + int(fields["y"]) if "y" in fields else None


def _month(fields: dict[str, str]) -> int | None:
    if "m" in fields or "n" in fields:
        return int(fields.get("m") or fields["n"])
    name = fields.get("b") or fields.get("B") or fields.get("U", "").capitalize()
    return next((k for k, m in enumerate(MONTHS, 1) if name and m[:3] == name[:3]), None)


def _weekday(year: int, month: int, day: int) -> int:
    """Monday is 0; by Zeller's congruence, so that the year 0 is no exception."""
    shifted, y = (month + 12, year - 1) if month < 3 else (month, year)
    return (day + 13 * (shifted + 1) // 5 + y + y // 4 - y // 100 + y // 400 + 5) % 7


def _log_weekday(fields: dict[str, str], year: int | None, month: int | None, day: int) -> float:
    name = fields.get("a") or fields.get("A")
    if not name:
        return 0.0
    if year is None or month is None or not day:
        return -math.log(7)
    return 0.0 if WEEKDAYS[_weekday(year, month, day)].startswith(name[:3]) else -math.inf


def fit_date(form: str, values: Iterable[str]) -> Date:
    """Returns the format with the habits and the range of years of the values that it can write."""
    plain = Date(form)
    matches = [m.groups() for m in map(plain._reader.fullmatch, values) if m]
    names = [f for f, _ in plain._pieces if f]
    same = [(f, set(texts)) for f, texts in zip(names, zip(*matches, strict=True), strict=False) if f not in "aA"]
    numbers = [sorted(map(int, texts)) for f, texts in same if f in "Yy" and len(texts) > 1]
    years = (numbers[0][0], numbers[0][-1]) if len(numbers) == 1 else None
    habits = tuple((f, texts.pop()) for f, texts in same if len(texts) == 1)
    return Date(form, habits, (len(matches) + 1) / (len(matches) + 2), years) if habits or years else plain
