"""Memories for observations that a model was not trained on, filled by wake phases with the model fixed."""

from collections.abc import Iterator

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from wakesleep.core import memory as mem
from wakesleep.core.keys import fused
from wakesleep.core.memory import Memory
from wakesleep.core.model import Batch, Model, Observations, score
from wakesleep.core.wake import Shares, wake

AT_ONCE = 50
"""The most observations for which programs are proposed at the same time."""


def parts(data: Observations) -> Iterator[Batch]:
    """The observations in batches of at most `AT_ONCE`, so that the space needed does not grow with their number."""
    for start in range(0, len(data), AT_ONCE):
        rows = jnp.arange(start, min(start + AT_ONCE, len(data)))
        part = data[rows]
        yield Batch(rows, part.x, part.c)


def remember(
    key: Key[Array, ""],
    model: Model,
    data: Observations,
    memory_size: int = 10,
    proposals: int = 100,
    wakes: int = 10,
    revise: float = 0.0,
    explore: float = 0.0,
) -> Memory:
    """A fresh memory for new observations, filled by `wakes` wake phases with the model fixed.

    `revise` and `explore` are the shares of proposals that change a remembered program and that come from the prior.
    The sum over a memory is a lower bound on p(x), however its programs were found.
    """
    shares = Shares(explore, revise)
    found = [
        _remember(fused(jax.random.fold_in(key, i)), model, batch, memory_size, proposals, wakes, shares)
        for i, batch in enumerate(parts(data))
    ]
    return jax.tree.map(lambda *a: jnp.concatenate(a), *found)


@eqx.filter_jit
def _remember(
    key: Key[Array, ""],
    model: Model,
    batch: Batch,
    memory_size: int,
    proposals: int,
    wakes: int,
    shares: Shares,
) -> Memory:
    """The memory of one part of the observations."""
    h = jax.vmap(model.recognition.encode)(batch.x, batch.c)
    example = jax.tree.map(lambda a: a[0], h)
    program = jax.eval_shape(model.recognition.sample, key, example)
    empty = mem.empty(program, batch.rows.shape[0], memory_size)

    def more(memory: Memory, key: Key[Array, ""]) -> tuple[Memory, None]:
        return wake(model, key, memory, h, batch, proposals, shares, fixed=True)[0], None

    return jax.lax.scan(more, empty, jax.random.split(key, wakes))[0]


def rescore(model: Model, known: Memory, data: Observations) -> Memory:
    """The memory with the scores of its programs under this model; empty slots stay empty."""
    scores = [_rescore(model, mem.read(known, batch.rows), batch) for batch in parts(data)]
    return known._replace(log_joint=jnp.concatenate(scores))


@eqx.filter_jit
def _rescore(model: Model, known: Memory, batch: Batch) -> Array:
    """The scores of the memory rows of one batch."""
    log_joint = score(model, known.programs, batch.x, batch.c)
    return jnp.where(jnp.isneginf(known.log_joint), -jnp.inf, log_joint)
