"""Trains the judge on real columns and writes the weights that the package carries.

    WAKESLEEP_DATA=FOLDER python -m wakesleep.domains.strings.columns.judge.train [--folds FILE]

The shipped network is fitted to all tables and concepts; its thresholds, and every figure that is reported, come from
networks fitted without the table they judge (`--folds` writes those).
"""

import argparse
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from wakesleep.domains.strings.columns.judge import sources
from wakesleep.domains.strings.columns.judge.examples import (
    DERIVED,
    STRANGER,
    Examples,
    of_concepts,
    of_tables,
    read_examples,
    write_examples,
)
from wakesleep.domains.strings.columns.judge.fitting import ALARMS, Settings, fit_net, judged, offset, thresholds
from wakesleep.domains.strings.columns.judge.net import WEIGHTS, Net, Weights, read_weights
from wakesleep.errors import Refusal

FOLDS = 5
CALIBRATION = "random half"


def main() -> None:
    """Makes the examples, fits the networks of the folds and the shipped one, and writes them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=WEIGHTS)
    parser.add_argument("--folds", type=Path, help="where to write the weights of each fold")
    parser.add_argument("--examples", type=Path, help="where to keep the examples, or to read those kept before")
    parser.add_argument("--recalibrate", action="store_true", help="keep the networks and fit their thresholds anew")
    options = parser.parse_args()
    if options.recalibrate and not options.folds:
        raise Refusal("--recalibrate needs --folds with the networks of each fold.")
    examples = make_examples(options.examples)
    if options.recalibrate:
        net, fold_nets = read_weights(options.output).net, [w.net for w in read_folds(options.folds)]
    else:
        fold_nets, net = fit_folds(examples, Settings()), fit_net(examples, Settings())
    folds = calibrated(fold_nets, examples)
    alarms = [judged(fold_nets[fold_of(examples)[e.table]], e) for e in examples if e.table and e.way == CALIBRATION]
    shipped = Weights(net, np.array(list(ALARMS)), thresholds(alarms), card(examples, folds))
    shipped.write(options.output)
    print(json.dumps(shipped.card, indent=1))
    if options.folds:
        options.folds.write_text(json.dumps([w.as_dict() for w in folds]) + "\n", encoding="utf-8")


def make_examples(kept: Path | None = None) -> list[Examples]:
    """Makes the examples of the tables and concepts in the data folder, or reads those that were kept in a file."""
    if kept and kept.exists():
        return read_examples(kept)
    folder = sources.data_folder()
    concepts = sources.read_concepts(folder / "string_concepts")
    start = time.process_time()
    found = list(of_tables(sources.text_tables(folder / "tables"), concepts))
    found += of_concepts(concepts)
    print(f"{len(found)} columns cut, {time.process_time() - start:.0f} CPU seconds", flush=True)
    if kept:
        write_examples(kept, found)
    return found


def fold_numbers(tables: Iterable[str]) -> dict[str, int]:
    """Returns the fold of each table: tables in alphabetical order, dealt in turn."""
    return {table: i % FOLDS for i, table in enumerate(sorted(tables))}


def fold_of(examples: Sequence[Examples]) -> dict[str, int]:
    """Returns the fold of each table of the examples; concepts are of none."""
    return fold_numbers({e.table for e in examples} - {""})


def read_folds(path: Path) -> list[Weights]:
    """Returns the weights of each fold that `--folds` wrote."""
    try:
        return [Weights.restore(w) for w in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Refusal(
            f"{path} does not hold the weights of folds ({error}): train them with --folds {path}."
        ) from error


def fit_folds(examples: Sequence[Examples], settings: Settings, columns: np.ndarray | None = None) -> list[Net]:
    """Returns, for each fold, a network fitted without its tables."""
    folds, found = fold_of(examples), []
    for fold in range(FOLDS):
        found.append(fit_net([e for e in examples if folds.get(e.table) != fold], settings, columns))
        print(f"fold {fold + 1} of {FOLDS} fitted", flush=True)
    return found


def calibrated(nets: Sequence[Net], examples: Sequence[Examples]) -> list[Weights]:
    """Fits each fold's thresholds to tables of the other folds, judged by the networks that left them out."""
    folds = fold_of(examples)
    alarms = [(folds[e.table], judged(nets[folds[e.table]], e)) for e in examples if e.table and e.way == CALIBRATION]
    return [
        Weights(net, np.array(list(ALARMS)), thresholds([a for f, a in alarms if f != fold]), {"fold": fold})
        for fold, net in enumerate(nets)
    ]


def card(examples: Sequence[Examples], folds: Sequence[Weights]) -> dict[str, Any]:
    """Returns what the weights were made of and what they reach on tables that the network did not see."""
    at = fold_of(examples)
    return {
        "data": "22 public tables and 3,285 string concepts (the collection and the paper's background columns)",
        "words": "English words (SCOWL), names and places (Faker, GeoNames, census of the United States): wordlist.npz",
        "tables": sorted(at),
        "columns": {
            "tables": len({(e.table, e.column) for e in examples if e.table and not e.column.startswith(DERIVED)}),
            "derived": len({(e.table, e.column) for e in examples if e.column.startswith(DERIVED)}),
            "cut": len(examples),
        },
        "settings": asdict(Settings()) | {"folds": FOLDS},
        "out_of_fold": {
            way: measured([(folds[at[e.table]], e) for e in examples if e.table and e.way == way])
            for way in ("half", "random half", "ten")
        },
    }


def measured(pairs: Sequence[tuple[Weights, Examples]], share: float = 0.97) -> dict[str, float]:
    """Returns false alarms, detection and score at a share, averaged over columns, on mistakes made for training."""
    alarms, caught = [], []
    for weights, e in pairs:
        z, w = judged(weights.net, e)
        alarms.append(float(w[z > weights.threshold(share)].sum()))
        wrong = weights.net(e.wrong)[:, 0] - offset(weights.net, e) > weights.threshold(share)
        damaged = [c for c, k in zip(wrong.tolist(), e.kinds, strict=True) if k != STRANGER]
        caught.append(float(np.mean(damaged)) if damaged else 1.0)
    alarm, detected = float(np.mean(alarms)), float(np.mean(caught))
    return {"alarms": round(alarm, 4), "detected": round(detected, 4), "score": round((1 - alarm + detected) / 2, 4)}


if __name__ == "__main__":
    main()
