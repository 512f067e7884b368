"""Parquet files: a stretch of rows at a time, or some rows of all."""

import os
import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from wakesleep.data import limits
from wakesleep.data.sources import ColumnSource, Texts
from wakesleep.data.values import texts_of_series
from wakesleep.errors import Refusal

POLARS_FAULTS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
SLICE_CELLS = 1 << 20
"""More than a chunk of text holds: each slice decodes anew the row groups that it lies in."""
WINDOW_CELLS = 1 << 24
ROW = "\0row"


class ParquetSource(ColumnSource):
    """The table of a Parquet file."""

    def __init__(self, path: Path, title: str):
        try:
            with _silence():
                self._frame = pl.scan_parquet(path, glob=False, hive_partitioning=False)
                schema = self._frame.collect_schema()
                height = self._frame.select(pl.len()).collect().item()
        except POLARS_FAULTS as error:
            raise _unreadable(title, error) from None
        super().__init__(title, schema.names(), height)
        kinds = zip(self.names, schema.dtypes(), strict=True)
        self.instants = {name for name, kind in kinds if isinstance(kind, pl.Date | pl.Datetime)}
        self.chunk_rows = max(1, min(8 * limits.CHUNK_ROWS, SLICE_CELLS // max(len(self.names), 1)))

    def take(self, rows: Sequence[int]) -> list[Texts]:
        """The columns of those rows; of long texts the beginning, by which it is seen that they are longer."""
        table = self._collect(self._rows(rows))
        long = pl.col(pl.String).str.slice(0, limits.SAMPLE_CELL_CHARACTERS + 1)
        return [texts_of_series(column) for column in table.with_columns(long).iter_columns()]

    def _rows(self, rows: Sequence[int]) -> pl.LazyFrame:
        """Some rows, looked for in windows, since whole row groups are decoded at once."""
        window, parts = max(1, WINDOW_CELLS // max(len(self.names), 1)), [self._frame.head(0)]
        for first in range(rows[0] // window * window, rows[-1] + 1, window):
            here = rows[bisect_left(rows, first) : bisect_left(rows, first + window)]
            if here:
                places = pl.Series([row - first for row in here], dtype=pl.get_index_type()).implode()
                indexed = self._frame.slice(first, window).with_row_index(ROW)
                parts.append(self._collect(indexed.filter(pl.col(ROW).is_in(places)).drop(ROW)).lazy())
        return pl.concat(parts)

    def chunks(self) -> Iterator[list[Texts]]:
        """The columns of consecutive rows, fewer of them where texts are long."""
        for first in range(0, self.height, self.chunk_rows):
            table = self._collect(self._frame.slice(first, self.chunk_rows))
            size = sum(int(c.str.len_bytes().sum() or 0) for c in table.iter_columns() if c.dtype == pl.String)
            self.volume += size
            rows = max(1, table.height * 4 * limits.CHUNK_CHARACTERS // max(size, 1))
            for part in table.iter_slices(rows):
                yield [texts_of_series(column) for column in part.iter_columns()]

    def _collect(self, frame: pl.LazyFrame) -> pl.DataFrame:
        try:
            with _silence():
                return frame.collect(engine="streaming")
        except POLARS_FAULTS as error:
            raise _unreadable(self.title, error) from None


@contextmanager
def _silence() -> Iterator[None]:
    """Drops what is written to the descriptor of standard error: a panic of Polars prints there before it is raised."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _unreadable(title: str, error: BaseException) -> Refusal:
    said = (str(error).splitlines() or [type(error).__name__])[0]
    return Refusal(f"{title} cannot be read as a Parquet file: {said[:200]}.")
