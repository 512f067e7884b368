"""Series explained by the shipped library: forecasts, parts, changes, words, files and refusals."""

import json
import math

import numpy as np
import polars as pl
import pytest

import wakesleep
from wakesleep.domains.timeseries.explain import explain_series
from wakesleep.domains.timeseries.explain.explained import explain
from wakesleep.domains.timeseries.explain.explainer import EXPLAINER, Options
from wakesleep.domains.timeseries.explain.findings import Findings, finish
from wakesleep.domains.timeseries.explain.wording import percent, plain
from wakesleep.domains.timeseries.reading.series import series_of
from wakesleep.errors import Refusal

MONTHS = [f"{2010 + m // 12}-{m % 12 + 1:02}" for m in range(96)]


def yearly(n=96, noise=0.3, seed=0):
    t = np.arange(n)
    return 50 + 0.1 * t + 4 * np.sin(2 * np.pi * t / 12) + noise * np.random.default_rng(seed).normal(size=n)


@pytest.fixture(scope="module")
def dated():
    values = yearly()
    values[40:] += 6.0
    values[70] += 9.0
    values[20] = np.nan
    return explain_series(values, MONTHS)


def test_the_call_that_is_promised_gives_a_frame_with_its_columns():
    ahead = wakesleep.explain_series(yearly().tolist(), season=12).forecast(horizon=18, levels=(90,))
    assert ahead.columns == ["time", "mean", "lo-90", "hi-90"]
    t = np.arange(96, 114)
    truth = 50 + 0.1 * t + 4 * np.sin(2 * np.pi * t / 12)
    np.testing.assert_allclose(ahead["mean"], truth, atol=1.0)
    low, high = (ahead[k].to_numpy() for k in ("lo-90", "hi-90"))
    assert ((low < truth) & (truth < high)).all()


def test_forecasts_go_on_by_steps_or_until_a_time_with_nested_bands_and_paths(dated):
    until = dated.forecast(until="2018-12", levels=(80, 90), paths=3)
    assert until.height == 12
    assert until["time"][-1].isoformat()[:7] == "2018-12"
    assert (until["lo-90"] <= until["lo-80"]).all()
    assert (until["hi-80"] <= until["hi-90"]).all()
    assert {"path-1", "path-2", "path-3"} <= set(until.columns)
    paths = dated.forecast(horizon=6, levels=(80,), paths=400)
    drawn = paths.select(pl.col("^path-.*$")).to_numpy()
    inside = (drawn >= paths["lo-80"].to_numpy()[:, None]) & (drawn <= paths["hi-80"].to_numpy()[:, None])
    assert 0.74 < inside.mean() < 0.86


def test_parts_and_residual_add_up_to_the_data_and_to_the_fit(dated):
    for found in (dated, explain_series(np.exp(yearly() / 20), season=12, transform="log")):
        frame = found.components()
        names = [n for n in found.parts.parts.names if n in frame.columns]
        total = sum(frame[n].to_numpy() for n in names)
        fitted = found.fitted()["mean"].to_numpy()
        there = np.isfinite(frame["observed"].to_numpy())
        np.testing.assert_allclose((total + frame["residual"].to_numpy())[there], frame["observed"].to_numpy()[there])
        if "echo" in names or found.parts.parts.mean[-1].any() == 0:
            np.testing.assert_allclose(total, fitted, rtol=1e-9)
        assert np.isfinite(fitted).all()
        season = frame["season 12"].to_numpy()
        width = (frame["season 12-hi-90"] - frame["season 12-lo-90"]).to_numpy()
        assert (width < 2 * np.ptp(season)).all()


def test_a_shift_and_an_outlier_are_found_and_told_with_their_times(dated):
    said = " ".join(dated.sentences())
    assert "The level shifts up by" in said
    assert "at 2013-05" in said
    assert "One outlier: 2015-11" in said
    assert "A yearly season" in said
    assert dated.outliers()["time"][0].isoformat()[:7] == "2015-11"
    assert len(dated.sentences()) == len(set(dated.sentences()))


def test_bands_of_counts_respect_zero_and_values_may_be_negative():
    counts = np.random.default_rng(0).poisson(0.7, 60).astype(float)
    ahead = explain_series(counts).forecast(horizon=12, levels=(90,))
    assert (ahead["lo-90"] >= 0).all()
    assert (ahead["mean"] >= 0).all()
    below = explain_series(counts - 5).forecast(horizon=12, levels=(90,))
    assert (below["lo-90"] < 0).any()


def test_missing_and_irregular_times_are_taken_as_they_are():
    values = yearly()
    values[[0, 1, 30, 31, 95]] = np.nan
    found = explain_series(values, season=12)
    assert np.isnan(found.fitted()["mean"].to_numpy()[:2]).all()
    assert np.isfinite(found.fitted()["mean"].to_numpy()[2:]).all()
    t = np.cumsum(np.random.default_rng(3).uniform(0.5, 1.5, 96))
    uneven = explain_series(50 + 4 * np.sin(2 * np.pi * t / 12), t, season=12)
    assert np.isfinite(uneven.forecast(horizon=5)["mean"].to_numpy()).all()


def test_a_cycle_that_no_calendar_names_is_found():
    t = np.arange(150)
    values = 20 + 5 * np.sin(2 * np.pi * t / 17.3) + np.random.default_rng(0).normal(size=150)
    found = explain_series(values)
    assert "cycle" in " ".join(found.sentences())
    truth = 20 + 5 * np.sin(2 * np.pi * np.arange(150, 167) / 17.3)
    assert np.abs(found.forecast(horizon=17)["mean"].to_numpy() - truth).mean() < 1.5


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: explain_series([1.0, 2.0, 3.0]), "has 3 values, but at least 8 are needed"),
        (lambda: explain_series([4.0] * 20), "is constant: every value is 4"),
        (lambda: explain_series(range(20), transform="sqrt"), "transform must be one of auto, none, log"),
        (lambda: explain_series(range(20), transform="log"), "so it has no logarithm"),
        (lambda: explain_series(range(20)).forecast(), "Give horizon, a number of steps, or until"),
        (lambda: explain_series(range(20)).forecast(horizon=0), "horizon must be a whole number from 1"),
        (lambda: explain_series(range(20)).forecast(horizon=2, levels=(100,)), "levels must lie between 0 and 100"),
        (lambda: explain_series(range(20)).predict(np.array([3.0])), "must rise and lie after the last value"),
        (lambda: Options(ahead=0.0), "ahead must lie between 0 and 10"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, said):
    with pytest.raises(Refusal, match=said):
        call()


def test_a_constant_column_does_not_refuse_the_others(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("month,a,b\n" + "".join(f"{m},{v:.3f},7\n" for m, v in zip(MONTHS, yearly(), strict=True)))
    options = Options()
    found = EXPLAINER.explain(EXPLAINER.read(str(path), options), options, lambda _: None)
    assert [row["series"] for row in found.rows()] == ["a"]
    assert any("b is constant" in note for note in found.notes())


def test_an_explanation_is_json_csv_and_a_picture(dated, tmp_path):
    whole = Findings((finish(dated, 0.1),))
    (row,) = json.loads(json.dumps(whole.rows()))
    assert row["points"] == 95
    assert len(row["forecast"]) == 10
    assert row["forecast"][0]["time"] == "2018-01"
    assert row["shifts"][0]["time"] == "2013-05"
    frame = pl.read_csv(whole.write("csv", tmp_path / "a.csv"))
    assert frame.height == 106
    assert whole.draw(tmp_path / "a.png").stat().st_size > 1000
    assert "<img" in whole.report(tmp_path / "a.html").read_text()
    assert [t.title for t in whole.table()] == ["series", "forecast: median (90 % band)"]


def test_noise_is_not_told_as_a_season_nor_a_level_that_ends_where_it_began_as_a_trend():
    counts = np.random.default_rng(4).poisson(1.2, 80).astype(float)
    said = " ".join(explain_series(counts, MONTHS[:80]).sentences())
    assert "season" not in said
    assert "noise of about 0.0" not in said


def test_numbers_are_plain():
    assert [plain(v) for v in (0.0123, 1.5, 123.456, 1234567.0, 0.0, 20.0)] == [
        "0.0123", "1.5", "123", "1,230,000", "0", "20",
    ]  # fmt: skip
    assert [percent(v) for v in (0.999, 0.5, 0.001)] == ["over 99 %", "50 %", "under 1 %"]
    assert plain(math.inf) == "very much"


def test_no_score_is_nan_for_series_of_any_size():
    for scale in (1e-12, 1e12):
        found = explain(series_of(yearly() * scale, None, 12))
        ahead = found.forecast(horizon=3)
        assert np.isfinite(ahead["mean"].to_numpy()).all()
        assert np.isfinite(found.posterior.weight).all()
