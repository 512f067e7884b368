"""Dropout on the output of a prior's network: a prior that is learned from few programs remembers them by heart."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from wakesleep.core.keys import fused
from wakesleep.core.model import Prior, Scalar
from wakesleep.core.networks import LstmWriter, Opinion, TokenPrior, Tokens, Writer, read, write


class ThinnedWriter(Writer):
    """A writer some of whose outputs are left out, the others scaled so that their sum stays the same on average."""

    writer: LstmWriter
    factors: Float[Array, "t h"]
    """Zero for a unit that is left out at a place of the program."""

    def begin(self, h: None) -> tuple[Any, Int[Array, ""]]:
        """The writer's start, at the first place."""
        return self.writer.begin(h), jnp.zeros((), jnp.int32)

    def step(
        self, state: tuple[Any, Int[Array, ""]], token: Int[Array, ""]
    ) -> tuple[tuple[Any, Int[Array, ""]], Float[Array, "h"]]:
        """One step of the writer, its output thinned by the units that are left at this place."""
        inner, place = state
        inner, output = self.writer.step(inner, token)
        return (inner, place + 1), output * self.factors[place]

    def opinion(self, output: Float[Array, "h"], h: None) -> Opinion:
        """The writer's opinion of the thinned output."""
        return self.writer.opinion(output, h)


class ThinnedPrior(Prior):
    """p(z) by a thinned writer: one member of the ensemble that dropout trains, itself a distribution."""

    plain: TokenPrior
    factors: Float[Array, "t h"]

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
    share: float = eqx.field(static=True)

    def sample(self, key: Key[Array, ""], c: Any) -> Tokens:
        """A well-formed program."""
        return self.plain.sample(key, c)

    def log_prob(self, z: Tokens, c: Any) -> Scalar:
        """log p(z) by all units."""
        return self.plain.log_prob(z, c)

    def thinned(self, key: Key[Array, ""]) -> ThinnedPrior:
        """The prior with some units left out, others at every place of a program."""
        shape = (self.plain.length + 1, self.plain.writer.lstm.hidden)
        kept = jax.random.uniform(fused(key), shape) >= self.share
        return ThinnedPrior(self.plain, jnp.where(kept, 1 / (1 - self.share), 0.0))
