"""Validators judged on real tables: fitted on half of a column's rows or on ten values, they judge the other half.

    python -m wakesleep.domains.strings.columns.judge.gather GATHERED
    python -m wakesleep.domains.strings.columns.judge.train GATHERED --folds results/benchmark-tables-folds.json
    python benchmarks/tables.py GATHERED    # writes results/benchmark-tables.json; WAKESLEEP_DATA names the data folder
    pip install 'wakesleep[peers]'          # the tools to compare with

`alarms` is the share of rows of the second half that are refused, `detected` the share of errors made of its values
that are, both averaged over the text columns of all tables; `score` is the mean of 1 - alarms and detected. A validator
that refuses a column accepts everything in it. Every figure of the judge is out of fold: the network that judges a
table was fitted without it, and its thresholds to other tables. Settings were chosen on kinds not in `HELD_OUT`. The
tables of packages that nothing was fitted to or chosen on are judged by `tables_held_out.py`.
"""

import argparse
import math
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from judge_ablation import ABLATIONS, UNLEARNED, ablation
from table_errors import HELD_OUT, Wrong, make_errors
from table_peers import ANY_CHARACTER, CONTROL_RATE, PEERS, Accept, Fit

from wakesleep.domains.strings.columns import explain
from wakesleep.domains.strings.columns.judge import fit as fit_judge
from wakesleep.domains.strings.columns.judge import sources
from wakesleep.domains.strings.columns.judge.column import Column
from wakesleep.domains.strings.columns.judge.judge import AS_USUAL, Share
from wakesleep.domains.strings.columns.judge.net import Weights
from wakesleep.domains.strings.columns.judge.news import ROW_CUTS, rate
from wakesleep.domains.strings.columns.judge.train import fold_without, read_folds
from wakesleep.domains.strings.columns.posterior import infer
from wakesleep.errors import Refusal
from wakesleep.paper.results import Row, complete

MOST_ROWS, MOST_LATER, TEN = 2000, 300, 10
SHARES = (0.9, 0.95, 0.97, 0.99)
CALIBRATIONS = ("random", "ordered", "random 20", "random 10")
"""Rows that the judge is fitted on: a half drawn at random, the first half, or some rows drawn at random."""
NOT_LEARNED = "wakesleep, no learned weights"
OWN = ("wakesleep", "wakesleep, news alone", NOT_LEARNED, "wakesleep rule", "wakesleep, weights as shipped")
"""The judge out of fold, also without a posterior; the rule of the control on the judge's levels, with nothing learned;
the exported rule; the judge with weights that saw the tables."""


@dataclass(frozen=True)
class Task:
    """A column to fit on, rows to accept and errors to refuse."""

    table: str
    column: str
    fitted: list[str]
    later: list[str]
    wrong: Wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gathered", type=Path, help="the folder of gathered tables, for the ablations")
    parser.add_argument("--output", type=Path, default=Path("results"))
    parser.add_argument("--validators", nargs="*", default=[*PEERS, *OWN])
    parser.add_argument("--halves", nargs="*", default=list(CALIBRATIONS), help="rows fitted, to report the alarms of")
    parser.add_argument("--ablations", nargs="*", default=list(ABLATIONS))
    parser.add_argument("--examples", type=Path, help="examples kept by the training, for the ablations")
    options = parser.parse_args()
    folder = sources.data_folder()
    folds = read_folds(options.output / "benchmark-tables-folds.json")
    tables = sources.text_tables(folder / "tables")
    cells: list[Row] = [{"validator": v, "fitted": f} for f in ("half", "ten") for v in options.validators]
    cells += [{"calibration": halves} for halves in options.halves]
    cells += [{"ablation": a} for a in options.ablations]

    def compute(cell: Row) -> Row | list[Row]:
        if "validator" in cell:
            return judged(cell["validator"], list(tasks(tables, cell["fitted"])), folds)
        if "calibration" in cell:
            return calibration(list(tasks(tables, cell["calibration"])), folds)
        return ablation(cell["ablation"], options.gathered, options.examples)

    settings = {"rows": MOST_ROWS, "later": MOST_LATER, "held out": list(HELD_OUT), "tables": sorted(tables)}
    for row in complete(options.output / "benchmark-tables.json", settings, cells, compute):
        print({k: v for k, v in row.items() if k != "kinds"})


def tasks(tables: dict[str, sources.Table], fitted: str) -> Iterator[Task]:
    """The task of every text column: `half` or `ordered`, `ten` values of that half, a `random` half or some rows."""
    for table, columns in tables.items():
        draw = random.Random(table)
        for name, whole in columns.items():
            values = whole[:MOST_ROWS]
            if fitted.startswith("random"):
                values = random.Random(f"{table} {name}").sample(values, len(values))
            half = len(values) // 2
            before, later = values[:half], draw.sample(values[half:], min(MOST_LATER, len(values) - half))
            if fitted.startswith("random "):
                before = before[: int(fitted.removeprefix("random "))]
            if len(set(before)) < 2:
                continue
            wrong = make_errors(values, later, [v for n, v in columns.items() if n != name], draw)
            yield Task(table, name, list(dict.fromkeys(before))[:TEN] if fitted == "ten" else before, later, wrong)


def validator(name: str, table: str, folds: list[Weights]) -> Fit:
    """The validator of a name for the columns of a table; without folds the shipped weights judge."""
    if name in PEERS:
        return PEERS[name]

    def fit(values: list[str]) -> tuple[Accept, str]:
        if name == "wakesleep rule":
            found = explain(values)
            return found.matches, found.patterns[0].regex
        if name == NOT_LEARNED:
            return by_rarest_news(values), ""
        shipped = name == "wakesleep, weights as shipped" or not folds
        posterior = None if name == "wakesleep, news alone" else infer(values)
        judge = fit_judge(values, posterior, weights=None if shipped else fold_without(folds, table))
        return judge.accepts, ""

    return fit


def by_rarest_news(values: list[str]) -> Accept:
    """Refuses a value that is news at a level at which fewer of the later rows are than the control allows."""
    column = Column.fit(values)
    later = statistics.fmean(column.rows.total - max(1, round(c * column.rows.total)) for c in ROW_CUTS)
    most = -math.log(rate(CONTROL_RATE * later, later))

    def accepts(others: Sequence[str]) -> list[bool]:
        rarest = UNLEARNED(column.features(others))[:, 0]
        known = column.know(others)
        return [k or s <= most for k, s in zip(known, rarest.tolist(), strict=True)]

    return accepts


def judged(name: str, given: list[Task], folds: list[Weights]) -> Row:
    """What a validator makes of all tasks."""
    alarms, detected, seconds, patterns, refused = [], [], [], [], 0
    kinds: dict[str, list[float]] = {}
    for task in given:
        start = time.process_time()
        try:
            accepts, pattern = validator(name, task.table, folds)(task.fitted)
        except (Refusal, ValueError, RuntimeError, RecursionError):  # counted, and accepts everything
            accepts, pattern, refused = (lambda values: [True] * len(values)), "", refused + 1
        seconds.append(time.process_time() - start)
        patterns.append(pattern)
        alarms.append(1 - statistics.fmean(map(bool, accepts(task.later))))
        caught = [not a for a in accepts([text for _, text in task.wrong])]
        detected.append(sum(caught) / max(len(caught), 1))
        for kind in {k for k, _ in task.wrong}:
            mine = [c for c, (k, _) in zip(caught, task.wrong, strict=True) if k == kind]
            kinds.setdefault(kind, []).append(statistics.fmean(mine))
    return summary(alarms, detected, kinds) | {
        "refused": refused,
        "any_character": round(statistics.fmean(bool(ANY_CHARACTER.search(p)) for p in patterns), 3)
        if any(patterns)
        else None,
        "fit_ms": round(1e3 * statistics.fmean(seconds), 1),
    }


def summary(alarms: list[float], detected: list[float], kinds: dict[str, list[float]]) -> dict[str, Any]:
    """Means over columns; `held_out` is the mean detection of the kinds that no setting was chosen on."""
    alarm, caught = statistics.fmean(alarms), statistics.fmean(detected)
    by_kind = {k: statistics.fmean(v) for k, v in sorted(kinds.items())}
    scores = [(1 - a + d) / 2 for a, d in zip(alarms, detected, strict=True)]
    return {
        "columns": len(alarms),
        "alarms": round(alarm, 4),
        "columns_over_5": round(statistics.fmean(a > 0.05 for a in alarms), 4),
        "detected": round(caught, 4),
        "score": round((1 - alarm + caught) / 2, 4),
        "score_error": round(statistics.stdev(scores) / len(scores) ** 0.5, 4),
        "chosen_kinds": round(statistics.fmean(v for k, v in by_kind.items() if k not in HELD_OUT), 4),
        "held_out_kinds": round(statistics.fmean(v for k, v in by_kind.items() if k in HELD_OUT), 4),
        "kinds": {k: round(v, 3) for k, v in by_kind.items()},
    }


def calibration(given: list[Task], folds: list[Weights]) -> list[Row]:
    """The false alarms at each share over all columns, and those as usual beside what the judge says to expect."""
    alarms: dict[Share, list[float]] = {share: [] for share in (*SHARES, AS_USUAL)}
    expected = []
    for task in given:
        weights = fold_without(folds, task.table) if folds else None
        judge = fit_judge(task.fitted, infer(task.fitted), weights=weights)
        expected.append(judge.expected_alarms)
        for share, found in alarms.items():
            found.append(1 - float(np.mean(judge.accepts(task.later, share))))
    return [
        {
            "share": share,
            "asked_for": round(1 - share if isinstance(share, float) else statistics.fmean(expected), 4),
            "alarms": round(statistics.fmean(found), 4),
            "columns_over_5": round(statistics.fmean(a > 0.05 for a in found), 4),
        }
        for share, found in alarms.items()
    ]


if __name__ == "__main__":
    main()
