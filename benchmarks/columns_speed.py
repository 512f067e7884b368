"""How long a table of text takes to explain, whole process, beside rexpy in the same run.

    WAKESLEEP_DATA=... python benchmarks/columns_speed.py [--repeats 3]

Columns are the text columns of the tables in the data folder `tables/`, 1,000 rows each, in a CSV file; rexpy reads the
same file with the csv module. CPU seconds (user and system) and peak memory are those of the child process; ratios are
of medians. `accepts` is timed on values that are all different (order numbers, names, e-mail addresses; the best of
`--repeats` runs, each without what was cached before) and on a column of repeated values. The results are kept in
results/benchmark-columns-speed.json; with `--only accepts` or `--only processes` the other rows of it stay.
"""

import argparse
import csv
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from wakesleep.data.downloads import find
from wakesleep.data.tables import read_table
from wakesleep.domains.strings.columns import explain, restore
from wakesleep.paper.results import dump

ROWS = 1000
SIZES = (10, 100)
SYLLABLES = ("an", "be", "ca", "da", "el", "fa", "gi", "ho", "il", "jo", "ka", "le", "mi", "no")
OURS = [sys.executable, "-m", "wakesleep", "explain", "strings"]
REXPY = """
import csv, sys
from tdda import rexpy
rows = list(csv.reader(open(sys.argv[1], newline="", encoding="utf-8")))
for i in range(len(rows[0])):
    print(rows[0][i], rexpy.extract([r[i] for r in rows[1:] if r[i]]))
"""


class Cost(NamedTuple):
    """CPU seconds and peak megabytes of one process."""

    cpu_seconds: float
    peak_mb: float


def texts() -> list[list[str]]:
    """Text columns of the tables, each cut or repeated to `ROWS` rows."""
    found = []
    for path in sorted(find("tables/apache_log.csv").parent.glob("*.csv")):
        for column in read_table(path, rows="sample").columns:
            values = [v for v in column.values if v and "\n" not in v]
            if len(set(values)) >= 2 and not all(v.replace(".", "", 1).lstrip("-").isdigit() for v in values):
                found.append((values * (ROWS // len(values) + 1))[:ROWS])
    return found


def write(path: Path, columns: list[list[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([f"column {i + 1}" for i in range(len(columns))])
        writer.writerows(zip(*columns, strict=True))


def run(command: list[str]) -> Cost:
    """Runs a process to its end."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def accepts_rate(values: list[str], new: list[str], repeats: int) -> float:
    """Values judged in a CPU second, in the best of some runs."""
    stored, seconds = explain(values).as_dict(), []
    for _ in range(repeats):
        found = restore(stored)
        start = time.process_time()
        found.accepts(new)
        seconds.append(time.process_time() - start)
    return len(new) / min(seconds)


def different(number: int) -> dict[str, list[str]]:
    """Columns of values that are all different."""
    draw = random.Random(0)

    def name() -> str:
        return "".join(draw.choices(SYLLABLES, k=draw.randint(2, 5))).capitalize()

    return {
        "order numbers": [f"ORD-{i}" for i in draw.sample(range(10_000, 10_000 + 2 * number), number)],
        "names": list(dict.fromkeys(f"{name()} {name()}" for _ in range(2 * number)))[:number],
        "e-mail addresses": list(
            dict.fromkeys(f"{name()}.{name()}{draw.randint(1, 99)}@example.org".lower() for _ in range(2 * number))
        )[:number],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path("results"))
    parser.add_argument("--only", choices=("processes", "accepts"), help="measure these rows, keep the others")
    given = parser.parse_args()
    path = given.output / "benchmark-columns-speed.json"
    kept = json.loads(path.read_text())["rows"] if given.only else []
    rows = [r for r in kept if "tool" in r] if given.only == "accepts" else processes(given.repeats)
    rows += [r for r in kept if "accepts" in r] if given.only == "processes" else acceptance(given.repeats)
    path.write_text(dump({"rows": rows, "settings": {"rows": ROWS, "repeats": given.repeats}}))


def processes(repeats: int) -> list[dict[str, Any]]:
    """The cost of explaining tables of some columns, ours and rexpy's."""
    columns: list[list[str]] = texts()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            path = Path(folder) / f"{size}.csv"
            write(path, (columns * (size // len(columns) + 1))[:size])
            commands = {"wakesleep": [*OURS, str(path)], "rexpy": [sys.executable, "-c", REXPY, str(path)]}
            made = {name: [run(command) for _ in range(repeats)] for name, command in commands.items()}
            cpu = {name: statistics.median(c.cpu_seconds for c in costs) for name, costs in made.items()}
            for name, costs in made.items():
                row = {
                    "tool": name,
                    "columns": size,
                    "cpu_seconds": round(cpu[name], 2),
                    "spread": [
                        round(min(c.cpu_seconds for c in costs), 2),
                        round(max(c.cpu_seconds for c in costs), 2),
                    ],
                    "ratio_to_rexpy": round(cpu[name] / cpu["rexpy"], 2),
                    "peak_mb": round(max(c.peak_mb for c in costs)),
                }
                rows.append(row)
                print(row)
    return rows


def acceptance(repeats: int) -> list[dict[str, Any]]:
    """Values that `accepts` judges in a CPU second, by their kind."""
    rates = {kind: accepts_rate(values[:ROWS], values[ROWS:], repeats) for kind, values in different(50_000).items()}
    words = ["open", "closed", "held"]
    rates["repeated words"] = accepts_rate(words * 300, [*words, "opne"] * 100_000, repeats)
    rows = [{"accepts": kind, "values_a_cpu_second": round(rate)} for kind, rate in rates.items()]
    print(rows)
    return rows


if __name__ == "__main__":
    main()
