"""The experiments on time series: splits, densities in the series' own units, and tables."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from wakesleep.domains.timeseries.expressions.explanation import EFFECTIVE_POINTS, Explanation
from wakesleep.domains.timeseries.expressions.knowledge import Knowledge
from wakesleep.domains.timeseries.expressions.search import Found
from wakesleep.domains.timeseries.language import MOST_VARIABLES, Kernel, program
from wakesleep.domains.timeseries.records import Record, scale_of
from wakesleep.paper.figures import timeseries as report
from wakesleep.paper.forecasts import Split, by_explanation, recent, split
from wakesleep.paper.results import dump
from wakesleep.paper.timeseries import _spread

MEASURES = {"rmse": 1.0, "mase": 0.5, "coverage": 0.9}


def explanation(record, log):
    """One program whose variables are all but certain."""
    seen = record._replace(values=np.log(record.values)) if log else record
    root = jnp.diag(jnp.where(jnp.arange(MOST_VARIABLES) < 3, 1e-6, 0.0))
    z = Kernel(jnp.asarray(program("SE + WN", 11)), jnp.full(MOST_VARIABLES, -1.0), root)
    return Explanation(seen, log, scale_of(seen), [Found(z, 0.0)], Knowledge(None, {"settings": {"scaled": True}}), 0.0)


def test_the_last_tenth_is_held_out():
    part = split(Record("a", np.arange(40.0), np.arange(40.0)))
    assert part.times.tolist() == [36.0, 37.0, 38.0, 39.0]
    assert len(part.train.times) == 36
    uneven = Record("a", np.arange(40.0) ** 2, np.arange(40.0))
    assert recent(uneven, 5).values.tolist() == [35.0, 36.0, 37.0, 38.0, 39.0]
    assert recent(part.train, 5) is part.train


@pytest.mark.parametrize("log", [False, True])
def test_densities_are_of_the_series_own_units_and_integrate_to_one(log):
    values = np.exp(np.sin(np.arange(20.0) / 3))
    record = Record("a", np.arange(20.0), values)
    found = explanation(record, log)
    grid = np.linspace(-8.0 if not log else 1e-3, 30.0, 3001)
    densities = [
        np.exp(by_explanation(found, Split(record, np.array([20.0]), np.array([v]))).log_density[0]) for v in grid[::10]
    ]
    assert np.trapezoid(densities, grid[::10]) == pytest.approx(1.0, abs=0.02)
    said = by_explanation(found, Split(record, np.array([20.0]), np.array([1.0])))
    assert said.low[0] < said.point[0] < said.high[0]
    assert said.said == "SE + WN" + " of the logarithm" * log


def test_what_is_to_come_is_mixed_over_both_ways_by_a_coarsened_posterior():
    record = Record("a", np.arange(20.0), np.exp(np.sin(np.arange(20.0) / 3)))
    plain, log = explanation(record, False), explanation(record, True)
    both = replace(plain, other=replace(log, log_evidence=-7.0))
    weights = [w for _, _, w in both.mixed()]
    assert sum(weights) == pytest.approx(1.0)
    assert np.log(weights[0] / weights[1]) == pytest.approx(7.0 * EFFECTIVE_POINTS / (EFFECTIVE_POINTS + 20))
    times, y = np.array([20.0, 22.0]), np.array([1.1, 0.7])
    each = [np.exp(e.predict(times).log_density(y)) for e in (plain, log)]
    np.testing.assert_allclose(np.exp(both.predict(times).log_density(y)), weights @ np.array(each), rtol=1e-9)
    assert both.predict(times).log_density(np.array([-0.1, 1.0]))[0] < np.log(weights[0])


def test_tables_name_the_best_and_mean_only_whole_series(tmp_path):
    rows = [
        {"what": "extrapolation", "series": s, "method": m, "log_density": d, **MEASURES}
        for s, m, d in (("a", "ours", -1.0), ("a", "other", -2.0), ("b", "ours", -3.0))
    ]
    rows += [{"what": "recovery", "series": 0, "truth": "SE", "best": "SE", "rank": 1, "recovered": True}]
    (tmp_path / "timeseries.json").write_text(dump({"rows": rows, "settings": {}, "cpu_seconds": 0.0}))
    table = report.TABLES["timeseries-density"](tmp_path)
    assert "| a | **-1.00** | -2.00 |" in table
    assert "| b | **-3.00** |  |" in table
    assert "| mean of 1 | **-1.00** | -2.00 |" in table
    assert "| ours | -1.000 | 1.00 | 0.50 | 90% |" in report.TABLES["timeseries"](tmp_path)
    assert "| all | 1 of 1 | 1 of 1 | 1 of 1 |" in report.TABLES["timeseries-recovery"](tmp_path)


def test_a_series_that_nothing_explains_is_counted_and_poisons_no_mean():
    assert _spread(np.array([1.0, -np.inf, 3.0])) == {"bound": 2.0, "bound_error": 0.707, "unexplained": 1}
    assert _spread(np.full(2, -np.inf)) == {"bound": None, "bound_error": None, "unexplained": 2}
    assert np.isnan(_spread(np.array([1.0, np.nan]))["bound"])


def test_the_table_of_the_archive_says_how_many_series_have_no_program(tmp_path):
    shared = {"K": 10, "steps": 2, "series": 40, "points": 8, "batch_size": 20, "cpu_seconds": 1.0, "bound": 5.0}
    rows = [
        shared | {"algorithm": "MWS", "curve": [[2, 4.0]], "without_program": 9, "unexplained": 0, "bound_5k": 6.0},
        shared | {"algorithm": "RWS", "curve": [[2, 3.0]], "unexplained": 2, "bound_5k": None},
    ]
    (tmp_path / "timeseries-ucr.json").write_text(dump({"rows": rows, "settings": {}, "cpu_seconds": 0.0}))
    table = report.TABLES["timeseries-ucr"](tmp_path)
    assert "| MWS | 1 | 1 | 4.0 | 4.0 | 5.0 | 6.0 | 0 | 9 | 1 |" in table
    assert "| RWS | 1 | 1 | 3.0 | 3.0 | 5.0 |  | 2 |  | 1 |" in table
