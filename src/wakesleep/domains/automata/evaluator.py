"""p(x | z) of the automata domain: an image grown column by column by a rule with noise.

The first column is uniform; a later cell is what the rule makes of its neighbours in the column before,
and the opposite with the probability of noise. So the score of an image needs only the counts of
(pattern of neighbours, next cell), which are computed once and kept beside the image.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Int8, Key

from wakesleep.core.model import Evaluator, Scalar
from wakesleep.domains.automata.language import Rule, widen

ABSENT = -1
Image = Int8[Array, "h w"]
Cells = Int[Array, "h w"] | Int[np.ndarray, "h w"]


class Picture(NamedTuple):
    """An image of zeros and ones with what is counted in it."""

    image: Image
    """Where images differ in size, the smaller ones are filled with `ABSENT` below and to the right."""
    height: Float[Array, ""]
    counts: Float[Array, "p 2"]
    """The number of times that each pattern of the widest neighbourhood is followed by 0 and by 1."""
    windows: Float[Array, "v"] | None
    """The number of times that each pattern of two neighbouring columns occurs, where recognition needs it."""


def patterns(image: Cells, size: int) -> Int[Array, "h w"]:
    """Returns the number of the pattern around each cell, the top cell first; the edges wrap around."""
    reach, cells = size // 2, jnp.asarray(image, jnp.int32)
    rolled = [jnp.roll(cells, reach - j, axis=0) << (size - 1 - j) for j in range(size)]
    return jnp.stack(rolled).sum(axis=0)


def count(image: Cells, size: int, windows: bool) -> tuple[Float[Array, "p 2"], Float[Array, "v"] | None]:
    """Returns the counts of (pattern, next cell), and of (pattern, next pattern) if `windows` is set."""
    seen = patterns(image, size)
    after = seen[:, 1:] >> size // 2 & 1
    counts = _tally(2 * seen[:, :-1] + after, 2 ** (size + 1)).reshape(-1, 2)
    return counts, _tally((seen[:, :-1] << size) + seen[:, 1:], 4**size) if windows else None


def narrow(counts: Float[Array, "p 2"], widest: int, size: int) -> Float[Array, "q 2"]:
    """Returns the counts of a narrower neighbourhood, summed over the cells that it does not see."""
    margin = 2 ** ((widest - size) // 2)
    return jnp.sum(counts.reshape(margin, 2**size, margin, 2), axis=(0, 2))


def _tally(numbers: Int[Array, "h w"], length: int) -> Float[Array, "v"]:
    return jnp.zeros(length).at[numbers.reshape(-1)].add(1.0)


def picture(image: Cells, size: int, windows: bool) -> Picture:
    """Returns the image with its counts."""
    image = jnp.asarray(image, jnp.int8)
    return Picture(image, jnp.asarray(image.shape[0], jnp.float32), *count(image, size, windows))


class NoisyAutomaton(Evaluator):
    """p(x_jk = rule(neighbours in the column before)) = 1 - phi; phi is learned, as a logit."""

    logit: Float[Array, ""]
    sizes: tuple[int, ...]
    shape: tuple[int, int]
    windows: bool

    def __init__(self, noise: float, sizes: tuple[int, ...], shape: tuple[int, int], windows: bool = False):
        self.logit = jnp.asarray(np.log(noise / (1 - noise)), jnp.float32)
        self.sizes, self.shape, self.windows = sizes, shape, windows

    @property
    def noise(self) -> Scalar:
        """Returns phi, the probability that a cell is not what the rule says."""
        return jax.nn.sigmoid(self.logit)

    def sample(self, key: Key[Array, ""], z: Rule) -> Picture:
        """Draws an image of the usual size."""
        key_first, key_rest = jax.random.split(key)
        height, width = self.shape
        first = jax.random.bernoulli(key_first, 0.5, (height,)).astype(jnp.int8)
        rest = self.grow(key_rest, first, z, width - 1)
        return picture(jnp.concatenate([first[:, None], rest], axis=1), self.sizes[-1], self.windows)

    def grow(self, key: Key[Array, ""], column: Int8[Array, "h"], z: Rule, width: int) -> Int8[Array, "h w"]:
        """Draws that many further columns."""
        wide = widen(z, self.sizes).astype(jnp.int8)
        flips = (jax.random.uniform(key, (width, column.shape[0])) < self.noise).astype(jnp.int8)

        def after(column: Int8[Array, "h"], flip: Int8[Array, "h"]) -> tuple[Array, Array]:
            column = wide[patterns(column[:, None], self.sizes[-1])[:, 0]] ^ flip
            return column, column

        return jax.lax.scan(after, column, flips)[1].T

    def log_prob(self, x: Picture, z: Rule) -> Scalar:
        """Returns kept log (1 - phi) + flipped log phi - height log 2; the first column is uniform."""
        kept = jnp.zeros(())
        for size in self.sizes:
            counts = narrow(x.counts, self.sizes[-1], size)
            agreeing = jnp.sum(jnp.where(z.table[: 2**size] == 1, counts[:, 1], counts[:, 0]))
            kept = jnp.where(z.size == size, agreeing, kept)
        flipped = jnp.sum(x.counts) - kept
        log_flip, log_keep = jax.nn.log_sigmoid(self.logit), jax.nn.log_sigmoid(-self.logit)
        return kept * log_keep + flipped * log_flip - x.height * jnp.log(2.0)

    def log_prob_pixels(self, image: Image, z: Rule) -> Scalar:
        """Returns the same as `log_prob`, cell by cell: slow, as an oracle and to compare."""
        outcomes = widen(z, self.sizes)[patterns(image, self.sizes[-1])[:, :-1]]
        log_flip, log_keep = jax.nn.log_sigmoid(self.logit), jax.nn.log_sigmoid(-self.logit)
        cells = jnp.where(outcomes == image[:, 1:], log_keep, log_flip)
        return jnp.sum(cells) - image.shape[0] * jnp.log(2.0)
