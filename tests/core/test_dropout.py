"""Dropout on the prior: the value of the whole network, the gradient of a thinned one."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.toy import toy_model
from wakesleep.core.dropout import DropoutPrior
from wakesleep.core.model import score
from wakesleep.core.networks import LstmWriter, TokenPrior, grammar

WORDS, LENGTH, SHARE = 3, 2, 0.5
RULES = grammar([0, 1, 1], 0, lambda state, kind: 0)
EVERY = jnp.asarray([[0, 0], [1, 0], [2, 0], [1, 1], [1, 2], [2, 1], [2, 2]], jnp.int32)


def prior() -> DropoutPrior:
    writer = LstmWriter(jax.random.key(0), 4, np.zeros(WORDS))
    writer = eqx.tree_at(lambda w: w.output, writer, 10 * writer.output)
    return DropoutPrior(TokenPrior(writer, RULES, LENGTH), SHARE)


def log_probs(one) -> np.ndarray:
    return np.asarray(jax.vmap(lambda z: one.log_prob(z, None))(EVERY))


def test_the_whole_and_every_thinned_prior_are_distributions():
    whole = prior()
    assert np.exp(log_probs(whole)).sum() == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_array_equal(log_probs(whole), log_probs(whole.plain))
    thinned = [log_probs(whole.thinned(jax.random.key(i))) for i in range(6)]
    for one in thinned:
        assert np.exp(one).sum() == pytest.approx(1.0, abs=1e-5)
    assert len({one.tobytes() for one in thinned}) > 1


def test_units_are_left_out_with_their_share_and_keep_their_mean():
    factors = jax.vmap(lambda k: prior().thinned(k).factors)(jax.random.split(jax.random.key(1), 2000))
    assert set(np.unique(factors)) == {0.0, 2.0}
    np.testing.assert_allclose(np.mean(factors, axis=0), 1.0, atol=0.1)


def test_a_thinned_prior_draws_as_it_scores():
    one = prior().thinned(jax.random.key(3))
    drawn = np.asarray(jax.vmap(lambda k: one.sample(k, None))(jax.random.split(jax.random.key(4), 4000)))
    for z, log_p in zip(np.asarray(EVERY), log_probs(one), strict=True):
        assert (drawn == z).all(axis=1).mean() == pytest.approx(np.exp(log_p), abs=0.03)


def test_scores_have_the_value_of_the_whole_and_the_gradient_of_the_thinned_prior():
    toy = toy_model(jax.random.key(0))

    class Anything(type(toy.evaluator)):
        def log_prob(self, x, z):
            return jnp.where(z[0] == 2, -jnp.inf, 0.0)

    model = eqx.tree_at(lambda m: (m.prior, m.evaluator), toy, (prior(), Anything(*_fields(toy.evaluator))))
    z, x, key = EVERY[None, :4], jnp.zeros(1, jnp.int32), jax.random.key(7)

    def total(model, key):
        found = score(model, z, x, None, key)
        return jnp.sum(jnp.where(jnp.isneginf(found), 0.0, found)), found

    (_, value), gradient = eqx.filter_value_and_grad(total, has_aux=True)(model, key)
    (_, plain), ordinary = eqx.filter_value_and_grad(total, has_aux=True)(model, None)
    np.testing.assert_allclose(value, plain, rtol=1e-6)
    assert np.isneginf(value[0, 2])
    thinned = model.prior.thinned(jax.random.split(key, 1)[0])
    wanted = eqx.filter_grad(lambda p: sum(p.log_prob(EVERY[i], None) for i in (0, 1, 3)))(thinned).plain
    for a, b in zip(jax.tree.leaves(gradient.prior.plain), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)
    assert not np.allclose(gradient.prior.plain.writer.output, ordinary.prior.plain.writer.output)


def _fields(evaluator):
    return evaluator.logits, evaluator.possible
