"""A column of times in words or numbers: dates of one form, years, decimal years, seconds since 1970, or numbers."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.reading import forms
from wakesleep.domains.timeseries.reading.clock import Times
from wakesleep.domains.timeseries.reading.grid import clock_of_dates
from wakesleep.domains.timeseries.reading.numbers import read_numbers
from wakesleep.errors import Refusal

FIRST_YEAR, LAST_YEAR = 1500, 2200
"""Whole numbers within these are years, and decimal ones may be."""
FIRST_EPOCH, LAST_EPOCH = 300_000_000, 4_200_000_000
"""Whole numbers within these, from 1979 to 2103, are seconds since 1970; a thousand times these, milliseconds."""
LARGEST_TIME = 1e15
"""Times up to this number differ by whole numbers in double precision."""
NEAR_MONTHS = 0.15
LONGEST_MONTH_DAYS = 31
YEAR_DIGITS = 4
SECONDS_A_DAY = 86_400
LAST_OF = {"year-month": 1, "yyyymm": 1, "month-name year": 1, "year quarter": 3, "quarter year": 3, "year half": 6}
"""The months that a text of one of these forms stands for."""
REGULAR_SHARE = 0.5
SAMPLE_TEXTS, MOST_SHARE = 100, 0.8
"""A column is one of times if this share of so many of its texts are dates; it is refused if another is not."""
TIME_FORMS = "dates of one form (such as 2024-01-31) or numbers were expected"


def read_times(texts: Sequence[str], title: str, rows: Sequence[int] | None = None) -> tuple[Times, list[str]]:
    """Returns times as datetime64[s] or as floats, and notes; or refuses them with the number of the row.

    `title` begins the sentence of a refusal, and `rows` are the numbers of the rows, from one.
    """
    rows = range(1, len(texts) + 1) if rows is None else rows
    texts = [" ".join(text.split()) for text in texts]
    if all(t.endswith(".0") and t[:-2].isdigit() for t in texts):
        texts = [t[:-2] for t in texts]
    fitting = [(form, found) for form in forms.COMPILED_FORMS if all(found := forms.matches(form, texts))]
    wrong = ""
    for form, found in fitting:
        _require_year(form, found, title, rows)
        read = _dates(form, found, texts)
        if isinstance(read, tuple):
            return read
        wrong = wrong or f"{title} holds {texts[read][:40]!r} in row {rows[read]}, which is no date of the calendar"
    numbers = read_numbers(texts)
    if numbers.values is not None and np.abs(numbers.values).max() <= LARGEST_TIME:
        return _numbers(numbers.values)
    if wrong:
        raise Refusal(f"{wrong}: correct it, or choose another column of times (--time).")
    row = _odd(texts, numbers.bad)
    raise Refusal(f"{title} holds {texts[row][:40]!r} in row {rows[row]}: {TIME_FORMS}; choose another with --time.")


def last_moment(text: str, dated: bool) -> Times:
    """Returns the last second of a year, quarter, month or day in words, or a number, as an array of one."""
    if not dated:
        found = read_numbers([text]).values
        if found is None or not np.isfinite(found).all():
            raise Refusal(f"until must be a number, as the times of the series are, but {text!r} was given.")
        return found
    for form, unit in LAST_OF.items():
        match = forms.COMPILED_FORMS[form].fullmatch(text.strip())
        if match and (read := forms.dates_of([match])).valid.all():
            return (read.times.astype("datetime64[M]") + unit).astype("datetime64[s]") - 1
    try:
        times, _ = read_times([text], "until")
    except Refusal:
        raise Refusal(f"until must be a date, such as 2025-12 or 2025-12-31, but {text!r} was given.") from None
    if times.dtype.kind != "M":
        raise Refusal(f"until must be a date, such as 2025-12 or 2025-12-31, but {text!r} was given.")
    if text.strip().isdigit() and len(text.strip()) == YEAR_DIGITS:
        return (times.astype("datetime64[Y]") + 1).astype("datetime64[s]") - 1
    midnight = times == times.astype("datetime64[D]")
    return np.where(midnight & (":" not in text), times + SECONDS_A_DAY - 1, times)


def _require_year(form: str, found: list, title: str, rows: Sequence[int]) -> None:
    """Refuses texts such as Jan-19 whose numbers count days rather than years."""
    years = [m.group("year") for m in found] if form in ("month-name year", "year month-name") else []
    if not years or any(len(y) > 2 or not 1 <= int(y) <= LONGEST_MONTH_DAYS for y in years):
        return
    read = forms.dates_of(found)
    clock, positions = clock_of_dates(read.times)
    if len(np.unique(positions)) > 2 and (clock.unit == "year" or _regularity(read.times) < REGULAR_SHARE):
        raise Refusal(
            f"{title} holds {found[0].group()!r} in row {rows[0]}, whose number may be a day or a year: write the year "
            "in full, such as Jan 2019 or 2019-01-19."
        )


def looks_like_dates(texts: Sequence[str]) -> bool:
    """Returns whether most of a sample of texts are dates of one form; plain numbers are not."""
    sample = [" ".join(text.split()) for text in texts[:: len(texts) // SAMPLE_TEXTS + 1]]
    if not sample or read_numbers(sample).values is not None:
        return False
    for form in forms.COMPILED_FORMS.values():
        found = [m for m in map(form.fullmatch, sample) if m is not None]
        if len(found) >= MOST_SHARE * len(sample):
            valid = max(forms.dates_of(found, day_first).valid.sum() for day_first in (False, True))
            if valid >= MOST_SHARE * len(sample):
                return True
    return False


def _odd(texts: list[str], bad: int) -> int:
    """Returns the first text that is not of the form that most others are, or is not a number as most others are.

    Where each is a number but they cannot be in one column, that is the place `bad`.
    """
    kinds = [[form.fullmatch(text) is not None for text in texts] for form in forms.COMPILED_FORMS.values()]
    kinds.append([_is_number(text) for text in texts])
    usual = max(kinds, key=sum)
    return bad if all(usual) else usual.index(False)


def _is_number(text: str) -> bool:
    values = read_numbers([text]).values
    return values is not None and bool(abs(values[0]) <= LARGEST_TIME)


def _dates(form: str, found: list, texts: list[str]) -> tuple[Times, list[str]] | int:
    """Returns the times and notes of matches of one form, or the place of a text that is no date."""
    read, notes = _day_or_month_first(found) if form == "day/month/year" else (forms.dates_of(found), [])
    if not read.valid.all():
        return int(np.flatnonzero(~read.valid)[0])
    if any(len(m.group("year") or m.group("year2")) == 2 for m in found):
        first = 2000 - forms.CENTURY_BREAK
        notes.append(f"years of two digits, as in {texts[0]!r}, read as {first} to {first + 99}")
    times, said = _in_one_zone(read)
    notes += said
    if read.fraction.any() and len(np.unique(times)) < len(np.unique(times.astype(float) + read.fraction)):
        seconds = (times - times.min()).astype(float) + read.fraction
        return seconds, [*notes, "times are counted in seconds from the first, because they are less than one apart"]
    return times, notes


def _day_or_month_first(found: list) -> tuple[forms.Dates, list[str]]:
    """Returns dates such as 1/2/2019 with the day or the month first, as the whole column decides, and a note."""
    month, day = forms.dates_of(found), forms.dates_of(found, day_first=True)
    if month.valid.all() != day.valid.all():
        return (month, []) if month.valid.all() else (day, [])
    if not month.valid.all():
        return (month, []) if month.valid.sum() > day.valid.sum() else (day, [])
    if (month.times == day.times).all():
        return month, []
    by_month, by_day = _regularity(month.times), _regularity(day.times)
    custom = found[0].group("mark") != "/"
    first = by_day > by_month if by_day != by_month else custom
    why = "so the times are more even" if by_day != by_month else "by custom; write 2019-01-31 to be sure"
    text = next(m.group() for m, a, b in zip(found, month.times, day.times, strict=True) if a != b)
    return (day if first else month), [f"{text!r} read with the {'day' if first else 'month'} first, {why}"]


def _regularity(times: Times) -> float:
    """Returns the share of gaps that are one step."""
    _, positions = clock_of_dates(times)
    gaps = np.diff(np.sort(positions))
    return float(np.mean(gaps == 1)) if len(gaps) else 0.0


def _in_one_zone(read: forms.Dates) -> tuple[Times, list[str]]:
    """Returns local times where all have one offset or one time of the day, else those of Greenwich."""
    offsets = read.offset[np.isfinite(read.offset)]
    if len(np.unique(offsets)) <= 1:
        return read.times, []
    clocks = (read.times - read.times.astype("datetime64[D]")).astype(int)
    if len(np.unique(clocks)) == 1:
        return read.times, ["times have several offsets from Greenwich; their local dates are used"]
    shift = np.nan_to_num(read.offset).astype("timedelta64[s]")
    return read.times - shift, ["times have several offsets from Greenwich; all were brought to Greenwich time"]


def _numbers(values: Float[np.ndarray, "n"]) -> tuple[Times, list[str]]:
    """Returns the times that numbers stand for: years, months by decimal years, seconds since 1970, or numbers."""
    if (values == np.round(values)).all():
        if values.min() >= FIRST_YEAR and values.max() <= LAST_YEAR:
            return (values.astype(int) - 1970).astype("datetime64[Y]").astype("datetime64[s]"), []
        for factor, name in ((1, "seconds"), (1000, "milliseconds")):
            if values.min() >= factor * FIRST_EPOCH and values.max() <= factor * LAST_EPOCH:
                seconds = (values // factor).astype("int64").astype("datetime64[s]")
                return seconds, [f"times read as {name} since 1970, in Greenwich time"]
    months = _decimal_years(values)
    return (values, []) if months is None else (months, ["decimal years read as months"])


def _decimal_years(values: Float[np.ndarray, "n"]) -> Times | None:
    """Returns the months of decimal years such as 1949.083, or None where they are not a month or a quarter apart."""
    distinct = np.unique(values)
    if len(distinct) < 3 or distinct[0] < FIRST_YEAR or distinct[-1] > LAST_YEAR:
        return None
    step = float(np.median(np.diff(distinct))) * 12
    if min(abs(step - 1), abs(step - 3)) > NEAR_MONTHS:
        return None
    for middle in (0.0, 0.5):
        months = np.round(values * 12 - middle)
        if np.abs(values * 12 - middle - months).max() <= NEAR_MONTHS and len(np.unique(months)) == len(distinct):
            return (months.astype(int) - 1970 * 12).astype("datetime64[M]").astype("datetime64[s]")
    return None
