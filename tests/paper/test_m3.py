"""The M3 experiment: measures of a method on a series, and cells that several processes share."""

import numpy as np
import pytest

from wakesleep.domains.timeseries.statespace.m3 import Competitor
from wakesleep.paper import m3, m3_methods
from wakesleep.paper.m3_methods import Said, measure

SERIES = [Competitor(f"N{i}", "yearly", np.arange(20.0) + i, np.arange(20.0, 26.0) + i) for i in range(3)]


def test_measures_are_in_naive_scales(monkeypatch):
    said = Said(np.full(2, 5.0), np.full(2, 4.0), np.full(2, 7.0), np.log(np.full(2, 0.25)))
    monkeypatch.setitem(m3_methods.M3_METHODS, "fixed", lambda one: said)
    one = Competitor("N", "yearly", np.arange(0.0, 40.0, 2.0), np.array([6.0, 9.0]))
    found = measure(one, "fixed")
    assert found["mase"] == pytest.approx(2.5 / 2)
    assert found["log_density"] == pytest.approx(np.log(0.25) + np.log(2))
    assert found["coverage"] == 0.5


def test_a_cell_is_the_same_whether_one_process_makes_it_or_two(monkeypatch):
    noisy = [c._replace(past=c.past + np.random.default_rng(3).normal(size=20)) for c in SERIES]
    monkeypatch.setattr(m3, "tested", lambda period: noisy)
    cell = {"period": "yearly", "series": 3, "method": "wakesleep"}
    alone, shared = (m3._cell(cell, processes) for processes in (1, 2))
    for name in ("mase", "log_density", "coverage", "each_mase"):
        assert alone[name] == shared[name]
    assert len(alone["each_mase"]) == 3
