"""Data frames and columns of Python (pandas, Polars, Arrow, DuckDB, dictionaries, lists) as plain columns of text.

None of these libraries is imported for the others: pandas, Polars and DuckDB are known by their methods, Arrow
tables and columns by the stream that they offer to others (`__arrow_c_stream__`).
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wakesleep.data.sources import ColumnSource, Texts
from wakesleep.data.values import is_missing, texts_of, texts_of_series
from wakesleep.errors import Refusal

ACCEPTED = "a file's path, a pandas or Polars data frame or column, an Arrow table, a DuckDB relation, a dict or a list"
LIBRARIES = ("pandas", "polars", "duckdb")
STREAMS = ("__arrow_c_stream__", "__arrow_c_array__")


class FrameSource(ColumnSource):
    """A data frame, or one column of values."""

    def __init__(self, frame: Any):
        names, self._columns = _columns(frame)
        self._columns = [_without_time(column) for column in self._columns]
        heights = {len(column) for column in self._columns}
        if len(heights) > 1:
            raise Refusal(f"The columns of a table must be of one length, but {sorted(heights)} were given.")
        super().__init__("The data frame", names, max(heights, default=0))
        self.instants = {name for name, c in zip(self.names, self._columns, strict=True) if _holds_instants(c)}

    def take(self, rows: Sequence[int]) -> list[Texts]:
        """The columns of those rows."""
        return [_texts(column, rows) for column in self._columns]


def is_frame(source: Any) -> bool:
    """Whether an object is a table or a column, rather than the name of a file."""
    library = _library(source)
    arrow = any(hasattr(source, name) for name in STREAMS)
    return bool(library) or arrow or isinstance(source, Mapping | list | tuple | range)


def _library(thing: Any) -> str:
    """Which of the known libraries an object, or what it is derived from, comes from."""
    homes = {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}
    return next((name for name in LIBRARIES if name in homes), "")


def _columns(frame: Any) -> tuple[list[str], list[Any]]:
    """The names of a frame's columns, and the columns as their own library has them."""
    library = _library(frame)
    if library == "pandas":
        if hasattr(frame, "columns"):
            return [str(name) for name in frame.columns], [frame.iloc[:, i] for i in range(frame.shape[1])]
        return [_name(frame)], [frame]
    if isinstance(frame, Mapping):
        return [str(name) for name in frame], [_sequence(column) for column in frame.values()]
    if isinstance(frame, list | tuple | range):
        return [_name(frame)], [frame]
    if library == "duckdb":
        return list(frame.columns), list(zip(*_fetched(frame), strict=True)) or [[] for _ in frame.columns]
    return _polars_columns(frame, library)


def _fetched(relation: Any) -> list[Any]:
    """The rows of a DuckDB relation."""
    try:
        return list(relation.fetchall())
    except Exception as error:
        if "duckdb" not in type(error).__module__ and not isinstance(error, ImportError):
            raise
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise Refusal(f"The DuckDB relation cannot be read ({said[:200]}).") from None


def _polars_columns(frame: Any, library: str) -> tuple[list[str], list[Any]]:
    import polars as pl

    names: list[str] = []
    try:
        if isinstance(frame, pl.LazyFrame):
            frame = frame.collect(engine="streaming")
        elif library != "polars":
            names = list(getattr(frame, "column_names", ()))
            if len(set(names)) < len(names) and hasattr(frame, "rename_columns"):
                frame = frame.rename_columns([str(i) for i in range(len(names))])
            frame = pl.DataFrame(frame) if hasattr(frame, "schema") else pl.Series(frame)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise Refusal(f"{type(frame).__name__} cannot be read as a table ({str(error)[:100]}).") from None
    if isinstance(frame, pl.Series):
        return [_name(frame)], [frame]
    return names or frame.columns, list(frame.iter_columns())


def _name(column: Any) -> str:
    name = getattr(column, "name", None)
    return str(name) if name not in (None, "") else "values"


def _sequence(column: Any) -> Any:
    """A column of a dictionary as something that has a length and can be indexed."""
    if isinstance(column, str | bytes) or not isinstance(column, Iterable):
        raise Refusal(f"A column must hold a list of values, but {str(column)[:40]!r} was given: put it in a list.")
    return column if hasattr(column, "__getitem__") else list(column)


def _holds_instants(column: Any) -> bool:
    """Whether a column is of dates or times, by its type, or else by its first value."""
    kind = getattr(column, "dtype", None)
    if kind is not None and _library(column) == "polars":
        import polars as pl

        return isinstance(kind, pl.Date | pl.Datetime)
    if getattr(kind, "kind", "O") != "O":
        return bool(kind is not None and kind.kind == "M")
    return isinstance(next((v for v in column if not is_missing(v)), None), datetime.date)


def _without_time(column: Any) -> Any:
    """A column of pandas whose times are all midnight as dates, as pandas itself prints and writes it."""
    if _library(column) != "pandas" or getattr(column.dtype, "kind", "") != "M" or column.dt.tz is not None:
        return column
    present = column.dropna()
    return column.dt.date if len(present) and bool((present == present.dt.normalize()).all()) else column


def _texts(column: Any, rows: Sequence[int]) -> Texts:
    """The values of a column in those rows as texts."""
    library = _library(column)
    if library == "polars":
        return texts_of_series(column[rows.start : rows.stop] if isinstance(rows, range) else column.gather(list(rows)))
    if library == "pandas":
        part = column.iloc[rows.start : rows.stop] if isinstance(rows, range) else column.iloc[list(rows)]
        return texts_of(_whole_numbers(column, part.tolist()))
    part = column[rows.start : rows.stop] if isinstance(rows, range) else [column[row] for row in rows]
    return texts_of(part.tolist() if hasattr(part, "tolist") else part)


def _whole_numbers(column: Any, values: list[Any]) -> list[Any]:
    """Integers again, where pandas made them floats because some are missing; its own and Arrow's types keep them."""
    if column.dtype.kind != "f" or hasattr(column.dtype, "na_value") or not column.hasnans:
        return values
    present = column.dropna()
    if len(present) and bool((present % 1 == 0).all()):
        return [int(v) if v == v else None for v in values]  # noqa: PLR0124, NaN differs from itself
    return values
