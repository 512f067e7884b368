"""Regexes for new columns: a fresh memory for each, filled from known programs, recognition, and mutations.

The model stays fixed. Any program may enter a memory, whatever it was proposed by: its score alone decides.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Key

from wakesleep import memory as mem
from wakesleep.domains.strings.evaluator import Strings
from wakesleep.domains.strings.revision import mutate
from wakesleep.keys import fused
from wakesleep.memory import Memory, Weighted
from wakesleep.model import Model, over_programs, propose, score


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


@eqx.filter_jit
def search(
    key: Key[Array, ""], model: Model, known: Memory, made: Int[Array, "b k t"], x: Strings, effort: Effort
) -> Weighted:
    """The best programs for each of a batch of columns, from known ones and from some made for them; the best first."""
    h = jax.vmap(model.recognition.encode)(x, None)
    start, _ = jax.vmap(mem.merge)(known, Memory(made, score(model, made, x, None)))

    def more(memory: Memory, key: Key[Array, ""]) -> tuple[Memory, None]:
        key_propose, key_mutate = jax.random.split(key)
        proposed = propose(model.recognition, key_propose, h, effort.proposals)
        new = jnp.concatenate([proposed, _mutations(key_mutate, memory, x, effort.mutations)], axis=1)
        return jax.vmap(mem.merge)(memory, Memory(new, score(model, new, x, None)))[0], None

    return mem.posterior(jax.lax.scan(more, start, jax.random.split(fused(key), effort.rounds))[0])


def _mutations(key: Key[Array, ""], memory: Memory, x: Strings, count: int) -> Int[Array, "b k t"]:
    """Programs drawn from each row, each changed at one or two places."""
    b, m = memory.log_joint.shape
    key_pick, key_first, key_second, key_twice = jax.random.split(key, 4)
    # Flatter than the posterior, so that more than the best is tried.
    log_weight = jnp.where(jnp.isneginf(memory.log_joint), -jnp.inf, -0.25 * jnp.arange(m)[None, :])
    slots = jax.random.categorical(key_pick, log_weight[:, None, :], axis=-1, shape=(b, count))
    chosen = jnp.take_along_axis(memory.programs, slots[:, :, None], axis=1)
    change = lambda pair, x: mutate(pair[0], pair[1], x)  # noqa: E731
    once = over_programs(change, (jax.random.split(key_first, (b, count)), chosen), x)
    twice = over_programs(change, (jax.random.split(key_second, (b, count)), once), x)
    again = jax.random.bernoulli(key_twice, 0.5, (b, count, 1))
    return jnp.where(again, twice, once)
