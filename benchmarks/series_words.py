"""How often the sentences of a series name the parts that it was drawn from, its season and the date of its shift.

python benchmarks/series_words.py [--series 200] [--output results]
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from wakesleep.data.atomic import write_whole
from wakesleep.domains.timeseries.explain import explain_series
from wakesleep.domains.timeseries.statespace.simulator import SEASON_STEPS, Simulated, simulate
from wakesleep.paper.results import Row, dump

SHIFT_TOLERANCE_STEPS = 3
FIRST_NUMBER = 1000
"""Series before this number were looked at while the words were written."""
PHRASES = {
    "trend": (" trend rises", " trend falls"),
    "walk": ("The level wanders",),
    "season": ("season of", " season ("),
    "growing season": ("swings grow",),
    "shift": ("The level shifts",),
    "outliers": ("outlier",),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("--first", type=int, default=FIRST_NUMBER)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--output", type=Path, default=Path("results"))
    options = parser.parse_args()
    start = sum(os.times()[:4])
    with ProcessPoolExecutor(options.processes) as pool:
        rows = list(pool.map(judge, range(options.first, options.first + options.series)))
    settings = {"series": options.series, "first": options.first}
    options.output.mkdir(parents=True, exist_ok=True)
    table = {"rows": rows, "settings": settings, "cpu_seconds": round(sum(os.times()[:4]) - start, 1)}
    write_whole(options.output / "benchmark-series-words.json", dump(table))
    print({k: sum(r[k] for r in rows if k in r) / sum(k in r for r in rows) for k in ("parts", "season", "shift")})
    for r in rows:
        if not r["parts"]:
            print(r)


def named(said: list[str]) -> frozenset[str]:
    """Returns the parts that sentences name; a growing season is not named as a plain one too."""
    text = " ".join(said)
    found = {part for part, phrases in PHRASES.items() if any(p in text for p in phrases)}
    return frozenset(found - {"season"} if "growing season" in found else found)


def judge(number: int) -> Row:
    """Returns whether the sentences of one series are right."""
    truth: Simulated = simulate(number)
    found = explain_series(truth.values, season=SEASON_STEPS)
    said = named(found.sentences())
    row: Row = {"number": number, "true": sorted(truth.parts), "said": sorted(said), "parts": said == truth.parts}
    seasonal = {"season", "growing season"}
    if truth.parts & seasonal:
        row["season"] = bool(said & seasonal)
    if truth.shift is not None:
        dates = [c.place for c in found.changes if c.kind == "shift"]
        row["shift"] = any(abs(d - truth.shift) <= SHIFT_TOLERANCE_STEPS for d in dates)
    return row


if __name__ == "__main__":
    main()
