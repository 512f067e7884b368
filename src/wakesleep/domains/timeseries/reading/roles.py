"""What the columns of a table are: times, names of series, values, or text that is left out."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from wakesleep.data.tables import Table
from wakesleep.domains.timeseries.reading.dates import looks_like_dates, read_times
from wakesleep.domains.timeseries.reading.forms import month_number
from wakesleep.domains.timeseries.reading.numbers import is_missing, read_numbers
from wakesleep.errors import Refusal

SURE_NAMES = ("ds", "t", "time", "times", "date", "dates", "datetime", "timestamp")
TIME_NAMES = ("when", "step", "period", "year", "years", "quarter", "month", "week", "day", "hour", "index")
ID_NAMES = ("unique_id", "series_id", "series", "item_id", "item", "id", "ticker", "symbol", "sensor")
TIME_COLUMNS = {
    ("year", "month", "day"): "{}-{:0>2}-{:0>2}",
    ("year", "month"): "{}-{:0>2}",
    ("year", "quarter"): "{}Q{}",
    ("year", "week"): "{}-W{:0>2}",
    ("date", "time"): "{} {}",
    ("date", "hour"): "{} {:0>2}:00",
}
"""Columns that make one time together, and how their words are joined."""
MOST_ID_COLUMNS = 3


@dataclass(frozen=True)
class Column:
    """Cells of a column without white space around them, None where one is missing."""

    name: str
    cells: list[str | None]

    @property
    def present(self) -> list[str]:
        """Returns the cells that there are."""
        return [cell for cell in self.cells if cell is not None]


@dataclass(frozen=True)
class Roles:
    """The columns of a table by what they are."""

    time: Column | None
    names: tuple[Column, ...]
    """The columns that tell series apart."""
    others: tuple[Column, ...]
    notes: tuple[str, ...] = ()


def columns_of(table: Table) -> list[Column]:
    """Returns the columns of a table as cells."""
    return [Column(c.name, [None if is_missing(v) else v.strip() for v in c.values]) for c in table.columns]  # type: ignore[union-attr]


def find_roles(columns: list[Column], column: str | None, time: str | None, id: str | None) -> Roles:  # noqa: A002
    """Returns what each column is: as the user says, else by names and contents."""
    by_name = {c.name: c for c in columns}
    for name in (column, time, *(id.split(",") if id else ())):
        if name is not None and name not in by_name:
            raise Refusal(f"The table has no column {name!r}; it has {', '.join(by_name)}.")
    clock, used, notes = _time(columns, column, time)
    left = [c for c in columns if c.name not in used]
    names = [by_name[name] for name in id.split(",")] if id else _names(clock, left, column)
    left = [c for c in left if c not in names and (column is None or c.name == column)]
    return Roles(clock, tuple(names), tuple(left), tuple(notes))


def _time(columns: list[Column], column: str | None, time: str | None) -> tuple[Column | None, set[str], list[str]]:
    """Returns the column of times, the names of the columns that it is made of, and notes."""
    if time is not None:
        return next(c for c in columns if c.name == time), {time}, []
    others = [c for c in columns if c.name != column and c.present]
    joined = _joined(others)
    if joined is not None:
        return joined
    dated = [c for c in others if looks_like_dates(c.present)]
    if len([c for c in columns if c.present]) > 1:
        named = [c for word in SURE_NAMES for c in others if c.name.lower() == word]
        named += [c for word in TIME_NAMES for c in others if c.name.lower() == word and _readable(c)]
        dated = named + dated
        if not dated and others and others[0] is columns[0] and _rises(others[0]):
            name = others[0].name
            return others[0], {name}, [f"column {name!r} rises, so it is read as the times (see --time)"]
    return (dated[0], {dated[0].name}, []) if dated else (None, set(), [])


def _rises(column: Column) -> bool:
    """Returns whether the numbers of a column rise, all of them, or by one step where some are repeated."""
    numbers = read_numbers(column.cells).values
    if numbers is None or len(numbers) < 2 or not np.isfinite(numbers).all():
        return False
    steps = np.diff(numbers)
    return bool((steps > 0).all() or (len(np.unique(steps[steps != 0])) == 1 and steps.sum() > 0))


def _joined(columns: list[Column]) -> tuple[Column, set[str], list[str]] | None:
    """Returns the column that columns such as year and month make together, if they do."""
    by_word = {c.name.lower(): c for c in columns}
    for words, form in TIME_COLUMNS.items():
        if all(word in by_word for word in words):
            parts = [by_word[word] for word in words]
            rows = zip(*(_plain(c) for c in parts), strict=True)
            cells = [None if None in row else form.format(*row) for row in rows]
            made = Column(" and ".join(c.name for c in parts), cells)
            if made.present and _readable(made):
                return made, {c.name for c in parts}, [f"columns {made.name} read together as the times"]
    return None


def _plain(column: Column) -> Iterable[str | None]:
    """Returns cells with whole numbers without a point and months in words as numbers."""
    for cell in column.cells:
        number = month_number(cell) if cell is not None and cell.isalpha() else 0
        yield str(number) if number else cell and cell.removesuffix(".0").removeprefix("Q").removeprefix("W")


def _readable(column: Column) -> bool:
    """Returns whether a column can be read as times."""
    try:
        read_times(column.present, "")
    except Refusal:
        return False
    return bool(column.present)


def _names(clock: Column | None, left: list[Column], column: str | None) -> list[Column]:
    """Returns the fewest columns that tell apart the rows of one time; none where every time occurs once."""
    given = [c for c in left if c.name.lower() == ID_NAMES[0] and c.name != column]
    if given or clock is None:
        return given
    if _tells_apart(clock, []):
        return []
    sure = [c for word in ID_NAMES for c in left if c.name.lower() == word]
    texts = [c for c in left if c not in sure and c.present and read_numbers(c.cells).values is None]
    candidates = [c for c in (*sure, *texts) if c.name != column and len(c.present) == len(c.cells)]
    for count in range(1, min(MOST_ID_COLUMNS, len(candidates)) + 1):
        for some in combinations(candidates, count):
            if _tells_apart(clock, list(some)):
                return [c for c in left if c in some]
    return []


def _tells_apart(clock: Column, names: list[Column]) -> bool:
    """Returns whether no two rows have the same time and the same names."""
    rows = [row for row in zip(clock.cells, *(c.cells for c in names), strict=True) if row[0] is not None]
    return len(set(rows)) == len(rows)
