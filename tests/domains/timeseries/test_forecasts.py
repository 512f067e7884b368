"""What `wakesleep forecast` shows and writes, and what it refuses."""

import numpy as np
import polars as pl
import pytest

from wakesleep.domains.timeseries.commands import COMMANDS, BacktestOptions, ForecastOptions, levels_of
from wakesleep.domains.timeseries.forecasting.forecasts import Forecast, Forecasts, steps_of
from wakesleep.domains.timeseries.reading.series import series_of
from wakesleep.errors import Refusal

MONTHS = [f"{2019 + m // 12}-{m % 12 + 1:02}" for m in range(24)]


def forecast(name, notes=(), steps=2):
    series = series_of(np.arange(24.0), MONTHS)
    ahead = {"time": series.time_at(series.future(steps)).astype("datetime64[us]"), "mean": [24.0] * steps}
    ahead |= {"lo-90": [20.0] * steps, "hi-90": [28.25] * steps}
    return Forecast(_named(series, name, notes), ("It rises.", "No season."), pl.DataFrame(ahead))


def _named(series, name, notes):
    from dataclasses import replace

    return replace(series, name=name, notes=tuple(notes))


def test_a_table_and_rows_have_every_step_with_its_time_in_words():
    found = Forecasts((forecast("a"), forecast("b")))
    (shown,) = found.table(most=1)
    assert shown.title == "a: It rises. No season."
    assert shown.header == ("time", "mean", "lo-90", "hi-90")
    assert shown.rows == [("2021-01", "24", "20", "28.25"), ("2021-02", "24", "20", "28.25")]
    assert [row["series"] for row in found.rows(most=1)] == ["a", "b"]
    first = {"time": "2021-01", "mean": 24.0, "lo-90": 20.0, "hi-90": 28.25}
    assert found.rows()[0]["forecast"][0] == first


def test_notes_are_said_once_and_name_the_series_that_differ():
    found = Forecasts(
        (forecast("a", ["rows sorted by time"]), forecast("b", ["rows sorted by time", "odd"])), ("No c.",)
    )
    assert found.notes() == ["Rows sorted by time.", "b: odd.", "No c."]


def test_forecasts_are_written_as_csv_and_drawn(tmp_path):
    found = Forecasts((forecast("a"), forecast("b")))
    read = pl.read_csv(found.write("csv", tmp_path / "a.csv"))
    assert read.columns == ["series", "time", "mean", "lo-90", "hi-90"]
    assert read["series"].to_list() == ["a", "a", "b", "b"]
    assert found.write("picture", tmp_path / "a.png").stat().st_size > 5000


def test_the_number_of_steps_is_asked_for_or_usual():
    months, plain = series_of(np.arange(24.0), MONTHS), series_of(np.arange(24.0))
    assert (steps_of(months, 18, None), steps_of(months, None, None), steps_of(plain, None, None)) == (18, 18, 10)
    assert steps_of(months, None, "2021-12") == 12
    with pytest.raises(Refusal, match="not both"):
        steps_of(months, 18, "2021-12")
    for steps in (0, -3, 20_000):
        with pytest.raises(Refusal, match="The horizon must be 1 to 10,000 steps"):
            steps_of(months, steps, None)


@pytest.mark.parametrize("levels", ["0", "100", "90.5", "high", "", "80,,90", "-5", "9" * 50])
def test_levels_that_are_none_are_refused(levels):
    with pytest.raises(Refusal, match="levels must be whole numbers"):
        ForecastOptions(levels=levels)


def test_other_options_are_refused_where_they_make_no_sense(tmp_path):
    assert levels_of("90, 80,90") == (80, 90)
    with pytest.raises(Refusal, match="origins must be 1 to 1000"):
        BacktestOptions(origins=0)
    path = tmp_path / "a.csv"
    path.write_text("t,y\n" + "".join(f"{m},{i}\n" for i, m in enumerate(MONTHS)))
    with pytest.raises(Refusal, match="season must be whole numbers"):
        COMMANDS["forecast"].run([str(path)], ForecastOptions(season="yearly"), lambda _: None)
