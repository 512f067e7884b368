"""Controls for what revision brings: its templates without learning, and given to reweighted wake-sleep."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from wakesleep.core.model import Model, Recognition, Scalar
from wakesleep.core.networks import Tokens
from wakesleep.domains.strings.evaluator import Strings
from wakesleep.domains.strings.networks import Encoded, StringRecognition
from wakesleep.domains.strings.revision import templates

TEMPLATE_SHARE = 0.5
"""The share of proposals that are templates: as many as are revised in the rows that revise."""


class TemplateMixture(Recognition):
    """r(z | x): learned recognition, mixed with the templates of the strings, all equally probable."""

    learned: StringRecognition

    def encode(self, x: Strings, c: Any) -> Encoded:
        """Returns what the learned part sees; the strings are among it."""
        return self.learned.encode(x, c)

    def sample(self, key: Key[Array, ""], h: Encoded) -> Tokens:
        """Draws from the learned part, or a template."""
        key_learned, key_which, key_template = jax.random.split(key, 3)
        known = templates(h.strings, self.learned.length)
        template = known[jax.random.randint(key_template, (), 0, known.shape[0])]
        learned = self.learned.sample(key_learned, h)
        return jnp.where(jax.random.uniform(key_which) < TEMPLATE_SHARE, template, learned)

    def log_prob(self, z: Tokens, h: Encoded) -> Scalar:
        """Returns the logarithm of the mixture's probability."""
        known = templates(h.strings, self.learned.length)
        share = jnp.mean(jnp.all(known == z[None], axis=1).astype(jnp.float32))
        learned = jnp.log1p(-TEMPLATE_SHARE) + self.learned.log_prob(z, h)
        return jnp.logaddexp(learned, jnp.log(TEMPLATE_SHARE * share))

    def revise(self, key: Key[Array, ""], z: Tokens, h: Encoded) -> Tokens:
        """Returns the learned part's revision: every model is searched alike when it is evaluated."""
        return self.learned.revise(key, z, h)


def with_templates(model: Model) -> Model:
    """Returns the model of strings whose recognition also proposes templates."""
    assert isinstance(model.recognition, StringRecognition)
    return eqx.tree_at(lambda m: m.recognition, model, TemplateMixture(model.recognition))
