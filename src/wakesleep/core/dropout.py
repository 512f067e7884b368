"""Dropout on the output of a prior's network: a prior that is learned from few programs remembers them by heart."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from wakesleep.core.keys import fused
from wakesleep.core.model import Prior, Scalar
from wakesleep.core.networks import LstmWriter, Opinion, TokenPrior, Tokens, Writer, read, write


class ThinnedWriter(Writer):
    """A writer some of whose outputs are left out, the others scaled so that their sum stays the same on average."""

    writer: LstmWriter
    factors: Float[Array, "h"]

    def begin(self, h: None) -> tuple[Array, Array]:
        """The writer's start."""
        return self.writer.begin(h)

    def step(self, state: tuple[Array, Array], token: Int[Array, ""]) -> tuple[tuple[Array, Array], Float[Array, "h"]]:
        """One step of the writer, its output thinned."""
        state, output = self.writer.step(state, token)
        return state, output * self.factors

    def opinion(self, output: Float[Array, "h"], h: None) -> Opinion:
        """The writer's opinion of the thinned output."""
        return self.writer.opinion(output, h)


class ThinnedPrior(Prior):
    """p(z) by a thinned writer: one member of the ensemble that dropout trains, itself a distribution."""

    plain: TokenPrior
    factors: Float[Array, "h"]

    def sample(self, key: Key[Array, ""], c: Any) -> Tokens:
        """A well-formed program, by the units that are left."""
        return write(key, self._writer, None, self.plain.rules, self.plain.length)

    def log_prob(self, z: Tokens, c: Any) -> Scalar:
        """log p(z) by the units that are left."""
        return read(z, self._writer, None, self.plain.rules)

    @property
    def _writer(self) -> ThinnedWriter:
        return ThinnedWriter(self.plain.writer, self.factors)


class DropoutPrior(Prior):
    """p(z) of a `TokenPrior`; where it is trained, each of its units is left out with the probability `share`."""

    plain: TokenPrior
    share: float

    def sample(self, key: Key[Array, ""], c: Any) -> Tokens:
        """A well-formed program."""
        return self.plain.sample(key, c)

    def log_prob(self, z: Tokens, c: Any) -> Scalar:
        """log p(z) by all units."""
        return self.plain.log_prob(z, c)

    def thinned(self, key: Key[Array, ""]) -> ThinnedPrior:
        """The prior with some units left out, the same ones at every place of a program."""
        kept = jax.random.uniform(fused(key), (self.plain.writer.lstm.hidden,)) >= self.share
        return ThinnedPrior(self.plain, jnp.where(kept, 1 / (1 - self.share), 0.0))
