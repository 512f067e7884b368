"""What the last values may mean: one that looks like an outlier at the end may as well begin a new level.

Nothing after it tells which, so both are kept, weighed by their evidence. In training series shifts and outliers that
later values settled were as frequent as one another, so that their prior probabilities are equal.
"""

import itertools
from typing import NamedTuple

import numpy as np

from wakesleep.domains.timeseries.statespace.changes import Change, apply, candidates
from wakesleep.domains.timeseries.statespace.filtering import Observed, filter_atoms
from wakesleep.domains.timeseries.statespace.posterior import Posterior, jacobian

LAST_VALUES = 3
LEAST_PROBABILITY = 0.03
"""Readings of less probability are left out."""


class Reading(NamedTuple):
    """One way to read the changes of a series."""

    probability: float
    observed: Observed
    changes: tuple[Change, ...]


def readings(posterior: Posterior, changes: tuple[Change, ...]) -> list[Reading]:
    """Returns the ways to read a series without changes whose changes were found, the most probable first.

    Each outlier among the last values is read as an outlier and as a level shift.
    """
    n = len(posterior.observed.positions)
    late = [c for c in changes if c.kind == "outlier" and c.place >= n - LAST_VALUES]
    others = [c for c in changes if c not in late]
    group, atoms = candidates(posterior)
    more = jacobian(posterior.observed, posterior.logs)
    found = []
    for kinds in itertools.product(("outlier", "shift"), repeat=len(late)):
        these = sorted([*others, *(Change(kind, c.place) for kind, c in zip(kinds, late, strict=True))], key=_place)
        observed = posterior.observed
        for change in these:
            observed = apply(observed, change)
        evidence = 0.0
        if late:
            every = filter_atoms(atoms, observed, group.seasons).log_likelihood - more
            evidence = float(np.logaddexp.reduce(every, axis=None))
        found.append((evidence, observed, tuple(these)))
    best = max(e for e, _, _ in found)
    total = sum(np.exp(e - best) for e, _, _ in found)
    made = [Reading(float(np.exp(e - best) / total), o, c) for e, o, c in found]
    kept = sorted((r for r in made if r.probability >= LEAST_PROBABILITY), key=lambda r: -r.probability)
    whole = sum(r.probability for r in kept)
    return [r._replace(probability=r.probability / whole) for r in kept]


def _place(change: Change) -> int:
    return change.place
