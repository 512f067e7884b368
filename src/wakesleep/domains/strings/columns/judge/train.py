"""Trains the judge on real columns and writes the weights that the package carries.

    python -m wakesleep.domains.strings.columns.judge.gather GATHERED
    WAKESLEEP_DATA=FOLDER python -m wakesleep.domains.strings.columns.judge.train GATHERED [--folds FILE]

The shipped network is fitted to the tables of the data folder, those that `gather` fetched, and concepts. Gathered
tables that `sources.is_held_out` names are left out of everything. Thresholds, and every figure that is reported of
the other tables, come from networks fitted without the table they judge (`--folds` writes those).
"""

import argparse
import json
import time
from collections.abc import Sequence, Set
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
from wakesleep.domains.strings.columns.judge.fitting import (
    CALIBRATED_ROWS,
    Settings,
    calibrated_weights,
    fit_net,
    judged,
    offset,
)
from wakesleep.domains.strings.columns.judge.judge import Alarm
from wakesleep.domains.strings.columns.judge.net import WEIGHTS, Net, Weights, read_weights
from wakesleep.domains.strings.columns.judge.packages import PACKAGES
from wakesleep.errors import Refusal

FOLDS = 5


def main() -> None:
    """Makes the examples, fits the networks of the folds and the shipped one, and writes them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gathered", type=Path, help="the folder that `gather` wrote")
    parser.add_argument("--output", type=Path, default=WEIGHTS)
    parser.add_argument("--folds", type=Path, help="where to write the weights of each fold")
    parser.add_argument("--examples", type=Path, help="where to keep the examples, or to read those kept before")
    parser.add_argument("--recalibrate", action="store_true", help="keep the networks and fit their thresholds anew")
    options = parser.parse_args()
    if options.recalibrate and not options.folds:
        raise Refusal("--recalibrate needs --folds with the networks of each fold.")
    examples = make_examples(options.gathered, options.examples)
    if options.recalibrate:
        net, fold_nets = read_weights(options.output).net, [w.net for w in read_folds(options.folds)]
    else:
        fold_nets, net = fit_folds(examples, Settings()), fit_net(examples, Settings())
    folds = calibrated(fold_nets, examples)
    shipped = calibrated_weights(net, out_of_fold(fold_nets, examples), card(examples, folds))
    shipped.write(options.output)
    print(json.dumps(shipped.card, indent=1))
    if options.folds:
        options.folds.write_text(json.dumps([w.as_dict() for w in folds]) + "\n", encoding="utf-8")


def make_examples(gathered: Path, kept: Path | None = None) -> list[Examples]:
    """Makes the examples of tables and concepts, or reads those that were kept in a file."""
    if kept and kept.exists():
        return read_examples(kept)
    folder = sources.data_folder()
    concepts = sources.read_concepts(folder / "string_concepts")
    more = sources.gathered_tables(gathered, held_out=False)
    start = time.process_time()
    found = list(of_tables(sources.text_tables(folder / "tables") | more, concepts, more))
    found += of_concepts(concepts)
    print(f"{len(found)} columns cut, {time.process_time() - start:.0f} CPU seconds", flush=True)
    if kept:
        write_examples(kept, found)
    return found


def fold_of(examples: Sequence[Examples]) -> dict[str, int]:
    """Returns the fold of each table: groups in alphabetical order, dealt in turn; concepts are of none."""
    tables = {e.table for e in examples} - {""}
    groups = sorted({sources.group_of(t) for t in tables})
    return {t: groups.index(sources.group_of(t)) % FOLDS for t in sorted(tables)}


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


def out_of_fold(
    nets: Sequence[Net], examples: Sequence[Examples], but: int | None = None
) -> dict[str, list[tuple[int, Alarm]]]:
    """Returns rows fitted on and legitimate values, by way, of tables judged by networks that left them out.

    Tables of the fold `but` are left out.
    """
    folds = fold_of(examples)
    found: dict[str, list[tuple[int, Alarm]]] = {way: [] for way in CALIBRATED_ROWS.values()}
    for e in examples:
        if e.table and e.way in found and folds[e.table] != but:
            found[e.way].append((e.rows, judged(nets[folds[e.table]], e)))
    return found


def calibrated(nets: Sequence[Net], examples: Sequence[Examples]) -> list[Weights]:
    """Fits each fold's thresholds to tables of the other folds, judged by the networks that left them out."""
    folds = fold_of(examples)
    return [
        calibrated_weights(net, out_of_fold(nets, examples, fold), {"left out": [t for t in folds if folds[t] == fold]})
        for fold, net in enumerate(nets)
    ]


def fold_without(folds: Sequence[Weights], table: str) -> Weights:
    """Returns the weights of the fold that left a table out."""
    for weights in folds:
        if table in weights.card["left out"]:
            return weights
    raise Refusal(f"No fold was trained without the table {table}: train the folds with it.")


def card(examples: Sequence[Examples], folds: Sequence[Weights]) -> dict[str, Any]:
    """Returns what the weights were made of and what they reach on tables that the network did not see."""
    at = fold_of(examples)
    gathered = {t for t in at if "--" in t}
    return {
        "data": "22 public tables, tables of packages, 3,285 string concepts (the collection, the paper's background)",
        "packages": {f"{p.name} {p.version}": p.licence for p in PACKAGES},
        "words": "English words (SCOWL), names and places (Faker, GeoNames, census of the United States): wordlist.npz",
        "tables": sorted(at),
        "columns": {
            "tables": _columns(examples, set(at) - gathered),
            "tables of packages": _columns(examples, gathered),
            "derived": len({(e.table, e.column) for e in examples if e.column.startswith(DERIVED)}),
            "cut": len(examples),
        },
        "settings": asdict(Settings()) | {"folds": FOLDS},
        "out_of_fold": {
            name: {
                way: measured([(fold_without(folds, e.table), e) for e in examples if e.table in some and e.way == way])
                for way in ("half", "random half", "ten")
            }
            for name, some in (("tables", set(at) - gathered), ("tables of packages", gathered))
        },
    }


def _columns(examples: Sequence[Examples], tables: Set[str]) -> int:
    """Returns the number of columns of some tables, those derived left out."""
    return len({(e.table, e.column) for e in examples if e.table in tables and not e.column.startswith(DERIVED)})


def measured(pairs: Sequence[tuple[Weights, Examples]]) -> dict[str, float]:
    """Returns false alarms, detection and score as usual, averaged over columns, on mistakes made for training."""
    alarms, caught = [], []
    for weights, e in pairs:
        threshold = weights.usual_threshold(e.rows)
        z, w = judged(weights.net, e)
        alarms.append(float(w[z > threshold].sum()))
        wrong = weights.net(e.wrong)[:, 0] - offset(weights.net, e) > threshold
        damaged = [c for c, k in zip(wrong.tolist(), e.kinds, strict=True) if k != STRANGER]
        caught.append(float(np.mean(damaged)) if damaged else 1.0)
    alarm, detected = float(np.mean(alarms)), float(np.mean(caught))
    return {"alarms": round(alarm, 4), "detected": round(detected, 4), "score": round((1 - alarm + detected) / 2, 4)}


if __name__ == "__main__":
    main()
