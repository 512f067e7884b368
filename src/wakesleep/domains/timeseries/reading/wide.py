"""Wide tables, which have a series in each row and a time in each name of a column."""

import numpy as np

from wakesleep.domains.timeseries.reading.dates import looks_like_dates, read_times
from wakesleep.domains.timeseries.reading.numbers import read_numbers
from wakesleep.domains.timeseries.reading.roles import Column
from wakesleep.errors import Refusal

FEWEST_TIMES = 3


def is_wide(columns: list[Column]) -> bool:
    """Returns whether the last names are times, one after the other, below text columns that name the series."""
    first = _first_time(columns)
    if len(columns) - first < FEWEST_TIMES or first == 0:
        return False
    named = all(read_numbers(c.cells).values is None for c in columns[:first] if c.present)
    return named and not any(looks_like_dates(c.present) for c in columns[:first] if c.present)


def lengthen(columns: list[Column]) -> tuple[list[Column], np.ndarray, str]:
    """Returns the columns of the long table (names, time, value), the number of the row of each cell, and a note."""
    first = _first_time(columns)
    names, times = columns[:first], columns[first:]
    height = len(columns[0].cells)
    order = [(row, time) for row in range(height) for time in times]
    long = [Column(c.name, [c.cells[row] for row, _ in order]) for c in names]
    long.append(Column("time", [time.name for _, time in order]))
    long.append(Column("value", [time.cells[row] for row, time in order]))
    numbers = np.array([row + 1 for row, _ in order])
    return long, numbers, f"every row read as a series, from {times[0].name} to {times[-1].name}"


def _first_time(columns: list[Column]) -> int:
    """Returns the place of the first of the last names that are all dates or years of one form, in their order."""
    names = [c.name for c in columns]
    for first in range(len(names)):
        try:
            times, _ = read_times(names[first:], "")
        except Refusal:
            continue
        if times.dtype.kind == "M" and bool((times[1:] > times[:-1]).all()):
            return first
    return len(names)
