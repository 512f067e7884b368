"""A memory kept on the host: a file for each of its arrays, mapped into memory, of which only some rows move."""

import shutil
from pathlib import Path
from typing import Any, Literal

import jax
import numpy as np

from wakesleep.core.memory import Memory

BLOCK = 65536


def make(folder: Path, shape: Memory | None) -> Memory | None:
    """An empty memory of that shape in a folder, which is made anew."""
    if shape is None:
        return None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    memory: Memory = jax.tree_util.tree_map_with_path(lambda path, a: _create(folder / _name(path), a), shape)
    for first in range(0, len(memory.log_joint), BLOCK):
        memory.log_joint[first : first + BLOCK] = -np.inf
    return memory


def attach(folder: Path, shape: Memory, mode: Literal["r", "r+"] = "r") -> Memory:
    """The memory in a folder: mode `r` to read it, `r+` to change it."""
    memory: Memory = jax.tree_util.tree_map_with_path(lambda path, _: np.load(folder / _name(path), mode), shape)
    return memory


def save(memory: Memory, folder: Path) -> None:
    """Writes the memory as it now is into a folder."""
    folder.mkdir()
    for path, a in jax.tree_util.tree_leaves_with_path(memory):
        np.save(folder / _name(path), a)


def copy(saved: Path, folder: Path, shape: Memory) -> Memory:
    """A memory to change in a folder, made anew, as it was saved in another."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(saved, folder)
    return attach(folder, shape, "r+")


def take(tree: Any, rows: list[slice]) -> Any:
    """Those rows of the host's arrays, copied."""
    return jax.tree.map(lambda a: np.concatenate([a[some] for some in rows]), tree)


def give(memory: Memory | None, rows: list[slice], new: Memory | None) -> None:
    """Writes rows back to where they were taken from."""

    def put(a: np.ndarray, b: Any) -> None:
        done, host = 0, np.asarray(b)
        for some in rows:
            count = some.stop - some.start
            a[some] = host[done : done + count]
            done += count

    jax.tree.map(put, memory, new)


def is_hosted(memory: Memory | None) -> bool:
    """Whether a memory is on the host."""
    return memory is not None and isinstance(memory.log_joint, np.ndarray)


def _create(path: Path, a: Any) -> np.ndarray:
    return np.lib.format.open_memmap(path, "w+", a.dtype, a.shape)


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path).strip(".").replace("[", "-").replace("]", "") + ".npy"
