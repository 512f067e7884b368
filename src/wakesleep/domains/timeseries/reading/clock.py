"""A clock: the grid that the times of a series lie on, and the times and words of any position of that grid."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

Unit = Literal["year", "quarter", "month", "week", "day", "hour", "minute", "second", "step"]
MONTHS_OF_PERIOD: dict[str, int] = {"month": 1, "quarter": 3, "year": 12}
SECONDS: dict[str, int] = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
YEAR_DAYS = 365
WEEKDAYS_A_YEAR = 261
LETTERS = {"day": "D", "hour": "m", "minute": "m", "second": "s", "week": "D", "month": "M", "year": "Y"}
"""NumPy's letters of the precision that a unit is written with."""

Positions = np.ndarray | Sequence[float] | Sequence[int]
Times = np.ndarray
"""Of type datetime64[s], or of floats where times are numbers."""


@dataclass(frozen=True)
class Clock:
    """Position p is the time `start` + p steps; a step is `every` units."""

    unit: Unit = "step"
    every: float | int = 1
    """A whole number where the unit is one of the calendar."""
    start: float | np.datetime64 = 0.0
    """A number for steps, else a datetime64[s]."""
    weekdays: bool = False
    """Whether Saturdays and Sundays have no position; for days only."""
    day: int = 1
    """The day of the month that months, quarters and years stand for; 31 is the last of each."""

    @property
    def units_a_step(self) -> float | int:
        """Returns how many units of the calendar a step has, and 1 where times are numbers."""
        return 1 if self.unit == "step" else self.every

    def time_at(self, positions: Positions) -> Times:
        """Returns the times of positions: datetime64[s], or floats where times are numbers."""
        p = np.asarray(positions, float)
        if self.unit == "step":
            return float(self.start) + self.every * p
        if self.unit in MONTHS_OF_PERIOD:
            return self._months_at(p * self.every * MONTHS_OF_PERIOD[self.unit])
        if self.weekdays:
            return self._weekdays_at(p)
        return self._first() + np.round(p * self.every * SECONDS[self.unit]).astype("timedelta64[s]")

    def position_of(self, times: Times) -> Float[np.ndarray, "k"]:
        """Returns the positions of times; those between two grid points are fractions."""
        if self.unit == "step":
            return (np.asarray(times, float) - float(self.start)) / self.every
        times = np.asarray(times, "datetime64[s]")
        if self.unit in MONTHS_OF_PERIOD:
            return _month_of(times, self.day, self._first()) / (self.every * MONTHS_OF_PERIOD[self.unit])
        if self.weekdays:
            days = times.astype("datetime64[D]")
            rest = (times - days).astype(float) / SECONDS["day"]
            return np.busday_count(self._first().astype("datetime64[D]"), days) + rest
        return (times - self._first()).astype(float) / (self.every * SECONDS[self.unit])

    def label(self, position: float | int) -> str:
        """Returns a time in words: 2019, 2019Q1, 2019-01, 2019-01-31, 2019-01-31 13:00, or a number."""
        when = self.time_at(np.array([position]))[0]
        if self.unit == "step":
            return f"{when:.6g}"
        if self.unit == "quarter":
            month = int(when.astype("datetime64[M]").astype(int))
            return f"{1970 + month // 12}Q{month % 12 // 3 + 1}"
        return str(when.astype(f"datetime64[{LETTERS[self.unit]}]")).replace("T", " ")

    def seasons(self, span: float | int) -> tuple[int, ...]:
        """Returns the calendar seasons in steps that a series of that span, in steps, holds at least twice."""
        return tuple(s for s in self._calendar() if 2 * s <= span + 1)

    def _calendar(self) -> tuple[int, ...]:
        """Returns all seasons of the calendar that are a whole number of at least two steps."""
        if self.unit in ("step", "year"):
            return ()
        if self.unit in MONTHS_OF_PERIOD:
            return _whole([12 / MONTHS_OF_PERIOD[self.unit] / self.every])
        if self.unit == "week":
            return _whole([52 / self.every])
        if self.unit == "day":
            week, year = (5, WEEKDAYS_A_YEAR) if self.weekdays else (7, YEAR_DAYS)
            return _whole([week / self.every, year / self.every])
        step = self.every * SECONDS[self.unit]
        longer = {"hour": ["day", "week"], "minute": ["hour", "day", "week"], "second": ["minute", "hour", "day"]}
        return _whole([SECONDS[name] / step for name in longer[self.unit]])

    def _first(self) -> Any:
        """Returns the start as datetime64[s]."""
        return np.asarray(self.start).astype("datetime64[s]")[()]

    def _months_at(self, months: Float[np.ndarray, "k"]) -> Times:
        """Returns the dates that many months after the start; fractions lie between two of them in proportion."""
        whole = np.floor(months)
        first = self._first()
        low, high = (_date_in(first.astype("datetime64[M]") + (whole + k).astype(int), self.day) for k in (0, 1))
        clock = first - first.astype("datetime64[D]")
        share = np.round((months - whole) * (high - low).astype(float)).astype("timedelta64[s]")
        return low + share + clock

    def _weekdays_at(self, positions: Float[np.ndarray, "k"]) -> Times:
        """Returns the weekdays that many weekdays after the start."""
        whole = np.floor(positions)
        first = self._first()
        days = np.busday_offset(first.astype("datetime64[D]"), whole.astype(int)).astype("datetime64[s]")
        share = np.round((positions - whole) * SECONDS["day"]).astype("timedelta64[s]")
        return days + share + (first - first.astype("datetime64[D]"))


def _whole(seasons: list[float]) -> tuple[int, ...]:
    """Returns those that are whole numbers of at least two."""
    return tuple(round(s) for s in seasons if s >= 2 and abs(s - round(s)) < 1e-9)


def _date_in(months: np.ndarray, day: int) -> Times:
    """Returns that day of each month, or the last where a month is shorter."""
    first = months.astype("datetime64[D]")
    length = ((months + 1).astype("datetime64[D]") - first).astype(int)
    return (first + (np.minimum(day, length) - 1)).astype("datetime64[s]")


def _month_of(times: Times, day: int, start: np.datetime64) -> Float[np.ndarray, "k"]:
    """Returns how many months after the start each time is; a fraction between two of the clock's dates."""
    clock = start - start.astype("datetime64[D]")
    month = times.astype("datetime64[M]")
    own = _date_in(month, day) + clock
    month = np.where(times < own, month - 1, month)
    low, high = _date_in(month, day) + clock, _date_in(month + 1, day) + clock
    share = (times - low).astype(float) / (high - low).astype(float)
    return (month - start.astype("datetime64[M]")).astype(float) + share
