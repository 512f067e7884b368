"""Models in a file that can be shipped or sent: safetensors, which holds arrays and text and nothing that runs."""

import json
from pathlib import Path
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from wakesleep.errors import Refusal

Tree = TypeVar("Tree")


def save(path: Path, arrays: Any, notes: dict[str, Any]) -> None:
    """Writes every array of a tree under its path in the tree, and notes that JSON can carry."""
    named = {name: np.asarray(a, order="C") for name, a in _named(arrays)}
    save_file(named, path, {"notes": json.dumps(notes)})


def read_notes(path: Path) -> dict[str, Any]:
    """Returns the notes of a file."""
    with _open(path) as file:
        found: dict[str, Any] = json.loads((file.metadata() or {}).get("notes", "{}"))
    return found


def load(path: Path, like: Tree) -> Tree:
    """Returns a tree like the given one, of arrays or shapes, with the file's arrays of the same names."""
    like = jax.tree.map(lambda a: np.zeros(a.shape, a.dtype) if isinstance(a, jax.ShapeDtypeStruct) else a, like)
    with _open(path) as file:
        known = set(file.keys())
        wanted = dict(_named(like))
        if known != set(wanted):
            raise Refusal(f"{path} holds other arrays than are expected: {', '.join(sorted(known ^ set(wanted))[:3])}.")
        arrays = {name: file.get_tensor(name) for name in known}
    for name, a in wanted.items():
        if arrays[name].shape != a.shape or arrays[name].dtype != a.dtype:
            raise Refusal(f"{path} holds {name} as {arrays[name].dtype}{arrays[name].shape}, not {a.dtype}{a.shape}.")
    leaves = jax.device_put([arrays[name] for name, _ in _named(like)])
    return eqx.combine(jax.tree.unflatten(jax.tree.structure(eqx.filter(like, eqx.is_array)), leaves), like)


def _named(tree: Any) -> list[tuple[str, Any]]:
    paths = jax.tree_util.tree_leaves_with_path(eqx.filter(tree, eqx.is_array))
    return [(jax.tree_util.keystr(path).lstrip("."), leaf) for path, leaf in paths]


def _open(path: Path) -> Any:
    try:
        return safe_open(path, framework="numpy")
    except (SafetensorError, OSError) as error:
        raise Refusal(f"{path} cannot be read as a model ({error}).") from None
