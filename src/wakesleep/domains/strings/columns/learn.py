"""Makes the shipped files of this package from real columns: `background.json` and `prior.json`.

    python -m wakesleep.domains.strings.columns.learn DATA FOLDER

DATA holds `string_concepts/concepts.jsonl` (none of the paper's columns) and `tables/*.csv`, of which the first half of
the rows is used. The prior is learned by memoised wake-sleep with exact replay. In the wake phase each column's memory
keeps the best programs proposed for its first values, scored on all of them, so that accidents of few values die out.
In the replay phase the grammar's choices are counted in the memories, each program by its weight: the new prior. At
last sub-programs that recur in many memories are mined into a library, and counted as choices of their own.
"""

import argparse
import csv
import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from wakesleep.domains.strings.columns.background import fit_bigrams
from wakesleep.domains.strings.columns.candidates import stray_scores
from wakesleep.domains.strings.columns.library import FEWEST_COLUMNS, LIBRARY, mine
from wakesleep.domains.strings.columns.nodes import Node
from wakesleep.domains.strings.columns.posterior import log_joint_of, null_marks, open_entries
from wakesleep.domains.strings.columns.prior import FIRST_GUESS, MORE_PARTS, Weights, log_prior, normalised, used
from wakesleep.domains.strings.columns.slots import Reading

MOST_LEARNED_ROWS, MOST_LEARNED_VALUES, COLUMN_MEMORY_SIZE = 1000, 40, 10
LEAST_COUNT = 0.01
GUESS_WEIGHT = 0.5
"""Columns' worth of the first guess in the learned counts."""


def concept_columns(data: Path) -> list[list[str]]:
    """Returns the string concepts, ten values each."""
    lines = (data / "string_concepts" / "concepts.jsonl").read_text(encoding="utf-8").splitlines()
    return [[*c["train"], *c["test"]] for c in map(json.loads, lines)]


def table_columns(data: Path) -> list[list[str]]:
    """Returns the first halves of the columns of the given tables, empty cells left out."""
    csv.field_size_limit(10**9)
    found = []
    for path in sorted((data / "tables").glob("*.csv")):
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            rows = list(csv.reader(file))
        for i in range(len(rows[0])):
            values = [r[i] for r in rows[1:] if i < len(r) and r[i] != ""][: 2 * MOST_LEARNED_ROWS]
            found.append(values[: len(values) // 2])
    return [v for v in found if len(set(v)) >= 4]


def make_background(data: Path, folder: Path) -> None:
    """Writes `background.json`: bigrams of the distinct values, at most 50 a column."""
    columns = concept_columns(data) + table_columns(data)
    table = fit_bigrams(v for c in columns for v in list(dict.fromkeys(c))[:50])
    rounded = np.round(-1000 * table).astype(int).tolist()
    (folder / "background.json").write_text(json.dumps({"millinats": rounded}, separators=(",", ":")), encoding="utf-8")


def wake(values: list[str], reading: Reading) -> dict[Node, float]:
    """Returns a column's memory: programs proposed for the first half of its different values, weighted by all."""
    distinct = list(dict.fromkeys(values))
    distinct = distinct[:: -(-len(distinct) // MOST_LEARNED_VALUES)]
    first = distinct[: max(2, len(distinct) // 2)]
    strays = stray_scores(distinct)
    programs = [e.program for e in open_entries(first, null_marks(first), reading, COLUMN_MEMORY_SIZE)]
    scores = [log_joint_of(z, distinct, strays, reading) for z in programs]
    best = max(scores)
    weights = [math.exp(s - best) for s in scores]
    return {z: w / sum(weights) for z, w in zip(programs, weights, strict=True)}


def learn_prior(columns: list[list[str]], rounds: int, with_library: bool = True) -> dict[str, float]:
    """Returns pseudo-counts of the grammar's choices after some rounds of wake and replay."""
    counts: dict[str, float] = dict(FIRST_GUESS)
    for _ in range(rounds):
        counts = replay(memories_of(columns, counts), normalised(counts))
    if with_library:
        memories = memories_of(columns, counts)
        weights = normalised(counts)
        library = mine(memories, lambda parts: -sum(log_prior(p, weights) - MORE_PARTS for p in parts))
        counts = replay(memories, normalised({**counts, LIBRARY: sum(library.values()), **library}))
        counts = {k: v for k, v in counts.items() if not k.startswith(f"{LIBRARY}: ") or v >= FEWEST_COLUMNS}
        counts[LIBRARY] = sum(v for k, v in counts.items() if k.startswith(f"{LIBRARY}: "))
    return counts


def memories_of(columns: list[list[str]], counts: Mapping[str, float]) -> list[dict[Node, float]]:
    """Returns the memory of each column under a prior."""
    reading = Reading(normalised(counts))
    return [wake(values, reading) for values in columns]


def replay(memories: list[dict[Node, float]], weights: Weights) -> dict[str, float]:
    """Returns the choices made in the memories, each program by its weight, with some of the first guess."""
    found: dict[str, float] = {k: GUESS_WEIGHT * v for k, v in FIRST_GUESS.items()}
    for memory in memories:
        for program, weight in memory.items():
            for choice, times in used(program, weights).items():
                found[choice] = found.get(choice, GUESS_WEIGHT * 0.1) + weight * times
    return found


def main() -> None:
    """Writes both files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--concepts", type=int, default=600)
    parser.add_argument("--no-library", action="store_true", help="learn the grammar alone")
    options = parser.parse_args()
    make_background(options.data, options.folder)
    concepts = concept_columns(options.data)
    columns = concepts[:: max(1, len(concepts) // options.concepts)] + table_columns(options.data)
    counts = {
        k: max(round(v, 2), LEAST_COUNT)
        for k, v in sorted(learn_prior(columns, options.rounds, not options.no_library).items())
    }
    document = {"columns": len(columns), "rounds": options.rounds, "pseudo_counts": counts}
    (options.folder / "prior.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
