"""The time series model whose continuous variables are random variables, for hybrid memoised wake-sleep.

Where `evaluator.py` fits a Gaussian to the variables of an expression and scores it by a variational bound, here a
program holds one value of each variable: p(variables | expression) belongs to the prior, log p(x | variables) is exact,
and recognition draws the variables given the expression and the series.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from jax.scipy.stats import norm
from jaxtyping import Array, Float, Int, Key

from wakesleep.core.model import Scalar, frozen
from wakesleep.core.networks import Grammar
from wakesleep.domains.timeseries.evaluator import START_MEAN, START_STD, GaussianProcess
from wakesleep.domains.timeseries.kernels import IDLE, PERIOD, VARIABLE_KINDS, layout
from wakesleep.domains.timeseries.language import KERNEL_SPELLINGS, MOST_VARIABLES, Kernel
from wakesleep.domains.timeseries.likelihood import Series
from wakesleep.domains.timeseries.networks import (
    START_MEAN_AND_SPREAD,
    Encoded,
    KernelPrior,
    SeriesRecognition,
    frequencies,
)

LEAST_LOG_DEVIATION, GREATEST_LOG_DEVIATION = -4.0, 1.5
"""Bounds on the logarithm of recognition's standard deviations, so that no weight p / r is unbounded by a slip."""
DEVIATION_OF_A_FREQUENCY = 0.05
"""The standard deviation, in log-space, around a frequency of the periodogram before learning."""


def holding(tokens: Int[Array, "t"], theta: Float[Array, "v"]) -> Kernel:
    """Returns the program with those values of its variables; idle ones are zero."""
    return Kernel(tokens, theta, jnp.zeros((MOST_VARIABLES, MOST_VARIABLES)))


class HybridPrior(KernelPrior):
    """p(z): an LSTM over tokens, and a normal, in log-space, for each kind of variable."""

    mean: Float[Array, "c"]
    log_std: Float[Array, "c"]

    def __init__(self, key: Key[Array, ""], hidden: int, rules: Grammar, length: int, scaled: bool):
        super().__init__(key, hidden, rules, length, scaled)
        self.mean = jnp.array([START_MEAN[k] for k in VARIABLE_KINDS])
        self.log_std = jnp.full(len(VARIABLE_KINDS), np.log(START_STD), jnp.float32)

    def sample(self, key: Key[Array, ""], c: Any) -> Kernel:
        """Draws an expression and its variables."""
        key_tokens, key_variables = jax.random.split(key)
        tokens = self.tokens.sample(key_tokens, c)
        kind = layout(tokens, self.scaled).kind
        mean, deviation = self._normal(kind)
        drawn = mean + deviation * jax.random.normal(key_variables, mean.shape)
        return holding(tokens, jnp.where(kind < IDLE, drawn, 0.0))

    def log_prob(self, z: Kernel, c: Any) -> Scalar:
        """Returns log p(tokens) + log p(variables | tokens)."""
        kind = layout(z.tokens, self.scaled).kind
        each = norm.logpdf(z.mean, *self._normal(kind))
        return self.tokens.log_prob(z.tokens, c) + jnp.sum(jnp.where(kind < IDLE, each, 0.0))

    def _normal(self, kind: Int[Array, "v"]) -> tuple[Float[Array, "v"], Float[Array, "v"]]:
        """Returns the mean and the standard deviation of each variable; those of idle ones are not used."""
        mean, log_std = (jnp.append(a, 0.0)[kind] for a in (self.mean, self.log_std))
        return mean, jnp.exp(log_std)


class HybridProcess(GaussianProcess):
    """p(x | z): the Gaussian process with the variables that the program holds; nothing is learned here."""

    def __init__(self, points: int, scaled: bool = True, regular: bool = True):
        super().__init__(points, scaled, regular, steps=0)
        self.mean, self.log_std = jnp.zeros(0), jnp.zeros(0)

    def log_prob(self, x: Series, z: Kernel) -> Scalar:
        """Returns log p(x | variables)."""
        x, z = frozen(x), frozen(z)
        shape = layout(z.tokens, self.scaled)
        with jax.enable_x64(True):
            value, _ = self.likelihood(z.mean.astype(jnp.float64), shape, x)
            value = jnp.where(jnp.isnan(value), -jnp.inf, value).astype(jnp.float32)
        return jnp.where(jnp.any(shape.kind < IDLE), value, -jnp.inf)

    def refine(self, z: Kernel, x: Series) -> Kernel:
        """Returns the program as it is: its variables are drawn, not fitted."""
        return z

    def sample(self, key: Key[Array, ""], z: Kernel) -> Series:
        """Draws a series on a regular grid with the variables that the program holds."""
        return self.draw(key, z.mean, z.tokens)


class HybridRecognition(SeriesRecognition):
    """r(z | x): the tokens as before; then a normal for each variable, given the tokens and the series.

    A period may also lie near a frequency of the periodogram: its density is a mixture of the two.
    """

    inner: Float[Array, "i g"]
    inner_bias: Float[Array, "g"]
    output: Float[Array, "g 2"]
    by_kind: Float[Array, "c 2"]
    """Mean and log standard deviation of each kind of variable before the series is looked at."""
    by_power: Float[Array, "3"]
    """The logit of the share of the periodogram, the power to which it is raised, and a log standard deviation."""

    def __init__(self, key: Key[Array, ""], hidden: int, rules: Grammar, length: int, scaled: bool):
        super().__init__(key, hidden, rules, length, scaled)
        keys = jax.random.split(jax.random.fold_in(key, 1))
        inputs = hidden + len(VARIABLE_KINDS) + 1 + MOST_VARIABLES + len(KERNEL_SPELLINGS)
        self.inner = jax.random.normal(keys[0], (inputs, 2 * hidden)) / np.sqrt(hidden)
        self.inner_bias = jnp.zeros(2 * hidden)
        self.output = 0.1 * jax.random.normal(keys[1], (2 * hidden, 2)) / np.sqrt(2 * hidden)
        start = [(START_MEAN_AND_SPREAD[k][0], 0.0) for k in VARIABLE_KINDS]
        self.by_kind = jnp.array([*start, (0.0, 0.0)])
        self.by_power = jnp.array([1.0, 1.0, np.log(DEVIATION_OF_A_FREQUENCY)])

    def sample(self, key: Key[Array, ""], h: Encoded) -> Kernel:
        """Draws an expression; `fill` draws its variables."""
        z = super().sample(key, h)
        return holding(z.tokens, jnp.zeros_like(z.mean))

    def fill(self, key: Key[Array, ""], z: Kernel, h: Encoded) -> Kernel:
        """Returns the program with its variables drawn from r(variables | tokens, x)."""
        keys = jax.random.split(key, 4)
        kind, mean, deviation = self._normals(z, h)
        normal = mean + deviation * jax.random.normal(keys[0], mean.shape)
        log_share, log_weight, near = self._peaks(h)
        slots = jax.random.categorical(keys[1], log_weight, shape=mean.shape)
        peaks = _log_periods()[slots] + near * jax.random.normal(keys[2], mean.shape)
        peaked = (kind == PERIOD) & (jnp.log(jax.random.uniform(keys[3], mean.shape)) < log_share[0])
        drawn = jnp.where(peaked, peaks, normal)
        return holding(z.tokens, jnp.where(kind < IDLE, drawn, 0.0))

    def log_fill(self, z: Kernel, h: Encoded) -> Scalar:
        """Returns log r(variables | tokens, x)."""
        kind, mean, deviation = self._normals(z, h)
        normal = norm.logpdf(z.mean, mean, deviation)
        log_share, log_weight, near = self._peaks(h)
        at = norm.logpdf(z.mean[:, None], _log_periods()[None], near)
        peaked = jnp.logaddexp(log_share[0] + logsumexp(log_weight[None] + at, axis=1), log_share[1] + normal)
        return jnp.sum(jnp.where(kind < IDLE, jnp.where(kind == PERIOD, peaked, normal), 0.0))

    def _normals(self, z: Kernel, h: Encoded) -> tuple[Int[Array, "v"], Float[Array, "v"], Float[Array, "v"]]:
        """Returns the kind of each variable, and the mean and standard deviation of its normal."""
        kind = layout(z.tokens, self.scaled).kind
        tokens = jnp.sum(jax.nn.one_hot(z.tokens, len(KERNEL_SPELLINGS)), axis=0)
        shared = jnp.concatenate([h.features, 0.3 * tokens])
        own = jnp.concatenate([jax.nn.one_hot(kind, IDLE + 1), jnp.eye(MOST_VARIABLES)], axis=1)
        seen = jnp.concatenate([jnp.broadcast_to(shared, (MOST_VARIABLES, shared.shape[0])), own], axis=1)
        out = jnp.tanh(seen @ self.inner + self.inner_bias[None]) @ self.output + self.by_kind[kind]
        return kind, out[:, 0], jnp.exp(jnp.clip(out[:, 1], LEAST_LOG_DEVIATION, GREATEST_LOG_DEVIATION))

    def _peaks(self, h: Encoded) -> tuple[Float[Array, "2"], Float[Array, "f"], Scalar]:
        """Returns the log-shares of periodogram and normal, log-weights of the frequencies, and their deviation."""
        logit, power, log_near = self.by_power
        log_share = jax.nn.log_sigmoid(jnp.stack([logit, -logit]))
        near = jnp.exp(jnp.clip(log_near, LEAST_LOG_DEVIATION, GREATEST_LOG_DEVIATION))
        return log_share, jax.nn.log_softmax(power * h.log_power), near


def _log_periods() -> Float[Array, "f"]:
    return -jnp.log(jnp.asarray(frequencies(), jnp.float32))
