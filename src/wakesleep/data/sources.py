"""Where rows come from: one after another (text, spreadsheets), or by their numbers (Parquet, data frames)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import chain, islice, repeat
from typing import NamedTuple

from wakesleep.data import limits
from wakesleep.data.headers import HEADER_ROWS, Header, column_names, find_header
from wakesleep.data.sampling import draws, sample_rows
from wakesleep.data.values import without_empty
from wakesleep.errors import Refusal

Texts = list[str | None]
BLOCK_ROWS = 512


class Sample(NamedTuple):
    """The columns of some rows, the numbers of these from one, and how many rows there are."""

    columns: list[Texts]
    numbers: Sequence[int]
    rows: int


class Source(ABC):
    """A table that can be read once."""

    def __init__(self, title: str):
        self.title = title
        self.names: list[str] = []
        self.header = ""
        """How the names of the columns were found."""
        self.notes: list[str] = []
        """What a reader of the table should know; whole once it was read to its end."""
        self.instants: set[str] = set()
        """The columns that are of dates or times by their type; their texts are as ISO 8601 writes them."""
        self.height = 0
        """How many rows there are, where that is known before they are read."""
        self.volume = 0
        """How many characters the chunks have had so far, where that is counted."""

    @abstractmethod
    def chunks(self) -> Iterator[list[Texts]]:
        """The columns of consecutive rows, until all were read."""

    @abstractmethod
    def sample(self, size: int, seed: int) -> Sample:
        """A random sample of the rows in their order."""

    def require_width(self, columns: int) -> None:
        """Refuses a table of too many columns."""
        if columns > limits.TABLE_COLUMNS:
            raise Refusal(
                f"{self.title} has {columns:,} columns, but {limits.TABLE_COLUMNS:,} is the most that is read: "
                "split it, or check that its delimiter is one of comma, semicolon, tab and bar."
            )


class RowSource(Source):
    """Rows of cells one after another; an empty list is an empty line, and such at the end are no rows."""

    def __init__(self, title: str, rows: Iterator[list[str]], header: bool | None, names: list[str] | None = None):
        super().__init__(title)
        self.characters = 0
        """Read since the last chunk was finished; whoever makes the rows counts them here."""
        self._rows = _without_last_empty(rows)
        self._long = self._first_long = self._cut = 0
        if names is None:
            self._find_names(header)
        else:
            self.names, self.header = names, "the names are not in the file"

    def _find_names(self, header: bool | None) -> None:
        head = list(islice((row for row in self._rows if row), 1))
        if not head or not any(cell.strip() for cell in head[0]):
            raise Refusal(f"{self.title} has no header in its first line: put the names of the columns there.")
        self.require_width(len(head[0]))
        most = max(2, min(HEADER_ROWS, limits.CHUNK_CELLS // len(head[0])))
        while len(head) < most and self.characters < limits.CHUNK_CHARACTERS:
            if (row := next(self._rows, None)) is None:
                break
            head.append(row)
        found = (
            find_header(head) if header is None else Header(header, "a header was asked for" * header or "no header")
        )
        self.header, rest = found.reason, head[1:] if found.present else head
        widths = {len(row) for row in rest if row}
        cells = head[0] if found.present else [""] * max(widths)
        if found.present and widths == {len(cells) + 1} and any(row[-1] for row in rest if row):
            cells = ["", *cells]  # the first column holds names of rows, which have no header
        self.require_width(len(cells))
        self.names, notes = column_names(cells)
        self.notes += notes if found.present else []
        self._rows = chain(rest, self._rows)

    def _blocks(self) -> Iterator[list[list[str]]]:
        """A few rows at a time, so that they stay in the processor's cache; all of one width."""
        done, block = 0, []
        for row in self._rows:
            block.append(row)
            if len(block) >= BLOCK_ROWS or self.characters > limits.CHUNK_CHARACTERS:
                yield self._level(block, done)
                done += len(block)
                block = []
        if block:
            yield self._level(block, done)
        self._finish()

    def _level(self, block: list[list[str]], done: int) -> list[list[str]]:
        """The rows, the short ones filled up and the long ones cut."""
        width = len(self.names)
        lengths = set(map(len, block))
        if lengths == {width}:
            return block
        if max(lengths) > width:
            long = [i for i, row in enumerate(block) if len(row) > width and any(row[width:])]
            if long and not self._long:
                self._first_long = done + long[0] + 1
            self._long += len(long)
        return [row[:width] + [""] * (width - len(row)) for row in block]

    def _finish(self) -> None:
        if self._long:
            self.notes.append(
                f"{self._long:,} rows have more cells than there are columns, the first of them row "
                f"{self._first_long:,}; what is beyond the last column was left out"
            )
        if self._cut:
            self.notes.append(f"{self._cut:,} cells were cut to {limits.SAMPLE_CELL_CHARACTERS:,} characters")

    def chunks(self) -> Iterator[list[Texts]]:
        """The columns of consecutive rows, until there are many or much text in them."""
        columns: list[Texts] = []
        height = 0
        for block in self._blocks():
            columns += [[None] * height for _ in range(len(self.names) - len(columns))]
            for column, cells in zip(columns, zip(*block, strict=True), strict=True):
                column.extend(without_empty(cells))
            height += len(block)
            full = height >= limits.CHUNK_ROWS or height * len(columns) >= limits.CHUNK_CELLS
            if full or self.characters > limits.CHUNK_CHARACTERS:
                self.volume += self.characters
                yield columns
                columns, height, self.characters = [], 0, 0
        if height:
            yield columns

    def sample(self, size: int, seed: int) -> Sample:
        """A random sample, which holds no more than its own rows; cells of it are cut to a bearable length."""
        drawn, kept, done = draws(size, seed), dict[int, tuple[int, list[str]]](), 0
        row, place = next(drawn)
        for block in self._blocks():
            while row < done + len(block):
                kept[place] = (row + 1, self._shorten(block[row - done]))
                row, place = next(drawn)
            done += len(block)
            self.characters = 0
        found = sorted(kept.values())
        columns = zip(*self._level([cells for _, cells in found], 0), strict=True) if found else [()] * len(self.names)
        return Sample([list(without_empty(c)) for c in columns], [number for number, _ in found], done)

    def _shorten(self, row: list[str]) -> list[str]:
        most = limits.SAMPLE_CELL_CHARACTERS
        if all(len(cell) <= most for cell in row if cell):
            return row
        self._cut += sum(len(cell) > most for cell in row if cell)
        return [cell and cell[:most] for cell in row]


def _without_last_empty(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    empty = 0
    for row in rows:
        if row:
            if empty:
                yield from repeat([], empty)
                empty = 0
            yield row
        else:
            empty += 1


class ColumnSource(Source):
    """A table of known height, of which any rows can be taken."""

    def __init__(self, title: str, names: Sequence[str], height: int):
        super().__init__(title)
        self.require_width(len(names))
        self.names, self.notes = column_names(list(names))
        self.header = "the names are those of the table"
        self.height = height
        self.chunk_rows = max(1, min(limits.CHUNK_ROWS, limits.CHUNK_CELLS // max(len(names), 1)))

    @abstractmethod
    def take(self, rows: Sequence[int]) -> list[Texts]:
        """The columns of those rows, which are counted from zero and rise."""

    def chunks(self) -> Iterator[list[Texts]]:
        """The columns of consecutive rows."""
        for first in range(0, self.height, self.chunk_rows):
            yield self.take(range(first, min(first + self.chunk_rows, self.height)))

    def sample(self, size: int, seed: int) -> Sample:
        """A random sample; cells of it are cut to a bearable length."""
        rows, most = sample_rows(self.height, size, seed), limits.SAMPLE_CELL_CHARACTERS
        columns = self.take(rows) if rows else [[] for _ in self.names]
        cut = sum(text is not None and len(text) > most for column in columns for text in column)
        if cut:
            columns = [[text and text[:most] for text in column] for column in columns]
            self.notes.append(f"{cut:,} cells were cut to {most:,} characters")
        return Sample(columns, [row + 1 for row in rows], self.height)
