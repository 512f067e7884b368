"""Backtests: origins, scores and the naive method, against values computed by hand."""

import numpy as np
import pytest
from scipy import stats

from wakesleep.domains.timeseries.forecasting.backtest import Backtest, _scores, splits
from wakesleep.domains.timeseries.forecasting.peers import Said, Split, lagged, methods, seasonal_naive
from wakesleep.domains.timeseries.reading.series import series_of
from wakesleep.errors import Refusal

MONTHS = np.arange("2015-01", "2019-01", dtype="datetime64[M]")


def test_origins_are_a_horizon_apart_and_the_last_value_is_used():
    series = series_of(np.arange(48.0), MONTHS)
    found = splits(series, 6, 3)
    assert [len(s.train.values) for s in found] == [30, 36, 42]
    assert [s.values.tolist() for s in found][-1] == [42.0, 43.0, 44.0, 45.0, 46.0, 47.0]
    assert [s.train.seasons for s in found] == [(12,)] * 3
    near = splits(series, 18, 3)
    assert [len(s.train.values) for s in near] == [26, 28, 30]
    with pytest.raises(Refusal, match="y has 48 values, but a backtest of 30 steps needs at least 25 before them"):
        splits(series, 30, 3)


def test_values_after_an_origin_are_those_of_its_steps_where_some_are_missing():
    values = np.arange(48.0)
    values[[40, 45]] = np.nan
    (split,) = splits(series_of(values, MONTHS), 6, 1)
    assert split.values.tolist() == [42.0, 43.0, 44.0, 46.0, 47.0]
    irregular = series_of(np.arange(12.0), [0, 1, 2, 3, 4.5, 5, 6, 7, 8, 9.5, 10, 11])
    (split,) = splits(irregular, 2, 1)
    assert split.positions.tolist() == [9.5, 10.0, 11.0]


def test_the_seasonal_naive_method_repeats_the_last_year():
    rng = np.random.default_rng(0)
    values = np.tile(np.arange(12.0), 4) + rng.normal(size=48)
    split = Split(series_of(values[:36], MONTHS[:36]), np.arange(36.0, 54.0), rng.normal(size=18))
    said = seasonal_naive(split)
    np.testing.assert_array_equal(said.point, np.concatenate([values[24:36], values[24:30]]))
    deviation = np.sqrt(np.mean((values[12:36] - values[:24]) ** 2)) * np.sqrt([1.0] * 12 + [2.0] * 6)
    expected = stats.norm(said.point, deviation)
    np.testing.assert_allclose(said.log_density, expected.logpdf(split.values))
    np.testing.assert_allclose(said.low, expected.ppf(0.05))
    np.testing.assert_allclose(said.high, expected.ppf(0.95))


def test_the_seasonal_naive_method_passes_over_missing_values():
    values = np.arange(36.0)
    values[30] = np.nan
    said = seasonal_naive(Split(series_of(values, MONTHS[:36]), np.array([41.0, 42.0]), np.zeros(2)))
    assert said.point.tolist() == [29.0, 18.0]
    irregular = series_of([1.0, 3.0, 2.0, 5.0], [0.0, 1.0, 2.5, 3.4])
    assert seasonal_naive(Split(irregular, np.array([5.0]), np.zeros(1))).point.tolist() == [5.0]
    assert lagged(irregular, 1).tolist() == [2.0, -1.0, 3.0]


def test_scores_are_in_naive_errors_of_the_past():
    series = series_of(np.cumsum(np.ones(20)) * 2.0)

    def low(split):
        point = split.values - 3.0
        return Said(point, point - 1, point + 4.0, np.full(len(point), -1.0))

    (row,) = _scores(series, 2, 2, {"low": low})
    assert row | {"cpu_seconds": 0.0} == {
        "series": "y", "method": "low", "origins": 2, "mase": 1.5, "log_density": pytest.approx(-1 + np.log(2)),
        "coverage": 1.0, "cpu_seconds": 0.0,
    }  # fmt: skip


def test_a_series_on_which_a_method_fails_is_left_out_for_all():
    series = series_of(np.arange(20.0))

    def broken(split):
        raise ValueError("no")

    def empty(split):
        return Said(*(np.full(len(split.values), np.nan) for _ in range(4)))

    with pytest.raises(Refusal, match=r"y is left out: broken failed on it \(ValueError: no\)"):
        _scores(series, 2, 1, {"seasonal naive": seasonal_naive, "broken": broken})
    with pytest.raises(Refusal, match="y is left out: empty gave no number"):
        _scores(series, 2, 1, {"empty": empty})
    with pytest.raises(Refusal, match="errors have no scale"):
        _scores(series_of([3.0] * 20), 2, 1, {"seasonal naive": seasonal_naive})


def test_the_table_has_a_row_for_each_method_and_the_best_first(tmp_path):
    import polars as pl

    scores = [
        {"series": s, "method": m, "origins": 2, "mase": v, "log_density": -v, "coverage": 0.9, "cpu_seconds": 0.1}
        for s in "ab"
        for m, v in (("poor", 2.0), ("good", 1.0))
    ]
    found = Backtest(pl.DataFrame(scores))
    (shown,) = found.table()
    assert shown.title == "2 series, 4 forecasts"
    assert shown.rows == [("good", "1.000", "-1.000", "90%", "0.1"), ("poor", "2.000", "-2.000", "90%", "0.1")]
    assert [row["method"] for row in found.rows()] == ["good", "poor"]
    assert pl.read_csv(found.write("csv", tmp_path / "a.csv")).height == 4


def test_peers_that_are_installed_are_scored():
    pytest.importorskip("statsforecast")
    rng = np.random.default_rng(1)
    values = 10 + 3 * np.sin(2 * np.pi * np.arange(48) / 12) + rng.normal(size=48)
    values[20] = np.nan
    (split,) = splits(series_of(values, MONTHS), 6, 1)
    for name in ("AutoETS", "AutoARIMA", "AutoTheta"):
        said = methods()[name](split)
        assert np.isfinite(said.log_density).all()
        assert (said.low < said.point).all()
        assert np.abs(said.point - split.values).mean() < 3
