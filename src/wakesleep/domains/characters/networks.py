"""p(z | c) and r(z | x, c) of the characters domain: LSTMs over tokens, the latter with a view of the image."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from wakesleep.core.model import Prior, Recognition, Scalar
from wakesleep.core.networks import Lstm, Opinion, Writer, edit, read, write
from wakesleep.domains.characters.evaluator import SIDE, Image
from wakesleep.domains.characters.language import DRAW_KIND, Tokens, rules

EMBEDDING_SIZE = 64
DRAW_LOGIT = 1.0
"""The logit, at first, of a drawn stroke against a move or the end: programs of a few strokes."""


class StrokeWriter(Writer):
    """An LSTM with linear logits; a vector h may enter both at every step."""

    lstm: Lstm
    output: Float[Array, "d v"]
    bias: Float[Array, "v"]
    view: Float[Array, "e g"] | None
    direct: Float[Array, "e v"] | None

    def __init__(self, key: Key[Array, ""], strokes: int, hidden: int, seen: int = 0):
        keys = jax.random.split(key, 4)
        kind = rules(strokes).kind
        self.lstm = Lstm(keys[0], len(kind), hidden)
        self.output = jax.random.normal(keys[1], (hidden, len(kind))) * 0.1 / np.sqrt(hidden)
        # Equal odds of ending, of drawing and of moving, whatever the number of strokes.
        self.bias = jnp.asarray(
            np.where(kind == 0, 0.0, np.where(kind == DRAW_KIND, DRAW_LOGIT, 0.0) - np.log(strokes))
        )
        self.bias = self.bias.astype(jnp.float32)
        self.view = jax.random.normal(keys[2], (seen, 4 * hidden)) / np.sqrt(seen) if seen else None
        self.direct = jax.random.normal(keys[3], (seen, len(kind))) * 0.1 / np.sqrt(seen) if seen else None

    def begin(self, h: Any) -> Any:
        """Returns the LSTM's first state, and what h adds to its gates."""
        return self.lstm.begin(), jnp.zeros(()) if self.view is None else h @ self.view

    def step(self, state: Any, token: Int[Array, ""]) -> tuple[Any, Float[Array, "d"]]:
        """Returns the LSTM's state and output after a token."""
        inner, view = state
        inner = self.lstm(inner, token, view)
        return (inner, view), inner[0]

    def opinion(self, output: Float[Array, "d"], h: Any) -> Opinion:
        """Returns logits that are linear in the LSTM's output and in h."""
        logits = output @ self.output + self.bias
        return Opinion(logits if self.direct is None else logits + h @ self.direct)


class StrokePrior(Prior):
    """p(z | c), where c may be the number of an alphabet."""

    writer: StrokeWriter
    alphabets: Float[Array, "a e"] | None
    length: int

    def __init__(self, key: Key[Array, ""], strokes: int, length: int, hidden: int, alphabets: int = 0):
        key_writer, key_table = jax.random.split(key)
        self.writer = StrokeWriter(key_writer, strokes, hidden, hidden if alphabets else 0)
        self.alphabets = 0.1 * jax.random.normal(key_table, (alphabets, hidden)) if alphabets else None
        self.length = length

    def _seen(self, c: Any) -> Any:
        return None if self.alphabets is None else self.alphabets[c]

    def sample(self, key: Key[Array, ""], c: Any) -> Tokens:
        """Draws a program."""
        return write(key, self.writer, self._seen(c), _rules(self.writer), self.length)

    def log_prob(self, z: Tokens, c: Any) -> Scalar:
        """Returns log p(z | c)."""
        return read(z, self.writer, self._seen(c), _rules(self.writer))


class Convolutions(eqx.Module):
    """Three convolutions of stride 2 and a linear layer, from an image to a vector."""

    kernels: tuple[Float[Array, "_ _"], ...]
    biases: tuple[Float[Array, "_"], ...]
    sizes: tuple[int, ...]
    last: Float[Array, "_ e"]

    def __init__(self, key: Key[Array, ""], channels: int, embedded: int = EMBEDDING_SIZE):
        keys = jax.random.split(key, 4)
        self.sizes = (5, 3, 3)
        widths = (1, channels, 2 * channels, 4 * channels)
        fans = [size**2 * width for size, width in zip(self.sizes, widths, strict=False)]
        self.kernels = tuple(_scaled(k, (f, w)) for k, f, w in zip(keys, fans, widths[1:], strict=False))
        self.biases = tuple(jnp.zeros(w) for w in widths[1:])
        side = -(-SIDE // 2 ** len(self.sizes))
        self.last = _scaled(keys[-1], (side * side * widths[-1], embedded))

    def __call__(self, x: Image) -> Float[Array, "e"]:
        """Returns the embedding of an image."""
        seen = x.astype(jnp.float32)[:, :, None]
        for kernel, bias, size in zip(self.kernels, self.biases, self.sizes, strict=True):
            seen = jax.nn.relu(patches(seen, size) @ kernel + bias[None, None])
        return jnp.tanh(seen.reshape(-1) @ self.last)


def patches(x: Float[Array, "y x c"], size: int) -> Float[Array, "v u k"]:
    """Returns the patch of that size around every second pixel, so that a convolution is one matrix product."""
    y, width, _ = x.shape
    padded = jnp.pad(x, ((size // 2, size // 2), (size // 2, size // 2), (0, 0)))
    seen = [padded[i : i + y : 2, j : j + width : 2] for i in range(size) for j in range(size)]
    return jnp.concatenate(seen, axis=-1)


class StrokeRecognition(Recognition):
    """r(z | x, c): an LSTM that sees the image, and the alphabet where there is one, at every step."""

    eye: Convolutions
    writer: StrokeWriter
    alphabets: Float[Array, "a e"] | None
    length: int

    def __init__(
        self, key: Key[Array, ""], strokes: int, length: int, hidden: int, channels: int = 16, alphabets: int = 0
    ):
        keys = jax.random.split(key, 3)
        self.eye = Convolutions(keys[0], channels)
        self.writer = StrokeWriter(keys[1], strokes, hidden, EMBEDDING_SIZE)
        self.alphabets = 0.1 * jax.random.normal(keys[2], (alphabets, EMBEDDING_SIZE)) if alphabets else None
        self.length = length

    def encode(self, x: Image, c: Any) -> Float[Array, "e"]:
        """Returns the embedding of the image, plus that of its alphabet where there is one."""
        seen = self.eye(x)
        return seen if self.alphabets is None else seen + self.alphabets[c]

    def sample(self, key: Key[Array, ""], h: Float[Array, "e"]) -> Tokens:
        """Draws a program."""
        return write(key, self.writer, h, _rules(self.writer), self.length)

    def log_prob(self, z: Tokens, h: Float[Array, "e"]) -> Scalar:
        """Returns log r(z | x)."""
        return read(z, self.writer, h, _rules(self.writer))

    def revise(self, key: Key[Array, ""], z: Tokens, h: Float[Array, "e"]) -> Tokens:
        """Returns the program with one stroke inserted, left out or replaced."""
        return edit(key, z, _rules(self.writer))


def _rules(writer: StrokeWriter) -> Any:
    return rules((writer.bias.shape[0] - 1) // 2)


def _scaled(key: Key[Array, ""], shape: tuple[int, int]) -> Array:
    """Draws the initial weights of a layer with rectified outputs (He et al., 2015)."""
    return jax.random.normal(key, shape) * np.sqrt(2 / shape[0])
