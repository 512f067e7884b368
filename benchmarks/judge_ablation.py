"""The judge of columns with parts of it left out, fitted anew for each fold of tables."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from wakesleep.domains.strings.columns.judge.column import feature_names
from wakesleep.domains.strings.columns.judge.examples import STRANGER, Examples
from wakesleep.domains.strings.columns.judge.fitting import Settings
from wakesleep.domains.strings.columns.judge.mistakes import CHOOSING
from wakesleep.domains.strings.columns.judge.net import Weights
from wakesleep.domains.strings.columns.judge.train import calibrated, fit_folds, make_examples

GRAMS = ("pair", "triple", "four letters")
Keep = Callable[[str, str], bool]
"""Whether a feature is kept, by its group and its name."""

ABLATIONS: dict[str, Keep] = {
    "without row order": lambda group, name: group not in ("fresh", "rows"),
    "without chance order": lambda group, name: group not in ("alone", "known"),
    "without n-grams": lambda group, name: group != "steps" and name not in GRAMS,
    "without near duplicates": lambda group, name: group not in ("near", "near rate"),
    "without the program": lambda group, name: group != "program",
    "news only": lambda group, name: group in ("fresh", "rows", "alone"),
    "value, form and characters only": lambda group, name: name in ("value", "form", "characters"),
    "linear": lambda group, name: True,
    "trained without the held-out kinds": lambda group, name: True,
}


@cache
def examples() -> tuple[Examples, ...]:
    return tuple(make_examples())


@cache
def ablated(name: str) -> list[Weights]:
    """The weights of each fold without a part."""
    keep = ABLATIONS[name]
    columns = np.array([keep(*f.split(": ", 1)) for f in feature_names()])
    settings = Settings(units=1) if name == "linear" else Settings()
    given = list(examples())
    if name == "trained without the held-out kinds":
        given = [_chosen_kinds(e) for e in given]
    return calibrated(fit_folds(given, settings, columns), given)


def _chosen_kinds(given: Examples) -> Examples:
    kept = [i for i, k in enumerate(given.kinds) if k in (*CHOOSING, STRANGER)]
    return replace(given, wrong=given.wrong[kept], kinds=[given.kinds[i] for i in kept])
