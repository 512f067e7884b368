"""The real columns that the judge learns from: tables and string concepts of the data folder, tables of packages."""

import csv
import hashlib
import json
import os
import re
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from wakesleep.domains.strings.columns.judge.packages import PACKAGES
from wakesleep.errors import Refusal

LONGEST_FIELD = 10**7
MOST_SOURCE_ROWS = 2000
"""Rows of a column that are used."""
MOST_GATHERED_COLUMNS = 8
"""Text columns of a table of a package that are used, its first ones."""
HELD_OUT_OF = 3
"""Of the groups of gathered tables, one in this many is held out."""
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*|\d+\.\d*|\.\d+)([eE][+-]?\d+)?")

APART = {p.name for p in PACKAGES if p.apart}

Table = dict[str, list[str]]


def data_folder() -> Path:
    """Returns the folder named by WAKESLEEP_DATA; refuses where there is none."""
    folder = Path(os.environ.get("WAKESLEEP_DATA", ""))
    if not os.environ.get("WAKESLEEP_DATA") or not folder.is_dir():
        raise Refusal("WAKESLEEP_DATA must name the data folder, with tables/ and string_concepts/ in it.")
    return folder


def read_tables(folder: Path) -> Iterator[tuple[str, Table]]:
    """Returns the name and the columns of every CSV file; empty cells are left out."""
    csv.field_size_limit(LONGEST_FIELD)
    for path in sorted(folder.glob("*.[ct]sv")):
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            rows = list(csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
        names = rows[0] if rows else []
        yield (
            path.stem,
            {
                name or str(i): [row[i] for row in rows[1:] if i < len(row) and row[i] != ""]
                for i, name in enumerate(names)
            },
        )


def is_text(values: Sequence[str]) -> bool:
    """Returns whether a column is neither numbers nor prose, and has at least 20 values, two of them different."""
    if len(values) < 20 or len(set(values)) < 2:
        return False
    if sum(bool(_NUMBER.fullmatch(v)) for v in values) >= 0.95 * len(values):
        return False
    some = list(dict.fromkeys(values))[:500]
    return statistics.median(len(v.split()) for v in some) < 6 and statistics.median(map(len, some)) <= 120


def text_tables(folder: Path) -> dict[str, Table]:
    """Returns the text columns of every table that has any."""
    found = {name: {n: v for n, v in table.items() if is_text(v)} for name, table in read_tables(folder)}
    return {name: columns for name, columns in found.items() if columns}


def gathered_tables(folder: Path, held_out: bool) -> dict[str, Table]:
    """Returns the text columns of the tables that `gather` wrote: those held out, or those to learn from."""
    if not folder.is_dir():
        raise Refusal(f"{folder} is no folder of gathered tables: make it by the command `gather` beside this module.")
    found = text_tables(folder)
    return {
        name: dict(list(columns.items())[:MOST_GATHERED_COLUMNS])
        for name, columns in found.items()
        if is_held_out(name) == held_out
    }


def group_of(table: str) -> str:
    """Returns what a table is held out with: its package, or itself where the package's tables are apart."""
    package = table.partition("--")[0]
    return table if package in APART else package


def is_held_out(table: str) -> bool:
    """Returns whether a gathered table is kept for testing, by a hash of its group."""
    return int(hashlib.sha256(group_of(table).encode()).hexdigest(), 16) % HELD_OUT_OF == 0


def read_concepts(folder: Path) -> list[list[str]]:
    """Returns the ten values of each string concept: the collection and the paper's background, no novel ones."""
    found = []
    for name in ("concepts.jsonl", "paper/background.jsonl"):
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            concept = json.loads(line)
            found.append([*concept["train"], *concept["test"]])
    return found
