"""Arrays in a folder, a .npy file for each, written piece by piece and read by mapping them into memory.

Neither writing a store nor reading it needs all of it in memory.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy

from wakesleep.data.atomic import beside, publish
from wakesleep.errors import Refusal

ABOUT = "store.json"
DIGEST_LENGTH = 32
NAME = re.compile(r"\w[\w.\-]*")
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
        if not NAME.fullmatch(name) or first.dtype.hasobject or first.ndim == 0:
            raise Refusal(f"An array {name!r} of {first.dtype}{first.shape} cannot be stored.")
        self.name, self.dtype, self.shape = name, first.dtype, first.shape[1:]
        self.file: BinaryIO = (folder / f"{name}.npy").open("wb")
        self._write_header(0)

    def append(self, a: np.ndarray) -> memoryview | bytes:
        """Writes rows and returns their bytes; refuses rows of another shape or type than the first."""
        if (a.dtype, a.shape[1:]) != (self.dtype, self.shape):
            was, now = f"{self.dtype}{self.shape}", f"{a.dtype}{a.shape[1:]}"
            raise Refusal(f"The sources differ: {self.name} is {was} in the first, {now} later.")
        data = np.ascontiguousarray(a).data.cast("B") if a.size else b""
        self.file.write(data)
        return data

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
        rows, digest = _append_all(unfinished, pieces)
        said = about | {"observations": rows, "digest": digest}
        (unfinished / ABOUT).write_text(json.dumps(said) + "\n")
        publish(unfinished, folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return rows


def _append_all(folder: Path, pieces: Iterable[Arrays]) -> tuple[int, str]:
    """Writes the pieces one after the other; returns the number of rows and a digest of all bytes."""
    columns: dict[str, _Column] = {}
    digest, rows = hashlib.sha256(), 0
    for piece in pieces:
        columns = columns or {name: _Column(folder, name, a) for name, a in piece.items()}
        if set(piece) != set(columns):
            odd = ", ".join(sorted(set(piece) ^ set(columns)))
            raise Refusal(f"The sources differ: not all of them have {odd}.")
        lengths = {len(a) for a in piece.values()}
        if len(lengths) != 1:
            raise Refusal(f"The arrays of a source must have equally many rows, but have {sorted(lengths)}.")
        for name, a in piece.items():
            digest.update(columns[name].append(a))
        rows += lengths.pop()
    for column in columns.values():
        column.finish(rows)
    return rows, digest.hexdigest()[:DIGEST_LENGTH]


def read(folder: Path) -> Store:
    """The arrays of a store, which stay on the disk until their rows are asked for."""
    try:
        about = json.loads((folder / ABOUT).read_text())
        arrays = {path.stem: np.load(path, mmap_mode="r") for path in sorted(folder.glob("*.npy"))}
    except (OSError, ValueError, EOFError) as error:
        raise Refusal(f"{folder} cannot be read as a store ({error}).") from None
    rows, digest = (about.get(k) if isinstance(about, dict) else None for k in ("observations", "digest"))
    if type(rows) is not int or not isinstance(digest, str):
        raise Refusal(f"{folder} is damaged: {ABOUT} does not say how many observations there are.")
    if {a.shape[:1] for a in arrays.values()} != {(rows,)}:
        raise Refusal(f"{folder} is damaged: not every file has the {rows} rows of {ABOUT}.")
    return Store(arrays, rows, digest, about)
