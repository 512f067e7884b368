"""What tables do when they go on in their order, beyond the trials inside of the rows that a contract is drafted from.

    python benchmarks/breaks.py FOLDER results/benchmark-breaks.json

FOLDER holds CSV files, of which none may be a table that `benchmarks/contract.py` reports. The figures that are kept
are of the Python packages pydataset 0.2.0, bokeh_sampledata 2026.1, vega_datasets 0.9.0 and gapminder 0.1, unpacked:
their tables of 3 to 16 columns, at least two of them text, and of 120 rows or more, of which the first 1,000 are taken.
A contract is drafted from each half and the other half is checked, column by column. Columns of one value are left
out: in these designed tables they stand for a group of an experiment.
"""

import argparse
import csv
import json
import random
from pathlib import Path
from statistics import fmean

from wakesleep.data.tables import Column, Table, read_table
from wakesleep.domains.strings.columns.explanation import explain
from wakesleep.domains.strings.table.checking import Judged
from wakesleep.domains.strings.table.drafting import draft
from wakesleep.domains.strings.table.rules import Rule
from wakesleep.domains.strings.table.trials import BREAK_RATE

ROWS_TAKEN, FEWEST_ROWS, FEWEST_COLUMNS, MOST_COLUMNS, FEWEST_TEXTS, ROWS_LOOKED_AT = 1000, 120, 3, 16, 2, 300
DRAWS = 2000
REPORTED = "airports"
"""A table that is reported elsewhere has this in its name."""


def suits(path: Path) -> bool:
    """Whether a file is a table of the kind that is taken."""
    with path.open(encoding="utf-8", errors="replace") as file:
        rows = list(csv.reader(file))
    head, body = rows[0], rows[1:]
    if len(body) < FEWEST_ROWS or not FEWEST_COLUMNS <= len(head) <= MOST_COLUMNS or REPORTED in path.name:
        return False
    some = body[:ROWS_LOOKED_AT]
    return sum(any(not is_number(r[i]) for r in some if i < len(r)) for i in range(len(head))) >= FEWEST_TEXTS


def is_number(text: str) -> bool:
    try:
        return float(text) is not None
    except ValueError:
        return text in ("", "NA")


def beyond_trials(path: Path) -> list[float]:
    """The share of rows refused beyond what the trials of a column say, for each column and both halves."""
    table = read_table(path, rows="all")
    height = min(table.rows, ROWS_TAKEN)
    first, last = range(height // 2), range(height // 2, height)
    found = []
    for half, other in ((first, last), (last, first)):
        learned = Table([Column(c.name, [c.values[i] for i in half]) for c in table.columns], len(half))
        rules = draft(learned, path.name, explain).columns
        for column, seen in zip(table.columns, learned.columns, strict=True):
            rule = rules[column.name]
            if len(set(seen.values) - {None, ""}) > 1 and rule.alarms:
                share = refused_share(column.name, rule, [column.values[i] for i in other])
                found.append(share - (rule.alarms - BREAK_RATE))
    return found


def refused_share(name: str, rule: Rule, values: list[str | None]) -> float:
    state = Judged(name, rule)
    bad = state.add(Column(name, values))
    if state.repeats is not None:
        bad = bad | {r for group in state.repeats.found() for r in group}
        state.repeats.close()
    return len(bad) / len(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("output", type=Path)
    given = parser.parse_args()
    tables = [found for p in sorted(given.folder.rglob("[!.]*.csv")) if suits(p) and (found := beyond_trials(p))]
    rng, means = random.Random(0), []
    for _ in range(DRAWS):
        drawn = rng.choices(tables, k=len(tables))
        means.append(fmean(x for found in drawn for x in found))
    means.sort()
    result = {
        "tables": len(tables),
        "columns": sum(map(len, tables)),
        "rate": round(fmean(x for found in tables for x in found), 5),
        "interval": [round(means[int(q * DRAWS)], 5) for q in (0.025, 0.975)],
    }
    print(result)
    given.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
