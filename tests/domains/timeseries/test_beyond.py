"""What is done beyond the library: cycles, programs near the best, how a series may end, widths, combinations."""

import itertools

import numpy as np
import pytest

from tests.domains.timeseries import dense_series as dense
from wakesleep.domains.timeseries.explain import explain_series
from wakesleep.domains.timeseries.forecasting import combination
from wakesleep.domains.timeseries.statespace import refinement
from wakesleep.domains.timeseries.statespace.atoms import Atoms, normalised
from wakesleep.domains.timeseries.statespace.changes import Change
from wakesleep.domains.timeseries.statespace.endings import readings
from wakesleep.domains.timeseries.statespace.filtering import Observed, filter_atoms
from wakesleep.domains.timeseries.statespace.inference import stages
from wakesleep.domains.timeseries.statespace.library import Library, equal, shipped
from wakesleep.domains.timeseries.statespace.mixture import Mixture, mixed
from wakesleep.domains.timeseries.statespace.paths import simulate
from wakesleep.domains.timeseries.statespace.posterior import SCREENED_ATOMS, SCREENED_POINTS, jacobian, weigh
from wakesleep.domains.timeseries.statespace.prior import broad, cyclic
from wakesleep.domains.timeseries.statespace.seasons import cycle_of
from wakesleep.errors import Refusal


def ends_with(jump, n=60, seed=0):
    """Returns noise of deviation 1 about 100 whose last values are further up."""
    values = 100 + np.random.default_rng(seed).normal(size=n)
    values[n - len(jump) :] += jump
    return values


def test_a_forgotten_cycle_is_a_damped_rotation():
    atoms = cyclic(np.random.default_rng(0), 8)
    t, period = np.arange(30.0), 7.3
    y = np.random.default_rng(1).normal(size=(1, 30)).cumsum(axis=1)
    found = filter_atoms(atoms, Observed(t, y), [cycle_of(period)]).log_likelihood[0]
    apart = np.abs(t[:, None] - t)
    for i in range(len(atoms)):
        rotation = atoms.season_prior[i] * atoms.season_memory[i] ** apart * np.cos(2 * np.pi * apart / period)
        k = dense.covariance(atoms, i, [], t, t) + rotation + atoms.noise[i] * np.eye(30)
        assert found[i] == pytest.approx(dense.log_likelihood(k, y[0])[0], rel=1e-6)


def test_a_cycle_whose_phase_drifts_is_explained_by_a_cycle():
    rng, x = np.random.default_rng(3), np.zeros(200)
    for i in range(2, 200):
        x[i] = 2 * 0.97 * np.cos(2 * np.pi / 11) * x[i - 1] - 0.97**2 * x[i - 2] + rng.normal()
    found = explain_series(x + 50).posterior
    starts = np.cumsum([0, *(len(g.atoms) for g in found.groups)])
    shares = [found.weight[:, a:b].sum() for a, b in itertools.pairwise(starts)]
    turning = [len(g.seasons) == 1 and g.seasons[0].harmonics == 1 for g in found.groups]
    assert np.dot(shares, turning) > 0.8


def test_programs_near_the_best_explain_what_the_library_does_not():
    t = np.arange(120.0)
    values = 10 + 0.5 * t + 30 * np.sin(2 * np.pi * t / 12) + 0.1 * np.random.default_rng(0).normal(size=120)
    poor = broad(np.random.default_rng(1), 30, 12)
    first = weigh(Observed(t, values[None]), (False,), equal(poor), (12,))
    found = refinement.refine(first)
    assert found.weight.sum() == pytest.approx(1.0)
    assert found.log_likelihood.max() > first.log_likelihood.max() + 10
    assert len(found.atoms) == len(first.atoms) + refinement.KEPT_ATOMS
    group = max(found.groups, key=lambda g: len(g.atoms))
    again = filter_atoms(group.atoms, found.observed, group.seasons)
    np.testing.assert_allclose(group.filtered.log_likelihood, again.log_likelihood)
    ahead, direct = (
        found.predict(np.array([120.0])),
        weigh(found.observed, (False,), Library(group.atoms, group.log_prior), (12,) if group.seasons else ()).predict(
            np.array([120.0])
        ),
    )
    assert ahead.quantile(0.5) == pytest.approx(direct.quantile(0.5), abs=0.5)


def test_what_lies_beyond_the_library_weighs_little_where_the_library_explains():
    values = 100 + np.random.default_rng(0).normal(size=60)
    *_, found = stages(Observed(np.arange(60.0), values[None]), (False,), shipped("step"), ())
    assert found.posterior.weight[:, -refinement.KEPT_ATOMS :].sum() < 0.05


def test_the_last_value_may_be_an_outlier_or_a_new_level_and_both_are_forecast():
    found = explain_series(ends_with([12.0]), season=1)
    every = (found.inferred, *found.inferred.others)
    assert {one.changes[-1] for one in every} == {Change("outlier", 59), Change("shift", 59)}
    assert sum(one.probability for one in every) == pytest.approx(1.0)
    ahead = found.predict(np.array([60.0]))
    assert ahead.quantile(0.1)[0] < 104
    assert ahead.quantile(0.9)[0] > 106
    assert "outlier or begins a new level" in " ".join(found.sentences())
    paths = found.forecast(horizon=2, paths=300).select("^path-.*$").to_numpy()[0]
    assert 0.2 < (paths > 106).mean() < 0.8


def test_an_outlier_that_later_values_settle_has_one_reading():
    values = ends_with([0.0])
    values[40] += 12.0
    found = explain_series(values, season=1)
    assert found.changes == (Change("outlier", 40),)
    assert not found.inferred.others
    assert "not settled" not in " ".join(found.sentences())


def test_readings_are_weighed_by_the_evidence_of_each():
    observed = Observed(np.arange(60.0), ends_with([12.0, 12.5])[None])
    first = weigh(observed, (False,), shipped("step"), ())
    found = readings(first, (Change("outlier", 58), Change("outlier", 59)))
    assert found[0].changes[0] == Change("shift", 58)
    assert sum(r.probability for r in found) == pytest.approx(1.0)
    assert [r.probability for r in found] == sorted((r.probability for r in found), reverse=True)


def test_the_width_of_a_library_scales_what_is_predicted():
    observed = Observed(np.arange(40.0), ends_with([0.0], 40)[None])
    atoms = normalised(Atoms(*(np.full(1, v) for v in (1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0))))
    one, half = (Library(atoms, np.zeros((2, 1)), w) for w in (1.0, 0.5))
    wide, narrow = (weigh(observed, (False,), lib, ()).predict(np.array([40.0])) for lib in (one, half))
    assert narrow.scale[0, 0] == pytest.approx(wide.scale[0, 0] / 2)


def test_the_upper_band_of_an_integrated_walk_of_logarithms_does_not_explode():
    rng = np.random.default_rng(2)
    logs = 8 + np.cumsum(np.cumsum(rng.normal(0, 0.04, 60)))
    atoms = normalised(Atoms(*(np.full(1, v) for v in (0.05, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0))))
    values, ahead = np.exp(logs), 60.0 + np.arange(18)
    bent = weigh(Observed(np.arange(60.0), np.stack([values, logs])), (False, True), equal(atoms), ())
    plain = weigh(Observed(np.arange(60.0), logs[None]), (True,), equal(atoms), ())
    assert plain.predict(ahead).quantile(0.95)[-1] > 100 * values.max()
    assert bent.predict(ahead).quantile(0.95)[-1] < 10 * values.max()
    assert bent.log_likelihood[1, 0] == pytest.approx(plain.log_likelihood[0, 0])
    drawn = simulate(bent, ahead, 4000, rng)
    np.testing.assert_allclose(np.quantile(drawn, 0.95, axis=0)[-1], bent.predict(ahead).quantile(0.95)[-1], rtol=0.1)


def test_a_combination_is_the_mean_of_the_densities_and_is_named(monkeypatch):
    monkeypatch.setattr(combination.importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(combination, "foreseen_by", lambda name, s, p: (np.full(len(p), 103.0), np.full(len(p), 2.0)))
    found = explain_series(ends_with([0.0]), season=1)
    positions, y = np.array([60.0, 61.0]), np.array([101.0, 104.0])
    alone, pooled = found.predict(positions), found.ahead(positions, ("AutoETS", "AutoTheta"))
    member = Mixture(np.ones(1), np.full((2, 1), 103.0), np.full((2, 1), 2.0), np.zeros(1, bool), alone.freedom)
    expected = (np.exp(alone.log_density(y)) + 2 * np.exp(member.log_density(y))) / 3
    np.testing.assert_allclose(np.exp(pooled.log_density(y)), expected, rtol=1e-9)
    frame = found.forecast(horizon=2, levels=(90,), combine=["AutoETS"])
    assert frame["mean"][0] > found.forecast(horizon=2)["mean"][0]
    assert mixed([(1.0, alone)]) is alone
    for names, said in ((["Prophet"], "combine must be one of"), ("AutoETS", "a list of names")):
        with pytest.raises(Refusal, match=said):
            found.forecast(horizon=2, combine=names)
    monkeypatch.setattr(combination.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Refusal, match="needs statsforecast"):
        found.forecast(horizon=2, combine=["AutoETS"])


def test_a_long_series_is_filtered_by_the_groups_that_its_latest_points_do_not_rule_out():
    t = np.arange(700.0)
    values = 50 + 10 * np.sin(2 * np.pi * t / 12) + np.random.default_rng(0).normal(size=700)
    observed, library = Observed(t, np.stack([values, np.log(values)])), shipped("month")
    found = weigh(observed, (False, True), library, (12,))
    assert [g.seasons[0].length for g in found.groups] == [12]
    assert len(found.atoms) == SCREENED_ATOMS
    latest = observed.latest(SCREENED_POINTS)
    whole = weigh(latest, (False, True), library, (12,))
    best = np.sort(whole.log_likelihood.max(axis=0))[-SCREENED_ATOMS:]
    kept = filter_atoms(found.atoms, latest, found.groups[0].seasons).log_likelihood - jacobian(latest, (False, True))
    np.testing.assert_allclose(np.sort(kept.max(axis=0)), best)
