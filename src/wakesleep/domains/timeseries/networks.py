"""p(z) and r(z | x) of the time series domain: LSTMs that write expressions, and what they see of a series."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from wakesleep.core.keys import fused
from wakesleep.core.model import Prior, Recognition, Scalar, frozen
from wakesleep.core.networks import Grammar, Lstm, LstmWriter, Opinion, TokenPrior, Writer, read, write
from wakesleep.domains.timeseries.evaluator import begin
from wakesleep.domains.timeseries.kernels import PERIOD, VARIABLE_KINDS, layout
from wakesleep.domains.timeseries.language import KERNEL_SPELLINGS, Kernel
from wakesleep.domains.timeseries.likelihood import Series

GRID_POINTS, MOST_CYCLES_SEEN = 64, 128
"""Recognition sees the series at `GRID_POINTS` times, and its power at frequencies from 1 to `MOST_CYCLES` a span."""
FREQUENCIES_A_CYCLE = 2
LEAST_POWER = 1e-4
GUESS_SHARE = 0.1
"""The share of tokens that recognition draws from all, so that it never proposes only what it has learned."""
# Where a fit begins: mean and spread, in log-space, for each kind of variable; periods come from the periodogram.
START_MEAN_AND_SPREAD = {
    "noise": (-2.0, 0.7),
    "constant": (-1.0, 0.3),
    "slope": (0.5, 0.5),
    "wander": (0.5, 0.5),
    "amplitude": (-0.3, 0.3),
    "SE": (-2.0, 0.8),
    "M12": (-1.0, 0.8),
    "M32": (-1.5, 0.8),
    "roundness": (0.0, 0.4),
    "period": (-2.0, 0.0),
    "decay": (0.3, 0.5),
}


class Encoded(NamedTuple):
    """What recognition sees of a series."""

    features: Float[Array, "d"]
    log_power: Float[Array, "f"]
    """The log-power of each frequency, from which the first guess of a period is drawn."""


def frequencies() -> Float[np.ndarray, "f"]:
    """Returns the frequencies of the periodogram, in cycles a span."""
    return 1 + np.arange(MOST_CYCLES_SEEN * FREQUENCIES_A_CYCLE) / FREQUENCIES_A_CYCLE


def periodogram(x: Series) -> Float[Array, "f"]:
    """Returns the logarithm of the share of each frequency in the power of a series without its linear trend."""
    weight = x.present.astype(jnp.float32)
    count = jnp.maximum(jnp.sum(weight), 1.0)
    u = weight * (x.times - weight @ x.times / count)
    y = weight * (x.values - weight @ x.values / count)
    y = y - u * (u @ y) / jnp.maximum(u @ u, 1e-9)
    angle = 2 * np.pi * frequencies()[:, None] * x.times[None]
    power = (jnp.cos(angle) @ y) ** 2 + (jnp.sin(angle) @ y) ** 2
    power = jnp.where(frequencies() <= count / 2, power, 0.0)
    return jnp.log(LEAST_POWER / power.shape[0] + power / jnp.maximum(jnp.sum(power), 1e-9))


def first_guess(key: Key[Array, ""], tokens: Int[Array, "t"], scaled: bool, log_power: Float[Array, "f"]) -> Kernel:
    """Draws variables from which a fit can begin, and returns the program with them."""
    key_period, key_other = jax.random.split(fused(key))
    kind = layout(tokens, scaled).kind
    where, spread = (jnp.array([*(START_MEAN_AND_SPREAD[k][i] for k in VARIABLE_KINDS), 0.0])[kind] for i in (0, 1))
    drawn = where + spread * jax.random.normal(key_other, kind.shape)
    slots = jax.random.categorical(key_period, log_power, shape=kind.shape)
    periods = -jnp.log(jnp.asarray(frequencies(), jnp.float32)[slots])
    return begin(tokens, jnp.where(kind == PERIOD, periods, drawn))


class KernelPrior(Prior):
    """p(z): an LSTM over tokens; the priors of the continuous variables belong to the evaluator."""

    tokens: TokenPrior
    scaled: bool

    def __init__(self, key: Key[Array, ""], hidden: int, rules: Grammar, length: int, scaled: bool):
        self.tokens = TokenPrior(LstmWriter(key, hidden, start_bias()), rules, length)
        self.scaled = scaled

    def sample(self, key: Key[Array, ""], c: Any) -> Kernel:
        """Draws an expression; its variables are arbitrary."""
        key_tokens, key_start = jax.random.split(key)
        anywhere = jnp.where(frequencies() < MOST_CYCLES_SEEN / 4, 0.0, -1e9)
        return first_guess(key_start, self.tokens.sample(key_tokens, c), self.scaled, anywhere)

    def log_prob(self, z: Kernel, c: Any) -> Scalar:
        """Returns log p(tokens)."""
        return self.tokens.log_prob(z.tokens, c)


class SeriesWriter(Writer):
    """An LSTM that begins with the features of a series and sees them at every token."""

    lstm: Lstm
    begin_map: Float[Array, "d h"]
    mix: Float[Array, "m h"]
    output: Float[Array, "h v"]
    bias: Float[Array, "v"]

    def __init__(self, key: Key[Array, ""], hidden: int):
        keys = jax.random.split(key, 4)
        self.lstm = Lstm(keys[0], len(KERNEL_SPELLINGS), hidden)
        self.begin_map = _start(keys[1], hidden, hidden)
        self.mix = _start(keys[2], 2 * hidden, hidden)
        self.output = 0.3 * _start(keys[3], hidden, len(KERNEL_SPELLINGS))
        self.bias = jnp.asarray(start_bias(), jnp.float32)

    def begin(self, h: Float[Array, "d"]) -> tuple[Array, Array]:
        """Returns the LSTM's first state, from the series."""
        output = jnp.tanh(h @ self.begin_map)
        return output, jnp.zeros_like(output)

    def step(self, state: tuple[Array, Array], token: Int[Array, ""]) -> tuple[tuple[Array, Array], Float[Array, "h"]]:
        """Returns the LSTM's state and output after a token."""
        state = self.lstm(state, token)
        return state, state[0]

    def opinion(self, output: Float[Array, "h"], h: Float[Array, "d"]) -> Opinion:
        """Returns logits from the LSTM's output and from the series."""
        mixed = jnp.tanh(jnp.concatenate([output, h]) @ self.mix)
        logits = mixed @ self.output + self.bias
        return Opinion(logits, jnp.ones_like(logits), GUESS_SHARE)


class SeriesRecognition(Recognition):
    """r(z | x): a two-layer network on the series and its periodogram, then the writer.

    Beside the tokens it draws where the fit of their variables begins; the density is that of the tokens alone.
    """

    first: Float[Array, "i d"]
    first_bias: Float[Array, "d"]
    second: Float[Array, "d d"]
    second_bias: Float[Array, "d"]
    writer: SeriesWriter
    rules: Grammar = eqx.field(static=True)
    length: int
    scaled: bool

    def __init__(self, key: Key[Array, ""], hidden: int, rules: Grammar, length: int, scaled: bool):
        keys = jax.random.split(key, 3)
        inputs = GRID_POINTS + MOST_CYCLES_SEEN * FREQUENCIES_A_CYCLE + 2
        self.first, self.first_bias = _start(keys[0], inputs, hidden), jnp.zeros(hidden)
        self.second, self.second_bias = _start(keys[1], hidden, hidden), jnp.zeros(hidden)
        self.writer = SeriesWriter(keys[2], hidden)
        self.rules, self.length, self.scaled = rules, length, scaled

    def encode(self, x: Series, c: Any) -> Encoded:
        """Returns the features of a series, computed once for all proposals."""
        log_power = periodogram(x)
        seen = jnp.concatenate([look(x), 0.3 * log_power + 2.0])
        hidden = jnp.tanh(seen @ self.first + self.first_bias)
        return Encoded(jnp.tanh(hidden @ self.second + self.second_bias), frozen(log_power))

    def sample(self, key: Key[Array, ""], h: Encoded) -> Kernel:
        """Draws an expression with variables from which a fit can begin."""
        key_tokens, key_start = jax.random.split(key)
        tokens = write(key_tokens, self.writer, h.features, self.rules, self.length)
        return first_guess(key_start, tokens, self.scaled, h.log_power)

    def log_prob(self, z: Kernel, h: Encoded) -> Scalar:
        """Returns log r(tokens | x)."""
        return read(z.tokens, self.writer, h.features, self.rules)


def look(x: Series) -> Float[Array, "g"]:
    """Returns the series on a grid, scaled to unit variance, and its roughness: the size of its differences."""
    weight = x.present.astype(jnp.float32)
    count = jnp.maximum(jnp.sum(weight), 1.0)
    centred = weight * (x.values - weight @ x.values / count)
    scaled = centred * jax.lax.rsqrt(jnp.sum(centred**2) / count + 1e-9)
    grid = jnp.interp(jnp.linspace(-0.5, 0.5, GRID_POINTS), x.times, scaled)
    once = weight[1:] * (scaled[1:] - scaled[:-1])
    twice = once[1:] - once[:-1]
    rough = [0.3 * jnp.log(jnp.mean(d**2) + 1e-8) + 1.0 for d in (once, twice)]
    return jnp.concatenate([grid, jnp.stack(rough)])


def start_bias() -> Float[np.ndarray, "v"]:
    """Returns logits with which an expression ends, or goes on, with about equal probability."""
    bias = np.zeros(len(KERNEL_SPELLINGS))
    bias[0] = 0.5
    return bias


def _start(key: Key[Array, ""], inputs: int, outputs: int) -> Float[Array, "i o"]:
    return jax.random.uniform(key, (inputs, outputs), minval=-1.0, maxval=1.0) / np.sqrt(inputs)
