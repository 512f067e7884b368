"""Series with variables that are drawn: densities against SciPy and quadrature, estimates against integrals."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import integrate as quadrature
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm

from wakesleep import check
from wakesleep.core.algorithms import hmws
from wakesleep.core.hybrid import integrate
from wakesleep.core.model import Batch
from wakesleep.domains.timeseries.data import Settings, build, load
from wakesleep.domains.timeseries.hybrid import holding
from wakesleep.domains.timeseries.kernels import IDLE, LEAST_NOISE_DEVIATION, PERIOD, layout
from wakesleep.domains.timeseries.language import program

SETTINGS = Settings(observations=6, points=16, hidden=8, length=7, hybrid=True)


@pytest.fixture(scope="module")
def made():
    data = load(SETTINGS).train
    return build(jax.random.key(0), SETTINGS, data), data


def held(text, theta):
    """The program of an expression that holds those values."""
    values = np.zeros(12, np.float32)
    values[: len(theta)] = theta
    return holding(jnp.asarray(program(text, SETTINGS.length)), jnp.asarray(values))


def test_the_likelihood_and_the_prior_are_those_of_scipy(made):
    model, data = made
    x = jax.tree.map(lambda a: a[0], data.x)
    z = held("SE + WN", [np.log(0.8), np.log(0.2), np.log(0.3)])
    u = np.asarray(x.times, float)
    dense = 0.8**2 * np.exp(-0.5 * ((u[:, None] - u[None]) / 0.2) ** 2)
    dense += (0.3**2 + LEAST_NOISE_DEVIATION**2) * np.eye(len(u))
    wanted = multivariate_normal.logpdf(np.asarray(x.values, float), np.zeros(len(u)), dense)
    assert float(model.evaluator.log_prob(x, z)) == pytest.approx(wanted, rel=1e-5)
    kind = np.asarray(layout(z.tokens, True).kind)[:3]
    variables = norm.logpdf(np.asarray(z.mean)[:3], np.asarray(model.prior.mean)[kind], 1.5).sum()
    tokens = float(model.prior.tokens.log_prob(z.tokens, None))
    assert float(model.prior.log_prob(z, None)) == pytest.approx(tokens + variables, rel=1e-5)


def test_the_density_of_a_drawn_period_integrates_to_one_and_is_that_of_its_draws(made):
    model, data = made
    h = model.recognition.encode(jax.tree.map(lambda a: a[1], data.x), None)
    z = held("Per + WN", [0.0, 0.0, -1.0, -1.0])
    place = int(np.flatnonzero(np.asarray(layout(z.tokens, True).kind) == PERIOD)[0])
    at = np.linspace(-12, 8, 20_001)
    density = jax.jit(jax.vmap(lambda v: model.recognition.log_fill(z._replace(mean=z.mean.at[place].set(v)), h)))
    others = norm.logpdf(
        np.asarray(z.mean), *(np.asarray(a) for a in model.recognition._normals(z, h)[1:])
    )  # of the variables that stay
    active = np.asarray(layout(z.tokens, True).kind) < IDLE
    rest = others[active].sum() - others[place]
    of_period = np.exp(np.asarray(density(jnp.asarray(at, jnp.float32)), float) - rest)
    assert np.trapezoid(of_period, at) == pytest.approx(1.0, abs=2e-3)
    keys = jax.random.split(jax.random.key(1), 4000)
    drawn = np.asarray(jax.vmap(lambda k: model.recognition.fill(k, z, h).mean[place])(keys))
    below = np.cumsum(of_period) * (at[1] - at[0])
    for quantile in (0.1, 0.5, 0.9):
        found = (drawn < at[np.searchsorted(below, quantile)]).mean()
        assert abs(found - quantile) < 0.03


def test_particles_integrate_the_noise_of_a_series_out(made):
    """For white noise alone p(z, x) is an integral over one variable, done by quadrature."""
    model, data = made
    x = jax.tree.map(lambda a: a[2], data.x)
    z = held("WN", [0.0])
    values = np.asarray(x.values, float)
    mean = float(model.prior.mean[0])

    def joint(log_s):
        deviation = np.sqrt(np.exp(2 * log_s) + LEAST_NOISE_DEVIATION**2)
        return norm.logpdf(values, 0, deviation).sum() + norm.logpdf(log_s, mean, 1.5)

    peak = max(joint(v) for v in np.linspace(-6, 3, 200))
    inner, _ = quadrature.quad(lambda v: np.exp(joint(v) - peak), -8, 6, limit=200)
    wanted = peak + np.log(inner) + float(model.prior.tokens.log_prob(z.tokens, None))
    batch = Batch(jnp.arange(1), jax.tree.map(lambda a: a[2:3], data.x))
    h = jax.vmap(model.recognition.encode)(batch.x, None)
    pool = jax.tree.map(lambda a: a[None, None], z)
    estimate = jax.jit(lambda k: integrate(model, k, pool, h, batch, 20_000)[1][0, 0])
    found = [float(estimate(jax.random.key(s))) for s in range(4)]
    assert logsumexp(found) - np.log(4) == pytest.approx(wanted, abs=0.05)


def test_hybrid_learning_raises_the_bound_and_the_model_passes_the_checks(made):
    model, data = made
    check(model, data)
    algorithm = hmws(optax.adam(1e-2), 3, 3, fillings=4)
    state, step = algorithm.init(model, data), eqx.filter_jit(algorithm.step)
    bounds = []
    for t in range(40):
        state, info = step(jax.random.key(t), state, Batch(jnp.arange(6), data.x))
        bounds.append(float(info.bound))
    assert np.isfinite(bounds[-1])
    assert np.mean(bounds[-5:]) > np.mean(bounds[:5]) + 1.0
