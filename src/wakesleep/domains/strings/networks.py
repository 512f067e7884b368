"""r(z | x) of the strings domain: reads each string once, then writes a regex with attention on all of them.

After RobustFill (Devlin et al., 2017), with two changes: one decoder for all strings, which sees what it attends to
pooled over them, and logits that point: what the strings have in common at the places attended to raises the
logits of that character and of the classes that it belongs to. A small share of the tokens is guessed from that alone,
so that recognition never proposes only what it has already learned.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from wakesleep.core.model import Recognition, Scalar, frozen
from wakesleep.core.networks import Grammar, Lstm, Opinion, Tokens, Writer, read, write
from wakesleep.domains.strings.evaluator import ABSENT, MEMBERS, PAST, Strings
from wakesleep.domains.strings.language import FIRST_CLASS, OPTIONAL, RULES, SPELLINGS
from wakesleep.domains.strings.revision import revised

SYMBOLS = PAST + 1
FAINT = 0.01
"""Added to shares of strings before their logarithm is taken."""
GUESS_SHARE, GUESS_SHARPNESS, GUESS_FLOOR = 0.1, 3, 0.02
"""A tenth of the tokens is written by guess: what the strings agree on, or else any token a little."""


class Encoded(NamedTuple):
    """What the decoder sees of the strings."""

    states: Float[Array, "s p d"]
    """What was read at each place of each string, one past its last character included."""
    symbols: Float[Array, "s p 96"]
    """The character there, as a one-hot vector."""
    seen: Bool[Array, "s p"]
    share: Float[Array, "s"]
    """One over the number of strings that are there; zero for the others."""
    start: Float[Array, "d"]
    strings: Strings


class Reader(eqx.Module):
    """Two LSTMs, from the left and from the right, over the characters of a string."""

    forward: Lstm
    backward: Lstm

    def __init__(self, key: Key[Array, ""], hidden: int):
        keys = jax.random.split(key)
        self.forward = Lstm(keys[0], SYMBOLS, hidden)
        self.backward = Lstm(keys[1], SYMBOLS, hidden)

    def __call__(self, characters: Int[Array, "p"], length: Int[Array, ""]) -> Float[Array, "p d"]:
        """What is known at each place, from either side."""
        inside = jnp.arange(characters.shape[0]) <= length
        left = _run(self.forward, characters, inside)
        right = _run(self.backward, characters[::-1], inside[::-1])[::-1]
        return jnp.concatenate([left, right], axis=1)


def _run(lstm: Lstm, characters: Int[Array, "p"], inside: Bool[Array, "p"]) -> Float[Array, "p h"]:
    def step(state: tuple[Array, Array], given: tuple[Array, Array]) -> tuple[tuple[Array, Array], Array]:
        character, there = given
        after = lstm(state, character)
        state = jax.tree.map(lambda a, b: jnp.where(there, a, b), after, state)
        return state, state[0]

    return jax.lax.scan(step, lstm.begin(), (characters, inside))[1]


class PointingWriter(Writer):
    """The decoder: an LSTM with attention over every string, pooled over the strings."""

    lstm: Lstm
    begin_map: Float[Array, "d h"]
    query: Float[Array, "h d"]
    mix: Float[Array, "m h"]
    output: Float[Array, "h v"]
    bias: Float[Array, "v"]
    point: Float[Array, "v"]
    """How much each token's logit rises with the logarithm of its share."""

    def __init__(self, key: Key[Array, ""], hidden: int, bias: Float[np.ndarray, "v"]):
        keys = jax.random.split(key, 5)
        tokens, wide = len(SPELLINGS), 2 * (hidden // 2)
        self.lstm = Lstm(keys[0], tokens, hidden)
        self.begin_map = _start(keys[1], wide, hidden)
        self.query = _start(keys[2], hidden, wide)
        self.mix = _start(keys[3], hidden + wide, hidden)
        self.output = 0.3 * _start(keys[4], hidden, tokens)
        self.bias = jnp.asarray(bias, jnp.float32)
        self.point = jnp.where((np.arange(tokens) > 0) & (np.arange(tokens) < OPTIONAL), 0.5, 0.0)

    def begin(self, h: Encoded) -> tuple[Array, Array]:
        """The LSTM's state, from the ends of the strings."""
        output = jnp.tanh(h.start @ self.begin_map)
        return output, jnp.zeros_like(output)

    def step(self, state: tuple[Array, Array], token: Int[Array, ""]) -> tuple[tuple[Array, Array], Float[Array, "h"]]:
        """One step of the LSTM."""
        state = self.lstm(state, token)
        return state, state[0]

    def opinion(self, output: Float[Array, "h"], h: Encoded) -> Opinion:
        """Attends to each string, and points."""
        score = jnp.where(h.seen, h.states @ (output @ self.query), -1e9)
        attention = jax.nn.softmax(score, axis=1) * h.share[:, None]
        shares = _by_token(jnp.tensordot(attention, h.symbols, 2))
        context = jnp.tensordot(attention, h.states, 2)
        mixed = jnp.tanh(jnp.concatenate([output, context]) @ self.mix)
        logits = mixed @ self.output + self.bias + self.point * jnp.log(FAINT + shares)
        return Opinion(logits, frozen(shares**GUESS_SHARPNESS + GUESS_FLOOR), GUESS_SHARE)


def _by_token(shares: Float[Array, "96"]) -> Float[Array, "v"]:
    """The share of strings that each token agrees with: the end of strings with the end token, none with operators."""
    classes = jnp.asarray(MEMBERS, jnp.float32) @ shares
    return jnp.concatenate([shares[-1:], shares[:-1], classes, jnp.zeros(len(SPELLINGS) - OPTIONAL)])


class StringRecognition(Recognition):
    """r(z | x): the reader and the pointing writer, masked by the grammar."""

    reader: Reader
    writer: PointingWriter
    rules: Grammar = eqx.field(static=True)
    length: int

    def __init__(self, key: Key[Array, ""], hidden: int, length: int, bias: Float[np.ndarray, "v"]):
        keys = jax.random.split(key)
        self.reader = Reader(keys[0], hidden // 2)
        self.writer = PointingWriter(keys[1], hidden, bias)
        self.rules, self.length = RULES, length

    def encode(self, x: Strings, c: None) -> Encoded:
        """Every string, read once."""
        characters = jnp.pad(x.characters.astype(jnp.int32), ((0, 0), (0, 1)), constant_values=PAST)
        there = x.lengths != ABSENT
        share = there / jnp.maximum(jnp.sum(there), 1)
        states = jax.vmap(self.reader)(characters, x.lengths)
        seen = (jnp.arange(characters.shape[1])[None, :] <= x.lengths[:, None]) & there[:, None]
        symbols = jax.nn.one_hot(characters, SYMBOLS)
        half = states.shape[2] // 2
        ends = jnp.concatenate([states[:, -1, :half], states[:, 0, half:]], axis=1)
        return Encoded(states, symbols, seen, share, share @ ends, x)

    def sample(self, key: Key[Array, ""], h: Encoded) -> Tokens:
        """A well-formed regex."""
        return write(key, self.writer, h, self.rules, self.length)

    def log_prob(self, z: Tokens, h: Encoded) -> Scalar:
        """log r(z | x)."""
        return read(z, self.writer, h, self.rules)

    def revise(self, key: Key[Array, ""], z: Tokens, h: Encoded) -> Tokens:
        """The regex changed a little, or another that is read off the strings."""
        return revised(key, z, h.strings)


def start_bias() -> Float[np.ndarray, "v"]:
    """Logits before learning: classes and operators as likely, together, as all characters."""
    bias = np.zeros(len(SPELLINGS))
    bias[0] = 3.0
    bias[FIRST_CLASS:OPTIONAL] = 3.0
    bias[OPTIONAL:] = 2.0
    return bias


def _start(key: Key[Array, ""], inputs: int, outputs: int) -> Float[Array, "i o"]:
    return jax.random.uniform(key, (inputs, outputs), minval=-1.0, maxval=1.0) / np.sqrt(inputs)
