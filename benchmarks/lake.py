"""A catalogue of 2,000 files, undisturbed, and killed and resumed: the same rows, and how fast they are made.

    WAKESLEEP_DATA=... python benchmarks/lake.py [--files 2000] [--jobs 1]

The tables of the data folder `tables/` are described as they are. The 2,000 files are cut from them, since the whole
tables so often would take hours: each is 20 consecutive rows of 3 neighbouring columns of one table, drawn with a fixed
seed. Every fourth file is Parquet, every eighth gzip, every hundredth is damaged. The second run over them is killed
with SIGKILL three times. CPU seconds are those of the command and its processes. What 100,000 tables take is
extrapolated from both kinds. The results are kept in results/benchmark-lake.json.
"""

import argparse
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from wakesleep.data.downloads import find
from wakesleep.data.tables import Table, read_table
from wakesleep.domains.strings.lake.like import like
from wakesleep.paper.results import dump

ROWS, COLUMNS, SEED, KILLS = 20, 3, 0, 3
EXTRAPOLATED_TABLES = 100_000
QUESTION = "2024-01-31"


def make_files(folder: Path, count: int) -> None:
    """Writes the files of the lake."""
    tables = [read_table(path, rows="sample") for path in sorted(find("tables/apache_log.csv").parent.glob("*.csv"))]
    source = random.Random(SEED)
    for i in range(count):
        part = stretch(tables[i % len(tables)], source)
        place = folder / f"part {i % 20:02d}"
        place.mkdir(exist_ok=True)
        text = part.write_csv()
        if i % 100 == 99:
            (place / f"{i:05d}.parquet").write_bytes(text.encode()[: len(text) // 2])
        elif i % 4 == 3:
            part.write_parquet(place / f"{i:05d}.parquet")
        elif i % 8 == 0:
            (place / f"{i:05d}.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
        else:
            (place / f"{i:05d}.csv").write_text(text)


def stretch(table: Table, source: random.Random) -> pl.DataFrame:
    """Some consecutive rows of neighbouring columns of a table."""
    first = source.randrange(max(1, len(table.columns[0].values) - ROWS))
    left = source.randrange(max(1, len(table.columns) - COLUMNS))
    columns = table.columns[left : left + COLUMNS]
    return pl.DataFrame({c.name: pl.Series(list(c.values[first : first + ROWS]), dtype=pl.String) for c in columns})


def command(folder: Path, output: Path, jobs: int) -> list[str]:
    words = ["catalogue", str(folder), "--output", str(output), "--jobs", str(jobs), "--json"]
    return [sys.executable, "-m", "wakesleep", *words]


def run(words: list[str]) -> dict[str, Any]:
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)[0]
    return found


def finished(journal: Path) -> set[str]:
    """The files that a journal has a whole line of."""
    lines = journal.read_bytes().splitlines(keepends=True) if journal.exists() else []
    return {json.loads(line)[0]["file"] for line in lines if line.endswith(b"\n")}


def kill_at(words: list[str], journal: Path, files: int) -> set[str]:
    """Starts the command and kills it once so many files are finished; returns these."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") >= files):
        time.sleep(1.0)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return finished(journal)


def measure(folder: Path, count: int, jobs: int) -> list[dict[str, Any]]:
    lake = folder / "lake"
    lake.mkdir()
    make_files(lake, count)
    tables = run(command(find("tables/apache_log.csv").parent, folder / "tables.parquet", jobs))
    whole, resumed = folder / "whole.parquet", folder / "resumed.parquet"
    first = run(command(lake, whole, jobs))
    journal = folder / "resumed.parquet.journal"
    before = [kill_at(command(lake, resumed, jobs), journal, count * (i + 1) // (KILLS + 1)) for i in range(KILLS)]
    last = run(command(lake, resumed, jobs))
    again = run(command(lake, resumed, jobs))
    return [
        counts("whole tables", tables, folder / "tables.parquet"),
        counts("undisturbed", first, whole),
        {
            "run": f"killed {KILLS} times",
            "finished_at_each_kill": [len(names) for names in before],
            "finished_files_kept": all(a <= b for a, b in pairwise(before)),
            "described_after_the_last_kill": last["described"],
            "finished_files_described_again": len(before[-1]) - last["unchanged"],
            "same_rows": pl.read_parquet(whole).equals(pl.read_parquet(resumed)),
        },
        {"run": "nothing changed", "described": again["described"], "cpu_seconds": round(again["cpu_seconds"], 1)},
        {"run": f"like {QUESTION}", **ask(whole)},
        extrapolated("whole tables", tables, folder / "tables.parquet"),
        extrapolated("small tables", first, whole),
    ]


def counts(name: str, found: dict[str, Any], catalogue: Path) -> dict[str, Any]:
    row = {key: round(found[key], 1) for key in ("files", "columns", "failed", "seconds", "cpu_seconds")}
    rate = found["columns"] / found["cpu_seconds"]
    a_second = {"columns_a_second": round(found["columns_a_second"], 1), "columns_a_cpu_second": round(rate, 1)}
    return {"run": name, **row, **a_second, "catalogue_bytes": catalogue.stat().st_size}


def extrapolated(name: str, found: dict[str, Any], catalogue: Path) -> dict[str, Any]:
    times = EXTRAPOLATED_TABLES / found["files"]
    return {
        "run": f"{EXTRAPOLATED_TABLES:,} {name}, extrapolated",
        "columns": round(found["columns"] * times),
        "cpu_hours": round(found["cpu_seconds"] * times / 3600, 1),
        "catalogue_mb": round(catalogue.stat().st_size * times / 1e6),
    }


def ask(catalogue: Path) -> dict[str, Any]:
    start = time.process_time()
    found = like(catalogue, [QUESTION])
    seconds = round(time.process_time() - start, 2)
    best = [f"{m.file}:{m.column}" for m in found.matches[:3]]
    return {"searched": found.searched, "fit": len(found.matches), "best": best, "cpu_seconds": seconds}


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--files", type=int, default=2000)
    words.add_argument("--jobs", type=int, default=1)
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), given.files, given.jobs)
    settings = {"files": given.files, "rows": ROWS, "columns": COLUMNS, "jobs": given.jobs, "effort": "quick"}
    table = dump({"rows": rows, "settings": settings})
    Path("results/benchmark-lake.json").write_text(table)
    print(table)


if __name__ == "__main__":
    main()
