"""Strings that no program explains: independent characters, and a length that is geometric."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import stop_gradient
from jaxtyping import Array, Bool, Float, Int, Key

from wakesleep.core.keys import fused
from wakesleep.core.model import Scalar
from wakesleep.domains.strings.language import CHARACTERS
from wakesleep.errors import Refusal

LARGEST_RATE = 0.2
"""The stray rate is learned below this bound; beyond it programs would explain too little of their strings."""
RATE_SPEED = 10.0
"""How much faster than the weights of networks the logit of the rate learns at the same learning rate."""


class Strays(eqx.Module):
    """The background distribution q and the probability, the rate, with which a string comes from it.

    q(s) = (1 - g) g^n prod_i u(s_i) for a string s of n characters; it sums to one over all strings. u and g are
    counted in the data and fixed. The rate is learned, or fixed where `learned` is false.
    """

    logit: Float[Array, ""]
    """The logit, divided by `RATE_SPEED`, of the rate over `LARGEST_RATE`."""
    unigrams: Float[Array, "95"]
    """Logits of u."""
    onward: Float[Array, ""]
    """The logit of g, the probability that one more character follows."""
    learned: bool

    def __init__(self, rate: float, counts: Float[Array, "95"], strings: Scalar | float, learned: bool = True):
        """`counts` are those of the characters in that many `strings`; every character is counted once more."""
        if not 0 < rate < LARGEST_RATE:
            raise Refusal(f"stray must lie between 0 and {LARGEST_RATE}, but {rate} was given.")
        self.logit = jnp.asarray(np.log(rate / (LARGEST_RATE - rate)) / RATE_SPEED, jnp.float32)
        self.unigrams = jnp.log1p(counts)
        self.onward = jnp.log1p(jnp.sum(counts)) - jnp.log1p(strings)  # the mean length is g / (1 - g)
        self.learned = learned

    @property
    def rate(self) -> Scalar:
        """The probability that a string is stray."""
        logit = self.logit if self.learned else stop_gradient(self.logit)
        return LARGEST_RATE * jax.nn.sigmoid(RATE_SPEED * logit)

    def log_prob(self, characters: Int[Array, "s l"], lengths: Int[Array, "s"]) -> Float[Array, "s"]:
        """log q of each string."""
        log_u = jnp.pad(jax.nn.log_softmax(stop_gradient(self.unigrams)), (0, 1))
        onward = stop_gradient(self.onward)
        spelled = jnp.sum(log_u[characters], axis=1)  # a place past the end adds nothing
        return spelled + lengths * jax.nn.log_sigmoid(onward) + jax.nn.log_sigmoid(-onward)

    def mix(self, log_p: Float[Array, "s"], log_q: Float[Array, "s"]) -> Float[Array, "s"]:
        """log ((1 - rate) p + rate q) of each string."""
        rate = self.rate
        return jnp.logaddexp(jnp.log1p(-rate) + log_p, jnp.log(rate) + log_q)

    def sample(self, key: Key[Array, ""], strings: int, longest: int) -> tuple[Bool[Array, "s"], Int[Array, "s l"]]:
        """Which strings are stray; and strings from q, each given that it is not longer than `longest`."""
        u = jax.random.uniform(fused(key), (strings, longest + 2))
        going = jax.nn.sigmoid(self.onward)
        lengths = jnp.floor(jnp.log1p(-u[:, 1] * (1 - going ** (longest + 1))) / jnp.log(going))
        lengths = jnp.clip(lengths.astype(jnp.int32), 0, longest)
        mass = jnp.cumsum(jax.nn.softmax(self.unigrams))
        drawn = jnp.minimum(jnp.searchsorted(mass, u[:, 2:] * mass[-1], side="right"), len(CHARACTERS) - 1)
        inside = jnp.arange(longest)[None, :] < lengths[:, None]
        return u[:, 0] < self.rate, jnp.where(inside, drawn, len(CHARACTERS))
