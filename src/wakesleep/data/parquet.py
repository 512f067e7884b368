"""Parquet files: a stretch of rows at a time, or some rows of all."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from wakesleep.data import limits
from wakesleep.data.sources import ColumnSource, Texts
from wakesleep.data.values import texts_of_series
from wakesleep.errors import Refusal

FAULTS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
SLICE_CELLS = 1 << 20
"""More than a chunk of text holds: each slice decodes anew the row groups that it lies in."""
ROW = "\0row"


class ParquetSource(ColumnSource):
    """The table of a Parquet file."""

    def __init__(self, path: Path, title: str):
        try:
            self._frame = pl.scan_parquet(path, glob=False, hive_partitioning=False)
            names = self._frame.collect_schema().names()
            height = self._frame.select(pl.len()).collect().item()
        except FAULTS as error:
            raise _unreadable(title, error) from None
        super().__init__(title, names, height)
        self.chunk_rows = max(1, min(8 * limits.CHUNK_ROWS, SLICE_CELLS // max(len(names), 1)))

    def take(self, rows: Sequence[int]) -> list[Texts]:
        """The columns of those rows."""
        try:
            if isinstance(rows, range):
                table = self._frame.slice(rows.start, len(rows)).collect()
            else:
                wanted = pl.Series(rows, dtype=pl.get_index_type()).implode()
                chosen = self._frame.with_row_index(ROW).filter(pl.col(ROW).is_in(wanted))
                table = chosen.drop(ROW).collect(engine="streaming")
        except FAULTS as error:
            raise _unreadable(self.title, error) from None
        return [texts_of_series(column) for column in table.iter_columns()]


def _unreadable(title: str, error: BaseException) -> Refusal:
    said = (str(error).splitlines() or [type(error).__name__])[0]
    return Refusal(f"{title} cannot be read as a Parquet file: {said[:200]}.")
