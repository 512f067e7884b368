"""Finds the clock of a series: the grid of the calendar, or of numbers, on which its times lie best."""

from math import gcd

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.reading.clock import SECONDS, Clock, Times, Unit

ON_GRID_SHARE = 0.5
"""Times with this share of gaps of one step are on a grid with points left out."""
NEAR_STEPS = 0.15
"""Times within this many steps of a grid are on it, as decimal years are on the grid of months."""
LEAST_MONTH_DAYS = 27
LEAST_WEEKDAY_SPAN_DAYS = 13
LAST_DAYS = 31


def clock_of_dates(times: Times) -> tuple[Clock, Float[np.ndarray, "n"]]:
    """Returns the clock of dates (datetime64[s], in any order) and their positions."""
    distinct = np.unique(times)
    if len(distinct) < 2:
        return Clock("day", 1, distinct[0]), np.zeros(len(times))
    clock = _by_months(distinct) or _by_seconds(distinct)
    if clock.unit in ("year", "quarter", "month"):
        months = (times.astype("datetime64[M]") - distinct[0].astype("datetime64[M]")).astype(float)
        return clock, months / (clock.every * {"year": 12, "quarter": 3, "month": 1}[clock.unit])
    return clock, _snapped(clock.position_of(times))


def clock_of_numbers(times: Float[np.ndarray, "n"]) -> tuple[Clock, Float[np.ndarray, "n"]]:
    """Returns the clock of times that are numbers, which may be decimal years, and their positions."""
    distinct = np.unique(times)
    if len(distinct) < 2:
        return Clock("step", 1.0, float(distinct[0])), np.zeros(len(times))
    step = float(np.median(np.diff(distinct)))
    clock = Clock("step", step, float(distinct[0]))
    return clock, _snapped(clock.position_of(times))


def _by_months(times: Times) -> Clock | None:
    """Returns a clock of months, quarters or years, if each time has a month of its own on such a grid."""
    months = times.astype("datetime64[M]").astype(int)
    steps, gaps = np.diff(months), np.diff(times).astype(int)
    if len(np.unique(months)) < len(months) or np.median(gaps) < LEAST_MONTH_DAYS * SECONDS["day"]:
        return None
    every = gcd(*steps.tolist())
    day = _day(times)
    if day is None:
        weekly = len(times) > 2 and not (gaps % SECONDS["week"]).any()
        if weekly or np.mean(steps == every) < ON_GRID_SHARE:
            return None
    unit: Unit = "year" if every % 12 == 0 else "quarter" if every % 3 == 0 else "month"
    size = {"year": 12, "quarter": 3, "month": 1}[unit]
    start = times[0].astype("datetime64[M]").astype("datetime64[s]") if day is None else times[0]
    return Clock(unit, every // size, start, day=day or 1)


def _day(times: Times) -> int | None:
    """Returns the day of the month that all times have, 31 where each is the last of its month, or None."""
    days = times.astype("datetime64[D]")
    clocks = (times - days).astype(int)
    if len(np.unique(clocks)) > 1:
        return None
    numbers = (days - times.astype("datetime64[M]").astype("datetime64[D]")).astype(int) + 1
    last = ((days + 1).astype("datetime64[M]") > days.astype("datetime64[M]")).all()
    if last:
        return LAST_DAYS
    return int(numbers[0]) if len(np.unique(numbers)) == 1 else None


def _by_seconds(times: Times) -> Clock:
    """Returns a clock of weeks, days, hours, minutes or seconds; of the usual gap where times are irregular."""
    gaps = np.diff(times).astype(int)
    step = gcd(*gaps.tolist())
    if np.mean(gaps == step) < ON_GRID_SHARE:
        step = _rounded(float(np.median(gaps)))
    unit: Unit = next(u for u in ("week", "day", "hour", "minute", "second") if step % SECONDS[u] == 0)
    every = step // SECONDS[unit]
    weekdays = bool(unit == "day" and every == 1 and np.is_busday(times.astype("datetime64[D]")).all())
    long = (times[-1] - times[0]).astype(int) >= LEAST_WEEKDAY_SPAN_DAYS * SECONDS["day"]
    return Clock(unit, every, times[0], weekdays=weekdays and bool(long))


def _rounded(seconds: float) -> int:
    """Returns a duration as a whole number of the longest unit that is not longer than it."""
    size = max((s for s in SECONDS.values() if s <= seconds), default=1)
    return round(seconds / size) * size


def _snapped(positions: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    """Returns the positions on whole steps where all are near one and no two fall together, else unchanged."""
    whole = np.round(positions)
    near = np.abs(positions - whole).max(initial=0.0) <= NEAR_STEPS
    distinct = len(np.unique(whole)) == len(np.unique(positions))
    return whole if near and distinct else positions
