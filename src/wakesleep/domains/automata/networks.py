"""r(z | x) of the automata domain: logits for the size and for each bit, from the image or from the counts."""

from abc import abstractmethod

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from wakesleep.core.model import Recognition, Scalar
from wakesleep.domains.automata.evaluator import Picture, narrow
from wakesleep.domains.automata.language import Odds, Rule, draw, log_density, odds


class RuleRecognition(Recognition):
    """A product of Bernoullis for the bits of each size, and a categorical for the size."""

    sizes: tuple[int, ...]

    @abstractmethod
    def features(self, x: Picture) -> Float[Array, "f"]:
        """Returns the input of the last layers."""

    @abstractmethod
    def outputs(self, features: Float[Array, "f"]) -> Float[Array, "o"]:
        """Returns a logit for each size, then one for each size and bit."""

    def encode(self, x: Picture, c: None) -> Odds:
        """Returns the distribution over rules."""
        logits, count = self.outputs(self.features(x)), len(self.sizes)
        return odds(self.sizes, logits[:count], logits[count:].reshape(count, -1))

    def sample(self, key: Key[Array, ""], h: Odds) -> Rule:
        """Draws a rule."""
        return draw(key, self.sizes, h)

    def log_prob(self, z: Rule, h: Odds) -> Scalar:
        """Returns log r(z | x), summed over size and bits."""
        return log_density(z, self.sizes, h)

    def revise(self, key: Key[Array, ""], z: Rule, h: Odds) -> Rule:
        """Returns the rule with the outcome of one of its patterns, any, turned over."""
        place = jax.random.randint(key, (), 0, 2**z.size)
        return z._replace(table=jnp.where(jnp.arange(z.table.shape[0]) == place, 1 - z.table, z.table))


class Convolutional(RuleRecognition):
    """A convolution over two neighbouring columns, the mean over the image, and a linear map plus a hidden layer.

    An image of two colours shows a kernel only 4^d different windows, so the convolution is computed once
    for each pattern and weighted by how often it occurs: the same number as by sliding the kernel over
    the image, at a fraction of the cost.
    """

    kernel: Float[Array, "k f"]
    kernel_bias: Float[Array, "f"]
    hidden: Float[Array, "h f"]
    hidden_bias: Float[Array, "h"]
    output: Float[Array, "o h"]
    direct: Float[Array, "o f"]
    output_bias: Float[Array, "o"]

    def __init__(self, key: Key[Array, ""], sizes: tuple[int, ...], channels: int = 64, width: int = 64):
        keys = jax.random.split(key, 6)
        cells, outputs = 2 * sizes[-1], len(sizes) * (1 + 2 ** sizes[-1])
        self.sizes = sizes
        self.kernel = 0.5 * jax.random.normal(keys[0], (cells, channels))
        self.kernel_bias = jax.random.normal(keys[1], (channels,))
        self.hidden = _uniform(keys[2], (width, channels), channels)
        self.hidden_bias = _uniform(keys[3], (width,), channels)
        self.output = _uniform(keys[4], (outputs, width), width)
        self.direct = _uniform(keys[5], (outputs, channels), channels)
        self.output_bias = jnp.zeros(outputs)

    def features(self, x: Picture) -> Float[Array, "f"]:
        """Returns the mean over the image of each channel."""
        assert x.windows is not None
        cells = self.kernel.shape[0]
        shown = 2 * (np.arange(2**cells)[:, None] >> np.arange(cells)[::-1] & 1) - 1
        responses = jax.nn.relu(jnp.asarray(shown, jnp.float32) @ self.kernel + self.kernel_bias[None])
        return (x.windows / jnp.sum(x.windows)) @ responses

    def outputs(self, features: Float[Array, "f"]) -> Float[Array, "o"]:
        """Returns a linear map of the features, normalised over the channels, and a tanh layer beside it."""
        centred = features - jnp.mean(features)
        scaled = centred * jax.lax.rsqrt(jnp.mean(centred**2) + 1e-6)
        hidden = jnp.tanh(self.hidden @ scaled + self.hidden_bias)
        return self.direct @ scaled + self.output @ hidden + self.output_bias


class Counting(RuleRecognition):
    """From the counts: one small map for every bit of every size, and a linear one for the size.

    What the counts of a pattern say of its outcome does not depend on the pattern, so what is learned
    from few neighbours holds for many.
    """

    bit: Float[Array, "2"]
    bit_bias: Float[Array, ""]
    size: Float[Array, "s s"]
    size_bias: Float[Array, "s"]

    def __init__(self, key: Key[Array, ""], sizes: tuple[int, ...]):
        key_bit, key_size = jax.random.split(key)
        self.sizes = sizes
        self.bit = 0.1 * _uniform(key_bit, (2,), 2)
        self.bit_bias = jnp.zeros(())
        self.size = 0.1 * _uniform(key_size, (len(sizes), len(sizes)), len(sizes))
        self.size_bias = jnp.zeros(len(sizes))

    def features(self, x: Picture) -> Float[Array, "f"]:
        """Returns how well each size's best rule fits, and by how much ones prevail after each pattern.

        The first as - log of a share, the second as a share and as a logarithm.
        """
        parts = [narrow(x.counts, self.sizes[-1], size) for size in self.sizes]
        missed = [(jnp.sum(jnp.min(c, axis=1)) + 1.0) / (jnp.sum(c) + 2.0) for c in parts]
        signed = [jnp.pad(c[:, 1] - c[:, 0], (0, 2 ** self.sizes[-1] - c.shape[0])) for c in parts]
        both = [jnp.pad(c[:, 1] + c[:, 0], (0, 2 ** self.sizes[-1] - c.shape[0])) for c in parts]
        difference, total = jnp.concatenate(signed), jnp.concatenate(both)
        weight = jnp.sign(difference) * jnp.log1p(jnp.abs(difference))
        return jnp.concatenate([-jnp.log(jnp.stack(missed)), difference / (total + 1.0), weight])

    def outputs(self, features: Float[Array, "f"]) -> Float[Array, "o"]:
        """Returns the logits: a linear map for the size, and one small map for every bit."""
        count, bits = len(self.sizes), len(self.sizes) * 2 ** self.sizes[-1]
        unexplained, balance, weight = jnp.split(features, (count, count + bits))
        logits = self.bit[0] * balance + self.bit[1] * weight + self.bit_bias
        return jnp.concatenate([self.size @ unexplained + self.size_bias, logits])


def _uniform(key: Key[Array, ""], shape: tuple[int, ...], fan_in: int) -> Array:
    """Draws the initial weights of a linear layer, uniform within 1 / sqrt(inputs)."""
    return jax.random.uniform(key, shape, minval=-1.0, maxval=1.0) / jnp.sqrt(fan_in)
