"""What a step reports, and the algorithms that users write themselves."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.toy import ALL_PROGRAMS, PROGRAMS, SYMBOLS, ToyEvaluator, ToyPrior, ToyRecognition, toy_model
from wakesleep.core import memory as mem
from wakesleep.core.algorithms import algorithm, mws, report, rws
from wakesleep.core.evaluate import exact
from wakesleep.core.fit import fit
from wakesleep.core.model import Batch, Model, Observations, frozen, recognise, score
from wakesleep.core.step import Info, add_report, mean_report, no_reports
from wakesleep.core.wake import Shares, wake
from wakesleep.errors import Refusal


class Fifty(ToyEvaluator):
    """-50 nats wherever a program is possible."""

    def log_prob(self, x, z):
        return jnp.where(jnp.asarray(self.possible)[z[0], x], -50.0, -jnp.inf) + 0.0 * self.logits[0, 0]


class Flat(ToyPrior):
    def log_prob(self, z, c):
        return 0.0 * self.logits[0]


def one_symbol_is_hopeless():
    model = toy_model(jax.random.key(2), [[True] * (SYMBOLS - 1) + [False] for _ in range(PROGRAMS)])
    odd = Model(Flat(model.prior.logits), Fifty(model.evaluator.logits, model.evaluator.possible), model.recognition)
    return model, odd, Observations(jnp.asarray([0, SYMBOLS - 1] * 10))


@pytest.mark.parametrize("batch_size", [1, 4, 20])
def test_the_bound_is_the_mean_over_observations_that_have_a_program(batch_size):
    model, odd, data = one_symbol_is_hopeless()
    found = rws(optax.sgd(0.0), 1)
    start = found.init(model, data)._replace(model=odd)
    *_, (_, info) = fit(found, start, data, key=jax.random.key(0), steps=40, batch_size=batch_size)
    proposal = -jax.nn.log_softmax(model.recognition.logits[0])
    low, high = -50 + float(proposal.min()), -50 + float(proposal.max())
    assert low <= float(info.bound) <= high
    assert 0 < float(info.explained) < 1


def test_where_no_observation_has_a_program_the_bound_is_minus_infinity():
    model, odd, _ = one_symbol_is_hopeless()
    data = Observations(jnp.full(4, SYMBOLS - 1))
    found = rws(optax.sgd(0.0), 2)
    start = found.init(model, data)._replace(model=odd)
    *_, (_, info) = fit(found, start, data, key=jax.random.key(0), steps=3, batch_size=2)
    assert float(info.bound) == -np.inf
    assert float(info.explained) == 0.0


def test_a_long_sum_of_reports_is_as_precise_as_double_precision_and_the_same_however_it_is_cut():
    values = np.random.default_rng(0).normal(-25.0, 10.0, 20_000).astype(np.float32)
    rest = jnp.float32(0.7), jnp.float32(0.1), jnp.zeros(3), jnp.float32(2.5), jnp.ones(3)
    one = lambda bound: Info(bound, *rest)  # noqa: E731
    given = jnp.asarray(values)

    @jax.jit
    def add(totals, first, last):  # as in `fit`: one executable for any number of steps
        return jax.lax.fori_loop(first, last, lambda i, t: add_report(t, one(given[i])), totals)

    whole, cut = add(no_reports(), 0, 20_000), no_reports()
    for first, last in ((0, 1), (1, 7000), (7000, 20_000)):
        cut = add(cut, first, last)
    assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(whole), jax.tree.leaves(cut), strict=True))
    mean = mean_report(whole)
    assert float(mean.bound) == pytest.approx(np.mean(values.astype(np.float64)), rel=2e-7)
    assert float(mean.explained) == pytest.approx(np.float32(0.7), rel=1e-7)


class NanRecognition(ToyRecognition):
    def log_prob(self, z, h):
        return jax.nn.log_softmax(self.logits[h])[z[0]] * jnp.nan


class NanPrior(ToyPrior):
    """Finite scores, and a gradient that is not."""

    def log_prob(self, z, c):
        return jax.nn.log_softmax(self.logits)[z[0]] + jnp.where(True, 0.0, jnp.sqrt(self.logits[0] * 0))


@pytest.mark.parametrize(("part", "broken"), [("recognition", NanRecognition), ("prior", NanPrior)])
@pytest.mark.parametrize("make", [lambda: mws(optax.sgd(1e-2), 3, 2), lambda: rws(optax.sgd(1e-2), 3)])
def test_a_run_whose_gradient_is_nan_stops_and_names_the_part(toy, part, broken, make):
    model, data = toy
    odd = eqx.tree_at(lambda m: getattr(m, part), model, broken(getattr(model, part).logits))
    found = make()
    state = found.init(model, data)._replace(model=odd)  # `init` would refuse it
    with pytest.raises(Refusal, match=f"gradient of {part} was NaN"):
        list(fit(found, state, data, key=jax.random.key(0), steps=5, batch_size=4))


def test_an_algorithm_of_ones_own_needs_a_loss_alone(toy):
    """Maximises the memory's sum itself, by gradient: it comes to the exact log p(x) with room for every program."""
    model, data = toy

    def loss(model, key, remembered, batch):
        h = jax.vmap(model.recognition.encode)(batch.x, batch.c)
        rows, novel = wake(frozen(model), key, remembered, frozen(h), batch, 4, Shares(0.5))
        bounds = mem.bound(
            jnp.where(jnp.isneginf(rows.log_joint), -jnp.inf, score(model, rows.programs, batch.x, None))
        )
        weight = jnp.exp(mem.posterior(rows).log_weight)
        log_r = recognise(model.recognition, rows.programs, h)
        return -jnp.mean(bounds) - jnp.mean(jnp.sum(weight * log_r, axis=1)), (rows, report(bounds, novel))

    own = algorithm(loss, optax.adam(1e-2), memory_size=PROGRAMS)
    for state, info in fit(own, own.init(model, data), data, key=jax.random.key(0), steps=300, batch_size=8, every=20):
        pass
    assert float(exact(state.model, ALL_PROGRAMS, data).mean()) > float(exact(model, ALL_PROGRAMS, data).mean()) + 0.1
    np.testing.assert_allclose(info.bound, exact(state.model, ALL_PROGRAMS, data).mean(), atol=0.05)
    q = own.posterior(jax.random.key(0), state, Batch(jnp.arange(2), data.x[:2]))
    np.testing.assert_allclose(np.exp(q.log_weight).sum(axis=1), 1.0, atol=1e-5)
