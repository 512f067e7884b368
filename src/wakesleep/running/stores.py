"""Observations in a folder, a .npy file for each of their arrays, read by mapping them into memory.

A store is written piece by piece, so neither its making nor its use needs all of it in memory.
"""

import hashlib
import json
import shutil
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, overload

import jax
import numpy as np

from wakesleep.core.model import Observations
from wakesleep.data.atomic import beside, publish
from wakesleep.domains.contract import Dataset, Domain
from wakesleep.errors import Refusal

ABOUT = "store.json"
HEADER = 256
"""Bytes of a file's header, of which the shape is known only at the end."""


class Numbered(Sequence[str]):
    """Names made from numbers when they are asked for."""

    def __init__(self, word: str, length: int):
        self.word, self.length = word, length

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        numbers = range(self.length)[index]
        return f"{self.word} {numbers}" if isinstance(numbers, int) else [f"{self.word} {i}" for i in numbers]


def is_store(path: Any) -> bool:
    """Whether a setting names a store."""
    return isinstance(path, Path) and (path / ABOUT).is_file()


def gather(domain: Domain, settings: dict[str, Any], sources: list[Path]) -> Iterator[Observations]:
    """The observations of each source as the domain reads it, or those of the settings if there are none."""
    given = [settings | {domain.data_setting: source} for source in sources] or [settings]
    for each in given:
        yield domain.load(domain.configure(each)).train


def write(folder: Path, domain: str, pieces: Iterable[Observations]) -> int:
    """Writes a store; how many observations it has."""
    if folder.exists():
        raise Refusal(f"{folder} exists already: choose another folder.")
    unfinished, digest, n = beside(folder), hashlib.sha256(), 0
    unfinished.mkdir(parents=True)
    opened: dict[str, tuple[BinaryIO, tuple[int, ...], np.dtype]] = {}
    try:
        for piece in pieces:
            for name, a in _named(piece).items():
                if name not in opened:
                    opened[name] = ((unfinished / f"{name}.npy").open("wb"), a.shape[1:], a.dtype)
                    opened[name][0].write(_header(a.dtype, (0, *a.shape[1:])))
                file, shape, kind = opened[name]
                if (a.shape[1:], a.dtype) != (shape, kind):
                    raise Refusal(
                        f"The sources differ: {name} is {kind}{shape} in the first, {a.dtype}{a.shape[1:]} later."
                    )
                file.write(data := np.ascontiguousarray(a).data.cast("B"))
                digest.update(data)
            n += len(piece)
        for file, shape, kind in opened.values():
            file.seek(0)
            file.write(_header(kind, (n, *shape)))
            file.close()
        about = {"domain": domain, "observations": n, "digest": digest.hexdigest()[:32]}
        (unfinished / ABOUT).write_text(json.dumps(about) + "\n")
        publish(unfinished, folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return n


def read(folder: Path, domain: Domain) -> Dataset:
    """The data of a store, which stay on the disk until their rows are asked for."""
    try:
        about = json.loads((folder / ABOUT).read_text())
        found = {path.name[:-4]: np.load(path, mmap_mode="r") for path in sorted(folder.glob("*.npy"))}
    except (OSError, ValueError) as error:
        raise Refusal(f"{folder} cannot be read as a store ({error}).") from None
    if about.get("domain") != domain.name:
        raise Refusal(f"{folder} is a store of {about.get('domain')}, not of {domain.name}.")
    if {len(a) for a in found.values()} != {about["observations"]}:
        raise Refusal(f"{folder} is damaged: not every file has the {about['observations']} rows of {ABOUT}.")
    names = Numbered("observation", about["observations"])
    note = f"{about['observations']} observations mapped from the store {folder.name}"
    return Dataset(_assemble(found, domain), None, names, note, about["digest"])


def _named(data: Observations) -> dict[str, np.ndarray]:
    """The arrays of observations by the names of their fields, such as x.image."""
    leaves = jax.tree_util.tree_leaves_with_path(data)
    return {jax.tree_util.keystr(path).strip("."): np.asarray(leaf) for path, leaf in leaves}


def _assemble(found: dict[str, np.ndarray], domain: Domain) -> Observations:
    """Observations from such arrays; a field without a file is None."""
    if domain.observation is None:
        return Observations(found["x"], found.get("c"))
    return Observations(domain.observation(*(found.get(f"x.{f}") for f in domain.observation._fields)), found.get("c"))


def _header(kind: np.dtype, shape: tuple[int, ...]) -> bytes:
    """The header of a .npy file, filled up to a fixed length."""
    text = repr({"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape})
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", HEADER - 10) + text.ljust(HEADER - 11).encode() + b"\n"
