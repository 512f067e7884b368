"""Makes the shipped files of this package from real columns: `background.json` and `prior.json`.

    python -m wakesleep.domains.strings.columns.learn DATA FOLDER [--rounds 3]

DATA holds `string_concepts/concepts.jsonl` and `tables/*.csv`, of which the first half of the rows is used. Only columns of
`training_columns` are read: none of the paper's.
"""

import csv
import json
from pathlib import Path

import numpy as np

from wakesleep.domains.strings.columns.background import fit_bigrams

MOST_ROWS = 1000


def concept_columns(data: Path) -> list[list[str]]:
    """The string concepts, ten values each."""
    lines = (data / "string_concepts" / "concepts.jsonl").read_text(encoding="utf-8").splitlines()
    return [[*c["train"], *c["test"]] for c in map(json.loads, lines)]


def table_columns(data: Path) -> list[list[str]]:
    """The first halves of the columns of the given tables, empty cells left out."""
    csv.field_size_limit(10**9)
    found = []
    for path in sorted((data / "tables").glob("*.csv")):
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            rows = list(csv.reader(file))
        for i in range(len(rows[0])):
            values = [r[i] for r in rows[1:] if i < len(r) and r[i] != ""][: 2 * MOST_ROWS]
            found.append(values[: len(values) // 2])
    return [v for v in found if len(set(v)) >= 2]


def make_background(data: Path, folder: Path) -> None:
    """Writes `background.json`: bigrams of the distinct values, at most 50 a column so that no column outweighs the rest."""
    columns = concept_columns(data) + table_columns(data)
    table = fit_bigrams(v for c in columns for v in list(dict.fromkeys(c))[:50])
    rounded = np.round(-1000 * table).astype(int).tolist()
    (folder / "background.json").write_text(json.dumps({"millinats": rounded}, separators=(",", ":")), encoding="utf-8")
