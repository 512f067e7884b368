"""Columns of text from a user's file: CSV, TSV, Parquet, Excel, or lines on standard input; sampled in one pass.

However large the file, no more than `ROWS` rows of it are held.
"""

import codecs
import csv
import io
import random
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from python_calamine import CalamineError, CalamineWorkbook

from wakesleep.errors import Refusal

ROWS = 2000
HEAD = 1 << 20
"""So many bytes tell the encoding."""
LONGEST_CELL = 2000
"""Of a longer cell only the beginning is kept: it is free text, or not text at all."""
DELIMITERS = ",;\t|"
csv.field_size_limit(10_000_000)


class Column(NamedTuple):
    """A column's name, and its values in a sample of the rows; empty cells are left out."""

    name: str
    values: list[str]


def read_columns(path: Path | str, column: str | None = None, seed: int = 0) -> list[Column]:
    """The columns of a file, or the one that is asked for; "-" reads lines from standard input."""
    if str(path) == "-":
        found = [Column("lines", _sample(((line.rstrip("\r\n"),) for line in sys.stdin), seed, 1)[0])]
    else:
        found = _read_file(Path(path), seed)
    found = [Column(c.name, [v for v in c.values if v]) for c in found]
    if column is not None:
        chosen = [c for c in found if c.name == column]
        if not chosen:
            raise Refusal(f"{path} has no column {column!r}; it has {', '.join(c.name for c in found)}.")
        return chosen
    if not any(c.values for c in found):
        raise Refusal(f"{path} has no values in any column.")
    return found


def _read_file(path: Path, seed: int) -> list[Column]:
    if path.is_dir():
        raise Refusal(f"{path} is a folder, but a file was expected.")
    if not path.is_file():
        raise Refusal(f"{path} is not a file.")
    if path.stat().st_size == 0:
        raise Refusal(f"{path} is empty.")
    match path.suffix.lower():
        case ".parquet" | ".pq":
            return _read_parquet(path, seed)
        case ".xls" | ".xlsx" | ".xlsb" | ".ods":
            return _read_spreadsheet(path, seed)
        case _:
            return _read_text(path, seed)


def _read_parquet(path: Path, seed: int) -> list[Column]:
    try:
        frame = pl.scan_parquet(path)
        names, height = frame.collect_schema().names(), frame.select(pl.len()).collect().item()
        rows = sorted(random.Random(seed).sample(range(height), min(ROWS, height)))
        table = frame.with_row_index("\0row").filter(pl.col("\0row").is_in(rows)).collect(engine="streaming")
    except (pl.exceptions.PolarsError, OSError) as error:
        raise Refusal(f"{path} cannot be read as a Parquet file: {str(error).splitlines()[0]}.") from None
    return [Column(name, [str(v)[:LONGEST_CELL] for v in table[name] if v is not None]) for name in names]


def _read_spreadsheet(path: Path, seed: int) -> list[Column]:
    """The first sheet, of which the first row that is not empty is the header."""
    try:
        rows = CalamineWorkbook.from_path(path).get_sheet_by_index(0).iter_rows()
        texts = ([_cell(value) for value in row] for row in rows)
        return _under_header(path, (row for row in texts if any(row)), seed)
    except (CalamineError, OSError) as error:
        raise Refusal(f"{path} cannot be read as a spreadsheet: {error}.") from None


def _cell(value: Any) -> str:
    """A cell as it reads: whole numbers without a fraction, dates without a time that is midnight."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).removesuffix(" 00:00:00") if isinstance(value, datetime) else str(value)


def _read_text(path: Path, seed: int) -> list[Column]:
    with open_text(path) as file:
        head = file.read(1 << 16)
        file.seek(0)
        reader = csv.reader(_clean(file), delimiter=guess_delimiter(path, head))
        try:
            return _under_header(path, reader, seed)
        except csv.Error as error:
            raise Refusal(f"{path} cannot be read as CSV: {error}.") from None


def _under_header(path: Path, rows: Iterator[list[str]], seed: int) -> list[Column]:
    """The columns that the first row names."""
    header = next(rows, None)
    if header is None or not any(header):
        raise Refusal(f"{path} has no header in its first line.")
    names = [name.strip() or f"column {i + 1}" for i, name in enumerate(header)]
    return [Column(name, column) for name, column in zip(names, _sample(rows, seed, len(header)), strict=True)]


def open_text(path: Path) -> io.TextIOWrapper:
    """The file as text: UTF-8, UTF-16 by its mark, or Latin-1, of which every byte is a character."""
    with path.open("rb") as raw:
        head = raw.read(HEAD)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    else:
        try:
            codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) < HEAD)
            encoding = "utf-8-sig"
        except UnicodeDecodeError:
            encoding = "latin-1"
    return io.TextIOWrapper(path.open("rb"), encoding=encoding, errors="replace", newline="")


def _clean(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line.replace("\0", "") if "\0" in line else line


def guess_delimiter(path: Path, head: str) -> str:
    """Tab for TSV, else the candidate that the first line has most of."""
    if path.suffix.lower() in (".tsv", ".tab"):
        return "\t"
    first = head.split("\n", 1)[0]
    best = max(DELIMITERS, key=first.count)
    return best if best in first else ","


def _sample(rows: Iterable[Iterable[str]], seed: int, width: int) -> list[list[str]]:
    """The columns of `ROWS` rows drawn at random, in the file's order; rows that are too short lack the last."""
    draw = random.Random(seed)
    kept: list[tuple[int, list[str]]] = []
    for number, row in enumerate(rows):
        place = number if number < ROWS else draw.randrange(number + 1)
        if place < ROWS:
            item = (number, [cell[:LONGEST_CELL].strip() for cell in row])
            kept[place : place + 1] = [item]
    kept.sort()
    return [[row[i] for _, row in kept if i < len(row)] for i in range(width)]


def few_shot(values: list[str], count: int, seed: int = 0) -> list[str]:
    """That many distinct values at random, or all that there are."""
    distinct = list(dict.fromkeys(values))
    return distinct if len(distinct) <= count else random.Random(seed).sample(distinct, count)
