"""Programs from anywhere enter a memory: a user's guess, another search, another run."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from wakesleep.core import memory as mem
from wakesleep.core.memory import Memory
from wakesleep.core.model import Batch, Model, Observations, Program
from wakesleep.core.step import State
from wakesleep.core.wake import enter
from wakesleep.errors import Refusal


def insert(state: State, rows: Any, programs: Any, data: Observations) -> State:
    """The state with programs merged into the memories of some rows of the training data.

    `programs` has leaves [b, k, ...], k programs for each of the b different `rows`; leaves [b, ...] are one program
    a row. The programs of those rows are rescored under the model as it now is, and the best M distinct ones stay. A
    program that cannot have produced its observation does not enter.
    """
    if state.memory is None:
        raise Refusal("The state has no memory to insert programs into: only algorithms such as mws keep one.")
    rows, programs = np.asarray(rows), jax.tree.map(np.asarray, programs)
    _require_rows(rows, state.memory.log_joint.shape[0], len(data))
    programs = _fitting(programs, state.memory.programs, len(rows))
    some = data[rows]
    batch = Batch(jnp.asarray(rows, jnp.int32), some.x, some.c)
    updated = _enter(state.model, mem.read(state.memory, batch.rows), programs, batch)
    return state._replace(memory=mem.write(state.memory, batch.rows, updated))


@eqx.filter_jit
def _enter(model: Model, remembered: Memory, programs: Program, batch: Batch) -> Memory:
    """The memory rows with the programs merged."""
    return enter(model, remembered, programs, batch)[0]


def _require_rows(rows: np.ndarray, memory_rows: int, n: int) -> None:
    """Refuses rows that are not different rows of the memory and the data."""
    if memory_rows != n:
        raise Refusal(f"The memory has {memory_rows} rows, but there are {n} observations: give the training data.")
    if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer) or rows.size == 0:
        raise Refusal("rows must be a list of row numbers.")
    if rows.min() < 0 or rows.max() >= n:
        raise Refusal(f"rows must lie between 0 and {n - 1}, but {rows.min()} to {rows.max()} were given.")
    if len(np.unique(rows)) < rows.size:
        raise Refusal("rows must differ: give all programs of a row at once.")


def _fitting(programs: Any, held: Program, b: int) -> Program:
    """The programs as [b, k, ...] with the types of those in memory; refuses programs of another structure."""
    given: Any = jax.tree.structure(programs)
    if given != jax.tree.structure(held):
        raise Refusal(
            f"programs must have the structure {jax.tree.structure(held)} of those in memory, but it is {given}."
        )
    leaves, like = jax.tree.leaves(programs), jax.tree.leaves(held)
    if all(a.ndim == c.ndim - 1 for a, c in zip(leaves, like, strict=True)):
        leaves = [a[:, None] for a in leaves]
    found = []
    for a, c in zip(leaves, like, strict=True):
        whole = [np.issubdtype(t, np.inexact) for t in (a.dtype, c.dtype)]
        if a.ndim != c.ndim or a.shape[0] != b or a.shape[2:] != c.shape[2:] or whole[0] > whole[1]:
            raise Refusal(
                f"A leaf of programs must be {c.dtype} of shape [{b}, k{''.join(f', {s}' for s in c.shape[2:])}], but "
                f"{a.dtype} of shape {list(a.shape)} was given."
            )
        found.append(jnp.asarray(a, c.dtype))
    if len({a.shape[1] for a in found}) > 1:
        raise Refusal("The leaves of programs must agree on the number of programs for each row.")
    return jax.tree.unflatten(jax.tree.structure(held), found)
