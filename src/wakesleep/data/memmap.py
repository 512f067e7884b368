"""Arrays in a folder, a .npy file for each, written piece by piece and read by mapping them into memory.

Neither writing a store nor reading it needs all of it in memory. `store.json` has the SHA-256 of every file, which is
verified when a store is opened.
"""

import hashlib
import json
import re
import shutil
import tokenize
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy

from wakesleep.data.atomic import beside, publish, require_plain
from wakesleep.data.documents import read_document, reason
from wakesleep.errors import Refusal

ABOUT = "store.json"
DIGEST_CHARACTERS = 32
HASHED_BYTES_AT_ONCE = 1 << 24
ARRAY_NAME = re.compile(r"\w[\w.\-]*")
NUMPY_FAULTS = (OSError, ValueError, EOFError, TypeError, SyntaxError, OverflowError, MemoryError, tokenize.TokenError)
"""What NumPy raises when a file is damaged."""
Hashed = Callable[[int, int], None]
"""Is told how many bytes of how many were verified."""
Arrays = dict[str, np.ndarray]


class Store(NamedTuple):
    """The arrays of a store by name, all with `rows` rows, and what else its store.json says."""

    arrays: Arrays
    rows: int
    digest: str
    about: dict[str, Any]


class _Column:
    """A file that grows by rows; its header is written again when their number is known."""

    def __init__(self, folder: Path, name: str, first: np.ndarray):
        if not ARRAY_NAME.fullmatch(name) or first.dtype.hasobject or first.ndim == 0:
            raise Refusal(f"An array {name!r} of {first.dtype}{first.shape} cannot be stored.")
        self.name, self.dtype, self.shape = name, first.dtype, first.shape[1:]
        self.file: BinaryIO = (folder / f"{name}.npy").open("xb")
        self._write_header(0)

    def append(self, a: np.ndarray) -> None:
        """Writes rows; refuses rows of another shape or type than the first."""
        if (a.dtype, a.shape[1:]) != (self.dtype, self.shape):
            was, now = f"{self.dtype}{self.shape}", f"{a.dtype}{a.shape[1:]}"
            raise Refusal(f"The sources differ: {self.name} is {was} in the first, {now} later.")
        if a.size:
            self.file.write(np.ascontiguousarray(a).data.cast("B"))

    def finish(self, rows: int) -> None:
        """Writes the number of rows; NumPy's header has room for any."""
        self.file.seek(0)
        self._write_header(rows)
        self.file.close()

    def _write_header(self, rows: int) -> None:
        descr = npy.dtype_to_descr(self.dtype)
        npy.write_array_header_1_0(self.file, {"descr": descr, "fortran_order": False, "shape": (rows, *self.shape)})


def is_store(path: Any) -> bool:
    """Whether something names a store."""
    return isinstance(path, Path) and (path / ABOUT).is_file()


def write(folder: Path, pieces: Iterable[Arrays], about: dict[str, Any]) -> int:
    """Writes a store, whole or not at all, with what `about` says beside it; returns the number of rows."""
    if folder.exists():
        raise Refusal(f"{folder} exists already: choose another folder.")
    unfinished = beside(folder)
    unfinished.mkdir(parents=True)
    try:
        rows = _append_all(unfinished, pieces)
        files = {path.name: _hash(path) for path in sorted(unfinished.glob("*.npy"))}
        said = about | {"observations": rows, "files": files}
        (unfinished / ABOUT).write_text(json.dumps(said) + "\n", encoding="utf-8")
        publish(unfinished, folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return rows


def _append_all(folder: Path, pieces: Iterable[Arrays]) -> int:
    """Writes the pieces one after the other; returns the number of rows."""
    columns: dict[str, _Column] = {}
    rows = 0
    for piece in pieces:
        columns = columns or {name: _Column(folder, name, a) for name, a in piece.items()}
        if set(piece) != set(columns):
            odd = ", ".join(sorted(set(piece) ^ set(columns)))
            raise Refusal(f"The sources differ: not all of them have {odd}.")
        lengths = {len(a) for a in piece.values()}
        if len(lengths) != 1:
            raise Refusal(f"The arrays of a source must have equally many rows, but have {sorted(lengths)}.")
        for name, a in piece.items():
            columns[name].append(a)
        rows += lengths.pop()
    for column in columns.values():
        column.finish(rows)
    return rows


def read(folder: Path, hashed: Hashed = lambda done, total: None) -> Store:
    """Returns the arrays of a store, verified against its digests; they stay on the disk until rows are asked for."""
    require_plain(folder)
    about = read_document(folder / ABOUT, "a store")
    rows, files = (about.get(k) if isinstance(about, dict) else None for k in ("observations", "files"))
    if type(rows) is not int or rows < 0:
        raise Refusal(f"{folder} is damaged: {ABOUT} does not say how many observations there are.")
    if not isinstance(files, dict) or not files:
        raise Refusal(f"{folder} has no digests of its files, as `wakesleep store` writes them: write the store again.")
    arrays = {path.stem: _map(path) for path in sorted(folder.glob("*.npy"))}
    if {a.shape[:1] for a in arrays.values()} != {(rows,)}:
        raise Refusal(f"{folder} is damaged: not every file has the {rows} rows of {ABOUT}.")
    _verify(folder, files, hashed)
    lines = "".join(f"{name} {digest}\n" for name, digest in sorted(files.items()))
    return Store(arrays, rows, hashlib.sha256(lines.encode()).hexdigest()[:DIGEST_CHARACTERS], about)


def _map(path: Path) -> np.ndarray:
    """Maps a file of numbers into memory; NumPy checks that the file is as long as its header says."""
    try:
        found = npy.open_memmap(path, mode="r")
    except NUMPY_FAULTS as error:
        raise Refusal(f"{path.parent} cannot be read as a store: {path.name} is damaged ({reason(error)}).") from None
    if found.dtype.kind not in "biuf" or not found.flags.c_contiguous:
        raise Refusal(f"{path.parent} cannot be read as a store: {path.name} holds {found.dtype}, not rows of numbers.")
    return found


def _verify(folder: Path, files: dict[str, Any], hashed: Hashed) -> None:
    """Refuses a store whose files are not, byte for byte, those that were written."""
    paths = sorted(folder.glob("*.npy"))
    if {p.name for p in paths} != set(files):
        raise Refusal(f"{folder} is damaged: its arrays are not those of {ABOUT}.")
    total, done = sum(p.stat().st_size for p in paths), 0

    def count(size: int) -> None:
        nonlocal done
        done += size
        hashed(done, total)

    for path in paths:
        if _hash(path, count) != files[path.name]:
            raise Refusal(f"{folder} is damaged: {path.name} is not what was written; write the store again.")


def _hash(path: Path, count: Callable[[int], None] = lambda size: None) -> str:
    """Returns the SHA-256 of a file, read piece by piece; `count` is told the size of each piece."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(HASHED_BYTES_AT_ONCE):
            digest.update(piece)
            count(len(piece))
    return digest.hexdigest()
