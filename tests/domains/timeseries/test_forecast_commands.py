"""The commands from a file to an answer, and the conventions of other libraries, with the engine itself."""

import errno
import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from wakesleep import explain_series, forecast_frame, read_series
from wakesleep.cli.app import app
from wakesleep.domains.timeseries.forecasting.nixtla import WakeSleep
from wakesleep.errors import Refusal

MONTHS = [f"{2015 + m // 12}-{m % 12 + 1:02}" for m in range(60)]


def values(seed):
    noise = np.random.default_rng(seed).normal(size=60)
    return 100 + np.arange(60) + 10 * np.sin(2 * np.pi * np.arange(60) / 12) + noise


@pytest.fixture
def long_file(tmp_path):
    rows = [f"{name},{m},{v}" for k, name in enumerate("AB") for m, v in zip(MONTHS, values(k), strict=True)]
    flat = [f"flat,{m},5" for m in MONTHS]
    path = tmp_path / "long.csv"
    path.write_text("\n".join(["unique_id,ds,y", *rows, *flat]) + "\n")
    return path


def test_a_forecast_of_18_has_18_steps_for_every_series(long_file, tmp_path):
    out = tmp_path / "ahead.csv"
    done = CliRunner().invoke(app, ["forecast", str(long_file), "--horizon", "18", "--csv", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert "flat is constant" in done.stderr
    found = json.loads(done.stdout)
    assert [(f["series"], len(f["forecast"])) for f in found] == [("A", 18), ("B", 18)]
    assert (found[0]["forecast"][0]["time"], found[0]["forecast"][-1]["time"]) == ("2020-01", "2021-06")
    written = pl.read_csv(out)
    assert written.columns == ["series", "time", "mean", "lo-80", "hi-80", "lo-90", "hi-90"]
    assert written.height == 36
    truth = 100 + np.arange(60, 78) + 10 * np.sin(2 * np.pi * np.arange(60, 78) / 12)
    assert np.abs(written["mean"].to_numpy()[:18] - truth).mean() < 3


@pytest.mark.parametrize(("verb", "place"), [("forecast", "none/a.csv"), ("forecast", "."), ("explain", "none/a.csv")])
def test_a_place_where_nothing_can_be_written_has_the_number_of_its_error(long_file, tmp_path, verb, place):
    words = [verb, *(["timeseries"] * (verb == "explain")), str(long_file), "--csv", str(tmp_path / place)]
    assert CliRunner().invoke(app, words).exception.errno in (errno.ENOENT, errno.EISDIR)


def test_a_backtest_scores_every_method_on_the_same_series(long_file, tmp_path):
    done = CliRunner().invoke(app, ["backtest", str(long_file), "--horizon", "6", "--origins", "2", "--json"])
    assert done.exit_code == 0, done.output
    found = {row["method"]: row for row in json.loads(done.stdout)}
    assert found["wakesleep"]["series"] == found["seasonal naive"]["series"] == 2
    assert found["wakesleep"]["mase"] < found["seasonal naive"]["mase"]
    assert found["wakesleep"]["log_density"] > found["seasonal naive"]["log_density"]
    assert "flat does not differ from its past" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--horizon", "0"], "The horizon must be 1 to 10,000 steps"),
        (["--horizon", "5", "--until", "2021"], "not both"),
        (["--until", "2010"], "until must be later than the last time of A, 2019-12"),
        (["--levels", "all"], "levels must be whole numbers"),
        (["--id", "shop"], "no column 'shop'"),
    ],
)
def test_a_bad_word_is_refused_in_one_sentence(long_file, words, said):
    done = CliRunner().invoke(app, ["forecast", str(long_file), *words])
    assert isinstance(done.exception, Refusal)
    assert said in str(done.exception)


def test_words_that_explain_series_does_not_know_are_refused():
    with pytest.raises(Refusal, match="transform must be one of"):
        explain_series(values(0), transform="quick")
    with pytest.raises(Refusal, match="60 times and 59 values"):
        explain_series(values(0)[:59], MONTHS)
    with pytest.raises(Refusal, match=r"y has 1e\+300 in row 2"):
        explain_series([1.0, 1e300, *range(20)])


def test_a_table_of_nixtla_gives_their_columns(long_file):
    table = pl.read_csv(long_file).filter(pl.col("unique_id") != "flat")
    found = forecast_frame(table, h=3, level=(80, 90))
    bands = ["wakesleep-lo-90", "wakesleep-lo-80", "wakesleep-hi-80", "wakesleep-hi-90"]
    assert found.columns == ["unique_id", "ds", "wakesleep", *bands]
    assert found["unique_id"].to_list() == ["A"] * 3 + ["B"] * 3
    assert found["ds"].to_list()[:3] == ["2020-01", "2020-02", "2020-03"]
    alone = explain_series(read_series(long_file)[0]).forecast(horizon=3, levels=(90,))
    np.testing.assert_allclose(found["wakesleep-lo-90"].to_numpy()[:3], alone["lo-90"].to_numpy())
    numbered = table.with_columns(unique_id=pl.lit(7), ds=pl.int_range(pl.len())).head(60)
    assert forecast_frame(numbered, h=2)["ds"].to_list() == [60, 61]
    assert forecast_frame(numbered, h=2)["unique_id"].to_list() == [7, 7]


def test_a_pandas_table_gives_a_pandas_table_with_dates():
    pd = pytest.importorskip("pandas")
    dates = pd.date_range("2015-01-31", periods=60, freq="ME")
    found = forecast_frame(pd.DataFrame({"unique_id": "a", "ds": dates, "y": values(0)}), h=2)
    assert list(found.columns) == ["unique_id", "ds", "wakesleep", "wakesleep-lo-90", "wakesleep-hi-90"]
    assert [str(d)[:10] for d in found["ds"]] == ["2020-01-31", "2020-02-29"]


def test_the_model_for_statsforecast_has_its_verbs():
    model = WakeSleep(season_length=12)
    said = model.forecast(values(0), h=4, level=[80, 90], fitted=True)
    assert list(said) == ["mean", "lo-90", "lo-80", "hi-80", "hi-90", "fitted"]
    assert (len(said["mean"]), len(said["fitted"])) == (4, 60)
    np.testing.assert_allclose(model.new().fit(values(0)).predict(4)["mean"], said["mean"])
    with pytest.raises(Refusal, match="call fit first"):
        model.predict(4)
    statsforecast = pytest.importorskip("statsforecast")
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"unique_id": "a", "ds": pd.date_range("2015-01-01", periods=60, freq="MS"), "y": values(0)})
    found = statsforecast.StatsForecast(models=[model], freq="MS").forecast(df=table, h=4, level=[90])
    np.testing.assert_allclose(found["WakeSleep-lo-90"].to_numpy(), said["lo-90"], rtol=1e-6)


@pytest.mark.slow
def test_the_forecaster_passes_the_checks_of_sktime():
    checks = pytest.importorskip("sktime.utils.estimator_checks")
    from wakesleep.domains.timeseries.forecasting.sktime import WakeSleepForecaster

    found = checks.check_estimator(WakeSleepForecaster, raise_exceptions=False, verbose=False)
    assert {name: said for name, said in found.items() if said != "PASSED"} == {}
