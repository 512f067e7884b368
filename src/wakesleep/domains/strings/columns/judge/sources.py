"""The real columns that the judge learns from: tables and string concepts of the data folder."""

import csv
import json
import os
import re
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from wakesleep.errors import Refusal

LONGEST_FIELD = 10**7
MOST_SOURCE_ROWS = 2000
"""Rows of a column that are used."""
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*|\d+\.\d*|\.\d+)([eE][+-]?\d+)?")

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


def read_concepts(folder: Path) -> list[list[str]]:
    """Returns the ten values of each string concept: the collection and the paper's background, no novel ones."""
    found = []
    for name in ("concepts.jsonl", "paper/background.jsonl"):
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            concept = json.loads(line)
            found.append([*concept["train"], *concept["test"]])
    return found
