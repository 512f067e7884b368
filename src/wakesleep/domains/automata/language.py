"""Programs of the automata domain: how many neighbours a cell looks at, and what it becomes for each pattern.

Pattern n of the neighbours, read as a binary number from the top cell down, has its outcome at place n of
the table (Wolfram's order). A table has room for the widest neighbourhood; places that a narrower
one does not use are zero, so that each program is spelled in one way.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from wakesleep.core.model import Prior, Scalar

NEIGHBOURHOOD_SIZES = (1, 3, 5, 7)


class Rule(NamedTuple):
    """A program: the number of neighbours and the outcome for each of their patterns."""

    size: Int[Array, ""]
    table: Int[Array, "p"]


class Odds(NamedTuple):
    """A distribution over rules: of the size, and for each size of every bit on its own."""

    size_log_prob: Float[Array, "s"]
    bit_logits: Float[Array, "s p"]
    log_partition: Float[Array, "s"]


def odds(sizes: tuple[int, ...], size_logits: Float[Array, "s"], bit_logits: Float[Array, "s p"]) -> Odds:
    """Returns the distribution with those logits; bits that a size does not use are ignored."""
    used = np.arange(bit_logits.shape[1]) < 2 ** np.asarray(sizes)[:, None]
    log_partition = jnp.sum(jnp.where(used, jax.nn.softplus(bit_logits), 0.0), axis=1)
    return Odds(jax.nn.log_softmax(size_logits), bit_logits, log_partition)


def draw(key: Key[Array, ""], sizes: tuple[int, ...], h: Odds) -> Rule:
    """Draws a rule: its size by inverse CDF, then its bits."""
    places = h.bit_logits.shape[1]
    uniform = jax.random.uniform(key, (places + 1,))
    below = jnp.cumsum(jnp.exp(h.size_log_prob))[:-1]
    place = jnp.sum(uniform[places] >= below)
    size, logits = jnp.asarray(sizes[0]), h.bit_logits[0]
    for s in range(1, len(sizes)):
        size, logits = jnp.where(place == s, sizes[s], size), jnp.where(place == s, h.bit_logits[s], logits)
    table = (uniform[:places] < jax.nn.sigmoid(logits)) & used(size, places)
    return Rule(size, table.astype(jnp.int32))


def log_density(z: Rule, sizes: tuple[int, ...], h: Odds) -> Scalar:
    """Returns log of the probability of a rule; minus infinity for one spelled wrongly."""
    places = h.bit_logits.shape[1]
    total, known = jnp.zeros(()), jnp.zeros((), bool)
    for s, size in enumerate(sizes):
        bits = 2**size  # the rest are zero, or the rule is not spelled rightly
        of_bits = jnp.sum(jnp.where(z.table[:bits] == 1, h.bit_logits[s, :bits], 0.0)) - h.log_partition[s]
        total = jnp.where(z.size == size, h.size_log_prob[s] + of_bits, total)
        known |= z.size == size
    spelled = jnp.all(((z.table == 1) & used(z.size, places)) | (z.table == 0))
    return jnp.where(known & spelled, total, -jnp.inf)


def used(size: Int[Array, ""], places: int) -> Bool[Array, "p"]:
    """Returns a mask of the places of the table that a neighbourhood of that size uses."""
    return jnp.arange(places) < 2**size


def widen(z: Rule, sizes: tuple[int, ...]) -> Int[Array, "p"]:
    """Returns the outcome for each pattern of the widest neighbourhood, which has the rule's own in its middle."""
    if len(sizes) == 1:
        return z.table
    wide = z.table
    for size in sizes[:-1]:
        margin = 2 ** ((sizes[-1] - size) // 2)
        repeated = jnp.broadcast_to(z.table[None, : 2**size, None], (margin, 2**size, margin)).reshape(-1)
        wide = jnp.where(z.size == size, repeated, wide)
    return wide


class RulePrior(Prior):
    """p(z): the size, then bits independent of each other; uniform and fixed, or learned.

    A rule of more neighbours has more bits, and so a smaller probability each: Occam's razor.
    """

    size_logits: Float[Array, "s"] | None
    bit_logits: Float[Array, "s p"] | None
    sizes: tuple[int, ...]

    def __init__(self, sizes: tuple[int, ...], learned: bool = False):
        self.sizes = sizes
        self.size_logits = jnp.zeros(len(sizes)) if learned else None
        self.bit_logits = jnp.zeros((len(sizes), 2 ** sizes[-1])) if learned else None

    def _odds(self) -> Odds:
        count, places = len(self.sizes), 2 ** self.sizes[-1]
        if self.size_logits is None or self.bit_logits is None:
            return odds(self.sizes, jnp.zeros(count), jnp.zeros((count, places)))
        return odds(self.sizes, self.size_logits, self.bit_logits)

    def sample(self, key: Key[Array, ""], c: None) -> Rule:
        """Draws a rule."""
        return draw(key, self.sizes, self._odds())

    def log_prob(self, z: Rule, c: None) -> Scalar:
        """Returns log p(size) + sum of log p(bit)."""
        return log_density(z, self.sizes, self._odds())


def tables(size: int) -> Int[np.ndarray, "n p"]:
    """Returns every table of that many neighbours, in the order of Wolfram's numbers."""
    places = 2**size
    return (np.arange(2**places)[:, None] >> np.arange(places) & 1).astype(np.int32)


def number(z: Rule) -> int:
    """Returns Wolfram's number of a rule: its table read as a binary number, place 0 the lowest."""
    bits = np.asarray(z.table)[: 2 ** int(z.size)]
    return sum(1 << n for n, bit in enumerate(bits.tolist()) if bit)


def rule(wolfram: int, size: int = 3, widest: int | None = None) -> Rule:
    """Returns the rule of that number."""
    places = 2 ** (size if widest is None else widest)
    bits = [wolfram >> n & 1 if n < 2**size else 0 for n in range(places)]
    return Rule(jnp.asarray(size), jnp.asarray(bits, jnp.int32))
