"""The one reader of tables: files of every usual kind, standard input, and data frames, as columns of text.

    table = read_table("orders.csv", rows="sample")       # or rows="all"; there is no default
    for column in table.columns:
        column.name, column.values[0], column.numbers[0]   # "order", "ORD-10231", 1

    for columns in stream_columns("orders.csv.gz"):        # all rows, a stretch of them at a time
        ...

Files are CSV, TSV, Parquet, Excel (`.xlsx`, `.xls`, `.xlsb`, `.ods`: the first sheet) and JSON lines, each also in gzip
or zip; "-" is lines from standard input. Cells are kept as they stand in the file, white space too; an empty cell is
None. Rows are numbered from one below the header, an empty line is a row of empty cells, and such at the end are none.
"""

import io
import random
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakesleep.data import limits
from wakesleep.data.archives import expanded
from wakesleep.data.encodings import HEAD_BYTES, encoding_of, open_text, undecodable
from wakesleep.data.frames import ACCEPTED, FrameSource, is_frame
from wakesleep.data.kinds import TABLES, kind_of
from wakesleep.data.sources import RowSource, Sample, Source, Texts
from wakesleep.data.spreadsheets import sheet_rows
from wakesleep.data.text import TextSource
from wakesleep.errors import Refusal, require_one_of

COPY_BYTES = 1 << 20


@dataclass(frozen=True)
class Column:
    """A column: values in the order of rows, None where there is none, and the number of each value's row.

    Without numbers the values are all there are.
    """

    name: str
    values: Sequence[str | None]
    numbers: Sequence[int] = ()
    rows: int = -1
    """How many rows the table has; of a stream, how many were read so far."""
    instants: bool = False
    """Whether the column is of dates or times by its type; the texts are as ISO 8601 writes them."""

    def __post_init__(self) -> None:
        """Numbers the rows from one where that is not done."""
        if not self.numbers:
            object.__setattr__(self, "numbers", range(1, len(self.values) + 1))
        if self.rows < 0:
            object.__setattr__(self, "rows", len(self.values))

    @property
    def present(self) -> list[str]:
        """The values that there are, without the Nones."""
        return [value for value in self.values if value is not None]


@dataclass(frozen=True)
class Table:
    """The columns of a table, how many rows it has, and what was decided when it was read."""

    columns: list[Column]
    rows: int
    header: str = ""
    """How the names of the columns were found."""
    notes: tuple[str, ...] = ()
    """What was assumed, left out or cut: the encoding, rows that are too long, columns without a name."""
    name: str = ""
    """The name of its file, where a reader was asked to keep it."""

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    def __getitem__(self, name: str) -> Column:
        """The column of that name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise Refusal(f"The table has no column {name!r}; it has {', '.join(self.names)}.")


def read_table(
    source: Any, *, rows: str, column: str | None = None, seed: int = 0, header: bool | None = None
) -> Table:
    """The columns of a table, or the one that is asked for: in a random sample of its rows, or in all of them.

    `header` says whether the first row of a text or sheet names the columns; None finds out.
    """
    require_one_of("rows", rows, ("sample", "all"))
    with _opened(source, header) as found:
        read = found.sample(limits.SAMPLE_ROWS, seed) if rows == "sample" else _gather(found)
        columns = [
            Column(name, values, read.numbers, read.rows, name in found.instants)
            for name, values in zip(found.names, read.columns, strict=True)
            if column is None or name == column
        ]
        if column is not None and not columns:
            raise _no_column(found, column)
        return Table(columns, read.rows, found.header, tuple(found.notes))


def stream_columns(
    source: Any, *, columns: Collection[str] | None = None, header: bool | None = None
) -> Iterator[list[Column]]:
    """All rows of a table, a stretch at a time and in bounded memory: every column, or those of some names.

    The first stretch may be empty, so that names are known of a table without rows. In JSON lines a column begins in
    the stretch in which its name first occurs.
    """
    with _opened(source, header) as found:
        done = 0
        for values in _or_nothing(found):
            height = len(values[0]) if values else 0
            numbers = range(done + 1, done + height + 1)
            done += height
            named = zip(found.names, values, strict=True)
            wanted = [(n, v) for n, v in named if columns is None or n in columns]
            yield [Column(n, v, numbers, done, n in found.instants) for n, v in wanted]
        missing = [name for name in columns or () if name not in found.names]
        if missing:
            raise _no_column(found, missing[0])


def few_shot(values: Sequence[str], count: int, seed: int = 0) -> list[str]:
    """That many distinct values at random, or all that there are."""
    distinct = list(dict.fromkeys(values))
    return distinct if len(distinct) <= count else random.Random(seed).sample(distinct, count)


def _or_nothing(source: Source) -> Iterator[list[Texts]]:
    empty = True
    for values in source.chunks():
        empty = False
        yield values
    if empty:
        yield [[] for _ in source.names]


def _gather(source: Source) -> Sample:
    """All rows at once."""
    columns: list[Texts] = []
    done = 0
    _require_room(source, source.height * len(source.names))
    for chunk in source.chunks():
        columns += [[None] * done for _ in range(len(chunk) - len(columns))]
        for column, more in zip(columns, chunk, strict=True):
            column.extend(more)
        done += len(chunk[0]) if chunk else 0
        _require_room(source, done * len(columns))
    columns += [[None] * done for _ in range(len(source.names) - len(columns))]
    return Sample(columns, range(1, done + 1), done)


def _require_room(source: Source, cells: int) -> None:
    """Refuses a table that is too large to be held at once."""
    if cells > limits.TABLE_CELLS or source.volume > limits.TABLE_CHARACTERS:
        most = f"{limits.TABLE_CELLS:,} cells or {limits.TABLE_CHARACTERS:,} characters"
        raise Refusal(f"{source.title} has more than {most}, which is the most that is held at once: split it.")


def _no_column(source: Source, name: str) -> Refusal:
    shown = ", ".join(source.names[:50]) + ", ..." * (len(source.names) > 50)
    return Refusal(f"{source.title} has no column {name!r}; it has {shown}.")


@contextmanager
def _opened(source: Any, header: bool | None) -> Iterator[Source]:
    """The source of rows behind a path, "-" or a data frame; what goes wrong while it is read becomes a refusal."""
    if is_frame(source):
        yield FrameSource(source)
        return
    if not isinstance(source, str | Path):
        raise Refusal(f"A table cannot be read from {type(source).__name__}: {ACCEPTED} was expected.")
    title = "Standard input" if str(source) == "-" else str(source)
    try:
        with _standard_input() if str(source) == "-" else _file(Path(source), Path(source).name, header) as found:
            yield found
    except UnicodeError as error:
        raise undecodable(title, error) from None
    except OSError as error:
        raise Refusal(f"{title} cannot be read: {error.strerror or error}.") from None


@contextmanager
def _standard_input() -> Iterator[Source]:
    """Lines of standard input, kept in a temporary file while its encoding is found."""
    raw = getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode())
    with tempfile.TemporaryDirectory(prefix="wakesleep-") as folder:
        path = Path(folder) / "lines"
        with path.open("wb") as file:
            while (block := raw.read(COPY_BYTES)) and file.tell() <= limits.EXPANDED_BYTES:
                file.write(block)
        if block:
            raise Refusal(f"Standard input has more than {limits.EXPANDED_BYTES:,} bytes: put it in a file.")
        with _text(path, "Standard input", "lines", "lines", False) as found:
            yield found


@contextmanager
def _file(path: Path, name: str, header: bool | None, title: str | None = None) -> Iterator[Source]:
    title = title or str(path)
    head = _head(path, title)
    kind = kind_of(path, head, name, title)
    if kind in ("gzip", "zip"):
        if title != str(path):
            raise Refusal(f"{title} holds an archive inside of an archive: unpack it first; {TABLES} were expected.")
        with expanded(path, kind) as (inside, inner), _file(inside, inner, header, title) as found:
            yield found
    elif kind == "spreadsheet":
        yield RowSource(title, sheet_rows(path, title), header)
    elif kind == "parquet":
        from wakesleep.data.parquet import ParquetSource

        yield ParquetSource(path, title)
    else:
        with _text(path, title, "csv" if kind == "text" else kind, name, header) as found:
            yield found


@contextmanager
def _text(path: Path, title: str, kind: str, name: str, header: bool | None) -> Iterator[Source]:
    encoding = encoding_of(path, title)
    with open_text(path, encoding.name) as file:
        found = TextSource(title, file, kind, name, header)
        found.notes += [encoding.note] * bool(encoding.note)
        yield found


def _head(path: Path, title: str) -> bytes:
    """The first bytes of a file that is there and not empty."""
    if path.is_dir():
        raise Refusal(f"{title} is a folder, but a file was expected.")
    if not path.is_file():
        raise Refusal(f"{title} is not a file.")
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head:
        raise Refusal(f"{title} is empty: a header and at least one row are needed.")
    return head
