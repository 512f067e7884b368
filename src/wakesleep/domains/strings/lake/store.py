"""Catalogues as files, Parquet or JSON lines, and the journal from which an unfinished one is resumed."""

import json
import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from wakesleep.data import limits
from wakesleep.data.atomic import beside, sync
from wakesleep.domains.strings.lake.describe import CATALOGUE_FIELDS, Row
from wakesleep.errors import Refusal

SUFFIXES = (".parquet", ".jsonl")
SLICE_ROWS = 4096
SYNC_BYTES = 1 << 20
"""So much of the journal may be lost if the machine stops; nothing is lost if the process is killed."""


class Entry(NamedTuple):
    """Where in the journal a file's rows are, and the digest that it had."""

    digest: str
    offset: int


class Journal:
    """A line for each file that was described, appended as soon as it is; a later line counts."""

    def __init__(self, output: Path, made: str):
        self.path = output.with_name(f"{output.name}.journal")
        self.entries: dict[str, Entry] = {}
        self._made, self._unsynced = made, 0
        self._file = _locked(self.path, output)
        self._load()
        if not self.entries and output.exists():
            self._take_over(output)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _load(self) -> None:
        """Reads what is there; a line that was cut, and all after it, goes."""
        good = 0
        for line in self._file:
            try:
                if not line.endswith(b"\n"):
                    break
                self._note(json.loads(line), good)
            except (ValueError, TypeError, KeyError, IndexError, RecursionError):
                break
            good += len(line)
        self._file.truncate(good)
        self._file.seek(good)

    def _note(self, rows: list[Row], offset: int) -> None:
        if rows[0]["made"] == self._made and rows[0]["digest"]:
            self.entries[str(rows[0]["file"])] = Entry(str(rows[0]["digest"]), offset)

    def _take_over(self, output: Path) -> None:
        """Begins with the rows of a catalogue that was finished before."""
        for _, rows in groupby(rows_of(output), key=lambda row: row["file"]):
            self.add(list(rows))

    def add(self, rows: list[Row]) -> None:
        """Appends the rows of one file."""
        offset = self._file.tell()
        line = json.dumps(rows).encode() + b"\n"
        self._file.write(line)
        self._file.flush()
        self._note(rows, offset)
        if rows[0]["digest"] == "":
            self.entries[str(rows[0]["file"])] = Entry("", offset)
        self._unsynced += len(line)
        if self._unsynced > SYNC_BYTES:
            os.fsync(self._file.fileno())
            self._unsynced = 0

    def digest(self, name: str) -> str:
        """Returns the digest that a file had when it was described, or nothing."""
        return self.entries[name].digest if name in self.entries else ""

    def finish(self, names: Iterable[str], output: Path) -> list[tuple[str, str]]:
        """Writes the catalogue of those files in their order and removes the journal; returns what failed, and why."""
        failures: list[tuple[str, str]] = []

        def rows() -> Iterator[Row]:
            for row in (row for name in sorted(names) for row in self._rows(name)):
                if row["error"]:
                    failures.append((":".join(filter(None, (row["file"], row["column"]))), row["error"]))
                yield row

        write(rows(), output)
        self.path.unlink()
        return failures

    def _rows(self, name: str) -> list[Row]:
        self._file.seek(self.entries[name].offset)
        found: list[Row] = json.loads(self._file.readline())
        return found


def _locked(path: Path, output: Path) -> BinaryIO:
    """Opens the journal for this process alone."""
    try:
        file = path.open("a+b")
        _lock(file)
    except BlockingIOError:
        raise Refusal(f"{output} is being made by another process: wait for it, or name another file.") from None
    except OSError as error:
        raise Refusal(f"{path} cannot be written: {error.strerror or error}.") from None
    file.seek(0)
    return file


def _lock(file: BinaryIO) -> None:
    """Locks a file for this process alone until it is closed; raises BlockingIOError where another has it."""
    if os.name != "nt":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    import msvcrt

    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
    except PermissionError:
        raise BlockingIOError from None


def require_catalogue_name(path: Path) -> None:
    """Refuses the name of a catalogue whose kind is not known."""
    if path.suffix not in SUFFIXES:
        raise Refusal(f"A catalogue must end in {' or '.join(SUFFIXES)}, but {path.name!r} was given.")


def write(rows: Iterable[Row], output: Path) -> None:
    """Writes a catalogue; it appears whole or not at all, and is never held in memory as a whole."""
    lines = beside(output)
    with lines.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
    if output.suffix == ".parquet":
        import polars as pl

        kinds: dict[str, Any] = {"str": pl.String, "long": pl.Int64, "double": pl.Float64}
        table = lines.with_name(f"{lines.name}.parquet")
        frame = pl.scan_ndjson(lines, schema={name: kinds[kind] for name, kind in CATALOGUE_FIELDS.items()})
        frame.sink_parquet(table)
        lines.unlink()
        lines = table
    sync(lines)
    lines.replace(output)


def rows_of(path: Path) -> Iterator[Row]:
    """Yields the rows of a catalogue, a few at a time in memory; anything else is refused."""
    if not path.is_file():
        raise Refusal(f"{path} is not a file: make a catalogue with `wakesleep catalogue FOLDER -o {path.name}`.")
    for row in _parquet(path) if path.suffix == ".parquet" else _lines(path):
        if not isinstance(row, dict) or not row.keys() >= CATALOGUE_FIELDS.keys():
            raise _no_catalogue(path)
        yield row


def _parquet(path: Path) -> Iterator[Row]:
    import polars as pl

    try:
        frame = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        for first in range(0, frame.select(pl.len()).collect().item(), SLICE_ROWS):
            yield from frame.slice(first, SLICE_ROWS).collect().iter_rows(named=True)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise _no_catalogue(path) from None


def _lines(path: Path) -> Iterator[Row]:
    try:
        with path.open(encoding="utf-8") as file:
            while line := file.readline(limits.LINE_CHARACTERS):
                yield json.loads(line)
    except (ValueError, OSError, RecursionError):
        raise _no_catalogue(path) from None


def _no_catalogue(path: Path) -> Refusal:
    return Refusal(f"{path} is not a catalogue: make one with `wakesleep catalogue FOLDER -o {path.name}`.")
