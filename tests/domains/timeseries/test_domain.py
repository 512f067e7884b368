"""Kernels, likelihoods and bounds of the time series domain, each against an oracle."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, linalg, stats

from wakesleep.core.model import Observations
from wakesleep.domains.timeseries.data import Settings, build, draw, load
from wakesleep.domains.timeseries.evaluator import GaussianProcess, begin
from wakesleep.domains.timeseries.kernels import (
    LEAST_NOISE_DEVIATION,
    VARIABLE_KINDS,
    WALK_LENGTH_SPANS,
    components,
    covariance,
    differentiable,
    layout,
)
from wakesleep.domains.timeseries.language import (
    ALL_KERNELS,
    KERNEL_SPELLINGS,
    KERNEL_TOKENS,
    MOST_VARIABLES,
    PAPER_KERNELS,
    canonical,
    encode,
    program,
    rules,
    terms_of,
    text_of,
)
from wakesleep.domains.timeseries.likelihood import Series, by_cholesky, by_levinson
from wakesleep.domains.timeseries.networks import first_guess, frequencies, periodogram
from wakesleep.domains.timeseries.show import show, variables, words
from wakesleep.errors import Refusal

LENGTH, N = 11, 24
EXPRESSIONS = (
    "SE + WN", "M12*Per", "Lin + M32 + WN", "C + SE*Per + WN", "Lin + SE + M32*Per + WN", "Per*Per + WN", "RW",
    "Lin + RW + M12*Per + WN",
)  # fmt: skip


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
    total = LEAST_NOISE_DEVIATION**2 * np.eye(len(t))
    for term in text.split(" + "):
        if term == "WN":
            total = total + next(left) ** 2 * np.eye(len(t))
        elif term == "C":
            total = total + next(left) ** 2
        elif term == "Lin":
            total = total + next(left) ** 2 * np.outer(t, t)
        elif term == "RW":
            total = total + next(left) ** 2 * WALK_LENGTH_SPANS / 2 * np.exp(-d / WALK_LENGTH_SPANS)
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


def test_a_random_walk_has_the_increments_of_brownian_motion():
    t = np.linspace(-0.5, 0.6, 12)
    k, _ = in_double(lambda theta, d: kernel(program("RW", LENGTH), theta, d), theta_of(), np.abs(t[:, None] - t))
    # The covariance of the increments of steps: s^2 times the step on the diagonal, and next to none beside it.
    steps = np.diff(np.eye(12), axis=0)
    found = steps @ k.stationary @ steps.T
    brownian = np.exp(2 * theta_of()[0]) * 0.1
    np.testing.assert_allclose(np.diag(found), brownian, rtol=0.01)
    assert np.abs(found - np.diag(np.diag(found))).max() < 0.01 * brownian


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
        text = "Lin + RW + SE*Per + WN"
        _, gradient = values_and_gradients(text, theta, x)[method]
        for i in range(7):
            ends = [values_and_gradients(text, theta + h * np.eye(12)[i], x)[method][0] for h in (1e-5, -1e-5)]
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
    dense = linalg.toeplitz(r) + LEAST_NOISE_DEVIATION**2 * np.eye(n)

    def value(r, y):
        from wakesleep.domains.timeseries.kernels import Covariance

        k = Covariance(r, jnp.asarray(LEAST_NOISE_DEVIATION**2), jnp.asarray(0.0))
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


def log_density(evaluator, text, x):
    """log p(x, theta) as a function of the variables of the expression alone."""
    prior = jax.tree.map(np.asarray, evaluator.prior(layout(jnp.asarray(program(text, LENGTH)), True)))
    t, y = np.linspace(-0.5, 0.5, N), np.asarray(x.values, float)

    def value(*theta):
        d = len(theta)
        root = np.linalg.cholesky(by_hand(text, np.array([*theta, *np.zeros(MOST_VARIABLES - d)]), t))
        white = linalg.solve_triangular(root, y, lower=True, check_finite=False)
        log_x = -0.5 * white @ white - np.log(np.diag(root)).sum() - N / 2 * np.log(2 * np.pi)
        away = (np.array(theta) - prior.mean[:d]) * np.exp(-prior.log_std[:d])
        return log_x - 0.5 * away @ away - prior.log_std[:d].sum() - d / 2 * np.log(2 * np.pi)

    return value


@pytest.mark.parametrize(("text", "d"), [("WN", 1), ("RW", 1), ("SE", 2), ("M12", 2)])
def test_the_bound_is_below_and_close_to_a_long_numerical_integration(bound, text, d):
    evaluator, run = bound
    x = regular()
    _, ours, _ = run(text, x)
    value = log_density(evaluator, text, x)
    grid = np.linspace(-9.0, 3.0, 60 if d == 2 else 400)
    cells = np.array([value(a) for a in grid] if d == 1 else [[value(a, b) for b in grid] for a in grid])
    total = np.exp(cells - cells.max())
    for _ in range(d):
        total = integrate.trapezoid(total, grid, axis=-1)
    exact = np.log(total) + cells.max()
    assert exact - 0.6 < float(ours) < exact + 0.05


def test_ten_points_integrate_as_well_as_five_hundred_draws(bound):
    _, run = bound
    z, _, expected = run("SE + WN", regular())
    thetas = np.asarray(z.mean) + np.random.default_rng(0).normal(size=(500, MOST_VARIABLES)) @ np.asarray(z.root).T
    t, y = np.linspace(-0.5, 0.5, N), np.asarray(regular().values, float)
    values = [stats.multivariate_normal(np.zeros(N), by_hand("SE + WN", a, t)).logpdf(y) for a in thetas]
    assert abs(np.mean(values) - float(expected)) < 4 * np.std(values) / np.sqrt(500) + 0.3


def test_a_remembered_program_goes_on_where_it_stopped(bound):
    evaluator, _ = bound
    x, few = regular(), eqx.tree_at(lambda e: e.steps, evaluator, 4)
    step = eqx.filter_jit(lambda e, z, x: (e.refine(z, x), e.log_prob(x, z)))
    z, scores = begin(jnp.asarray(program("SE + WN", LENGTH)), jnp.full(12, 1.0)), []
    for _ in range(9):
        z, score = step(few, z, x)
        scores.append(float(score))
    assert scores[-1] > scores[1] + 0.1
    assert abs(scores[-1] - scores[-2]) < 0.02


def test_an_empty_program_and_an_impossible_one_score_minus_infinity_without_a_gradient():
    data = load(Settings(observations=2, points=N)).train
    model = build(jax.random.key(0), Settings(points=N, hidden=4), data)
    x = jax.tree.map(lambda a: a[0], data.x)
    nothing = begin(jnp.zeros(LENGTH, jnp.int32))
    out_of_order = begin(jnp.asarray([KERNEL_TOKENS[s] for s in ("WN", "+", "SE")] + [0] * 8, jnp.int32))
    # Noise of exp(400) is beyond every float.
    endless = begin(jnp.asarray(program("WN", LENGTH)), jnp.full(12, 400.0))

    @eqx.filter_jit
    def score_and_gradient(model, z, x):
        def finite(model):
            score = model.log_joint(z, x)
            return jnp.where(jnp.isfinite(score), score, 0.0), score

        (_, score), gradient = eqx.filter_value_and_grad(finite, has_aux=True)(model)
        return score, gradient

    for z in (nothing, out_of_order, endless):
        score, gradient = score_and_gradient(model, z, x)
        assert float(score) == -np.inf
        assert all(np.all(np.isfinite(a)) for a in jax.tree.leaves(eqx.filter(gradient, eqx.is_array)))


def test_the_grammar_writes_what_is_canonical_and_nothing_else():
    grammar, found = rules(PAPER_KERNELS, scaled=False), set()

    def walk(state, tokens):
        if grammar.after[state][0] == len(grammar.need) - 2:
            found.add(tuple(tokens))
        for token in range(1, len(KERNEL_SPELLINGS)):
            after = grammar.after[state][token]
            if len(tokens) < 7 and grammar.need[after] + len(tokens) + 1 <= 7:
                walk(after, [*tokens, token])

    walk(0, [])
    every = set()
    kinds = [KERNEL_TOKENS[name] for name in PAPER_KERNELS.split()]
    # Every sum and product of up to four kernels: a joint is a plus, a times, or the end of the expression.
    for joints in itertools.product(range(3), repeat=3):
        for leaves in itertools.product(kinds, repeat=4):
            terms = [[leaves[0]]]
            for joint, leaf in zip(joints, leaves[1:], strict=True):
                if joint == 0:
                    terms.append([leaf])
                elif joint == 1:
                    terms[-1].append(leaf)
            form = canonical([tuple(t) for t in terms], scaled=False)
            if form is not None and encode(form, 7) is not None:
                every.add(tuple(t for t in encode(form, 7).tolist() if t))
    assert found == every
    assert len(found) > 50


@given(st.permutations(["SE", "Per*SE", "WN", "RW", "Per", "Lin"]))
@settings(max_examples=20, deadline=None)
def test_sums_and_products_that_differ_only_in_order_are_one_program(terms):
    turned = ["*".join(reversed(t.split("*"))) for t in terms]
    assert program(" + ".join(turned), 13).tolist() == program("Lin + RW + SE + SE*Per + Per + WN", 13).tolist()


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("(SE + Per) * SE + WN", "SE + SE*Per + WN"),
        ("WN * (SE + C)", "WN"),
        ("C * C * SE + WN + WN", "SE + WN"),
        ("M32 * (Per + C)", "M32 + M32*Per"),
        ("WN + RW + (C + RW) * C", "C + RW + WN"),
    ],
)
def test_brackets_are_multiplied_out_and_idle_factors_dropped(text, form):
    assert text_of(program(text, LENGTH).tolist()) == form
    assert text_of(program(form, LENGTH).tolist()) == form


@pytest.mark.parametrize(
    "text", ["SE +", "SE * (Per", "Foo", "SE Per", "Lin * SE", "RW * Per", "RW * WN", "M12 * M32", "SE - WN", ""]
)
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(Refusal):
        program(text, LENGTH)


def test_an_expression_in_the_papers_own_form_keeps_its_constants():
    assert text_of(program("C * SE + C * Per * SE + WN", 13, scaled=False).tolist()) == "C*SE + C*SE*Per + WN"
    kinds = np.asarray(layout(jnp.asarray(program("C*SE + WN", LENGTH, scaled=False)), False).kind)
    assert [VARIABLE_KINDS[k] for k in kinds if k < len(VARIABLE_KINDS)] == ["constant", "SE", "noise"]


def test_programs_drawn_from_recognition_are_canonical_and_scored():
    options = Settings(observations=3, points=N, hidden=8)
    data = load(options).train
    model = build(jax.random.key(1), options, data)

    @eqx.filter_jit
    def drawn(model, key, x):
        h = model.recognition.encode(x, None)
        z = jax.vmap(model.recognition.sample, (0, None))(jax.random.split(key, 60), h)
        return z, jax.vmap(lambda z: model.recognition.log_prob(z, h) + model.prior.log_prob(z, None))(z)

    x = jax.tree.map(lambda a: a[0], data.x)
    (z, score), (again, _) = (drawn(model, jax.random.key(0), x) for _ in range(2))
    assert np.all(np.isfinite(score))
    for tokens in np.asarray(z.tokens).tolist():
        assert encode(canonical(terms_of(tokens)), LENGTH).tolist() == tokens
    assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(z), jax.tree.leaves(again), strict=True))


def test_a_first_guess_takes_its_period_from_the_periodogram():
    times = np.linspace(-0.5, 0.5, 64)
    x = Series(
        jnp.asarray(times, jnp.float32), jnp.asarray(np.sin(2 * np.pi * 9 * times), jnp.float32), jnp.ones(64, bool)
    )
    power = periodogram(x)
    assert frequencies()[int(np.argmax(power))] == pytest.approx(9, abs=0.5)
    z = first_guess(jax.random.key(0), jnp.asarray(program("Per + WN", LENGTH)), True, 50 * power)
    said = {kind: value for kind, value, _ in variables(z, True)}
    assert said["period"] == pytest.approx(1 / 9, rel=0.06)
    assert show(z) == "Per + WN"
    assert len(words(x)) == 64


def test_what_is_drawn_has_zero_mean_and_unit_variance_and_depends_on_the_seed_alone():
    first, again, other = (draw(jax.random.key(s), 6, N)[1].x.values for s in (0, 0, 1))
    np.testing.assert_allclose(np.mean(first, axis=1), 0.0, atol=1e-5)
    np.testing.assert_allclose(np.std(first, axis=1), 1.0, rtol=1e-4)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert isinstance(draw(jax.random.key(0), 6, N)[1], Observations)
    assert set(rules(ALL_KERNELS).kind.tolist()) == set(range(len(KERNEL_SPELLINGS)))
