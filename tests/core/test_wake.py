"""The wake phase: what is drawn, what is kept, in which form."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.toy import PROGRAMS, SYMBOLS, ToyEvaluator, ToyPrior, toy_data, toy_model
from wakesleep.core import evaluate
from wakesleep.core import memory as mem
from wakesleep.core.algorithms import mws
from wakesleep.core.memory import Memory
from wakesleep.core.model import Batch, Evaluator, Model, Observations, Prior, Recognition
from wakesleep.core.wake import Shares, enter, proposed, wake

DRAWN = []


class Counted(ToyPrior):
    """Tells how many programs are drawn in a step."""

    def sample(self, key, c):
        jax.debug.callback(lambda k: DRAWN.append(1), jax.random.key_data(key))
        return super().sample(key, c)


@pytest.mark.parametrize(("share", "b", "most"), [(0.1, 20, 10), (0.1, 1, 1), (0.5, 8, 20), (1.0, 3, 15)])
def test_exploring_draws_no_more_programs_than_it_uses(toy, share, b, most):
    model, _ = toy
    model = eqx.tree_at(lambda m: m.prior, model, Counted(model.prior.logits))
    data = toy_data(jax.random.key(1), b)
    DRAWN.clear()
    empty = mem.empty(jax.ShapeDtypeStruct((1,), jnp.int32), b, 3)
    jax.block_until_ready(wake(model, jax.random.key(0), empty, data.x, Batch(jnp.arange(b), data.x), 5, Shares(share)))
    jax.effects_barrier()
    assert 0 < len(DRAWN) <= most


@pytest.mark.parametrize(("share", "b"), [(0.1, 1), (0.3, 4), (1.0, 2)])
def test_the_expected_share_of_proposals_comes_from_the_prior(toy, share, b):
    """Recognition proposes program 0 alone, the prior program 4 alone."""
    model, _ = toy
    lone = lambda z: jnp.where(jnp.arange(PROGRAMS) == z, 0.0, -1e9)  # noqa: E731
    model = eqx.tree_at(lambda m: m.prior.logits, model, lone(4))
    model = eqx.tree_at(lambda m: m.recognition.logits, model, lone(0)[None].repeat(SYMBOLS, 0))
    data, draws = Observations(jnp.ones(b, jnp.int32)), 4000
    empty = mem.empty(jax.ShapeDtypeStruct((1,), jnp.int32), b, 1)
    one = lambda k: wake(model, k, empty, data.x, Batch(jnp.arange(b), data.x), 1, Shares(share))[0].programs  # noqa: E731
    found = jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(3), draws))
    chosen = np.asarray(found == 4).mean(axis=(0, 2, 3))
    assert np.all(np.abs(chosen - share) <= 5 * np.sqrt(share * (1 - share) / draws))


@pytest.mark.parametrize(
    ("share", "r", "least", "most"), [(0.5, 4, 2, 2), (0.5, 5, 2, 3), (0.5, 1, 0, 1), (1.0, 2, 2, 2)]
)
def test_the_share_of_revised_programs_is_exact_up_to_one_place(toy, share, r, least, most):
    model, data = toy
    held = mem.empty(jax.ShapeDtypeStruct((1,), jnp.int32), len(data), 2)
    keys = jax.random.split(jax.random.key(4), 400)
    phase = jax.vmap(lambda k: proposed(model, k, held, data.x, data.c, r, Shares(0.0, share))[1])(keys)
    revised = np.sum(np.asarray(phase) == mem.PHASES.index("revision"), axis=2)
    assert phase.shape[2] == r
    assert (revised.min(), revised.max()) == (least, most)
    assert abs(revised.mean() - share * r) < 4 * 0.5 / np.sqrt(revised.size)


class Worsening(Evaluator):
    """The first refinement finds the best number, each later one leaves it."""

    def sample(self, key, z):
        return z[1]

    def log_prob(self, x, z):
        return -((x - z[1]) ** 2)

    def refine(self, z, x):
        return z[0], jnp.where(z[1] == 0, x, z[1] + 3.0)


class One(Prior):
    def sample(self, key, c):
        return jnp.zeros(1, jnp.int32), jnp.zeros(())

    def log_prob(self, z, c):
        return jnp.zeros(())


class OneToo(Recognition):
    def sample(self, key, h):
        return jnp.ones(1, jnp.int32), jnp.zeros(())

    def log_prob(self, z, h):
        return jnp.zeros(())


def test_a_refit_that_is_worse_is_not_kept():
    model, x = Model(One(), Worsening(), OneToo()), jnp.asarray([1.0, -4.0])
    held = Memory((jnp.zeros((2, 1, 1), jnp.int32), x[:, None]), jnp.zeros((2, 1)))
    proposed = (jnp.ones((2, 1, 1), jnp.int32), jnp.full((2, 1), 9.0))
    updated, _ = enter(model, held, proposed, Batch(jnp.arange(2), x))
    np.testing.assert_allclose(updated.programs[1][:, 0], x)
    np.testing.assert_allclose(updated.log_joint[:, 0], 0.0)
    found = evaluate.remember(jax.random.key(0), model, Observations(x), memory_size=1, proposals=1, wakes=4)
    np.testing.assert_allclose(found.log_joint[:, 0], 0.0, atol=1e-6)


class Paired(ToyPrior):
    """Programs 2k and 2k + 1 mean the same."""

    def canonical(self, z):
        return z - z % 2


class PairedEvaluator(ToyEvaluator):
    def log_prob(self, x, z):
        return super().log_prob(x, z - z % 2)


def test_semantic_twins_are_one_program_and_the_sum_stays_a_bound():
    model, data = toy_model(jax.random.key(0), [[True] * SYMBOLS] * PROGRAMS), toy_data(jax.random.key(1))
    evaluator = PairedEvaluator(model.evaluator.logits, model.evaluator.possible)
    model = Model(Paired(model.prior.logits), evaluator, model.recognition)
    algorithm = mws(optax.sgd(0.0), PROGRAMS, 20, explore=0.5)
    state = algorithm.init(model, data)
    step = eqx.filter_jit(algorithm.step)
    for t in range(10):
        state, _ = step(jax.random.key(t), state, Batch(jnp.arange(len(data)), data.x))
    programs, scores = np.asarray(state.memory.programs[..., 0]), np.asarray(state.memory.log_joint)
    for row in range(len(data)):
        assert sorted(programs[row][np.isfinite(scores[row])].tolist()) == [0, 2, 4]
    truth = evaluate.exact(model, jnp.arange(PROGRAMS)[:, None], data)
    assert np.all(np.asarray(mem.bound(state.memory.log_joint)) < np.asarray(truth))
