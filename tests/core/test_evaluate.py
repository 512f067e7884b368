import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.toy import ALL_PROGRAMS, PROGRAMS, SYMBOLS
from wakesleep.core import evaluate
from wakesleep.core import importance as importance_module
from wakesleep.core import memory as mem
from wakesleep.core.memory import Memory, Weighted
from wakesleep.core.model import Evaluator, Model, Observations, Prior, Recognition, score
from wakesleep.errors import Refusal


class Fitted(Evaluator):
    """A program carries a number, which is fitted half of the way to x at a time."""

    def sample(self, key, z):
        return z[1]

    def log_prob(self, x, z):
        return -((x - z[1]) ** 2)

    def refine(self, z, x):
        return z[0], z[1] + (x - z[1]) / 2


class Single(Prior):
    def sample(self, key, c):
        return jnp.zeros(1, jnp.int32), jnp.zeros(())

    def log_prob(self, z, c):
        return jnp.zeros(())


class Unfitted(Recognition):
    def sample(self, key, h):
        return jnp.zeros(1, jnp.int32), jnp.zeros(())

    def log_prob(self, z, h):
        return jnp.zeros(())


def test_exact_equals_the_sum_over_programs(toy):
    model, data = toy
    z = jnp.broadcast_to(ALL_PROGRAMS, (len(data), *ALL_PROGRAMS.shape))
    joint = np.asarray(score(model, z, data.x, None), np.float64)
    np.testing.assert_allclose(evaluate.exact(model, ALL_PROGRAMS, data), np.logaddexp.reduce(joint, axis=1), atol=1e-5)


def test_the_importance_bound_lies_within_its_error_of_the_truth(toy):
    model, data = toy
    truth = np.asarray(evaluate.exact(model, ALL_PROGRAMS, data))
    bound = evaluate.importance(jax.random.key(0), model, data, samples=4050, chunk=100, known=False)
    assert np.all(np.abs(bound.log_p - truth) < 4 * bound.error + 1e-6)
    assert bound.standard_error < 0.02
    few = [evaluate.importance(jax.random.key(s), model, data, samples=1, known=False).mean for s in range(30)]
    assert np.mean(few) < truth.mean()


def test_the_error_shrinks_as_the_square_root_of_samples(toy):
    model, data = toy
    small, large = (evaluate.importance(jax.random.key(1), model, data, samples=s, known=False) for s in (100, 10_000))
    assert 5 < small.standard_error / large.standard_error < 20


def test_refining_recognition_raises_the_bound_and_leaves_the_model_alone(toy):
    model, data = toy
    poor = eqx.tree_at(lambda m: m.recognition.logits, model, 3 * model.recognition.logits)
    before = evaluate.importance(jax.random.key(0), poor, data, samples=50, known=False).mean
    bounds = evaluate.refined(
        jax.random.key(0), poor, data, samples=50, steps=300, particles=10, batch_size=4, learning_rate=0.03
    )
    assert set(bounds) == {"rws", "vimco", "sleep", "best"}
    assert bounds["best"].mean == max(bounds[k].mean for k in ("rws", "vimco", "sleep"))
    truth = float(evaluate.exact(model, ALL_PROGRAMS, data).mean())
    assert before < bounds["best"].mean < truth + 4 * bounds["best"].standard_error


def test_new_observations_get_the_exact_posterior_from_a_large_fresh_memory(toy):
    model, data = toy
    joint = np.asarray(evaluate.exact_joint(model, ALL_PROGRAMS, data))
    truth = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    for wakes, tolerance in ((20, 1e-5), (0, 0.1)):
        q = evaluate.posterior(jax.random.key(0), model, data, memory_size=PROGRAMS, proposals=500, wakes=wakes)
        for row in range(len(data)):
            found = np.zeros(PROGRAMS)
            np.add.at(found, np.asarray(q.programs[row, :, 0]), np.exp(np.asarray(q.log_weight[row])))
            np.testing.assert_allclose(found, truth[row], atol=tolerance)


def test_gathering_twins_sums_their_weights():
    weighted = Memory(jnp.asarray([[2], [1], [2]]), jnp.log(jnp.asarray([0.3, 0.5, 0.2])))
    once = evaluate.gather_twins(weighted)
    found = {int(z[0]): float(np.exp(w)) for z, w in zip(once.programs, once.log_joint, strict=True) if np.isfinite(w)}
    assert set(found) == {1, 2}
    np.testing.assert_allclose([found[1], found[2]], [0.5, 0.5], atol=1e-6)


def test_the_divergence_of_the_exact_posterior_is_zero_and_of_a_point_mass_is_its_surprise(toy):
    model, data = toy
    joint = evaluate.exact_joint(model, ALL_PROGRAMS, data)
    marginal = jax.nn.logsumexp(joint, axis=1)
    everything = jnp.broadcast_to(ALL_PROGRAMS, (len(data), *ALL_PROGRAMS.shape))
    exact = Weighted(everything, joint - marginal[:, None])
    np.testing.assert_allclose(evaluate.divergence(exact, model, data, marginal), 0.0, atol=1e-5)
    twice = Weighted(jnp.full((len(data), 2, 1), 3), jnp.log(jnp.full((len(data), 2), 0.5)))
    surprise = -(joint[:, 3] - marginal)
    np.testing.assert_allclose(evaluate.divergence(twice, model, data, marginal), surprise, atol=1e-5)


def test_known_programs_are_summed_exactly_and_a_fresh_memory_is_a_bound(toy):
    model, data = toy
    truth = np.asarray(evaluate.exact(model, ALL_PROGRAMS, data))
    found = evaluate.remember(jax.random.key(2), model, data, memory_size=3, proposals=50, wakes=3)
    bound = np.asarray(mem.bound(found.log_joint))
    assert np.all(bound < truth)
    some = evaluate.importance(jax.random.key(0), model, data, samples=4050, known=found)
    assert np.all(np.abs(some.log_p - truth) < 4 * some.error + 1e-6)
    without = evaluate.importance(jax.random.key(0), model, data, samples=4050, known=False)
    assert some.standard_error < without.standard_error
    every = evaluate.remember(jax.random.key(2), model, data, memory_size=PROGRAMS + 2, proposals=500, wakes=20)
    exact = evaluate.importance(jax.random.key(0), model, data, samples=1, known=every)
    np.testing.assert_allclose(exact.log_p, truth, atol=1e-5)
    np.testing.assert_allclose(exact.error, 0.0, atol=1e-6)


def test_samples_do_not_repeat_the_search_that_had_the_same_key(toy):
    """Else the mean over keys would not be p(x): what is sampled would be what made the search keep a program."""
    model, data = toy
    made = []
    for seed in range(150):
        key = jax.random.key(seed)
        known = evaluate.remember(key, model, data, memory_size=1, proposals=10, wakes=2)
        made.append(evaluate.importance(key, model, data, samples=20, chunk=10, known=known).log_p)
    sums, truth = np.exp(made), np.exp(np.asarray(evaluate.exact(model, ALL_PROGRAMS, data)))
    error = sums.std(axis=0) / np.sqrt(len(sums))
    assert np.all(np.abs(sums.mean(axis=0) - truth) < 4 * error + 1e-6)


def missing_mass(model):
    """Recognition that almost never proposes the programs 1 to 4."""
    lone = jnp.where(jnp.arange(PROGRAMS) == 0, 0.0, -6.0)[None].repeat(SYMBOLS, 0)
    return eqx.tree_at(lambda m: m.recognition.logits, model, lone)


def test_where_recognition_misses_mass_it_is_told_and_known_programs_mend_it(toy):
    model, data = toy
    blind, truth = missing_mass(model), np.asarray(evaluate.exact(model, ALL_PROGRAMS, data))
    with pytest.warns(UserWarning, match="recognition misses mass"):
        poor = evaluate.importance(jax.random.key(0), blind, data, samples=200, known=False)
    assert np.any(poor.doubtful)
    assert np.any(np.abs(poor.log_p - truth) > 5 * poor.error)  # why the error alone is not enough
    mended = evaluate.importance(jax.random.key(0), blind, data, samples=200)
    np.testing.assert_allclose(mended.log_p, truth, atol=1e-4)
    assert not np.any(mended.doubtful)


def test_stale_scores_of_known_programs_are_not_used(toy):
    model, data = toy
    known = evaluate.remember(jax.random.key(2), model, data, memory_size=PROGRAMS, proposals=500, wakes=5)
    stale = known._replace(log_joint=known.log_joint + 3.0)
    found = evaluate.importance(jax.random.key(0), model, data, samples=10, known=stale)
    np.testing.assert_allclose(found.log_p, evaluate.exact(model, ALL_PROGRAMS, data), atol=1e-5)
    with pytest.raises(Refusal, match="known has 8 rows"):
        evaluate.importance(jax.random.key(0), model, data[jnp.arange(3)], samples=10, known=known)


def test_importance_sampling_is_compiled_once_for_equal_shapes(toy, monkeypatch):
    model, data = toy
    traced, weigh = [], importance_module.weigh
    monkeypatch.setattr(importance_module, "weigh", lambda *a: traced.append(1) or weigh(*a))
    for seed in range(3):
        changed = eqx.tree_at(lambda m: m.prior.logits, model, model.prior.logits + seed)
        evaluate.importance(jax.random.key(seed), changed, data, samples=77, chunk=11, known=False)
    assert len(traced) == 1


@pytest.mark.parametrize("shape", [0.2, 0.5, 1.0])
def test_the_pareto_shape_of_pareto_weights_is_found(shape):
    """Against weights of a known tail: u^-k has a generalised Pareto tail of shape k."""
    w = np.sort(np.random.default_rng(0).uniform(size=20_000) ** -shape)[::-1]
    assert abs(importance_module.pareto_shape(np.log(w[: 3 * 141 + 1])) - shape) < 0.12


def test_equal_or_missing_weights_have_no_pareto_shape():
    assert np.isnan(importance_module.pareto_shape(np.zeros(30)))
    assert np.isnan(importance_module.pareto_shape(np.full(30, -np.inf)))


def test_what_a_remembered_program_carries_is_refined_with_every_wake():
    model, data = Model(Single(), Fitted(), Unfitted()), Observations(jnp.asarray([1.0, -4.0]))
    for wakes in (1, 2, 5):
        found = evaluate.remember(jax.random.key(0), model, data, memory_size=2, proposals=3, wakes=wakes)
        left = data.x * 0.5**wakes
        np.testing.assert_allclose(found.programs[1][:, 0], data.x - left, rtol=1e-6)
        np.testing.assert_allclose(found.log_joint[:, 0], -(left**2), rtol=1e-5)
        assert np.all(np.isneginf(found.log_joint[:, 1]))  # all proposals are twins
