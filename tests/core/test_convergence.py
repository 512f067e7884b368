"""The three statements of the paper's appendix on convergence, on a model whose programs can all be listed."""

from itertools import combinations, product

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.toy import ALL_PROGRAMS, PROGRAMS, SYMBOLS, toy_model
from wakesleep.core.algorithms import mws
from wakesleep.core.evaluate import exact_joint
from wakesleep.core.memory import Memory
from wakesleep.core.model import Batch, Observations
from wakesleep.core.wake import enter

EVERY = Observations(jnp.arange(SYMBOLS))
BATCH = Batch(jnp.arange(SYMBOLS), EVERY.x)


def trained(parts, rate, **options):
    """Gradient descent on those parts of a model alone; the others stay as they are."""
    label = lambda model: eqx.tree_at(  # noqa: E731
        lambda m: (m.prior, m.evaluator, m.recognition),
        model,
        tuple(
            jax.tree.map(lambda a, name=name: "moves" if name in parts else "stays", getattr(model, name))
            for name in ("prior", "evaluator", "recognition")
        ),
    )
    return mws(optax.multi_transform({"moves": optax.sgd(rate), "stays": optax.set_to_zero()}, label), **options)


def run(algorithm, model, steps):
    """The last state, and the bound of each step on all observations at once."""
    state, step, bounds = algorithm.init(model, EVERY), eqx.filter_jit(algorithm.step), []
    for t in range(steps):
        state, info = step(jax.random.key(t), state, BATCH)
        bounds.append(float(info.bound))
    return state, np.array(bounds)


def posterior(model):
    """p(z | x) of every symbol and program."""
    return np.asarray(jax.nn.softmax(exact_joint(model, ALL_PROGRAMS, EVERY), axis=1))


def truncated(model, m):
    """The best approximation of p(z | x) with m programs: the m most probable ones, renormalised."""
    p = posterior(model)
    kept = np.argsort(-p, axis=1)[:, :m]
    best = np.zeros_like(p)
    np.put_along_axis(best, kept, np.take_along_axis(p, kept, axis=1), axis=1)
    return best / best.sum(axis=1, keepdims=True)


def recognised(model):
    """r(z | x) of every symbol and program."""
    return np.asarray(jax.nn.softmax(model.recognition.logits, axis=1))


def test_first_with_a_large_memory_and_fixed_p_recognition_becomes_the_posterior():
    model = toy_model(jax.random.key(5))
    algorithm = trained(
        {"recognition"}, 2.0, memory_size=PROGRAMS, proposals=4, recognition="replay", replay="expected"
    )
    state, _ = run(algorithm, model, 600)
    np.testing.assert_array_equal(state.model.prior.logits, model.prior.logits)
    np.testing.assert_allclose(recognised(state.model), posterior(model), atol=0.01)


def memories(x, m):
    """Every set of at most m programs that may have made x (program 0 cannot make symbol 0)."""
    possible = range(1 if x == 0 else 0, PROGRAMS)
    return [frozenset(z) for n in range(m + 1) for z in combinations(possible, n)]


def transitions(model, x, m, r):
    """The wake phase as a Markov chain: the memory after each memory and tuple of proposals, and their chance."""
    states, tuples = memories(x, m), list(product(range(PROGRAMS), repeat=r))
    log_p = np.asarray(exact_joint(model, ALL_PROGRAMS, EVERY))[x]
    pairs = [(sorted(known, key=lambda z: -log_p[z]), drawn) for known in states for drawn in tuples]
    slots = np.array([[*known, *[0] * (m - len(known))] for known, _ in pairs])
    filled = np.arange(m)[None] < np.array([len(known) for known, _ in pairs])[:, None]
    rows = Memory(jnp.asarray(slots)[..., None], jnp.where(filled, log_p[slots], -jnp.inf))
    proposed = jnp.asarray([drawn for _, drawn in pairs])[..., None]
    batch = Batch(jnp.arange(len(pairs)), jnp.full(len(pairs), x))
    after, _ = enter(model, rows, proposed, batch)
    kept = [
        frozenset(z[np.isfinite(s)].tolist())
        for z, s in zip(*map(np.asarray, (after.programs[..., 0], after.log_joint)), strict=True)
    ]
    chance = np.exp(np.log(recognised(model)[x][np.array(tuples)]).sum(axis=1))
    chain = np.zeros((len(states), len(states)))
    for i, (known, where) in enumerate(zip(np.repeat(np.arange(len(states)), len(tuples)), kept, strict=True)):
        chain[known, states.index(where)] += chance[i % len(tuples)]
    mass = np.array([np.exp(log_p[list(z)]).sum() for z in states])
    return states, chain, mass


@pytest.mark.parametrize("x", range(SYMBOLS))
def test_second_every_memory_ends_as_the_best_of_its_size_and_none_ever_gets_worse(x):
    model, m = toy_model(jax.random.key(6)), 2
    states, chain, mass = transitions(model, x, m, 2)
    np.testing.assert_allclose(chain.sum(axis=1), 1.0, atol=1e-5)
    assert not chain[mass[None] < mass[:, None] - 1e-9].any()  # no step to a smaller sum
    best = int(np.argmax(mass))
    assert states[best] == set(np.flatnonzero(truncated(model, m)[x]))
    assert chain[best, best] == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(np.linalg.matrix_power(chain, 4096)[:, best], 1.0, atol=1e-3)


def test_second_recognition_then_becomes_that_approximation():
    model, m = toy_model(jax.random.key(6)), 2
    of_the_paper = {"recognition": "replay", "tail": False}
    algorithm = trained({"recognition"}, 2.0, memory_size=m, proposals=6, replay="expected", **of_the_paper)
    state, bounds = run(algorithm, model, 600)
    assert (np.diff(bounds) >= -1e-6).all()
    np.testing.assert_allclose(recognised(state.model), truncated(model, m), atol=0.01)


def elbo(model, support):
    """The mean over symbols of the logarithm of the sum over the programs remembered for each."""
    log_p = exact_joint(model, ALL_PROGRAMS, EVERY)
    return jnp.mean(jax.nn.logsumexp(jnp.where(support, log_p, -jnp.inf), axis=1))


def test_third_p_and_memory_climb_to_an_optimum_of_the_bound_and_recognition_follows():
    model, m = toy_model(jax.random.key(7)), 2
    algorithm = trained(
        {"prior", "evaluator", "recognition"},
        0.5,
        memory_size=m,
        proposals=6,
        replay="expected",
        recognition="replay",
        explore=0.2,
        tail=False,
    )
    state, bounds = run(algorithm, model, 3000)
    assert (np.diff(bounds) >= -1e-5).all()
    support = np.zeros((SYMBOLS, PROGRAMS), bool)
    np.put_along_axis(support, np.asarray(state.memory.programs[..., 0]), True, axis=1)
    value, gradient = eqx.filter_value_and_grad(elbo)(state.model, jnp.asarray(support))
    size = lambda g: np.sqrt(sum(float(jnp.sum(a**2)) for a in jax.tree.leaves(g)))  # noqa: E731
    start = eqx.filter_grad(elbo)(model, jnp.asarray(support))
    assert size(gradient) < 0.02 * size(start)
    p = posterior(state.model)
    assert (p[support].reshape(SYMBOLS, m).min(axis=1) >= np.where(support, 0.0, p).max(axis=1) - 1e-6).all()
    np.testing.assert_allclose(recognised(state.model), truncated(state.model, m), atol=0.02)
    assert float(value) == pytest.approx(bounds[-1], abs=1e-3)


def test_with_fantasy_the_posterior_is_where_the_expected_loss_of_recognition_is_least():
    model = toy_model(jax.random.key(8))
    pairs = jnp.exp(exact_joint(model, ALL_PROGRAMS, EVERY))  # p(z, x), every pair
    log_r = lambda logits: jax.nn.log_softmax(logits, axis=1)  # noqa: E731
    loss = lambda logits: -jnp.sum(pairs * log_r(logits))  # noqa: E731
    best = jnp.log(jnp.maximum(jnp.asarray(posterior(model)), 1e-30))
    assert float(jnp.max(jnp.abs(jax.grad(loss)(best)))) < 1e-6
    assert float(loss(best)) < float(loss(model.recognition.logits))
    algorithm = trained({"recognition"}, 1.0, memory_size=1, proposals=1, recognition="fantasy", explore=0.0)
    state, step, late = algorithm.init(model, EVERY), eqx.filter_jit(algorithm.step), []
    for t in range(1500):
        state, _ = step(jax.random.key(t), state, BATCH)
        late += [np.asarray(state.model.recognition.logits)] if t >= 500 else []
    mean = np.asarray(jax.nn.softmax(jnp.asarray(np.mean(late, axis=0)), axis=1))
    gap = lambda r: np.abs(r - posterior(model)).mean()  # noqa: E731
    assert gap(mean) < 0.04 < gap(recognised(model))
