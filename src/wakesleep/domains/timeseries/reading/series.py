"""A series as every part of the domain sees it: values on positions in time, with a calendar."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.reading.clock import Clock, Positions, Times, Unit
from wakesleep.domains.timeseries.reading.dates import last_moment
from wakesleep.domains.timeseries.reading.given import times_of, values_of
from wakesleep.domains.timeseries.reading.grid import clock_of_dates, clock_of_numbers
from wakesleep.errors import Refusal

LARGEST_VALUE = 1e100
"""Squares of values up to this one, and sums of many such squares, are numbers of double precision."""
LONGEST_SEASON_STEPS = 100_000


@dataclass(frozen=True)
class Series:
    """Values at positions in time, in the order of time; no two values share a position."""

    name: str
    values: Float[np.ndarray, "n"]
    """NaN where a value is missing."""
    positions: Float[np.ndarray, "n"]
    """Time in steps, rising from 0; fractions where times are irregular."""
    times: Times | None = None
    """datetime64[s]; None where times are numbers or rows."""
    unit: Unit = "step"
    seasons: tuple[int, ...] = ()
    """Seasons of the calendar in steps, such as 12 for months; those that the series holds at least twice."""
    clock: Clock = field(default_factory=Clock)
    notes: tuple[str, ...] = ()
    """What was done to the data while they were read, a clause each."""

    def time_at(self, positions: Positions) -> Times:
        """Returns the times of any positions as Polars takes them: datetime64[us], or floats where they are numbers."""
        found = self.clock.time_at(positions)
        return found if found.dtype.kind == "f" else found.astype("datetime64[us]")

    def label(self, position: float | int) -> str:
        """Returns the time of a position in words, such as 2019-01."""
        return self.clock.label(position)

    def future(self, steps: int) -> Float[np.ndarray, "k"]:
        """Returns the positions of the next steps after the last value."""
        return self.positions[-1] + np.arange(1.0, steps + 1)

    def steps_until(self, until: str) -> int:
        """Returns how many steps after the last value are not after a time such as 2025-12 or 2025-12-31."""
        end = float(self.clock.position_of(last_moment(until, self.times is not None))[0])
        steps = int(np.floor(end - self.positions[-1] + 1e-9))
        if steps < 1:
            last = self.label(self.positions[-1])
            raise Refusal(f"until must be later than the last time of {self.name}, {last}, but {until!r} was given.")
        return steps

    def first(self, count: int) -> "Series":
        """Returns the first values of the series, with the seasons that these hold at least twice."""
        positions = self.positions[:count]
        span = float(positions[-1]) if len(positions) else 0.0
        return replace(
            self,
            values=self.values[:count],
            positions=positions,
            times=None if self.times is None else self.times[:count],
            seasons=tuple(s for s in self.seasons if 2 * s <= span + 1),
        )


def series_of(y: Any, times: Any = None, season: Any = None) -> Series:
    """Returns the series of a list, an array or a pandas or Polars column, whose index of dates gives its times.

    `times` are dates, datetimes, periods, texts of dates or numbers, one for each value. `season`, a number of steps or
    several, replaces the seasons of the calendar; 1 means none.
    """
    if isinstance(y, Series):
        return y if season is None else replace(y, seasons=_seasons(season))
    name, values, index = values_of(y)
    stamps, notes = times_of(index if times is None else times, len(values))
    return build(name, values, stamps, season, notes)


def build(
    name: str,
    values: Float[np.ndarray, "n"],
    times: Times | None,
    season: Any = None,
    notes: Iterable[str] = (),
    rows: Sequence[int] | np.ndarray | None = None,
) -> Series:
    """Returns values and their times as a series in the order of time, or refuses them and names the row.

    `rows` are the numbers of the rows in the user's table, from one.
    """
    notes, numbers = list(notes), np.arange(1, len(values) + 1) if rows is None else np.asarray(rows)
    _require_values(name, values, numbers)
    if times is None:
        clock, positions = Clock("step", 1.0, 1.0), np.arange(len(values), dtype=float)
    else:
        found = clock_of_dates if times.dtype.kind == "M" else clock_of_numbers
        clock, positions = found(times)
        order = np.argsort(positions, kind="stable")
        if (np.diff(order) < 0).any():
            notes.append("rows sorted by time")
        values, positions, times, numbers = values[order], positions[order], times[order], numbers[order]
        _require_once(name, clock, positions, numbers)
    kept = times if times is not None and times.dtype.kind == "M" else None
    seasons = clock.seasons(float(positions[-1])) if season is None else _seasons(season)
    return Series(name, values, positions, kept, clock.unit, seasons, clock, tuple(notes))


def _require_values(name: str, values: Float[np.ndarray, "n"], rows: np.ndarray) -> None:
    """Refuses no values at all, and values that are too large to be squared."""
    if not np.isfinite(values).any():
        raise Refusal(f"{name} has no value: a series is made of numbers.")
    large = np.flatnonzero(np.abs(values) > LARGEST_VALUE)
    if len(large):
        value = values[large[0]]
        what = "an infinite value" if np.isinf(value) else f"{value:g}"
        raise Refusal(
            f"{name} has {what} in row {rows[large[0]]}, but values up to {LARGEST_VALUE:g} were expected: correct it, "
            "or leave the cell empty."
        )


def _require_once(name: str, clock: Clock, positions: Float[np.ndarray, "n"], rows: np.ndarray) -> None:
    """Refuses a time that two rows share."""
    again = np.flatnonzero(np.diff(positions) == 0)
    if len(again):
        first, second = sorted(int(r) for r in rows[again[0] : again[0] + 2])
        raise Refusal(
            f"{name} has the time {clock.label(positions[again[0]])} in row {first} and again in row {second}: a "
            "series has one value at a time, so name the column that tells the series apart (--id), or remove one."
        )


def _seasons(season: Any) -> tuple[int, ...]:
    """Returns seasons that a user gave, as whole steps; 1 or 0 means none."""
    given = list(season) if isinstance(season, list | tuple | np.ndarray) else [season]
    for one in given:
        if isinstance(one, bool | str) or not 0 <= one <= LONGEST_SEASON_STEPS or one != int(one):
            raise Refusal(
                f"season must be a whole number of steps, such as 12 for months (1 for none), but {one!r} was given."
            )
    return tuple(sorted({int(one) for one in given if one > 1}))
