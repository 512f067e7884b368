"""The figures of series: round ticks, panels of the parts that matter, and marks where a series changed."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from wakesleep.domains.timeseries.explain import explain_series
from wakesleep.domains.timeseries.explain.figure import _draw, ticks
from wakesleep.domains.timeseries.explain.findings import finish
from wakesleep.domains.timeseries.forecasting.figure import _panel
from wakesleep.domains.timeseries.forecasting.forecasts import forecast_all
from wakesleep.domains.timeseries.reading.series import series_of

MONTHS = [f"{2010 + m // 12}-{m % 12 + 1:02}" for m in range(96)]


def changed():
    """Returns a series of months with a level shift and an outlier, without a season."""
    values = 100 + np.random.default_rng(0).normal(size=96)
    values[50:] += 20
    values[20] += 15
    return values


def drawn(found):
    """Returns the axes of a figure: the series, then its parts."""
    figure = Figure(figsize=(9, 5))
    _draw(figure.subfigures(1, 1), finish(found, 0.1))
    return figure.axes


def test_ticks_are_round_numbers_or_beginnings_of_the_calendar():
    uneven = series_of(list(range(12)), np.linspace(2.29, 199.0, 12), None)
    axis = Figure().subplots()
    ticks(axis, uneven, 0.0, 11.0)
    said = [label.get_text() for label in axis.get_xticklabels()]
    assert said == ["25", "50", "75", "100", "125", "150", "175"]
    np.testing.assert_allclose(uneven.time_at(axis.get_xticks()), [float(s) for s in said])
    axis = Figure().subplots()
    ticks(axis, series_of(changed(), MONTHS, None), 0.0, 95.0)
    assert [label.get_text() for label in axis.get_xticklabels()] == [str(y) for y in range(2010, 2018)]


def test_parts_of_hardly_any_variance_have_no_panel_and_changes_are_marked():
    whole, *parts = drawn(explain_series(changed(), MONTHS))
    assert [axis.get_title(loc="left") for axis in parts] == ["trend"]
    assert {t.get_text() for t in whole.texts} == {"observed", "median ahead", "90 % band", "shift", "outlier"}


def test_of_a_season_with_many_rounds_the_latest_are_drawn():
    rng = np.random.default_rng(1)
    values = 50 + np.tile([0.0, 5.0, 9.0, 4.0, 0.0, -8.0, -9.0], 30) + rng.normal(size=210)
    days = (np.datetime64("2023-01-02") + np.arange(210)).astype(str).tolist()
    *_, season = drawn(explain_series(values, days))
    assert season.get_title(loc="left") == "season of 7 days, the latest 12 rounds"
    assert len(season.lines[0].get_xdata()) == 12 * 7 + 1


def test_a_forecast_marks_outliers_and_shifts():
    found = forecast_all([series_of(changed(), MONTHS, None)], 12, None, (90,), lambda standing: None)
    (one,) = found.found
    assert (one.outliers, one.shifts) == ((20.0,), (50.0,))
    axis = Figure().subplots()
    _panel(axis, one._replace(outliers=(40.0,)))
    assert [t.get_text() for t in axis.get_legend().get_texts()][-2:] == ["outlier", "shift"]


def test_a_cycle_of_steps_of_two_years_is_told_in_years():
    t = np.arange(200)
    values = 20 + 5 * np.sin(2 * np.pi * t / 17.3) + 0.5 * np.random.default_rng(0).normal(size=200)
    said = " ".join(explain_series(values, [str(1600 + 2 * i) for i in t]).sentences())
    assert float(said.split("A cycle of about ")[1].split(" years")[0]) == pytest.approx(34.6, abs=0.5)
