"""The estimators, summed over every K-tuple of programs, against exact gradients."""

from itertools import product

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.toy import PROGRAMS, toy_model
from wakesleep.core import objectives

K = 3
TUPLES = jnp.asarray(list(product(range(PROGRAMS), repeat=K)))
POSSIBLE = [[True] * 4 for _ in range(PROGRAMS)]


def log_probs(model, x):
    """log p(z, x) and log r(z | x) of every program."""
    z = jnp.arange(PROGRAMS)[:, None]
    return jax.vmap(lambda z: model.log_joint(z, x))(z), jax.vmap(lambda z: model.recognition.log_prob(z, x))(z)


def expected_bound(model, x):
    """E over K-tuples from r of log 1/K sum w, as an exact, differentiable sum."""
    log_p, log_r = log_probs(model, x)
    chance = jnp.exp(jnp.sum(log_r[TUPLES], axis=1))
    return jnp.sum(chance * jax.vmap(objectives.iwae)((log_p - log_r)[TUPLES]))


def mean_estimate(model, x, loss):
    """The expectation of a loss whose K-tuples are drawn from r, their chances taken as given."""
    log_p, log_r = log_probs(model, x)
    chance = jax.lax.stop_gradient(jnp.exp(jnp.sum(log_r[TUPLES], axis=1)))
    return jnp.sum(chance * jax.vmap(loss)(log_p[TUPLES], log_r[TUPLES]))


def close(a, b):
    for left, right in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_allclose(left, right, atol=2e-5, rtol=1e-4)


def test_vimco_is_an_unbiased_gradient_of_the_importance_weighted_bound():
    model = toy_model(jax.random.key(3), POSSIBLE)
    exact = eqx.filter_grad(lambda m: -expected_bound(m, 1))(model)
    close(eqx.filter_grad(lambda m: mean_estimate(m, 1, objectives.vimco))(model), exact)


def test_rws_is_an_unbiased_gradient_of_the_bound_for_the_generative_model():
    model = toy_model(jax.random.key(4), POSSIBLE)
    exact = eqx.filter_grad(lambda m: -expected_bound(m, 2))(model)
    found = eqx.filter_grad(lambda m: mean_estimate(m, 2, objectives.rws_generative))(model)
    close((found.prior, found.evaluator), (exact.prior, exact.evaluator))


def test_rws_wake_descends_the_cross_entropy_of_the_reweighted_tuples():
    model = toy_model(jax.random.key(5), POSSIBLE)
    found = eqx.filter_grad(lambda m: mean_estimate(m, 0, objectives.rws_recognition))(model)

    def exact(m):
        log_p, log_r = (jax.lax.stop_gradient(a) for a in log_probs(model, 0))
        chance = jnp.exp(jnp.sum(log_r[TUPLES], axis=1))[:, None]
        weight = jax.nn.softmax((log_p - log_r)[TUPLES], axis=1) * chance
        target = jnp.zeros(PROGRAMS).at[TUPLES.reshape(-1)].add(weight.reshape(-1))
        return -jnp.sum(target * log_probs(m, 0)[1])

    close(found.recognition, eqx.filter_grad(exact)(model).recognition)


@pytest.mark.parametrize("loss", [objectives.vimco, objectives.rws_generative, objectives.rws_recognition])
@pytest.mark.parametrize("log_p", [[-1.0, -jnp.inf, -2.0], [-jnp.inf, -3.0, -jnp.inf], [-jnp.inf] * 3])
def test_impossible_programs_leave_loss_and_gradients_finite(loss, log_p):
    log_p, log_r = jnp.asarray(log_p), jnp.asarray([-1.0, -2.0, -0.5])
    value, gradient = jax.value_and_grad(loss, (0, 1))(log_p, log_r)
    assert np.isfinite(value)
    assert all(np.all(np.isfinite(g)) for g in gradient)
    assert np.all(np.asarray(gradient[0])[~np.isfinite(np.asarray(log_p))] == 0)


def test_nothing_moves_where_every_program_is_impossible():
    gradient = jax.grad(objectives.vimco, (0, 1))(jnp.full(3, -jnp.inf), jnp.zeros(3))
    assert all(np.all(np.asarray(g) == 0) for g in gradient)


def test_the_effective_sample_size_counts_equal_weights_and_no_impossible_ones():
    for log_w, count in (([3.0, 3.0, 3.0], 3.0), ([0.0, -np.inf, -np.inf], 1.0), ([-np.inf] * 2, 0.0)):
        assert float(objectives.effective(jnp.array(log_w))) == pytest.approx(count)
    w = np.array([0.7, 0.2, 0.1])
    assert float(objectives.effective(jnp.log(w))) == pytest.approx(1 / np.sum(w**2), rel=1e-5)
