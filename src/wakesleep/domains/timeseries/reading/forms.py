"""The forms in which dates are written: one expression each, and the fields of the dates that match it."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wakesleep.domains.timeseries.reading.clock import Times

CLOCK = (
    r"(?:(?:[Tt,]| |, )+(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?)?"
    r" ?(?P<half_day>[ap]\.?m\.?)? ?(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?"
)
WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? )?"
YEAR, ANY_YEAR, MONTH_NAME = r"(?P<year>\d{4})", r"(?P<year>\d{4}|\d{2})", r"(?P<name>[a-z]{3,9})\.?"
RECENT_YEAR = r"(?P<year>(?:1[5-9]|2[01])\d\d)"
MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
CENTURY_BREAK = 50
"""Two digits below this one are a year from 2000 on, others one of the century before."""
DATE_FORMS: dict[str, str] = {
    "year-month-day": rf"{YEAR}(?P<mark>[-/.])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}}){CLOCK}",
    "days/days": rf"{YEAR}-(?P<month>\d{{2}})-(?P<day>\d{{2}})/\d{{4}}-\d{{2}}-\d{{2}}",
    "year-month": rf"{YEAR}[-/](?P<month>\d{{1,2}})|(?P<year2>\d{{4}})\.(?P<month2>0[1-9]|1[0-2])",
    "yyyymmdd": rf"{RECENT_YEAR}(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])",
    "yyyymmddhhmm": rf"{RECENT_YEAR}(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?P<hour>[01]\d|2[0-3])"
    r"(?P<minute>[0-5]\d)(?P<second>[0-5]\d)?",
    "yyyymm": rf"{RECENT_YEAR}(?P<month>0[1-9]|1[0-2])",
    "day/month/year": rf"(?P<first>\d{{1,2}})(?P<mark>[-/.])(?P<other>\d{{1,2}})(?P=mark){ANY_YEAR}{CLOCK}",
    "month/year": rf"(?P<month>\d{{1,2}})[-/.]{YEAR}",
    "day month-name year": rf"{WEEKDAY}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[-/ .]+{MONTH_NAME}[-/ ,]+{ANY_YEAR}{CLOCK}",
    "month-name day year": rf"{WEEKDAY}{MONTH_NAME} +(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? +{YEAR}{CLOCK}",
    "month-name year": rf"{MONTH_NAME}[-/ ,']*{ANY_YEAR}",
    "year month-name": rf"{ANY_YEAR}[-/ ]*{MONTH_NAME}",
    "year quarter": rf"{YEAR}[-/ :]*Q(?P<quarter>[1-4])",
    "quarter year": rf"Q(?P<quarter>[1-4])[-/ ,']*{ANY_YEAR}|(?P<quarter2>[1-4])Q[-/ ,']*(?P<year2>\d{{4}}|\d{{2}})",
    "year half": rf"{YEAR}[-/ ]*[HS](?P<half>[12])",
    "year M month": rf"{YEAR}[-/ :]*M(?P<month>\d{{1,2}})",
    "year week": rf"{YEAR}[-/ ]*W(?P<week>\d{{1,2}})(?:-?(?P<weekday>[1-7]))?",
}
COMPILED_FORMS = {name: re.compile(form, re.IGNORECASE | re.ASCII) for name, form in DATE_FORMS.items()}
SECONDS_A_DAY = 86_400


class Dates(NamedTuple):
    """The dates of some texts; `valid` says which of them the calendar has."""

    times: Times
    """As the local clock shows them, in datetime64[s]."""
    fraction: np.ndarray
    """Of a second."""
    offset: np.ndarray
    """Seconds that the local clock is ahead of Greenwich; NaN where no zone is given."""
    valid: np.ndarray


def matches(form: str, texts: Sequence[str]) -> list[re.Match[str] | None]:
    """Returns the match of each text with a form; nothing more is tried where the first has none."""
    find = COMPILED_FORMS[form].fullmatch
    return [find(text) for text in texts] if texts and find(texts[0]) else [None] * len(texts)


def dates_of(found: Sequence[re.Match[str]], day_first: bool = False) -> Dates:
    """Returns the dates of matches of one form."""
    fields = [m.groupdict() for m in found]
    year = np.array([_year(f["year"] or f["year2"]) for f in fields])
    if "week" in fields[0]:
        return _weeks(fields, year)
    month, day = _month(fields, day_first), _day(fields, day_first)
    hour, minute, second = _whole(fields, "hour"), _whole(fields, "minute"), _whole(fields, "second")
    if "half_day" in fields[0]:
        afternoon = np.array([(f["half_day"] or "")[:1].lower() for f in fields])
        hour = np.where(afternoon != "", hour % 12 + 12 * (afternoon == "p"), hour)
    valid = (month >= 1) & (month <= 12) & (hour <= 23) & (minute <= 59) & (second <= 60) & (year > 0)
    months = (year - 1970) * 12 + np.clip(month, 1, 12) - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]")
    length = ((months + 1).astype("datetime64[M]").astype("datetime64[D]") - first).astype(int)
    valid &= (day >= 1) & (day <= length)
    clock = (day - 1) * SECONDS_A_DAY + hour * 3600 + minute * 60 + second
    times = first.astype("datetime64[s]") + clock.astype("timedelta64[s]")
    fraction = np.array([float(f"0.{f.get('fraction') or 0}") for f in fields])
    return Dates(times, fraction, np.array([_offset(f.get("zone")) for f in fields]), valid)


def month_number(text: str) -> int:
    """Returns the number of a month in words, three letters or more, or 0."""
    low = text.lower()
    low = "sep" if low == "sept" else low
    return next((i for i, name in enumerate(MONTH_NAMES, 1) if len(low) >= 3 and name.startswith(low)), 0)


def _whole(fields: list[dict[str, str | None]], name: str, default: int = 0) -> np.ndarray:
    return np.array([int(f.get(name) or default) for f in fields])


def _year(text: str | None) -> int:
    """Returns a year of four digits or of two."""
    year = int(text or 0)
    if len(text or "") > 2:
        return year
    return year + (2000 if year < CENTURY_BREAK else 1900)


def _month(fields: list[dict[str, str | None]], day_first: bool) -> np.ndarray:
    """Returns the months, of quarters and halves the first; 0 where a name is none of a month."""
    known = fields[0]
    if "quarter" in known:
        return np.array([3 * int(f["quarter"] or f.get("quarter2") or 0) - 2 for f in fields])
    if "half" in known:
        return 6 * _whole(fields, "half") - 5
    if "name" in known:
        return np.array([month_number(f["name"] or "") for f in fields])
    if "first" in known:
        return _whole(fields, "other" if day_first else "first")
    return np.array([int(f["month"] or f.get("month2") or 0) for f in fields])


def _day(fields: list[dict[str, str | None]], day_first: bool) -> np.ndarray:
    if "first" in fields[0]:
        return _whole(fields, "first" if day_first else "other")
    return _whole(fields, "day", 1) if "day" in fields[0] else np.ones(len(fields), int)


def _weeks(fields: list[dict[str, str | None]], year: np.ndarray) -> Dates:
    """Returns the days of ISO weeks, Monday where no day is given."""
    week, weekday = _whole(fields, "week"), _whole(fields, "weekday", 1)

    def first_monday(of: np.ndarray) -> np.ndarray:
        fourth = (of - 1970).astype("datetime64[Y]").astype("datetime64[D]") + 3
        return fourth - (fourth.astype(int) + 3) % 7

    start = first_monday(year)
    weeks = (first_monday(year + 1) - start).astype(int) // 7
    days = start + (7 * (week - 1) + weekday - 1)
    none = np.full(len(fields), np.nan)
    return Dates(days.astype("datetime64[s]"), np.zeros(len(fields)), none, (week >= 1) & (week <= weeks))


def _offset(zone: str | None) -> float:
    """Returns the seconds by which a zone is ahead of Greenwich; NaN where there is no zone."""
    if not zone:
        return float("nan")
    if zone[0] not in "+-":
        return 0.0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return (-1.0 if zone[0] == "-" else 1.0) * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)
