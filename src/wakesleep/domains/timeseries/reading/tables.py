"""Series from a user's table: a column of times and columns of values, long tables, or a series in each row."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from wakesleep.data.headers import NUMERAL
from wakesleep.data.tables import Table, read_table
from wakesleep.domains.timeseries.reading.clock import Times
from wakesleep.domains.timeseries.reading.dates import looks_like_dates, read_times
from wakesleep.domains.timeseries.reading.numbers import read_numbers
from wakesleep.domains.timeseries.reading.roles import Column, Roles, columns_of, find_roles
from wakesleep.domains.timeseries.reading.series import Series, build
from wakesleep.domains.timeseries.reading.wide import is_wide, lengthen
from wakesleep.errors import Refusal

TEXT_SHARE = 0.5
"""A column with a smaller share of numbers is text, and left out; with a larger one, a cell of text is a fault."""
MOST_NAMES_SHOWN = 5


def read_series(
    source: Any,
    column: str | None = None,
    time: str | None = None,
    id: str | None = None,  # noqa: A002, the word of tables
    season: Any = None,
) -> list[Series]:
    """Returns the series of a file or a data frame: one a column of numbers, and one a name in a long table.

    `column` chooses the values, `time` the times, `id` the columns (with commas) that tell the series apart.
    """
    table = _table(source)
    columns, notes, numbers = columns_of(table), list(table.notes), np.arange(1, table.rows + 1)
    if is_wide(columns) and time is None:
        columns, numbers, note = lengthen(columns)
        notes.append(note)
        time, id = columns[-2].name, id or ",".join(c.name for c in columns[:-2])  # noqa: A001
    roles = find_roles(columns, column, time, id)
    values = _value_columns(roles, numbers, column)
    notes += [*roles.notes, *_left_out(roles, values)]
    times, rows, said = _times(roles, numbers)
    found = []
    for name, places in _groups(roles, rows):
        for value, (read, own) in values.items():
            title = ", ".join(filter(None, (name, value if len(values) > 1 or not name else "")))
            own_times = None if times is None else times[places]
            found += _series(title, read[places], own_times, numbers[places], season, (*notes, *said, *own))
    if not found:
        raise Refusal(f"{_title(source)} has no value: every cell of {', '.join(values)} is empty.")
    return found


def _title(source: Any) -> str:
    return str(source) if isinstance(source, str) or hasattr(source, "suffix") else "The table"


def _table(source: Any) -> Table:
    """Returns the table, its first row among the others where all of its cells are dates or numbers."""
    table = read_table(source, rows="all")
    names = [name for name in table.names if not name.startswith("column ")]
    values = all(NUMERAL.fullmatch(n) or read_numbers([n]).values is not None or looks_like_dates([n]) for n in names)
    if names and values and "first row" in table.header and not _are_years(names):
        table = read_table(source, rows="all", header=False)
    if table.rows == 0:
        raise Refusal(f"{_title(source)} has a header but no rows.")
    return table


def _are_years(names: list[str]) -> bool:
    """Returns whether names are several years one after the other."""
    years = [int(n) for n in names if n.isascii() and n.isdigit() and len(n) == 4]
    return len(years) == len(names) > 2 and set(np.diff(years)) == {1}


def _value_columns(
    roles: Roles, numbers: np.ndarray, column: str | None
) -> dict[str, tuple[Float[np.ndarray, "n"], tuple[str, ...]]]:
    """Returns the columns of numbers by name, each with notes; text is left out, a stray cell of text refused."""
    found = {}
    for each in roles.others:
        read = read_numbers(each.cells)
        if read.values is not None:
            if each.present or each.name == column or len(roles.others) == 1:
                found[each.name] = (read.values, read.notes)
            continue
        if each.name == column or len(roles.others) == 1 or _mostly_numbers(each):
            raise Refusal(
                f"Column {each.name!r} holds {str(each.cells[read.bad])[:30]!r} in row {numbers[read.bad]}, which "
                f"{read.why}, but a series is made of numbers: correct it, leave the cell empty, or choose another "
                "column (--column)."
            )
    if not found:
        names = ", ".join(c.name for c in roles.others) or "no other column"
        raise Refusal(f"The table has no column of numbers beside its times and names: it has {names}.")
    return found


def _mostly_numbers(column: Column) -> bool:
    numbers = sum(read_numbers([cell]).values is not None for cell in column.present)
    return numbers >= TEXT_SHARE * len(column.present)


def _left_out(roles: Roles, values: dict[str, Any]) -> list[str]:
    names = [repr(c.name) for c in roles.others if c.name not in values]
    if not names:
        return []
    shown = ", ".join(names[:MOST_NAMES_SHOWN]) + ", ..." * (len(names) > MOST_NAMES_SHOWN)
    return [f"columns without numbers left out: {shown}"]


def _times(roles: Roles, numbers: np.ndarray) -> tuple[Times | None, np.ndarray, list[str]]:
    """Returns the times of all rows, the rows that are there, and notes; a row without a time must be empty."""
    clock = roles.time
    if clock is None:
        return None, np.arange(len(numbers)), []
    first: dict[str, int] = {}
    for i, cell in enumerate(clock.cells):
        if cell is not None:
            first.setdefault(cell, i)
        elif any(c.cells[i] is not None for c in roles.others):
            raise Refusal(
                f"The column of times {clock.name!r} is empty in row {numbers[i]}, which has values: fill it in."
            )
    if not first:
        raise Refusal(f"The column of times {clock.name!r} is empty.")
    read, notes = read_times(
        list(first), f"The column of times {clock.name!r}", [int(numbers[i]) for i in first.values()]
    )
    place = {cell: k for k, cell in enumerate(first)}
    rows = np.array([i for i, cell in enumerate(clock.cells) if cell is not None])
    times = np.zeros(len(numbers), read.dtype)
    times[rows] = read[[place[cell] for cell in clock.cells if cell is not None]]
    return times, rows, notes


def _groups(roles: Roles, rows: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Returns the names of the series of a long table and the rows of each, in the order of their first rows."""
    if not roles.names:
        return [("", rows)]
    groups: dict[str, list[int]] = {}
    for i in rows:
        groups.setdefault(", ".join(c.cells[i] or "?" for c in roles.names), []).append(int(i))
    return [(name, np.array(places)) for name, places in groups.items()]


def _series(
    name: str,
    values: Float[np.ndarray, "n"],
    times: Times | None,
    rows: np.ndarray,
    season: Any,
    notes: Sequence[str],
) -> list[Series]:
    """Returns the series of some rows from its first value to its last, or nothing where it has none."""
    there = np.flatnonzero(~np.isnan(values))
    if not len(there):
        return []
    kept = np.ones(len(values), bool)
    if times is None:
        kept[: there[0]] = kept[there[-1] + 1 :] = False
    else:
        kept = (times >= times[there].min()) & (times <= times[there].max())
    said = [*notes, *[f"{(~kept).sum():,} rows before the first or after the last value left out"] * (not kept.all())]
    return [build(name, values[kept], None if times is None else times[kept], season, said, rows[kept])]
