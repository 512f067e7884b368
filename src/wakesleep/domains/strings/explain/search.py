"""Regexes for new columns: a fresh memory for each, filled from known programs, recognition, and mutations.

The model stays fixed. Any program may enter a memory, whatever it was proposed by: its score alone decides.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from wakesleep.core import memory as mem
from wakesleep.core.keys import fused
from wakesleep.core.memory import Memory, Weighted
from wakesleep.core.model import Model, over_programs, propose, score
from wakesleep.domains.strings.evaluator import Strings
from wakesleep.domains.strings.revision import mutate


class Effort(NamedTuple):
    """How much is searched for a column."""

    memory_size: int = 32
    rounds: int = 8
    proposals: int = 32
    """From recognition, in each round."""
    mutations: int = 64
    """Of remembered programs, in each round."""

    @property
    def programs(self) -> int:
        """How many programs a search scores, the known ones not counted."""
        return self.rounds * (self.proposals + self.mutations)


EFFORTS = {
    "quick": Effort(rounds=3),
    "usual": Effort(),
    "thorough": Effort(rounds=40),
}


def search(
    key: Key[Array, ""], model: Model, known: Memory, made: Int[np.ndarray, "k t"], x: Strings, effort: Effort
) -> Weighted:
    """The best programs for some strings, from known ones and from a few made for them; the best first."""
    count = effort.proposals + effort.mutations
    padded, rounds = jax.device_put((np.pad(made, ((0, count - len(made)), (0, 0))), np.int32(effort.rounds)))
    return _search(key, model, known, padded, x, rounds, effort.proposals)


@eqx.filter_jit
def _search(
    key: Key[Array, ""],
    model: Model,
    known: Memory,
    made: Int[Array, "k t"],
    x: Strings,
    rounds: Int[Array, ""],
    proposals: int,
) -> Weighted:
    """Compiled once for any number of rounds; what was made enters before the first."""
    x = jax.tree.map(lambda a: a[None], x)
    h = jax.vmap(model.recognition.encode)(x, None)

    def fresh(key: Key[Array, ""], memory: Memory) -> Int[Array, "k t"]:
        key_propose, key_mutate = jax.random.split(key)
        proposed = propose(model.recognition, key_propose, h, proposals)
        mutated = _mutations(key_mutate, memory, x, made.shape[0] - proposals)
        return jnp.concatenate([proposed, mutated[None]], axis=1)[0]

    def more(done: Int[Array, ""], memory: Memory) -> Memory:
        new = jax.lax.cond(done == 0, lambda: made, lambda: fresh(jax.random.fold_in(key, done), memory))
        return mem.merge(memory, Memory(new, score(model, new[None], x, None)[0]))[0]

    return mem.posterior(jax.lax.fori_loop(0, 1 + rounds, more, known))


def _mutations(key: Key[Array, ""], memory: Memory, x: Strings, count: int) -> Int[Array, "k t"]:
    """Remembered programs, each changed at one or two places."""
    key_pick, key_change, key_twice = jax.random.split(fused(key), 3)
    # Flatter than the posterior, so that more than the best is tried.
    slots = jnp.arange(memory.log_joint.shape[0])
    log_weight = jnp.where(jnp.isneginf(memory.log_joint), -jnp.inf, -0.25 * slots)
    chosen = memory.programs[jax.random.categorical(key_pick, log_weight, shape=(count,))]
    twice = jax.random.bernoulli(key_twice, 0.5, (count, 1))

    def change(again: Int[Array, ""], z: Int[Array, "k t"]) -> Int[Array, "k t"]:
        keys = jax.random.split(jax.random.fold_in(key_change, again), (1, count))
        changed = over_programs(lambda pair, x: mutate(pair[0], pair[1], x), (keys, z[None]), x)[0]
        return jnp.where(twice | (again == 0), changed, z)

    return jax.lax.fori_loop(0, 2, change, chosen)
