"""Contracts measured: every row of a large table checked, planted errors found, alarms as stated.

    python benchmarks/contract.py results/benchmark-contract.json

The alarms are measured on halves of the tables in WAKESLEEP_DATA: a contract is drafted from one half, the other is
checked, for halves drawn at random and for the first and the last. What the contract states was settled on every second
table by name, and at random on the split by seed 1; docs/contracts.md says what else was looked at.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

ROWS, ERRORS, DRAWN_ANEW = 1_000_000, 50, 10_000
SPLITS: dict[str, tuple[int | str, ...]] = {"at random": (2, 3), "in order": ("first", "last")}
STATUS, COUNTRIES = ("open", "shipped", "returned", "lost"), ("DE", "FR", "IT", "ES", "JP", "US", "CA", "SE")
SPOILERS = {
    "order": lambda v: v.replace("0", "O") if "0" in v else v + "X",
    "day": lambda v: v[:5] + "02-30",
    "customer": lambda v: v.lower(),
    "price": lambda v: "free",
    "quantity": lambda v: "-" + v + "000",
    "status": lambda v: v.upper(),
    "country": lambda v: v + " ",
    "email": lambda v: v.replace("@", " at "),
    "time": lambda v: "25" + v[2:],
    "phone": lambda v: v + "\n",
}


def made_table(rows: int, seed: int) -> dict[str, list[str]]:
    """A table of ten columns of text and numbers."""
    rng = random.Random(seed)
    draw, pick = rng.randrange, rng.choice
    names = [f"{pick('abcdefghij')}{pick('aeiou')}{pick('lmnrst')}{draw(1000)}" for _ in range(5000)]
    return {
        "order": [f"ORD-{1_000_000 + i}" for i in range(rows)],
        "day": [f"20{draw(10, 25)}-{draw(1, 13):02d}-{draw(1, 29):02d}" for _ in range(rows)],
        "customer": [f"K{draw(10000):04d}" for _ in range(rows)],
        "price": [f"{draw(100, 99999) / 100:.2f}" for _ in range(rows)],
        "quantity": [str(draw(1, 13)) for _ in range(rows)],
        "status": [pick(STATUS) for _ in range(rows)],
        "country": [pick(COUNTRIES) for _ in range(rows)],
        "email": [f"{pick(names)}@{pick(names[:200])}.com" for _ in range(rows)],
        "time": [f"{draw(24):02d}:{draw(60):02d}:{draw(60):02d}" for _ in range(rows)],
        "phone": [f"({draw(200, 1000)}) 555-{draw(10000):04d}" for _ in range(rows)],
    }


def plant(table: dict[str, list[str]], count: int) -> set[tuple[str, int]]:
    """Spoils cells; returns their columns and rows, from one."""
    rng = random.Random(7)
    rows = rng.sample(range(len(table["order"])), count)
    cells = [(list(table)[i % len(table)], row) for i, row in enumerate(rows)]
    for name, row in cells:
        table[name][row] = SPOILERS[name](table[name][row])
    return {(name, row + 1) for name, row in cells}


CHECK = """
import json, re, sys, time
import polars as pl
from pathlib import Path
from wakesleep.domains.strings.table.checking import check
from wakesleep.domains.strings.table.contract import read_contract
source = pl.read_parquet(sys.argv[2]) if sys.argv[3] == "frame" else sys.argv[2]
start = time.process_time()
verdict = check(read_contract(Path(sys.argv[1])), source)
peak = re.search(r"VmHWM:\\s*([0-9]+)", Path("/proc/self/status").read_text())[1]
cells = [[f.column, row] for f in verdict.faults for row in f.rows]
print(json.dumps({"cells": cells, "cpu": time.process_time() - start, "megabytes": int(peak) / 1024}))
"""


def large_table(folder: Path, rows: int) -> dict[str, Any]:
    """Checks the same large table as CSV, as Parquet and as a Polars frame."""
    from wakesleep.data.tables import read_table
    from wakesleep.domains.strings.columns.explanation import explain
    from wakesleep.domains.strings.table.drafting import draft

    clean = made_table(3000, 1)
    contract = draft(read_table(clean, rows="sample"), "orders", explain)
    (folder / "contract.yaml").write_text(contract.dumped())
    table = made_table(rows, 2)
    planted = plant(table, ERRORS)
    frame = pl.DataFrame(table)
    frame.write_csv(folder / "orders.csv")
    frame.write_parquet(folder / "orders.parquet")
    found: dict[str, Any] = {"rows": rows, "columns": len(table), "planted": len(planted)}
    for name, file in (("CSV", "orders.csv"), ("Parquet", "orders.parquet"), ("Polars frame", "orders.parquet")):
        kind = "frame" if name == "Polars frame" else "file"
        words = [sys.executable, "-c", CHECK, str(folder / "contract.yaml"), str(folder / file), kind]
        said = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
        cells = {(column, row) for column, row in said["cells"]}
        found[name] = {
            "found": len(cells & planted),
            "false_alarms": len(cells - planted),
            "cpu_seconds": round(said["cpu"], 1),
            "megabytes": round(said["megabytes"]),
        }
        print(name, found[name], sorted(planted - cells)[:5], sorted(cells - planted)[:5], flush=True)
    return found


def halves(path: Path, split: int | str) -> dict[str, float]:
    """Drafts from one half of a table and checks the other; `split` is a seed, or the half that is drafted from."""
    from wakesleep.data.tables import Column, Table, read_table
    from wakesleep.domains.strings.columns.explanation import explain
    from wakesleep.domains.strings.table.checking import check
    from wakesleep.domains.strings.table.drafting import draft

    table = read_table(path, rows="all")
    rows = list(range(table.rows))
    if isinstance(split, int):
        random.Random(split).shuffle(rows)
    half, other = sorted(rows[: len(rows) // 2]), sorted(rows[len(rows) // 2 :])
    if split == "last":
        half, other = other, half
    learned = Table([Column(c.name, [c.values[i] for i in half]) for c in table.columns], len(half))
    contract = draft(learned, path.name, explain)
    stated = contract.at_random if isinstance(split, int) else contract.in_order
    assert stated is not None
    verdict = check(contract, {c.name: [c.values[i] for i in other] for c in table.columns})
    found = {
        "rows_stated": stated.rows,
        "rows_found": verdict.alarms / verdict.height,
        "columns_stated": stated.columns,
        "columns_found": len({f.column for f in verdict.faults}) / len(table.columns),
    }
    print(path.name, split, {k: round(v, 4) for k, v in found.items()}, flush=True)
    return found


def alarms(folder: Path, splits: tuple[int | str, ...]) -> dict[str, Any]:
    """Averages over the tables, and over the splits: for the tables the form was settled on, the others, and all."""
    files = sorted(folder.glob("*.csv"))
    each = {f.name: {str(s): halves(f, s) for s in splits} for f in files}
    return summed(each)


def summed(each: dict[str, dict[str, dict[str, float]]]) -> dict[str, Any]:
    """The means by groups of tables, of what every split of every table gave, with intervals of found less stated."""
    names = sorted(each)
    groups = {"other tables": names[1::2], "tables settled on": names[::2], "all tables": names}
    found: dict[str, Any] = {"splits": len(each[names[0]])}
    for group, members in groups.items():
        some = [split for name in members for split in each[name].values()]
        found[group] = {k: round(sum(e[k] for e in some) / len(some), 4) for k in some[0]} | {"tables": len(members)}
        for what in ("rows", "columns"):
            more = [
                statistics.mean(e[f"{what}_found"] - e[f"{what}_stated"] for e in each[n].values()) for n in members
            ]
            found[group][f"{what}_more_95"] = interval(more)
        print(group, found[group], flush=True)
    flat = {f"{n}, {s}": {k: round(v, 4) for k, v in e.items()} for n, of in each.items() for s, e in of.items()}
    return found | {"each": flat}


def interval(values: list[float]) -> list[float]:
    """95 % of the means of the tables drawn anew."""
    rng = random.Random(0)
    means = sorted(statistics.mean(rng.choices(values, k=len(values))) for _ in range(DRAWN_ANEW))
    return [round(means[int(q * DRAWN_ANEW)], 3) for q in (0.025, 0.975)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("output", type=Path)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--parts", nargs="+", default=["check", *SPLITS], choices=["check", *SPLITS])
    given = parser.parse_args()
    found: dict[str, Any] = json.loads(given.output.read_text()) if given.output.exists() else {}
    if "check" in given.parts:
        with tempfile.TemporaryDirectory() as folder:
            found["check"] = large_table(Path(folder), given.rows)
    for name in [part for part in given.parts if part != "check"]:
        found[f"alarms {name}"] = alarms(Path(os.environ["WAKESLEEP_DATA"]) / "tables", SPLITS[name])
    given.output.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
