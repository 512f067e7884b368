"""Memory plus weighted tail, summed over every memory and every tuple of proposals, against exact sums."""

from itertools import combinations, product

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.toy import ALL_PROGRAMS, PROGRAMS, toy_model
from wakesleep.core import objectives
from wakesleep.core.algorithms import mws
from wakesleep.core.memory import Memory
from wakesleep.core.model import Batch, Observations, Prior
from wakesleep.core.tail import terms, wake_with_tail
from wakesleep.core.wake import Shares
from wakesleep.errors import Refusal

M, R, X = 2, 2, 0  # program 0 cannot produce symbol 0
TUPLES = jnp.asarray(list(product(range(PROGRAMS), repeat=R)))
MEMORIES = [z for n in range(M + 1) for z in combinations(range(1, PROGRAMS), n)]


def log_probs(model):
    """log p(z, x) and log r(z | x) of every program."""
    log_p = jax.vmap(lambda z: model.log_joint(z, X))(ALL_PROGRAMS)
    return log_p, jax.vmap(lambda z: model.recognition.log_prob(z, X))(ALL_PROGRAMS)


def memory_of(known, log_p):
    """A memory row with those programs and empty slots behind."""
    z = jnp.asarray([*known, *[0] * (M - len(known))])
    return Memory(z[:, None], jnp.where(jnp.arange(M) < len(known), log_p[z], -jnp.inf))


def all_terms(model, known):
    """The terms of every tuple of proposals, and the probability of the tuple."""
    log_p, log_r = log_probs(model)
    row = memory_of(known, log_p)
    all_r = jnp.ones(R, bool)
    made = jax.vmap(lambda t: terms(row, Memory(t[:, None], log_p[t]), log_r[t], all_r))(TUPLES)
    return made, jnp.exp(jnp.sum(log_r[TUPLES], axis=1))


@pytest.mark.parametrize("known", [(), (1,), (2, 4)])
def test_what_r_did_not_draw_has_no_term_and_the_rest_still_sums_to_p_of_x_on_average(known):
    """A share of the places holds program 3 whatever r drew there: in the memory or not, it adds nothing."""
    model, share, total = toy_model(jax.random.key(3)), 0.3, 0.0
    log_p, log_r = log_probs(model)
    row = memory_of(known, log_p)
    for from_r in product((True, False), repeat=R):
        mask = jnp.asarray(from_r)
        put = jnp.where(mask, TUPLES, 3)
        made = jax.vmap(lambda t, mask=mask: terms(row, Memory(t[:, None], log_p[t]), log_r[t] + jnp.log(share), mask))(
            put
        )
        chance = jnp.exp(jnp.sum(log_r[TUPLES], axis=1)) * share ** sum(from_r) * (1 - share) ** (R - sum(from_r))
        total += float(jnp.sum(chance * jnp.sum(jnp.exp(made.log_joint), axis=1)))
    assert total == pytest.approx(float(jnp.sum(jnp.exp(log_p))), rel=1e-5)


def test_the_wake_phase_leaves_the_right_share_of_places_to_r():
    """The mean of P over many draws is p(x) with revisions and draws from the prior among the proposals too."""
    model = toy_model(jax.random.key(3))
    log_p, _ = log_probs(model)
    n, x = 4000, jnp.full(4000, X)
    rows = jax.tree.map(lambda a: jnp.broadcast_to(a, (n, *a.shape)), memory_of((2,), log_p))
    h = jax.vmap(model.recognition.encode)(x, None)
    made = wake_with_tail(model, jax.random.key(5), rows, h, Batch(jnp.arange(n), x), R, Shares(0.2, 0.4))[2]
    sums = np.sum(np.exp(np.asarray(made.log_joint, np.float64)), axis=1)
    error = sums.std() / np.sqrt(n)
    assert abs(sums.mean() - float(jnp.sum(jnp.exp(log_p)))) < 4 * error
    assert error < 0.05 * sums.mean()


@pytest.mark.parametrize("known", MEMORIES)
def test_the_terms_sum_to_p_of_x_on_average_whatever_is_remembered(known):
    model = toy_model(jax.random.key(3))
    made, chance = all_terms(model, known)
    log_p, _ = log_probs(model)
    found = jnp.sum(chance * jnp.sum(jnp.exp(made.log_joint), axis=1))
    assert float(found) == pytest.approx(float(jnp.sum(jnp.exp(log_p))), rel=1e-5)
    bound = float(jnp.sum(chance * jax.nn.logsumexp(made.log_joint, axis=1))) if known else -np.inf
    least = float(jax.nn.logsumexp(memory_of(known, log_p).log_joint))
    assert least <= bound + 1e-6
    assert bound <= float(jax.nn.logsumexp(log_p)) + 1e-6


def log_estimate(model, known, drawn, log_r):
    """log P as it is defined, differentiable; r and the memory are given."""
    log_p, _ = log_probs(model)
    fresh = [jnp.exp(log_p[z] - log_r[z]) / R for z in drawn if z not in known]
    return jnp.log(sum([jnp.exp(log_p[z]) for z in known] + fresh))


@pytest.mark.parametrize("known", [z for z in MEMORIES if z])
def test_a_draw_from_the_terms_is_an_unbiased_gradient_of_the_bound(known):
    model = toy_model(jax.random.key(4))
    made, chance = all_terms(model, known)
    log_r = jax.lax.stop_gradient(log_probs(model)[1])

    def exact(m):
        values = jnp.stack([log_estimate(m, known, t, log_r) for t in np.asarray(TUPLES).tolist()])
        return -jnp.sum(chance * values)

    def drawn(m):
        log_p, _ = log_probs(m)
        weight = jax.nn.softmax(made.log_joint, axis=1)  # the chance that a term is drawn
        one = jax.vmap(objectives.weighted)(weight, log_p[made.programs[..., 0]])
        return jnp.sum(jax.lax.stop_gradient(chance) * one)

    wanted, found = eqx.filter_grad(exact)(model), eqx.filter_grad(drawn)(model)
    for a, b in zip(*(jax.tree.leaves((g.prior, g.evaluator)) for g in (wanted, found)), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-5, rtol=1e-4)


def test_judged_by_the_memory_after_the_step_the_estimate_is_biased():
    """What entered the memory in this step must not count in full: the reason for the memory from before."""
    model, known = toy_model(jax.random.key(3)), (1,)
    log_p, log_r = (np.asarray(a, np.float64) for a in log_probs(model))
    total = 0.0
    for t in np.asarray(TUPLES):
        after = sorted({*known, *t.tolist()}, key=lambda z: -log_p[z])[:M]
        tail = sum(np.exp(log_p[z] - log_r[z]) / R for z in t if z not in after)
        total += np.exp(log_r[t].sum()) * (np.exp(log_p[after]).sum() + tail)
    assert total < 0.95 * np.exp(log_p).sum()


def step_terms(model, known, seed):
    x = jnp.asarray([X])
    row = jax.tree.map(lambda a: a[None], memory_of(known, log_probs(model)[0] - 7.0))  # scores of an older model
    h = jax.vmap(model.recognition.encode)(x, None)
    return wake_with_tail(model, jax.random.key(seed), row, h, Batch(jnp.arange(1), x), R)


def test_the_wake_phase_rescores_what_it_remembers_and_keeps_the_best():
    model = toy_model(jax.random.key(3))
    log_p, log_r = (np.asarray(a) for a in log_probs(model))
    for seed in range(5):
        updated, _, made = step_terms(model, (2, 4), seed)
        z, log_w = np.asarray(made.programs[0, :, 0]), np.asarray(made.log_joint[0])
        possible = np.isfinite(log_w)
        known = np.isin(z, (2, 4))
        wanted = np.where(known, log_p[z], log_p[z] - log_r[z] - np.log(R))
        np.testing.assert_allclose(log_w[possible], wanted[possible], rtol=1e-5)
        assert sorted(z[possible & known]) == [2, 4]
        assert list(log_w) == sorted(log_w, reverse=True)
        best = sorted({2, 4, *z[possible].tolist()}, key=lambda z: -log_p[z])[:M]
        assert np.asarray(updated.programs[0, :, 0]).tolist() == best


class Folded(Prior):
    """A prior for which programs 1 and 2 mean the same."""

    logits: jax.Array

    def sample(self, key, c):
        return jax.random.categorical(key, self.logits)[None]

    def log_prob(self, z, c):
        return jax.nn.log_softmax(self.logits)[z[0]]

    def canonical(self, z):
        return jnp.where(z == 2, 1, z)


def test_programs_are_weighted_as_they_were_drawn_and_remembered_in_their_canonical_form():
    model = toy_model(jax.random.key(3))
    model = eqx.tree_at(lambda m: m.prior, model, Folded(model.prior.logits))
    log_p, log_r = (np.asarray(a) for a in log_probs(model))
    seen = set()
    for seed in range(20):
        updated, _, made = step_terms(model, (3,), seed)
        z, log_w = np.asarray(made.programs[0, :, 0]), np.asarray(made.log_joint[0])
        seen |= set(z[np.isfinite(log_w)].tolist())
        fresh = np.isfinite(log_w) & (z != 3)
        np.testing.assert_allclose(log_w[fresh], (log_p - log_r)[z[fresh]] - np.log(R), rtol=1e-5)
        assert 2 not in np.asarray(updated.programs[0, :, 0])[np.isfinite(updated.log_joint[0])]
    assert 2 in seen


def test_an_observation_without_a_possible_program_changes_no_parameter():
    model = toy_model(jax.random.key(2), [[True, True, True, False] for _ in range(PROGRAMS)])
    data = Observations(jnp.full(4, 3))
    algorithm = mws(optax.sgd(1.0), 3, 2, recognition="replay", tail=True)
    new, info = algorithm.step(jax.random.key(0), algorithm.init(model, data), Batch(jnp.arange(4), data.x))
    before, after = (jax.tree.leaves(eqx.filter(m, eqx.is_array)) for m in (model, new.model))
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    assert float(info.explained) == 0.0


@pytest.mark.parametrize("settings", [{"explore": 1.0}, {"revise": 1.0}])
def test_r_must_be_left_some_of_the_proposals(settings):
    with pytest.raises(Refusal, match="tail"):
        mws(optax.sgd(1.0), 3, 2, tail=True, **settings)
