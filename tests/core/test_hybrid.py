"""Hybrid memoised wake-sleep against the analytic integral of the example with curves."""

import runpy
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.toy import toy_model
from wakesleep.core import hybrid
from wakesleep.core import memory as mem
from wakesleep.core.fit import fit
from wakesleep.core.importance import importance
from wakesleep.core.memory import Memory
from wakesleep.core.model import Batch, Observations
from wakesleep.errors import Refusal

EXAMPLE = Path(__file__).parents[2] / "examples" / "hybrid_programs.py"
DRAWS = 400


@pytest.fixture(scope="module")
def curves():
    return runpy.run_path(str(EXAMPLE))


@pytest.fixture(scope="module")
def given(curves):
    """A model, three observations as a batch, and what recognition sees of them."""
    model = curves["make_model"](jax.random.key(2), 2.0)
    data = curves["make_data"](3)
    batch = Batch(jnp.arange(3), data.x)
    return model, data, batch, jax.vmap(model.recognition.encode)(data.x, None)


def every(curves, b):
    """All sixteen sets of shapes for each of b observations."""
    shapes = jnp.broadcast_to(jnp.asarray(curves["EVERY"]), (b, 16, 4))
    return curves["Curve"](shapes, jnp.zeros((b, 16, 4)))


def log_parts(curves, model, data):
    """log p(d, x) of every program by the analytic integral: [n, 16]."""
    prior = jnp.stack([model.prior.log_prob(curves["Curve"](s, None), None) for s in jnp.asarray(curves["EVERY"])])
    each = lambda x: jnp.stack([model.evaluator.exact(x, s) for s in jnp.asarray(curves["EVERY"])])  # noqa: E731
    return prior[None] + jnp.stack([each(x) for x in data.x])


def test_scores_are_unbiased_estimates_of_the_integral(curves, given):
    model, data, batch, h = given
    one = eqx.filter_jit(lambda key: hybrid.integrate(model, key, every(curves, 3), h, batch, 50)[1])
    log_s = np.asarray(jax.vmap(one)(jax.random.split(jax.random.key(1), DRAWS)))
    drawn = np.exp(log_s - np.asarray(log_parts(curves, model, data)))
    error = drawn.std(axis=0) / np.sqrt(DRAWS)
    assert (np.abs(drawn.mean(axis=0) - 1) < 4.5 * error + 1e-3).mean() > 0.95
    assert abs(drawn.mean() - 1) < 0.1


def test_the_bound_is_at_most_the_exact_value_although_the_same_particles_choose(curves, given):
    model, data, batch, h = given
    empty = mem.empty(jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape[2:], a.dtype), every(curves, 3)), 3, 2)

    @eqx.filter_jit
    def bound(key):
        row = empty
        for step in range(3):
            kept, _ = hybrid.wake_hybrid(model, jax.random.fold_in(key, step), row, h, batch, 3, 4)
            row = Memory(kept.programs.best, kept.log_joint)
        return mem.bound(row.log_joint)

    found = np.asarray(jax.vmap(bound)(jax.random.split(jax.random.key(3), DRAWS)))
    exact = np.asarray(jax.nn.logsumexp(log_parts(curves, model, data), axis=1))
    assert (np.exp(found - exact).mean(axis=0) <= 1 + 4 * np.exp(found - exact).std(axis=0) / np.sqrt(DRAWS)).all()
    assert (found.mean(axis=0) <= exact).all()


def test_with_all_programs_and_many_particles_the_gradient_is_the_exact_one(curves, given):
    model, data, batch, _ = given
    algorithm = hybrid.hmws(optax.sgd(1.0), memory_size=16, proposals=1, fillings=1000)
    rows = Memory(every(curves, 3), jnp.zeros((3, 16)))
    before = algorithm.init(model, data)._replace(memory=rows)
    after, info = eqx.filter_jit(algorithm.step)(jax.random.key(4), before, batch)
    exact = lambda m: jnp.mean(jax.nn.logsumexp(log_parts(curves, m, data), axis=1))  # noqa: E731
    value, wanted = eqx.filter_value_and_grad(exact)(model)
    assert float(info.bound) == pytest.approx(float(value), abs=0.1)
    for part in (lambda m: m.prior.logits, lambda m: m.evaluator.log_noise):
        np.testing.assert_allclose(part(after.model) - part(before.model), part(wanted), atol=0.05, rtol=0.1)


def test_importance_weights_count_the_density_of_the_floats(curves, given):
    model, data, _, _ = given
    exact = np.asarray(jax.nn.logsumexp(log_parts(curves, model, data), axis=1))
    found = importance(jax.random.key(5), model, Observations(data.x), 2000)
    assert (np.abs(found.log_p - exact) < 4 * found.error + 0.01).all()
    with pytest.raises(Refusal, match="cannot be summed"):
        importance(
            jax.random.key(5), model, Observations(data.x), 10, known=Memory(every(curves, 3), jnp.zeros((3, 16)))
        )


def test_the_two_token_losses():
    v, log_r = jnp.array([0.7, 0.3, 0.0]), jnp.log(jnp.array([0.5, 0.1, 0.2]))
    assert float(hybrid.TOKEN_LOSSES["expected"](v, log_r)) == pytest.approx(-0.7 * np.log(0.5) - 0.3 * np.log(0.1))
    assert float(hybrid.TOKEN_LOSSES["logsumexp"](v, log_r)) == pytest.approx(-np.log(0.7 * 0.5 + 0.3 * 0.1), rel=1e-5)
    gradient = jax.grad(hybrid.TOKEN_LOSSES["logsumexp"], argnums=1)
    assert gradient(jnp.zeros(3), log_r).tolist() == [0.0, 0.0, 0.0]
    assert np.isfinite(gradient(v, jnp.array([-1.0, -jnp.inf, -2.0]))).all()


def test_a_model_whose_recognition_draws_no_floats_is_refused(toy):
    with pytest.raises(Refusal, match="by recognition"):
        hybrid.hmws(optax.adam(1e-3)).init(toy_model(jax.random.key(0)), toy[1])


def test_the_noise_is_learned(curves):
    data = curves["make_data"](300)
    algorithm = hybrid.hmws(optax.adam(5e-3), 2, 2, 5)
    state = algorithm.init(curves["make_model"](jax.random.key(0)), data)
    *_, (state, _) = fit(algorithm, state, data, key=jax.random.key(1), steps=2000, batch_size=20)
    assert float(jnp.exp(state.model.evaluator.log_noise)) == pytest.approx(curves["NOISE"], rel=0.1)
