"""A recognition network for any domain whose programs are tokens: an encoder of x, and an LSTM that writes tokens."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from wakesleep.core.model import Observations, Recognition, Scalar
from wakesleep.core.networks import Grammar, Lstm, Opinion, Tokens, Writer, edit, read, write
from wakesleep.errors import Refusal

GUESS_SHARE = 0.1
"""The share of tokens that may be any, so that recognition never proposes only what it has learned."""
MOST_STATISTICS = 1000
"""The most observations from which the scale of the inputs is taken."""

Encoder = Callable[[Any, Any], Float[Array, "d"]]


class FlatEncoder(eqx.Module):
    """Two tanh layers on all numbers of (x, c); at the start the first sees them with zero mean and unit variance."""

    first: Float[Array, "i d"]
    first_bias: Float[Array, "d"]
    second: Float[Array, "d d"]
    second_bias: Float[Array, "d"]

    def __init__(self, key: Key[Array, ""], data: Observations, hidden: int):
        some = data[np.arange(0, len(data), max(len(data) // MOST_STATISTICS, 1))]
        numbers = np.asarray(jax.vmap(_flatten)(some.x, some.c), np.float64)
        scale = np.where(numbers.std(axis=0) > 0, numbers.std(axis=0), 1.0)
        keys = jax.random.split(key)
        first = np.asarray(_start(keys[0], numbers.shape[1], hidden)) / scale[:, None]
        self.first = jnp.asarray(first, jnp.float32)
        self.first_bias = jnp.asarray(-numbers.mean(axis=0) @ first, jnp.float32)
        self.second, self.second_bias = _start(keys[1], hidden, hidden), jnp.zeros(hidden)

    def __call__(self, x: Any, c: Any) -> Float[Array, "d"]:
        """The features of one observation."""
        hidden = jnp.tanh(_flatten(x, c) @ self.first + self.first_bias)
        return jnp.tanh(hidden @ self.second + self.second_bias)


class SequenceEncoder(eqx.Module):
    """An LSTM that reads an observation of tokens; the features are its last output."""

    lstm: Lstm

    def __init__(self, key: Key[Array, ""], data: Observations, hidden: int):
        tokens = np.asarray(data.x)
        if tokens.min() < 0:
            raise Refusal(f"Tokens of an observation must not be negative, but {tokens.min()} occurs.")
        self.lstm = Lstm(key, int(tokens.max()) + 1, hidden)

    def __call__(self, x: Int[Array, "*t"], c: Any) -> Float[Array, "d"]:
        """The features of one observation."""
        step = lambda state, token: (self.lstm(state, token), None)  # noqa: E731
        return jax.lax.scan(step, self.lstm.begin(), x.reshape(-1))[0][0]


class FeatureWriter(Writer):
    """An LSTM that begins with the features of an observation and sees them at every token."""

    lstm: Lstm
    begin_map: Float[Array, "d h"]
    mix: Float[Array, "m h"]
    output: Float[Array, "h v"]
    bias: Float[Array, "v"]

    def __init__(self, key: Key[Array, ""], features: int, hidden: int, bias: Float[np.ndarray, "v"]):
        keys = jax.random.split(key, 4)
        self.lstm = Lstm(keys[0], bias.shape[0], hidden)
        self.begin_map = _start(keys[1], features, hidden)
        self.mix = _start(keys[2], hidden + features, hidden)
        self.output = 0.3 * _start(keys[3], hidden, bias.shape[0])
        self.bias = jnp.asarray(bias, jnp.float32)

    def begin(self, h: Float[Array, "d"]) -> tuple[Array, Array]:
        """The LSTM's state, from the features."""
        output = jnp.tanh(h @ self.begin_map)
        return output, jnp.zeros_like(output)

    def step(self, state: tuple[Array, Array], token: Int[Array, ""]) -> tuple[tuple[Array, Array], Float[Array, "h"]]:
        """One step of the LSTM."""
        state = self.lstm(state, token)
        return state, state[0]

    def opinion(self, output: Float[Array, "h"], h: Float[Array, "d"]) -> Opinion:
        """What the next token is, from what was written and from the features."""
        logits = jnp.tanh(jnp.concatenate([output, h]) @ self.mix) @ self.output + self.bias
        return Opinion(logits, jnp.ones_like(logits), GUESS_SHARE)


class TokenRecognition(Recognition):
    """r(z | x): an encoder, then an LSTM over tokens, masked by a grammar. It goes with `TokenPrior`.

    `encoder(x, c)`, a function or module of one's own, returns a vector of features. The default is a
    `SequenceEncoder` where x is a sequence of integers and there is no c, and a `FlatEncoder` otherwise. `bias` are
    the logits of the tokens before learning, all equal by default.
    """

    encoder: Encoder
    writer: FeatureWriter
    rules: Grammar = eqx.field(static=True)
    length: int

    def __init__(
        self,
        key: Key[Array, ""],
        data: Observations,
        rules: Grammar,
        length: int,
        hidden: int = 64,
        encoder: Encoder | None = None,
        bias: Float[np.ndarray, "v"] | None = None,
    ):
        key_encoder, key_writer = jax.random.split(key)
        self.encoder = encoder or _default_encoder(data)(key_encoder, data, hidden)
        x, c = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape[1:], a.dtype), (data.x, data.c))
        features = eqx.filter_eval_shape(self.encoder, x, c)
        if getattr(features, "ndim", None) != 1:
            raise Refusal("encoder(x, c) must return a vector of features.")
        bias = np.zeros(rules.kind.shape[0]) if bias is None else bias
        self.writer = FeatureWriter(key_writer, features.shape[0], hidden, bias)
        self.rules, self.length = rules, length

    def encode(self, x: Any, c: Any) -> Float[Array, "d"]:
        """The features, once for all proposals."""
        return self.encoder(x, c)

    def sample(self, key: Key[Array, ""], h: Float[Array, "d"]) -> Tokens:
        """A well-formed program."""
        return write(key, self.writer, h, self.rules, self.length)

    def log_prob(self, z: Tokens, h: Float[Array, "d"]) -> Scalar:
        """log r(z | x)."""
        return read(z, self.writer, h, self.rules)

    def revise(self, key: Key[Array, ""], z: Tokens, h: Float[Array, "d"]) -> Tokens:
        """The program with one token replaced, inserted or left out."""
        return edit(key, z, self.rules)


def _default_encoder(data: Observations) -> Callable[..., Encoder]:
    """The class of the encoder that suits the observations."""
    x = data.x
    tokens = eqx.is_array(x) or isinstance(x, np.ndarray)
    if tokens and data.c is None and np.issubdtype(x.dtype, np.integer) and x.ndim <= 2:
        return SequenceEncoder
    return FlatEncoder


def _flatten(x: Any, c: Any) -> Float[Array, "i"]:
    """All numbers of an observation and of its condition."""
    return jnp.concatenate([jnp.ravel(a).astype(jnp.float32) for a in jax.tree.leaves((x, c))])


def _start(key: Key[Array, ""], inputs: int, outputs: int) -> Float[Array, "i o"]:
    """The weights of a layer before learning."""
    return jax.random.uniform(key, (inputs, outputs), minval=-1.0, maxval=1.0) / np.sqrt(inputs)
