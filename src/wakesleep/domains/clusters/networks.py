"""r(z | x) of the clusters domain: one tanh layer to a table of logits, point by label."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from wakesleep.core.model import Recognition, Scalar
from wakesleep.domains.clusters.evaluator import Points
from wakesleep.domains.clusters.language import ABSENT, Labels, invert, newest, present


class Encoded(NamedTuple):
    """The logits of each point and label, and the group's size."""

    table: Float[Array, "j j"]
    size: Int[Array, ""]


class LabelTable(Recognition):
    """Labels drawn point after point, only those possible under the restaurant process."""

    hidden: Float[Array, "h jd"]
    hidden_bias: Float[Array, "h"]
    output: Float[Array, "jj h"]
    output_bias: Float[Array, "jj"]
    points: int

    def __init__(self, key: Key[Array, ""], points: int = 7, dimensions: int = 2, width: int = 16):
        keys = jax.random.split(key, 4)
        inputs, outputs = points * dimensions, points * points
        self.hidden = _uniform(keys[0], (width, inputs), inputs)
        self.hidden_bias = _uniform(keys[1], (width,), inputs)
        self.output = _uniform(keys[2], (outputs, width), width)
        self.output_bias = _uniform(keys[3], (outputs,), width)
        self.points = points

    def encode(self, x: Points, c: Int[Array, ""]) -> Encoded:
        """Returns the table of logits, point by label."""
        hidden = jnp.tanh(self.hidden @ x.reshape(-1) + self.hidden_bias)
        logits = (self.output @ hidden + self.output_bias).reshape(self.points, self.points)
        return Encoded(logits, c)

    def sample(self, key: Key[Array, ""], h: Encoded) -> Labels:
        """Draws each label, by inverse CDF, among the used labels and the next one."""
        uniforms = jax.random.uniform(key, (self.points,))
        labels, top = [], jnp.zeros((), jnp.int32)
        for j in range(self.points):
            logits = jnp.where(jnp.arange(j + 1) <= top, h.table[j, : j + 1], -jnp.inf)
            mass = jnp.exp(logits - jnp.max(logits))  # scaled among those allowed, or all of them may be zero
            label = invert(list(mass), uniforms[j])
            top = jnp.maximum(top, label + 1)
            labels.append(label)
        return jnp.where(present(h.size, self.points), jnp.stack(labels), ABSENT)

    def log_prob(self, z: Labels, h: Encoded) -> Scalar:
        """Returns log r(z | x): the sum over points of the log-probability of the label among those allowed."""
        label = jnp.arange(self.points)
        allowed = label[None, :] <= newest(z)[:, None]
        logits = jnp.where(allowed, h.table, -1e9)
        chosen = jnp.sum(jnp.where(label[None, :] == z[:, None], logits, 0.0), axis=1)
        log_r = chosen - jax.nn.logsumexp(logits, axis=1)
        return jnp.sum(jnp.where(present(h.size, self.points), log_r, 0.0))


def _uniform(key: Key[Array, ""], shape: tuple[int, ...], fan_in: int) -> Array:
    """Draws the initial weights of a linear layer, uniform within 1 / sqrt(inputs)."""
    return jax.random.uniform(key, shape, minval=-1.0, maxval=1.0) / jnp.sqrt(fan_in)
