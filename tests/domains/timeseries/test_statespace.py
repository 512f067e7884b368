"""The filter against dense covariances: likelihoods and predictions on whole, gapped and irregular times."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from tests.domains.timeseries import dense_series as dense
from wakesleep.domains.timeseries.statespace.atoms import Atoms, normalised
from wakesleep.domains.timeseries.statespace.changes import Change, apply, weigh_changes
from wakesleep.domains.timeseries.statespace.filtering import Observed, Rows, filter_atoms
from wakesleep.domains.timeseries.statespace.mixture import Mixture
from wakesleep.domains.timeseries.statespace.prediction import predict
from wakesleep.domains.timeseries.statespace.seasons import season_of
from wakesleep.domains.timeseries.statespace.smoothing import parts_of, smooth
from wakesleep.domains.timeseries.statespace.transition import transition

N = 40
TIMES = {
    "whole": np.arange(N, dtype=float),
    "gapped": np.delete(np.arange(N + 8, dtype=float), [3, 4, 9, 10, 11, 20, 30, 31]),
    "irregular": np.concatenate([[0.0], np.cumsum(np.random.default_rng(5).gamma(2.0, 0.5, N - 1))]),
}


def atoms_of_every_kind(seasonal, count=24):
    """Atoms with and without each part, damped and not, with echoes of either sign and seasons of three kinds."""
    rng = np.random.default_rng(3)
    some = lambda p, scale: rng.gamma(1.0, scale, count) * (rng.random(count) < p)  # noqa: E731
    walk = some(0.5, 0.02)
    return normalised(
        Atoms(
            noise=rng.gamma(1.0, 1.0, count) + 0.05,
            level_walk=some(0.6, 0.5),
            slope_prior=some(0.6, 0.05),
            slope_walk=some(0.6, 0.01),
            damping=np.where(rng.random(count) < 0.5, 1.0, rng.uniform(0.7, 0.999, count)),
            season_prior=rng.gamma(1.0, 1.0, count) * seasonal,
            season_walk=walk * seasonal,
            season_memory=np.where(walk > 0, 1.0, rng.uniform(0.8, 1.0, count)),
            echo_variance=some(0.6, 1.0),
            echo=rng.uniform(-0.95, 0.95, count),
        )
    )


@pytest.mark.parametrize("lengths", [(), (12,), (4,), (30,), (7, 30)], ids=str)
@pytest.mark.parametrize("kind", TIMES)
def test_likelihood_and_prediction_equal_those_of_dense_cholesky(kind, lengths):
    t = TIMES[kind]
    seasons = [season_of(length, t) for length in lengths]
    atoms = atoms_of_every_kind(bool(lengths))
    y = np.stack([np.random.default_rng(0).normal(size=len(t)).cumsum(), np.sin(t)])
    found = filter_atoms(atoms, Observed(t, y), seasons)
    further = t[-1] + np.cumsum([1.0, 1.0, 2.0, 0.5 if kind == "irregular" else 3.0])
    ahead = predict(found, np.arange(len(atoms)), t[-1], further, seasons)
    for i in range(len(atoms)):
        k = dense.covariance(atoms, i, seasons, t, t) + atoms.noise[i] * np.eye(len(t))
        cross = dense.covariance(atoms, i, seasons, further, t)
        own = dense.covariance(atoms, i, seasons, further, further) + atoms.noise[i] * np.eye(len(further))
        for m in range(2):
            log_p, squares = dense.log_likelihood(k, y[m])
            assert found.log_likelihood[m, i] == pytest.approx(log_p, rel=1e-6)
            assert found.squares[m, i] == pytest.approx(squares, rel=1e-6)
            mean, variance = dense.predict(k, cross, own, y[m])
            np.testing.assert_allclose(ahead.mean[:, m, i], mean, rtol=1e-6, atol=1e-6 * np.abs(y[m]).max())
            np.testing.assert_allclose(ahead.variance[:, i], variance, rtol=1e-6)


def test_a_diffuse_level_is_the_limit_of_great_variances():
    t, atoms = TIMES["gapped"], atoms_of_every_kind(True, 6)
    seasons = [season_of(12, t)]
    y = np.random.default_rng(1).normal(size=(1, len(t))).cumsum(axis=1)
    found = filter_atoms(atoms, Observed(t, y), seasons).log_likelihood[0]
    for great, tolerance in ((1e4, 2e-2), (1e7, 2e-5)):
        for i in range(len(atoms)):
            k = dense.covariance(atoms, i, seasons, t, t) + atoms.noise[i] * np.eye(len(t))
            _, log_det = np.linalg.slogdet(k + great)
            squares = y[0] @ np.linalg.solve(k + great, y[0])
            log_p = -(len(t) / 2) * np.log(squares) - (log_det - np.log(great)) / 2
            assert found[i] == pytest.approx(log_p + gammaln(len(t) / 2) - len(t) / 2 * np.log(np.pi), abs=tolerance)


def test_a_shift_is_a_step_of_its_own_variance():
    t, atoms = TIMES["whole"], atoms_of_every_kind(False, 6)
    y = np.random.default_rng(2).normal(size=(1, len(t))) + 5.0 * (t >= 25)
    found = filter_atoms(atoms, Observed(t, y, jumps={25: 30.0}), []).log_likelihood[0]
    for i in range(len(atoms)):
        after = (t >= 25).astype(float)
        k = dense.covariance(atoms, i, [], t, t) + atoms.noise[i] * np.eye(len(t)) + 30.0 * np.outer(after, after)
        assert found[i] == pytest.approx(dense.log_likelihood(k, y[0])[0], rel=1e-6)


def test_two_transitions_are_one_over_the_sum_of_their_times():
    atoms = atoms_of_every_kind(True)
    a, b, c = transition(atoms, 1.3, 1), transition(atoms, 0.9, 1), transition(atoms, 2.2, 2)
    np.testing.assert_allclose(a.reach + a.damping * b.reach, c.reach, rtol=1e-9)
    slope = b.damping**2 * a.slope_noise + b.slope_noise
    cross = b.damping * (a.cross_noise + b.reach * a.slope_noise) + b.cross_noise
    level = a.level_noise + 2 * b.reach * a.cross_noise + b.reach**2 * a.slope_noise + b.level_noise
    for made, whole in ((slope, c.slope_noise), (cross, c.cross_noise), (level, c.level_noise)):
        np.testing.assert_allclose(made, whole, rtol=1e-8, atol=1e-15)
    np.testing.assert_allclose(b.echo**2 * a.echo_noise + b.echo_noise, c.echo_noise, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(b.memory**2 * a.season_noise + b.season_noise, c.season_noise, rtol=1e-9)


@pytest.mark.parametrize("kind", TIMES)
def test_smoothed_parts_are_those_of_dense_regression_and_sum_to_the_fit(kind):
    t, atoms = TIMES[kind], atoms_of_every_kind(True, 5)
    seasons = [season_of(12, t)]
    y = np.random.default_rng(4).normal(size=len(t)).cumsum()
    observed = Observed(t, y[None])
    smoothed = smooth(atoms, observed, seasons)
    for i in range(len(atoms)):
        own = dense.covariance(atoms, i, seasons, t, t)
        mean, variance = dense.predict(own + atoms.noise[i] * np.eye(len(t)), own, own, y)
        weight = np.eye(len(atoms))[i]
        parts = parts_of(smoothed, seasons, t, weight, np.ones(len(atoms)))
        np.testing.assert_allclose(parts.mean.sum(axis=0), mean, rtol=1e-6, atol=1e-8)
        row = Rows(seasons, t).rows
        spread = np.einsum("nd,nde,ne->n", row, smoothed.covariance[..., i], row)
        np.testing.assert_allclose(spread, variance, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("kind", ["shift", "bend", "outlier"])
def test_the_gain_of_a_change_is_the_difference_of_exact_evidences(kind):
    t, atoms = TIMES["gapped"], atoms_of_every_kind(True, 6)
    seasons = [season_of(12, t)]
    observed = Observed(t, np.random.default_rng(6).normal(size=(2, len(t))).cumsum(axis=1))
    before = filter_atoms(atoms, observed, seasons)
    gains = weigh_changes(atoms, observed, seasons, before.squares)
    gain = {"shift": gains.jump, "bend": gains.bend, "outlier": gains.outlier}[kind]
    for index in (5, 20, 38):
        after = filter_atoms(atoms, apply(observed, Change(kind, index)), seasons)
        np.testing.assert_allclose(gain[index], after.log_likelihood - before.log_likelihood, atol=1e-7)


def test_quantiles_and_densities_of_a_mixture_are_those_of_its_members():
    mixed = Mixture(np.array([0.3, 0.7]), np.array([[1.0, 0.5]]), np.array([[2.0, 0.4]]), np.array([False, True]), 9.0)
    values = np.linspace(-6.0, 12.0, 7)
    plain, log = stats.t(9.0, 1.0, 2.0), stats.t(9.0, 0.5, 0.4)
    for v in values:
        density = 0.3 * plain.pdf(v) + (0.7 * log.pdf(np.log(v)) / v if v > 0 else 0.0)
        assert mixed.log_density(np.array([v]))[0] == pytest.approx(np.log(density), rel=1e-9)
    for probability in (0.05, 0.5, 0.95):
        q = mixed.quantile(probability)[0]
        below = 0.3 * plain.cdf(q) + (0.7 * log.cdf(np.log(q)) if q > 0 else 0.0)
        assert below == pytest.approx(probability, abs=1e-4)
    only_logs = Mixture(np.ones(1), np.zeros((1, 1)), np.ones((1, 1)), np.ones(1, bool), 9.0)
    assert only_logs.log_density(np.array([-1.0]))[0] == -np.inf


def test_a_bent_logarithm_is_a_density_whose_quantiles_and_draws_agree_with_it():
    knee, member = np.log(3.0), stats.t(9.0, 0.9, 0.5)
    bent = Mixture(np.ones(1), np.full((1, 1), 0.9), np.full((1, 1), 0.5), np.ones(1, bool), 9.0, knee=knee)
    seen = lambda v: np.log(v) if v <= 3.0 else knee + v / 3.0 - 1  # noqa: E731
    for probability in (0.05, 0.5, 0.9, 0.99):
        (q,) = bent.quantile(probability)
        assert member.cdf(seen(q)) == pytest.approx(probability, abs=1e-4)
    grid = np.geomspace(1e-3, 40.0, 20_001)
    density = np.exp([bent.log_density(np.array([v]))[0] for v in grid])
    strips = (density[1:] + density[:-1]) / 2 * np.diff(grid)
    below = member.cdf(seen(1e-3)) + np.concatenate([[0.0], np.cumsum(strips)])
    for v in (1.0, 2.9, 3.1, 8.0):
        assert np.interp(v, grid, below) == pytest.approx(member.cdf(seen(v)), abs=1e-4)
    drawn = bent.draw(np.random.default_rng(0), 20_000)[0]
    np.testing.assert_allclose(np.quantile(drawn, (0.5, 0.95)), [bent.quantile(q)[0] for q in (0.5, 0.95)], rtol=0.03)
