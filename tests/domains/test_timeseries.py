"""Kernels, likelihoods and bounds of the time series domain, each against an oracle."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, linalg, stats

from wakesleep.domains.timeseries.data import Settings, build, load
from wakesleep.domains.timeseries.evaluator import GaussianProcess, begin
from wakesleep.domains.timeseries.kernels import FLOOR, components, covariance, differentiable, layout
from wakesleep.domains.timeseries.language import (
    MOST_VARIABLES,
    TOKEN,
    program,
)
from wakesleep.domains.timeseries.likelihood import Series, by_cholesky, by_levinson

LENGTH, N = 11, 24
EXPRESSIONS = ("SE + WN", "M12*Per", "Lin + M32 + WN", "C + SE*Per + WN", "Lin + SE + M32*Per + WN", "Per*Per + WN")


def regular(n=N, points=N):
    """A series of n points on a regular grid, filled up to `points`."""
    times = -0.5 + np.arange(points) / (n - 1)
    values = np.where(np.arange(points) < n, np.random.default_rng(0).normal(size=points), 0.0)
    return Series(jnp.asarray(times, jnp.float32), jnp.asarray(values, jnp.float32), jnp.asarray(np.arange(points) < n))


def theta_of(seed=0):
    return 0.4 * np.random.default_rng(seed).normal(size=MOST_VARIABLES) - 0.7


def by_hand(text, theta, t):
    """The covariance matrix of a scaled expression, written out from its definition."""
    d = np.abs(t[:, None] - t[None, :])
    left = iter(np.exp(theta))
    total = FLOOR**2 * np.eye(len(t))
    for term in text.split(" + "):
        if term == "WN":
            total = total + next(left) ** 2 * np.eye(len(t))
        elif term == "C":
            total = total + next(left) ** 2
        elif term == "Lin":
            total = total + next(left) ** 2 * np.outer(t, t)
        else:
            product = next(left) ** 2
            for factor in term.split("*"):
                length = next(left)
                if factor == "SE":
                    product = product * np.exp(-(d**2) / (2 * length**2))
                elif factor == "M12":
                    product = product * np.exp(-d / length)
                elif factor == "M32":
                    product = product * (1 + np.sqrt(3) * d / length) * np.exp(-np.sqrt(3) * d / length)
                else:
                    product = product * np.exp(-2 * np.sin(np.pi * d / next(left)) ** 2 / length**2)
            total = total + product
    return total


def in_double(function, *arguments):
    with jax.enable_x64(True):
        return jax.tree.map(np.asarray, function(*(jnp.asarray(a, jnp.float64) for a in arguments)))


@jax.jit
def kernel(tokens, theta, lags):
    shape = layout(tokens, True)
    return covariance(theta, shape, lags), components(theta, shape, lags)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_kernel_matrices_are_those_of_the_formulas(text):
    theta, t = theta_of(), np.sort(np.random.default_rng(1).random(9)) - 0.5
    k, _ = in_double(lambda theta, d: kernel(program(text, LENGTH), theta, d), theta, np.abs(t[:, None] - t[None, :]))
    ours = k.stationary + k.nugget * np.eye(9) + k.slope * np.outer(t, t)
    np.testing.assert_allclose(ours, by_hand(text, theta, t), rtol=1e-12)


def test_the_terms_of_a_covariance_add_up_to_it():
    tokens, d = program("C + SE + M32*Per + WN", LENGTH), np.linspace(0, 1, 81).reshape(9, 9)
    whole, parts = in_double(lambda theta, d: kernel(tokens, theta, d), theta_of(), d)
    whole = whole.stationary
    np.testing.assert_allclose(parts.sum(axis=0), whole, rtol=1e-12)
    assert [bool(p.any()) for p in parts] == [True, True, True, False, False, False]


@jax.jit
def derivatives(tokens, theta, weights):
    """By autodiff, and as they are written out."""
    shape, lags = layout(tokens, True), jnp.linspace(0, 1, 10)

    def scalar(theta):
        k = covariance(theta, shape, lags)
        return weights @ k.stationary + 2.0 * k.nugget - 3.0 * k.slope

    k, back = differentiable(theta, shape, lags)
    return jax.grad(scalar)(theta), back(type(k)(weights, jnp.full_like(k.nugget, 2.0), jnp.full_like(k.slope, -3.0)))


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_written_out_derivatives_are_those_of_autodiff(text):
    weights = np.random.default_rng(2).normal(size=10)
    auto, ours = in_double(lambda theta, w: derivatives(program(text, LENGTH), theta, w), theta_of(), weights)
    np.testing.assert_allclose(ours, auto, rtol=1e-9, atol=1e-12)


@pytest.fixture(scope="module")
def values_and_gradients():
    """Compiled once: value and gradient by Levinson and by Cholesky, for any tokens."""

    def both(tokens, theta, x):
        shape = layout(tokens, True)
        x = Series(x.times.astype(jnp.float64), x.values.astype(jnp.float64), x.present)
        return [GaussianProcess(N, regular=r).likelihood(theta, shape, x) for r in (True, False)]

    compiled = jax.jit(both)

    def run(text, theta, x):
        with jax.enable_x64(True):
            return jax.tree.map(np.asarray, compiled(jnp.asarray(program(text, LENGTH)), jnp.asarray(theta), x))

    return run


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_likelihoods_of_both_kinds_are_those_of_scipy(values_and_gradients, text):
    x, theta = regular(), theta_of(3)
    (toeplitz, by_toeplitz), (dense, by_dense) = values_and_gradients(text, theta, x)
    t = np.linspace(-0.5, 0.5, N)
    normal = stats.multivariate_normal(np.zeros(N), by_hand(text, theta, t), allow_singular=True)
    np.testing.assert_allclose([toeplitz, dense], normal.logpdf(np.asarray(x.values, float)), rtol=1e-4)
    np.testing.assert_allclose(toeplitz, dense, rtol=1e-4)
    np.testing.assert_allclose(by_toeplitz, by_dense, rtol=1e-3, atol=1e-3)


def test_gradients_are_differences_of_likelihoods(values_and_gradients):
    x, theta = regular(), theta_of(4)
    for method in (0, 1):
        _, gradient = values_and_gradients("Lin + SE*Per + WN", theta, x)[method]
        for i in range(6):
            ends = [
                values_and_gradients("Lin + SE*Per + WN", theta + h * np.eye(12)[i], x)[method][0]
                for h in (1e-5, -1e-5)
            ]
            np.testing.assert_allclose(gradient[i], (ends[0] - ends[1]) / 2e-5, rtol=1e-4, atol=1e-5)


def test_a_series_that_is_filled_up_is_scored_as_without_the_filling(values_and_gradients):
    whole = regular(N - 5, N)
    (toeplitz, _), (dense, _) = values_and_gradients("Lin + SE + WN", theta_of(), whole)
    t, y = (np.asarray(a, float)[: N - 5] for a in (whole.times, whole.values))
    exact = stats.multivariate_normal(np.zeros(N - 5), by_hand("Lin + SE + WN", theta_of(), t)).logpdf(y)
    np.testing.assert_allclose([toeplitz, dense], exact, rtol=1e-5)


def test_levinson_holds_at_the_smoothest_series_that_the_noise_floor_allows():
    n, lags = 200, np.arange(200) / 199
    r = np.exp(-(lags**2) / (2 * 0.5**2))
    y = np.random.default_rng(0).normal(size=n)
    dense = linalg.toeplitz(r) + FLOOR**2 * np.eye(n)

    def value(r, y):
        from wakesleep.domains.timeseries.kernels import Covariance

        k = Covariance(r, jnp.asarray(FLOOR**2), jnp.asarray(0.0))
        x = Series(jnp.asarray(lags - 0.5), y, jnp.ones(n, bool))
        wide = k._replace(stationary=jnp.asarray(linalg.toeplitz(r)))
        return by_levinson(k, x)[0], by_cholesky(wide, x)[0]

    with jax.enable_x64(True):
        found = np.asarray(value(jnp.asarray(r), jnp.asarray(y)))
    exact = -0.5 * (y @ np.linalg.solve(dense, y) + np.linalg.slogdet(dense)[1] + n * np.log(2 * np.pi))
    np.testing.assert_allclose(found, exact, rtol=1e-7)


@pytest.fixture(scope="module")
def bound():
    """Refines a program from a start, and gives it with its bound; compiled once for each expression."""
    evaluator = GaussianProcess(N, steps=30)

    @eqx.filter_jit
    def run(evaluator, z, x):
        z = evaluator.refine(z, x)
        return z, evaluator.log_prob(x, z), evaluator.expected(x, z)

    return evaluator, lambda text, x: run(evaluator, begin(jnp.asarray(program(text, LENGTH)), -jnp.ones(12)), x)


def log_density(evaluator, text, theta, x):
    """log p(x, theta), the variables being those of the expression alone."""
    tokens = jnp.asarray(program(text, LENGTH))
    prior = evaluator.prior(layout(tokens, True))
    d = len(theta)
    t, y = np.linspace(-0.5, 0.5, N), np.asarray(x.values, float)
    padded = np.concatenate([theta, np.zeros(MOST_VARIABLES - d)])
    cholesky = linalg.cholesky(by_hand(text, padded, t), lower=True)
    white = linalg.solve_triangular(cholesky, y, lower=True)
    log_x = -0.5 * white @ white - np.log(np.diag(cholesky)).sum() - N / 2 * np.log(2 * np.pi)
    return log_x + stats.norm(np.asarray(prior.mean)[:d], np.exp(np.asarray(prior.log_std)[:d])).logpdf(theta).sum()


@pytest.mark.parametrize(("text", "d"), [("WN", 1), ("SE", 2), ("C + WN", 2), ("M12", 2)])
def test_the_bound_is_below_and_close_to_a_long_numerical_integration(bound, text, d):
    evaluator, run = bound
    x = regular()
    _, ours, _ = run(text, x)
    grid = np.linspace(-9.0, 4.0, 400 if d == 1 else 260)
    if d == 1:
        cells = np.array([log_density(evaluator, text, np.array([a]), x) for a in grid])
        exact = np.log(integrate.trapezoid(np.exp(cells - cells.max()), grid)) + cells.max()
    else:
        cells = np.array([[log_density(evaluator, text, np.array([a, b]), x) for b in grid] for a in grid])
        inner = integrate.trapezoid(np.exp(cells - cells.max()), grid, axis=1)
        exact = np.log(integrate.trapezoid(inner, grid)) + cells.max()
    assert exact - 0.6 < float(ours) < exact + 0.05


def test_ten_points_integrate_what_is_nearly_quadratic_as_well_as_ten_thousand(bound):
    _, run = bound
    z, _, expected = run("SE + WN", regular())
    draws = np.random.default_rng(0).normal(size=(2000, MOST_VARIABLES))
    thetas = np.asarray(z.mean) + draws @ np.asarray(z.root).T
    t, y = np.linspace(-0.5, 0.5, N), np.asarray(regular().values, float)
    values = [stats.multivariate_normal(np.zeros(N), by_hand("SE + WN", a, t)).logpdf(y) for a in thetas[:500]]
    assert abs(np.mean(values) - float(expected)) < 4 * np.std(values) / np.sqrt(500) + 0.3


def test_a_remembered_program_goes_on_where_it_stopped():
    evaluator, x = GaussianProcess(N, steps=4), regular()
    step = eqx.filter_jit(lambda e, z, x: (e.refine(z, x), e.log_prob(x, e.refine(z, x))))
    z, scores = begin(jnp.asarray(program("SE + WN", LENGTH)), jnp.full(12, 1.0)), []
    for _ in range(8):
        z, score = step(evaluator, z, x)
        scores.append(float(score))
    assert scores[-1] > scores[0] + 0.1
    assert abs(scores[-1] - scores[-2]) < 0.02


def test_an_empty_program_and_an_impossible_one_score_minus_infinity_without_a_gradient():
    data = load(Settings(observations=2, points=N)).train
    model = build(jax.random.key(0), Settings(points=N, hidden=4), data)
    x = jax.tree.map(lambda a: a[0], data.x)
    nothing = begin(jnp.zeros(LENGTH, jnp.int32))
    wrong = begin(jnp.asarray([TOKEN[s] for s in ("WN", "+", "SE")] + [0] * 8, jnp.int32))
    # Noise of exp(400) is beyond every float.
    endless = begin(jnp.asarray(program("WN", LENGTH)), jnp.full(12, 400.0))

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def value(model, z, x):
        score = model.log_joint(z, x)
        return jnp.where(jnp.isfinite(score), score, 0.0), score

    for z in (nothing, wrong, endless):
        score = eqx.filter_jit(lambda m, z, x: m.log_joint(z, x))(model, z, x)
        assert float(score) == -np.inf
        gradient = eqx.filter_jit(
            eqx.filter_grad(lambda m, z, x: jnp.where(jnp.isfinite(s := m.log_joint(z, x)), s, 0.0))
        )(model, z, x)
        assert all(np.all(np.isfinite(a)) for a in jax.tree.leaves(gradient))
