"""Validators judged on tables of packages that nothing was fitted to or chosen on, by the protocol of `tables.py`.

    python -m wakesleep.domains.strings.columns.judge.gather GATHERED
    python benchmarks/tables_held_out.py GATHERED       # writes results/benchmark-tables-held-out.json

The groups of tables are named by a hash (`sources.is_held_out`), before anything was measured on them. The shipped
weights judge: they were trained without these tables.
"""

import argparse
from pathlib import Path

from table_errors import HELD_OUT
from table_peers import PEERS
from tables import CALIBRATIONS, MOST_LATER, MOST_ROWS, NOT_LEARNED, calibration, judged, tasks

from wakesleep.domains.strings.columns.judge import sources
from wakesleep.paper.results import Row, complete

VALIDATORS = (*PEERS, "wakesleep", NOT_LEARNED, "wakesleep rule")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gathered", type=Path, help="the folder that `gather` wrote")
    parser.add_argument("--output", type=Path, default=Path("results"))
    options = parser.parse_args()
    tables = sources.gathered_tables(options.gathered, held_out=True)
    cells: list[Row] = [{"validator": v, "fitted": f} for f in ("half", "ten") for v in VALIDATORS]
    cells += [{"calibration": rows} for rows in CALIBRATIONS]

    def compute(cell: Row) -> Row | list[Row]:
        if "validator" in cell:
            return judged(cell["validator"], list(tasks(tables, cell["fitted"])), [])
        return calibration(list(tasks(tables, cell["calibration"])), [])

    settings = {"rows": MOST_ROWS, "later": MOST_LATER, "held out": list(HELD_OUT), "tables": sorted(tables)}
    for row in complete(options.output / "benchmark-tables-held-out.json", settings, cells, compute):
        print({k: v for k, v in row.items() if k != "kinds"})


if __name__ == "__main__":
    main()
