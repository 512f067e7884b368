"""The judge of columns with parts of it left out, fitted anew for each fold of tables."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from wakesleep.domains.strings.columns.judge.column import feature_names
from wakesleep.domains.strings.columns.judge.examples import STRANGER, Examples
from wakesleep.domains.strings.columns.judge.fitting import Settings
from wakesleep.domains.strings.columns.judge.mistakes import CHOOSING
from wakesleep.domains.strings.columns.judge.net import HEADS, Net
from wakesleep.domains.strings.columns.judge.train import (
    FOLDS,
    calibrated,
    fit_folds,
    fold_without,
    make_examples,
    measured,
)

GRAMS = ("pair", "triple", "four letters")
Keep = Callable[[str, str], bool]
"""Whether a feature is kept, by its group and its name."""

EPOCHS = 2
"""Fewer than the judge is trained for: every row of the ablation alike."""
ABLATIONS: dict[str, Keep] = {
    "everything": lambda group, name: True,
    "without row order": lambda group, name: group not in ("fresh", "rows"),
    "without chance order": lambda group, name: group not in ("alone", "known"),
    "without n-grams": lambda group, name: group != "steps" and name not in GRAMS,
    "without near duplicates": lambda group, name: group not in ("near", "near rate"),
    "without the program": lambda group, name: group != "program",
    "news only": lambda group, name: group in ("fresh", "rows", "alone"),
    "value, form and characters only": lambda group, name: name in ("value", "form", "characters"),
    "without the word list": lambda group, name: group != "words",
    "linear": lambda group, name: True,
    "trained without the held-out kinds": lambda group, name: True,
    "without learned weights": lambda group, name: True,
}
BY_ROWS = [i for i, name in enumerate(feature_names()) if name.startswith("rows: ")]
"""Features of news at each level in nats, by the share of later rows that are such news."""


class Unlearned(Net):
    """Says of each value how rare its rarest news is, in nats, for each head."""

    def __call__(self, features: np.ndarray) -> np.ndarray:
        return np.repeat(features[:, BY_ROWS].max(1, keepdims=True), len(HEADS), axis=1)


UNLEARNED = Unlearned(*[np.zeros(0)] * 7)


@cache
def examples(gathered: Path, kept: Path | None) -> tuple[Examples, ...]:
    """All examples of tables, and those of every fourth concept."""
    made = make_examples(gathered, kept)
    return tuple(e for i, e in enumerate(made) if e.table or i % 4 == 0)


def ablation(name: str, gathered: Path, kept: Path | None) -> dict[str, Any]:
    """Scores out of fold, on mistakes as the judge is trained on, from examples kept in a file or made anew."""
    keep = ABLATIONS[name]
    columns = np.array([keep(*f.split(": ", 1)) for f in feature_names()])
    settings = Settings(units=1 if name == "linear" else 32, epochs=EPOCHS)
    given = list(examples(gathered, kept))
    seen = [_chosen_kinds(e) for e in given] if name == "trained without the held-out kinds" else given
    nets = [UNLEARNED] * FOLDS if name == "without learned weights" else fit_folds(seen, settings, columns)
    folds = calibrated(nets, given)
    found = {}
    for way in ("half", "ten"):
        pairs = [(fold_without(folds, e.table), e) for e in given if e.table and e.way == way]
        hidden = [(w, _kinds(e, lambda k: k not in CHOOSING)) for w, e in pairs]
        found[way] = measured(pairs) | {"held_out_kinds": measured(hidden)["detected"]}
    return found


def _chosen_kinds(given: Examples) -> Examples:
    return _kinds(given, lambda k: k in CHOOSING)


def _kinds(given: Examples, keep: Callable[[str], bool]) -> Examples:
    """The examples with mistakes of some kinds only, and strangers."""
    kept = [i for i, k in enumerate(given.kinds) if keep(k) or k == STRANGER]
    return replace(given, wrong=given.wrong[kept], kinds=[given.kinds[i] for i in kept])
