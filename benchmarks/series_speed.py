"""CPU seconds to explain series: by length, with gaps, at irregular times, many series, and a cold process.

    python benchmarks/series_speed.py [--output results]

Each answer is an explanation with its forecast and its sentences; figures are medians of some repetitions.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from wakesleep.data.atomic import write_whole
from wakesleep.domains.timeseries.explain import explain_series
from wakesleep.paper.results import Row, dump

REPEATS = 5
LENGTHS = (72, 144, 288, 576, 1000, 3000, 10_000)
MANY, MANY_POINTS = 100, 120
SEARCHED_POINTS = 3000
"""The length of a series that is searched for cycles because no season is given."""
COLD = [sys.executable, "-c", "from wakesleep.cli.app import main; main()", "explain", "timeseries", "examples/co2.csv"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results"))
    options = parser.parse_args()
    start = time.process_time()
    answer(drawn(144))
    rows: list[Row] = [{"what": "length", "n": n, "cpu_s": timed(partial(answer, drawn(n)))} for n in LENGTHS]
    rows += kinds_of_times()
    searched = partial(answer, drawn(SEARCHED_POINTS), season=None)
    rows.append({"what": "searched", "n": SEARCHED_POINTS, "cpu_s": timed(searched)})
    rows.append({"what": "many", "series": MANY, "n": MANY_POINTS, "cpu_s": many()})
    rows += [{"what": "cold", "state": state, "cpu_s": cold()} for state in ("first", "second")]
    options.output.mkdir(parents=True, exist_ok=True)
    seconds = round(time.process_time() - start, 1)
    write_whole(options.output / "benchmark-series.json", dump({"rows": rows, "settings": {}, "cpu_seconds": seconds}))
    for row in rows:
        print(row)


def drawn(n: int, seed: int = 0) -> np.ndarray:
    """Returns a walk with a yearly season and noise."""
    rng = np.random.default_rng(seed)
    season = 5 * np.sin(2 * np.pi * np.arange(n) / 12)
    return 100 + np.cumsum(rng.normal(size=n)) * 0.3 + season + rng.normal(size=n)


def answer(values: np.ndarray, times: np.ndarray | None = None, season: int | None = 12) -> None:
    found = explain_series(values, times, season)
    found.forecast(horizon=18, levels=(90,))
    found.sentences()


def kinds_of_times() -> list[Row]:
    """Returns the time of 144 points on the whole grid, with one and with a tenth missing, and at irregular times."""
    whole = drawn(144)
    one, tenth = whole.copy(), whole.copy()
    one[70] = np.nan
    tenth[np.random.default_rng(1).choice(np.arange(1, 143), 14, replace=False)] = np.nan
    uneven = np.cumsum(np.random.default_rng(2).gamma(4.0, 0.25, 144))
    given: dict[str, tuple] = {
        "whole": (whole,),
        "one missing": (one,),
        "a tenth missing": (tenth,),
        "irregular": (whole, uneven),
    }
    return [{"what": "times", "kind": kind, "cpu_s": timed(partial(answer, *g))} for kind, g in given.items()]


def timed(function: Callable[[], None]) -> float:
    """Returns the median CPU seconds of a call."""
    taken = []
    for _ in range(REPEATS):
        start = time.process_time()
        function()
        taken.append(time.process_time() - start)
    return round(float(np.median(taken)), 4)


def many() -> float:
    """Returns the CPU seconds for many series, one after the other."""
    start = time.process_time()
    for i in range(MANY):
        answer(drawn(MANY_POINTS, i))
    return round(time.process_time() - start, 2)


def cold() -> float:
    """Returns the CPU seconds of the command in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(COLD, check=True, capture_output=True, env=os.environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2)


if __name__ == "__main__":
    main()
