"""Templates among the proposals: what is drawn and what is scored agree."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from wakesleep.domains.strings.evaluator import as_strings
from wakesleep.domains.strings.networks import StringRecognition, start_bias
from wakesleep.domains.strings.revision import templates
from wakesleep.paper.controls import TEMPLATE_SHARE, TemplateMixture

LENGTH = 12


@pytest.mark.parametrize("group", [["FM_1", "FM_2"], ["gl_L", "gly"]])
def test_half_of_the_draws_are_templates_and_their_scores_say_how_often_each(group):
    mixed = TemplateMixture(StringRecognition(jax.random.key(0), 8, LENGTH, start_bias()))
    x = as_strings(group, 3, 8)
    h = mixed.encode(x, None)
    known, counts = np.unique(np.asarray(templates(x, LENGTH)), axis=0, return_counts=True)
    chance = np.exp(np.asarray(jax.vmap(lambda z: mixed.log_prob(z, h))(jnp.asarray(known))))
    assert (chance >= TEMPLATE_SHARE * counts / counts.sum() - 1e-6).all()
    assert chance.sum() <= 1 + 1e-5
    drawn = np.asarray(jax.jit(jax.vmap(lambda k: mixed.sample(k, h)))(jax.random.split(jax.random.key(1), 2000)))
    found = np.array([(drawn == z[None]).all(axis=1).mean() for z in known])
    assert (np.abs(found - chance) < 4 * np.sqrt(chance * (1 - chance) / 2000) + 1e-3).all()
