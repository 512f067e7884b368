"""The posterior that the browser computes over rules is that of the Python model, enumerated."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from wakesleep.domains.automata.evaluator import NoisyAutomaton, picture
from wakesleep.domains.automata.language import Rule, tables

from .scripts import call, needs_node

SCRIPT = "automata/page/rules.mjs"


@needs_node
@pytest.mark.parametrize(("height", "width", "noise"), [(5, 2, 0.3), (7, 6, 0.05), (24, 32, 0.01)])
def test_the_posterior_is_that_of_the_enumeration(height, width, noise):
    image = np.random.default_rng(width).integers(0, 2, (height, width))
    counts = call(SCRIPT, "count", image.T.tolist())
    x = picture(image, 3, windows=False)
    assert np.array_equal(counts, x.counts)
    evaluator = NoisyAutomaton(noise, (3,), (height, width))
    rules = Rule(jnp.full(256, 3), jnp.asarray(tables(3)))
    log_p = np.asarray(jax.jit(jax.vmap(lambda z: evaluator.log_prob(x, z)))(rules), np.float64)
    found = call(SCRIPT, "posterior", counts, noise, height)
    order = np.argsort([each["rule"] for each in found["rules"]])
    scores = np.array([found["rules"][i]["logLikelihood"] for i in order])
    assert np.allclose(scores, log_p, rtol=1e-4, atol=1e-3)
    p = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    assert np.allclose([found["rules"][i]["probability"] for i in order], p)
    assert np.allclose(found["bits"], p @ tables(3))


@needs_node
@pytest.mark.parametrize("rule", [30, 110, 184, 255, 0])
def test_a_rule_grows_as_in_python(rule):
    column = np.random.default_rng(rule).integers(0, 2, 11)
    wide = np.stack([np.roll(column, 1), column, np.roll(column, -1)])
    expected = rule >> (np.array([4, 2, 1]) @ wide) & 1
    assert np.array_equal(call(SCRIPT, "next", rule, column.tolist()), expected)
