"""Stray strings: the mixture with the background against plain sums, and what is learned of it."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from wakesleep.core.networks import END
from wakesleep.domains.strings import data
from wakesleep.domains.strings.evaluator import Regex, Strings, as_strings, as_text
from wakesleep.domains.strings.language import CHARACTERS, CLOSE, program
from wakesleep.domains.strings.strays import LARGEST_RATE, Strays
from wakesleep.errors import Refusal

LENGTH, LONGEST, RATE = 7, 5, 0.1
AB = np.array([c in "ab" for c in CHARACTERS])


def strays(learned: bool = True) -> Strays:
    """Background strings of a and b alone, twice as many b; the mean length is 3 / 2."""
    counts = jnp.where(AB, jnp.asarray([1.0, 2.0])[np.maximum(np.cumsum(AB) - 1, 0) % 2], 0.0)
    found = Strays(RATE, counts, 1.0, learned)
    return eqx.tree_at(lambda s: s.unigrams, found, jnp.where(AB, jnp.log(jnp.maximum(counts, 1.0)), -80.0))


def evaluator(learned: bool = True) -> Regex:
    counts = jnp.where(AB, 1e30, 0.0)
    return Regex(4, LONGEST, counts, strays(learned))


def background(text: str, going: float) -> float:
    u = {"a": 1 / 3, "b": 2 / 3}
    return (1 - going) * float(np.prod([going * u[c] for c in text]))


def going(e: Regex) -> float:
    return float(jax.nn.sigmoid(e.strays.onward))


@pytest.mark.parametrize("regex", ["ab?", "(a|b)b?", "a"])
def test_the_mixture_is_that_of_the_definition_and_sums_to_one_over_all_strings(regex):
    e = evaluator()
    strings = ["".join(s) for n in range(8) for s in itertools.product("ab", repeat=n)]
    x = as_strings(strings, len(strings), 7)
    z = jnp.asarray(program(regex, LENGTH))
    mixed = np.exp(np.asarray(e.log_each(x, z), np.float64))
    alone = np.exp(np.asarray(eqx.tree_at(lambda e: e.strays, e, None).log_each(x, z), np.float64))
    wanted = [(1 - RATE) * p + RATE * background(s, going(e)) for p, s in zip(alone, strings, strict=True)]
    np.testing.assert_allclose(mixed, wanted, rtol=1e-4)
    beyond = RATE * going(e) ** 8  # stray strings of more than seven characters; the regexes write none
    assert mixed.sum() + beyond == pytest.approx(1.0, abs=1e-5)


def test_strings_are_drawn_with_the_probabilities_of_the_mixture():
    e, z = evaluator(), jnp.asarray(program("ab", LENGTH))
    e = eqx.tree_at(lambda e: e.strays.logit, e, strays().logit + 0.1)
    rate = float(e.strays.rate)
    drawn = eqx.filter_jit(jax.vmap(lambda k: e.sample(k, z)))(jax.random.split(jax.random.key(0), 5000))
    texts = as_text(Strings(drawn.characters.reshape(-1, LONGEST), drawn.lengths.reshape(-1)))
    within = 1 - going(e) ** (LONGEST + 1)  # strings are drawn given that they are not longer
    for s in ("", "a", "ab", "bb", "bbb", "abbab"):
        p = (1 - rate) * (s == "ab") + rate * background(s, going(e)) / within
        assert texts.count(s) / len(texts) == pytest.approx(p, abs=4 * np.sqrt(p / len(texts)))


def test_what_the_regex_forbids_is_possible_and_what_is_no_regex_is_not():
    e, x = evaluator(), as_strings(["ab", "b"], 4, LONGEST)
    z, broken = jnp.asarray(program("ab", LENGTH)), jnp.asarray([CLOSE] + [END] * (LENGTH - 1), jnp.int32)
    value, gradient = eqx.filter_value_and_grad(lambda e: e.log_prob(x, z))(e)
    assert np.isfinite(value)
    assert all(np.isfinite(np.asarray(g)).all() for g in jax.tree.leaves(gradient))
    assert np.isneginf(e.log_prob(x, broken))
    assert not e.allows(x, z)
    assert e.allows(as_strings(["ab"], 4, LONGEST), z)
    assert not e.allows(as_strings(["ab"], 4, LONGEST), broken)


def test_the_rate_is_learned_or_fixed_and_the_background_is_fixed():
    x, z = as_strings(["ab", "b"], 4, LONGEST), jnp.asarray(program("ab", LENGTH))
    for learned in (True, False):
        gradient = eqx.filter_grad(lambda e: e.log_prob(x, z))(evaluator(learned)).strays
        assert (float(gradient.logit) > 0) == learned
        assert float(gradient.onward) == 0.0
        assert not np.asarray(gradient.unigrams).any()


def test_the_background_is_counted_in_the_data_and_off_by_default():
    settings = data.Settings(hidden=4, length=8, stray=0.02)
    observed = data.observe([["aab", "a"], ["b"]], data.Settings(strings=3, length=8))
    model = data.build(jax.random.key(0), settings, observed)
    assert float(model.evaluator.strays.rate) == pytest.approx(0.02, rel=1e-4)
    assert going(model.evaluator) == pytest.approx(6 / (6 + 4))  # five characters and three strings, one more of each
    assert data.build(jax.random.key(0), data.Settings(hidden=4, length=8), observed).evaluator.strays is None


@pytest.mark.parametrize("rate", [-0.1, LARGEST_RATE, 0.5])
def test_a_rate_out_of_bounds_is_refused(rate):
    with pytest.raises(Refusal, match="stray must be"):
        data.Settings(stray=rate)
