"""Regexes for new columns: a fresh memory for each, filled from known programs, recognition, and mutations.

The model stays fixed. Any program may enter a memory, whatever it was proposed by: its score alone decides.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Key

from wakesleep import memory as mem
from wakesleep.domains.strings.evaluator import PAST, Strings
from wakesleep.domains.strings.language import FIRST_CLASS, OPTIONAL, SPELLINGS
from wakesleep.keys import fused
from wakesleep.memory import Memory, Weighted
from wakesleep.model import Model, over_programs, propose, score
from wakesleep.networks import END, Tokens


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
        """How many programs are scored for a column, the known ones not counted."""
        return self.rounds * (self.proposals + self.mutations)


EFFORTS = {
    "quick": Effort(rounds=3),
    "usual": Effort(),
    "thorough": Effort(rounds=40),
}


@eqx.filter_jit
def search(key: Key[Array, ""], model: Model, known: Int[Array, "p t"], x: Strings, effort: Effort) -> Weighted:
    """The best programs for each of a batch of columns, with their posterior weights, the best first."""
    b = x.lengths.shape[0]
    h = jax.vmap(model.recognition.encode)(x, None)
    empty = mem.empty(jax.ShapeDtypeStruct(known.shape[1:], known.dtype), b, effort.memory_size)

    def more(memory: Memory, given: tuple[Key[Array, ""], Int[Array, "q t"]]) -> tuple[Memory, None]:
        key, some = given
        key_propose, key_mutate = jax.random.split(key)
        proposed = propose(model.recognition, key_propose, h, effort.proposals)
        mutated = _mutations(key_mutate, memory, x, effort.mutations)
        new = jnp.concatenate([proposed, mutated, jnp.broadcast_to(some[None], (b, *some.shape))], axis=1)
        scored = Memory(new, score(model, new, x, None))
        return jax.vmap(mem.merge)(memory, scored)[0], None

    keys = jax.random.split(fused(key), effort.rounds)
    return mem.posterior(jax.lax.scan(more, empty, (keys, _shared(known, effort.rounds)))[0])


def _shared(known: Int[Array, "p t"], rounds: int) -> Int[Array, "n q t"]:
    """The known programs dealt out to the rounds, the commonest to the first; the last may be filled up with none."""
    each = -(-known.shape[0] // rounds)
    return jnp.pad(known, ((0, each * rounds - known.shape[0]), (0, 0))).reshape(rounds, each, -1)


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


def mutate(key: Key[Array, ""], z: Tokens, x: Strings) -> Tokens:
    """The program with one token replaced, inserted or deleted; it may break the grammar, and then scores nothing.

    A new token is a class or an operator, or a character of one of the strings.
    """
    uniform = jax.random.uniform(fused(key), (6,))
    length = jnp.sum(z != END)
    place = (uniform[0] * (length + 1)).astype(jnp.int32)
    kind = (uniform[1] * 3).astype(jnp.int32)
    special = FIRST_CLASS + (uniform[2] * (len(SPELLINGS) - FIRST_CLASS)).astype(jnp.int32)
    row = (uniform[3] * jnp.sum(x.lengths >= 0)).astype(jnp.int32)
    column = (uniform[4] * jnp.maximum(x.lengths[row], 1)).astype(jnp.int32)
    character = x.characters[row, column].astype(jnp.int32)
    literal = jnp.where(character == PAST, OPTIONAL, character + 1)
    token = jnp.where(uniform[5] < 0.5, special, literal)
    i = jnp.arange(z.shape[0])
    shorter = jnp.concatenate([z[1:], jnp.zeros(1, z.dtype)])
    longer = jnp.concatenate([jnp.zeros(1, z.dtype), z[:-1]])
    deleted = jnp.where(i < place, z, shorter)
    replaced = jnp.where(i == place, token, z)
    inserted = jnp.where(i < place, z, jnp.where(i == place, token, longer))
    return jnp.where(kind == 0, deleted, jnp.where(kind == 1, replaced, inserted))
