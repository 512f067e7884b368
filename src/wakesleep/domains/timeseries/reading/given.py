"""Values and times as Python has them: lists, arrays, pandas and Polars columns, dates and periods."""

from datetime import date, datetime
from typing import Any

import numpy as np
from jaxtyping import Float

from wakesleep.data.values import text_of
from wakesleep.domains.timeseries.reading.clock import Times
from wakesleep.domains.timeseries.reading.dates import read_times
from wakesleep.errors import Refusal

KNOWN_SERIES = "a list, an array, or a column of pandas or Polars"


def values_of(y: Any) -> tuple[str, Float[np.ndarray, "n"], Any]:
    """Returns the name of a column, its values as floats with NaN where one is missing, and its index of times."""
    if isinstance(y, str | bytes | dict) or not hasattr(y, "__len__") or getattr(y, "ndim", 1) != 1:
        raise Refusal(f"A series is {KNOWN_SERIES} with one number for each time, but {type(y).__name__} was given.")
    name = getattr(y, "name", None)
    name = str(name) if isinstance(name, str | int | tuple) and name != "" else "y"
    if len(y) == 0:
        raise Refusal(f"{name} has no value: a series is made of numbers.")
    values = np.array([_number(v, name, row) for row, v in enumerate(_plain(y), 1)])
    return name, values, _index(y)


def times_of(times: Any, length: int) -> tuple[Times | None, list[str]]:
    """Returns times as datetime64[s] or as floats, and notes on how they were read; None counts the values."""
    if times is None:
        return None, []
    if isinstance(times, str | bytes) or not hasattr(times, "__len__"):
        raise Refusal(f"times must be {KNOWN_SERIES} with one time for each value, but {times!r} was given.")
    if len(times) != length:
        raise Refusal(f"times must have one entry for each value, but {len(times)} times and {length} values came.")
    plain = _plain(times)
    for row, time in enumerate(plain, 1):
        if _absent(time):
            raise Refusal(f"times has no time in row {row}: give every value a time, or leave the value out.")
    if all(isinstance(t, str) for t in plain):
        return read_times(plain, "times")
    if all(isinstance(t, date | np.datetime64) for t in plain):
        return np.array([_second(t) for t in plain], "datetime64[s]"), []
    if all(isinstance(t, int | float) and not isinstance(t, bool) for t in plain):
        return read_times([_text(t) for t in plain], "times")
    odd = next(t for t in plain if type(t) is not type(plain[0])) if len({type(t) for t in plain}) > 1 else plain[0]
    raise Refusal(f"times must be all dates, all numbers or all texts of dates, but {str(odd)[:40]!r} is among them.")


def _plain(column: Any) -> list[Any]:
    """Returns the entries of a column as Python's own objects; periods are dates of their first day."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "M":
        return list(column.astype("datetime64[s]"))
    listed = (
        column.tolist() if hasattr(column, "tolist") else column.to_list() if hasattr(column, "to_list") else column
    )
    return [t.to_timestamp() if hasattr(t, "to_timestamp") else t for t in listed]


def _absent(value: Any) -> bool:
    """Returns whether an entry is None, NaN, or what NumPy and pandas put where there is no time."""
    return text_of(value) is None or (isinstance(value, np.datetime64) and bool(np.isnat(value)))


def _number(value: Any, name: str, row: int) -> float:
    """Returns an entry as a float, NaN where it is missing."""
    if _absent(value):
        return float("nan")
    try:
        if isinstance(value, str | bytes | datetime | date):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise Refusal(
            f"{name} holds {str(value)[:40]!r} in row {row}, but a series is made of numbers: correct it, or put None."
        ) from None


def _text(number: float | int) -> str:
    """Returns a number as a table would have it, whole ones without a point."""
    return str(int(number)) if number == int(number) else repr(float(number))


def _second(time: date | np.datetime64) -> Any:
    """Returns a date or a datetime as datetime64[s]; one with a zone as the clock of that zone shows it."""
    if isinstance(time, datetime):
        time = time.replace(tzinfo=None)
    return np.asarray(time).astype("datetime64[s]")[()]


def _index(y: Any) -> Any:
    """Returns the index of a pandas column if it holds dates or periods, else None."""
    index = getattr(y, "index", None)
    return index if type(index).__name__ in ("DatetimeIndex", "PeriodIndex") else None
