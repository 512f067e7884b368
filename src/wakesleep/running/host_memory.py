"""A memory kept on the host: each array is a file mapped into memory, and only chosen rows move to the devices."""

import shutil
from pathlib import Path
from typing import Any, Literal

import jax
import numpy as np

from wakesleep.core.memory import Memory
from wakesleep.errors import Refusal

ROWS_WRITTEN_AT_ONCE = 65536


def make(folder: Path, shape: Memory | None) -> Memory | None:
    """Makes an empty memory of the given shape in a folder, in place of what the folder held."""
    if shape is None:
        return None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    memory: Memory = jax.tree_util.tree_map_with_path(lambda path, a: _create(folder / _name(path), a), shape)
    for first in range(0, len(memory.log_joint), ROWS_WRITTEN_AT_ONCE):
        memory.log_joint[first : first + ROWS_WRITTEN_AT_ONCE] = -np.inf
    return memory


def attach(folder: Path, shape: Memory, mode: Literal["r", "r+"] = "r") -> Memory:
    """Maps the memory in a folder: mode `r` to read it, `r+` to change it."""
    memory: Memory = jax.tree_util.tree_map_with_path(lambda path, a: _map(folder / _name(path), a, mode), shape)
    return memory


def _map(path: Path, like: Any, mode: Literal["r", "r+"]) -> np.ndarray:
    """Maps one array; refuses a file that holds an array of another shape or type."""
    found = np.lib.format.open_memmap(path, mode)
    if found.shape != like.shape or found.dtype != like.dtype:
        raise Refusal(f"{path} holds {found.dtype}{list(found.shape)}, not {like.dtype}{list(like.shape)}.")
    return found


def save(memory: Memory, folder: Path) -> None:
    """Writes a memory into a new folder."""
    folder.mkdir()
    for path, a in jax.tree_util.tree_leaves_with_path(memory):
        np.save(folder / _name(path), a)


def copy(saved: Path, folder: Path, shape: Memory) -> Memory:
    """Copies a saved memory to a folder, in place of what the folder held, and maps the copy for writing."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(saved, folder)
    return attach(folder, shape, "r+")


def take(tree: Any, rows: list[slice]) -> Any:
    """Copies the given rows of each array."""
    return jax.tree.map(lambda a: np.concatenate([a[some] for some in rows]), tree)


def give(memory: Memory | None, rows: list[slice], new: Memory | None) -> None:
    """Writes new values to the rows that `take` copied."""

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
