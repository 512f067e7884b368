"""Rows of text files: CSV and TSV with their delimiter found, JSON lines, plain lines."""

import csv
import io
import json
import secrets
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wakesleep.data import limits
from wakesleep.data.headers import numbered
from wakesleep.data.sources import RowSource
from wakesleep.errors import Refusal

DELIMITERS = ",;\t|"
NO_DELIMITER = "\x1f"
HEAD_CHARACTERS = 1 << 16
csv.field_size_limit(limits.CELL_CHARACTERS)


class TextSource(RowSource):
    """The rows of an open text file, whose characters are counted as they are read."""

    def __init__(self, title: str, file: io.TextIOWrapper, kind: str, name: str, header: bool | None):
        self._file, self.characters, self.title = file, 0, title
        if kind == "csv":
            super().__init__(title, self._cells(_delimiter(file, name)), header)
        elif kind == "json lines":
            self._keys: dict[str, int] = {}
            self._taken: set[str] = set()
            self._times: Counter[str] = Counter()
            super().__init__(title, self._objects(), header, names=[])
            self.header = "the names are the keys of the objects"
        else:
            lines = ([text] if (text := line.rstrip("\r\n")) else [] for line in self._lines())
            super().__init__(title, lines, header, names=["lines"])

    def _lines(self) -> Iterator[str]:
        read, most = self._file.readline, limits.LINE_CHARACTERS
        while line := read(most):
            self.characters += len(line)
            if len(line) == most or self.characters > limits.CHUNK_CHARACTERS + 2 * most:
                raise Refusal(
                    f"{self.title} has a line of more than {most:,} characters, which is the most that is read: "
                    "check that it is a table with a row on each line."
                )
            yield line

    def _cells(self, delimiter: str) -> Iterator[list[str]]:
        """The rows of a CSV file. A line that cannot be in it follows the last, to see if a quotation is left open."""
        end = secrets.token_hex(16)

        def lines() -> Iterator[str]:
            yield from self._lines()
            yield end

        reader, number, last = csv.reader(lines(), delimiter=delimiter), 0, [""]
        try:
            for number, row in enumerate(reader):
                if number:
                    yield last
                last = row
            if last != [end]:
                raise self._open_quotation(number)
        except csv.Error as error:
            if "field limit" in str(error):
                raise self._open_quotation(number + 1) from None
            raise Refusal(f"{self.title} cannot be read as CSV: {error} (line {reader.line_num:,}).") from None

    def _open_quotation(self, line: int) -> Refusal:
        return Refusal(
            f"{self.title} has a quotation mark that opens after row {line:,} and is not closed within "
            f"{limits.CELL_CHARACTERS:,} characters or before the end: close it, or double the marks inside of a cell."
        )

    def _objects(self) -> Iterator[list[str]]:
        """The values of JSON lines by the names known so far; numbers as they are spelled."""
        for number, line in enumerate(self._lines(), 1):
            if not line.strip():
                yield []
                continue
            try:
                found = json.loads(line, parse_int=str, parse_float=str, parse_constant=_constant)
                nested = isinstance(found, dict) and any(isinstance(v, dict | list) for v in found.values())
                spelled = json.loads(line) if nested else found
            except (ValueError, RecursionError) as error:
                raise Refusal(f"Line {number:,} of {self.title} is not JSON ({_short(error)}).") from None
            if not isinstance(found, dict):
                raise Refusal(f"Line {number:,} of {self.title} is not a JSON object: one on each line was expected.")
            yield self._row(found, spelled)

    def _row(self, found: dict[str, Any], spelled: dict[str, Any]) -> list[str]:
        for key in found:
            if key not in self._keys:
                self.require_width(len(self.names) + 1)
                self._keys[key] = len(self.names)
                self.names.append(self._name(key))
        row = [""] * len(self.names)
        for key, value in found.items():
            row[self._keys[key]] = _json_text(value, spelled[key])
        return row

    def _name(self, key: str) -> str:
        """Returns a name that no column has, the key where that is one; the names before it stay as they are."""
        name = key.strip() or f"column {len(self.names) + 1}"
        if name in self._taken:
            return numbered(name, self._taken, self._times)
        self._taken.add(name)
        return name


def _json_text(value: Any, spelled: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(spelled, ensure_ascii=False)
    # An escape may name half of a character, which no encoding can write.
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _constant(name: str) -> str | None:
    """NaN is a missing value."""
    return None if name == "NaN" else name


def _short(error: BaseException) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)[:80]


def _delimiter(file: io.TextIOWrapper, name: str) -> str:
    """Tab for TSV, else the candidate by which most rows have the same number of cells, as the first has.

    A file whose first line has no candidate has one column, in whose cells commas stand for themselves.
    """
    if Path(name).suffix.lower() in (".tsv", ".tab"):
        return "\t"
    head = file.read(HEAD_CHARACTERS)
    file.seek(0)
    lines = list(io.StringIO(head, newline=""))
    lines = lines[:-1] if len(head) == HEAD_CHARACTERS and len(lines) > 1 else lines
    best, most = NO_DELIMITER, (0.0, 0)
    for delimiter in DELIMITERS:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        if widths and widths[0] > 1:
            score = Counter(widths)[widths[0]] / len(widths), widths[0]
            if score > most:
                best, most = delimiter, score
    return best
