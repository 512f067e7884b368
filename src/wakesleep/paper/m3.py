"""Forecasts of the M3 competition's series that nothing was learned from, beside the peers of statsforecast."""

import importlib.util
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from wakesleep.domains.timeseries.statespace.m3 import TESTED, tested
from wakesleep.paper.m3_methods import M3_METHODS, measure
from wakesleep.paper.results import Row, complete


@dataclass(frozen=True)
class Plan:
    """The size of the experiment: series of each period."""

    steps: int = 0
    seeds: int = 1
    monthly: int = TESTED["monthly"]
    quarterly: int = TESTED["quarterly"]
    yearly: int = TESTED["yearly"]
    processes: int = 2
    """Processes that share the series of a cell."""


FULL = {"m3": Plan()}
QUICK = {"m3": Plan(monthly=2, quarterly=2, yearly=2, processes=1)}


def reproduce(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills m3.json: a row for each period and method with the measures of every series; returns its rows."""
    methods = list(M3_METHODS)
    if importlib.util.find_spec("statsforecast") is None:
        report("statsforecast is not installed (pip install 'wakesleep[peers]'): its rows are left out")
        methods = ["wakesleep"]
    counts = {period: getattr(plan, period) for period in ("monthly", "quarterly", "yearly")}
    cells: list[Row] = [{"period": p, "series": n, "method": m} for m in methods for p, n in counts.items()]
    return complete(output / "m3.json", {"band": 0.9}, cells, partial(_cell, processes=plan.processes), report)


def _cell(cell: Row, processes: int = 1) -> Row:
    """Returns the mean measures of a method over the series of a period, and those of each series."""
    every = tested(cell["period"])[: cell["series"]]
    if processes == 1:
        each = [measure(one, cell["method"]) for one in every]
    else:
        with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
            each = list(pool.map(measure, every, [cell["method"]] * len(every)))
    names = ("mase", "log_density", "coverage", "cpu")
    means = {k: round(float(np.mean([e[k] for e in each])), 4) for k in names}
    return means | {f"each_{k}": [round(e[k], 4) for e in each] for k in names[:2]}


EXPERIMENTS = {"m3": reproduce}
