"""A memory that has stopped finding programs, though better ones are within reach, is told of in a warning."""

import warnings
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from wakesleep.core import memory as mem
from wakesleep.core import processes
from wakesleep.core.keys import fused
from wakesleep.core.memory import Memory
from wakesleep.core.model import Batch, Model, Observations
from wakesleep.core.step import Info, State
from wakesleep.core.wake import enter

LEAST_NOVEL = 1e-3
"""Programs that enter an observation's memory in a step; with fewer, a run counts as idle."""
IDLE_STEPS, IDLE_VISITS = 1000, 100
"""A run is searched after so many idle steps, in which each observation had so many visits."""
SEARCHED_ROWS, SEARCH_DRAWS, SEARCH_ROUNDS = 20, 100, 10
LEAST_SEARCH_GAIN_NATS = 0.1
"""The mean gain of a fresh search that is worth a warning."""


class Watch:
    """Follows a run and warns once when it has collapsed: it adds nothing, but a search from the prior still does.

    Of seeds that train side by side, the one that has been idle for longest is searched.
    """

    def __init__(self, n: int, batch_size: int):
        self.idle: np.ndarray | int = 0
        self.patience, self.warned = max(IDLE_STEPS, IDLE_VISITS * n // batch_size), False

    def see(self, state: State, info: Info, steps: int, data: Observations) -> None:
        """Takes note of the report of some steps; the search changes nothing in the state. Every process calls it."""
        if state.memory is None or self.warned:
            return
        novel = np.asarray(info.novel)
        self.idle = np.where(novel >= LEAST_NOVEL, 0, self.idle + steps)
        if self.idle.max() < self.patience:
            return
        self.patience *= 4  # a run that has converged is not searched often
        seed = int(np.argmax(self.idle))
        one = jax.tree.map(lambda a: a[seed] if eqx.is_array(a) else a, state) if novel.ndim else state
        gain = search_gain(jax.random.key(int(one.step)), one, data)
        self.warned = gain > LEAST_SEARCH_GAIN_NATS
        if self.warned and processes.primary():
            warnings.warn(
                f"{f'Seed {seed}: no' if novel.ndim else 'No'} program has entered a memory in {self.idle.max():,} "
                f"steps, but a search from the prior raises the bound by {gain:.2f} nats: recognition proposes only "
                'what is remembered. Remedies: mws(..., recognition="fantasy"), mws(..., explore=0.1), or pretrain '
                "before the first step.",
                stacklevel=3,
            )


def search_gain(key: Key[Array, ""], state: State, data: Observations) -> float:
    """Returns the mean gain in nats, over a few rows, of the memory's sum by a search among programs of the prior."""
    assert state.memory is not None
    n = len(data)
    rows = np.unique(np.linspace(0, n - 1, min(n, SEARCHED_ROWS)).astype(np.int32))
    model, some, remembered = processes.whole((state.model, data[rows], mem.read(state.memory, jnp.asarray(rows))))
    batch = Batch(jnp.asarray(rows), some.x, some.c)
    before, after = _search(fused(key), model, remembered, batch)
    gain = np.where(np.isneginf(before), np.where(np.isneginf(after), 0.0, np.inf), after - before)
    return float(np.mean(np.minimum(gain, 1e3)))


@eqx.filter_jit
def _search(
    key: Key[Array, ""], model: Model, remembered: Memory, batch: Batch
) -> tuple[Float[Array, "b"], Float[Array, "b"]]:
    """The sums of memory rows before and after a search, both under the model as it now is."""
    b = batch.rows.shape[0]

    def more(rows: Memory, key: Key[Array, ""]) -> tuple[Memory, Any]:
        keys = jax.random.split(key, (b, SEARCH_DRAWS))
        drawn = jax.vmap(lambda ks, c: jax.vmap(partial(_draw, model, c))(ks))(keys, batch.c)
        return enter(model, rows, drawn, batch)[0], None

    proposed = jax.tree.map(lambda a: a[:, :1], remembered.programs)  # nothing new: rescores the row
    before = enter(model, remembered, proposed, batch)[0]
    vacant = jnp.isneginf(remembered.log_joint[:, 0])
    after = jax.lax.scan(more, remembered, jax.random.split(key, SEARCH_ROUNDS))[0]
    return jnp.where(vacant, -jnp.inf, mem.bound(before.log_joint)), mem.bound(after.log_joint)


def _draw(model: Model, c: Any, key: Key[Array, ""]) -> Any:
    """A program of the prior."""
    return model.prior.sample(key, c)
