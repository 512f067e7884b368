"""Series from a user's table: a column of times, numbers or dates, and one or more columns of values."""

from pathlib import Path

import numpy as np
import polars as pl

from wakesleep.data.tables import read_table
from wakesleep.domains.timeseries import dates as calendar
from wakesleep.domains.timeseries.records import Record, tidy
from wakesleep.errors import Refusal

MISSING = ["", "na", "n/a", "nan", "null", "none", "-", "?", "."]
SURE_NAMES = ("t", "time", "times", "date", "dates", "datetime", "timestamp", "ds")
TIME_NAMES = ("year", "month", "day", "week", "hour", "index")
UNITS = {"year": "years", "years": "years", "month": "months", "day": "days", "hour": "hours", "week": "weeks"}


def read_records(path: Path, column: str | None = None, time: str | None = None) -> list[Record]:
    """The series of a file, or the one of a column, ready to be explained."""
    table = _read(path)
    for name in (column, time):
        if name is not None and name not in table.columns:
            raise Refusal(f"{path} has no column {name!r}; it has {', '.join(table.columns)}.")
    clock = _time_column(table, column, time)
    times, unit, origin = _times(table, clock)
    wanted = [column] if column else [c for c in table.columns if c != clock]
    if not wanted:
        raise Refusal(f"{path} has only the column of times {clock!r}: a column of values is needed.")
    records, passed = [], []
    for name in wanted:
        values = _numbers(table[name])
        if values is None and len(wanted) > 1 and not _any_number(table[name]):
            passed.append(name)
            continue
        if values is None:
            raise _not_a_number(name, table[name])
        records.append(tidy(Record(name, times, values, unit, origin)))
    if not records:
        raise Refusal(f"{path} has no column of numbers: {', '.join(passed)} hold text.")
    return records


def _read(path: Path) -> pl.DataFrame:
    table = read_table(path, rows="all")
    if table.rows == 0:
        raise Refusal(f"{path} has a header but no rows.")
    texts = pl.DataFrame([pl.Series(c.name, c.values, pl.String) for c in table.columns])
    return texts.select(_cells(pl.col(name)).alias(name) for name in texts.columns)


def _cells(column: pl.Expr) -> pl.Expr:
    """The texts of a column, what stands for a missing value as nothing."""
    text = column.str.strip_chars()
    return pl.when(text.str.to_lowercase().is_in(MISSING)).then(None).otherwise(text)


def _numbers(texts: pl.Series) -> np.ndarray | None:
    """The texts as numbers, missing ones as NaN; None where some are not numbers. A comma may be the decimal point."""
    for tried in (texts, texts.str.replace(",", ".", literal=True)):
        found = tried.cast(pl.Float64, strict=False)
        if found.is_not_null().sum() == texts.is_not_null().sum():
            return found.fill_null(float("nan")).to_numpy()
    return None


def _any_number(texts: pl.Series) -> bool:
    return texts.cast(pl.Float64, strict=False).is_not_null().any()


def _not_a_number(name: str, texts: pl.Series) -> Refusal:
    """What is said of a column that holds text."""
    bad = texts.is_not_null() & texts.cast(pl.Float64, strict=False).is_null()
    row = int(bad.arg_max() or 0)
    return Refusal(
        f"Column {name!r} holds {str(texts[row])[:40]!r} in row {row + 1}, but a series is made of numbers: correct "
        "it, leave the cell empty, or choose another column (--column)."
    )


def _time_column(table: pl.DataFrame, column: str | None, time: str | None) -> str | None:
    """The column of times: the one named, or one that looks like it; None counts the rows."""
    if time is not None:
        return time
    others = [c for c in table.columns if c != column]
    if not others or (column is None and len(others) == 1):
        return None
    for name in others:
        readable = _numbers(table[name]) is not None or calendar.dates(table[name]) is not None
        if name.lower() in SURE_NAMES or (name.lower() in TIME_NAMES and readable):
            return name
    first = others[0]
    if _numbers(table[first]) is None and calendar.dates(table[first]) is not None:
        return first
    numbers = _numbers(table[first])
    rising = numbers is not None and bool(np.all(np.diff(numbers) >= 0)) and numbers[0] < numbers[-1]
    return first if rising else None


def _times(table: pl.DataFrame, clock: str | None) -> tuple[np.ndarray, str, str]:
    """Times, what one of them is called, and the date that they are counted from, if any."""
    if clock is None:
        return np.arange(1.0, table.height + 1), "steps", ""
    texts = table[clock]
    if texts.is_not_null().sum() == 0:
        raise Refusal(f"The column of times {clock!r} is empty.")
    numbers = _numbers(texts)
    if numbers is not None and not _compact_dates(texts):
        return numbers, UNITS.get(clock.lower(), f"units of {clock}"), ""
    found = calendar.dates(texts)
    if found is None:
        row = next(i for i, text in enumerate(texts) if text is not None and calendar.dates(texts[i : i + 1]) is None)
        raise Refusal(
            f"The column of times {clock!r} holds {str(texts[row])[:40]!r} in row {row + 1}: dates of one form "
            "(such as 2024-01-31) or numbers were expected; choose another with --time."
        )
    return calendar.count(found)


def _compact_dates(texts: pl.Series) -> bool:
    """Whether numbers are dates such as 20240131."""
    eight = texts.drop_nulls().str.contains(r"^(1[5-9]|20)\d\d(0[1-9]|1[0-2])([0-2]\d|3[01])$")
    return bool(eight.all())
