"""Changes beyond the library: level shifts, bends of the slope and outliers, found by what residuals ask for.

For a candidate with prior variance V that later values know with score r and information N, the evidence of an atom
gains, exactly, -n/2 log(1 - r^2 / ((N + 1/V) S)) - 1/2 log(1 + V N), and pays the log-probability of the change.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.statespace.atoms import Atoms
from wakesleep.domains.timeseries.statespace.filtering import Clock, Observed, Rows, filter_atoms
from wakesleep.domains.timeseries.statespace.posterior import Group, Posterior, jacobian
from wakesleep.domains.timeseries.statespace.seasons import Season
from wakesleep.domains.timeseries.statespace.smoothing import Later, before, carry, forward
from wakesleep.domains.timeseries.statespace.transition import LEVEL, SLOPE

JUMP_VARIANCE, BEND_VARIANCE, OUTLIER_VARIANCE = 60.0, 0.5, 100.0
"""Prior variances, relative to the variance of a step's innovations."""
SHIFT_PROBABILITY, BEND_PROBABILITY, OUTLIER_RATE = 0.1, 0.03, 0.005
"""Prior probabilities of a shift and of a bend anywhere in a series, and of each value to be an outlier."""
LEAST_GAIN_NATS = 4.0
"""A change is taken where the best evidence rises by more, its own probability paid."""
LEAST_DISTANCE_TO_END = 3
"""Shifts and bends nearer to either end are not told from outliers."""
LEAST_POINTS_BENT = 8
FEWEST_POINTS_FOR_CHANGES = 30
"""A shorter series is not searched for changes: on training series of years they made forecasts worse."""
MOST_ROUNDS, CANDIDATE_ATOMS = 6, 6
FEWER_ROUNDS_POINTS = 600
"""A longer series has a third of the rounds, each of which costs as much as its length."""
MOST_OUTLIER_SHARE = 0.05


class Change(NamedTuple):
    """A change before, or at, the value of a place."""

    kind: str
    place: int


class Gains(NamedTuple):
    """Gains of evidence of each kind of change at each index, for each form and atom."""

    jump: Float[np.ndarray, "n m a"]
    bend: Float[np.ndarray, "n m a"]
    outlier: Float[np.ndarray, "n m a"]


def search(posterior: Posterior) -> tuple[Observed, tuple[Change, ...]]:
    """Returns the series with the changes that raise its evidence, one after the other, the greatest first."""
    observed, taken = posterior.observed, list[Change]()
    if len(observed.positions) < FEWEST_POINTS_FOR_CHANGES:
        return observed, ()
    group, atoms = candidates(posterior)
    more = jacobian(observed, posterior.logs)
    for _ in range(MOST_ROUNDS if len(observed.positions) <= FEWER_ROUNDS_POINTS else MOST_ROUNDS // 3):
        filtered = filter_atoms(atoms, observed, group.seasons)
        evidence = filtered.log_likelihood - more
        gains = weigh_changes(atoms, observed, group.seasons, filtered.squares)
        found = _best(gains, evidence, observed, taken)
        if not found:
            break
        for change in found:
            observed = apply(observed, change)
        taken += found
    return observed, tuple(sorted(taken, key=lambda c: c.place))


def candidates(posterior: Posterior) -> tuple[Group, Atoms]:
    """Returns the group of atoms with the most weight and, of each structure of trend in it, the likeliest atom."""
    k, places = posterior.leading
    group = posterior.groups[k]
    score = posterior.log_likelihood[:, places].max(axis=0)
    atoms = group.atoms
    structure = 4 * (atoms.level_walk > 0.02) + 2 * atoms.sloped + atoms.echoing
    alike = [np.flatnonzero(structure == s) for s in np.unique(structure)]
    best = [some[np.argmax(score[some])] for some in alike]
    best.sort(key=lambda i: -score[i])
    return group, atoms.take(np.array(best[:CANDIDATE_ATOMS]))


def weigh_changes(atoms: Atoms, observed: Observed, seasons: Sequence[Season], squares: np.ndarray) -> Gains:
    """Returns the gains of every change at every index by one pass back."""
    rows = Rows(seasons, observed.positions)
    steps = forward(atoms, observed, rows, Clock(atoms))
    n, (d, m, a) = len(steps), steps[0].mean.shape
    gains = Gains(*(np.full((n, m, a), -np.inf) for _ in range(3)))
    later = Later(np.zeros((d, m, a)), np.zeros((d, d, a)))
    for i in range(n - 1, 0, -1):
        step = steps[i]
        u = step.error / step.variance - np.einsum("dx,dmx->mx", step.gain, later.score)
        spread = 1 / step.variance + np.einsum("dx,dex,ex->x", step.gain, later.information, step.gain)
        gains.outlier[i] = _gain(u, spread, OUTLIER_VARIANCE, squares, n)
        later = carry(step, rows.rows[i], later)
        gains.jump[i] = _gain(later.score[LEVEL], later.information[LEVEL, LEVEL], JUMP_VARIANCE, squares, n)
        gains.bend[i] = _gain(later.score[SLOPE], later.information[SLOPE, SLOPE], BEND_VARIANCE, squares, n)
        assert step.into is not None
        later = before(step.into, later)
    return gains


def _gain(score: np.ndarray, information: np.ndarray, variance: float, squares: np.ndarray, n: int) -> np.ndarray:
    share = np.minimum(score**2 / ((information + 1 / variance) * squares), 1 - 1e-12)
    return -n / 2 * np.log1p(-share) - np.log1p(variance * information) / 2


def _best(gains: Gains, evidence: np.ndarray, observed: Observed, taken: list[Change]) -> list[Change]:
    """Returns the change that raises the best evidence most; other outliers that do as much come with an outlier."""
    n = len(gains.jump)
    inner = np.zeros(n, bool)
    inner[LEAST_DISTANCE_TO_END : n - LEAST_DISTANCE_TO_END + 1] = True
    bent = np.zeros(n, bool)
    bent[LEAST_POINTS_BENT : n - LEAST_POINTS_BENT] = True
    rises = {
        "shift": np.where(inner, _rise(gains.jump, evidence) + np.log(SHIFT_PROBABILITY / n), -np.inf),
        "bend": np.where(bent, _rise(gains.bend, evidence) + np.log(BEND_PROBABILITY / n), -np.inf),
        "outlier": _rise(gains.outlier, evidence) + np.log(OUTLIER_RATE),
    }
    for change in taken:
        rises[change.kind][change.place] = -np.inf
    if sum(c.kind == "outlier" for c in taken) >= max(1, MOST_OUTLIER_SHARE * n):
        rises["outlier"][:] = -np.inf
    kind = max(rises, key=lambda k: rises[k].max())
    index = int(np.argmax(rises[kind]))
    if rises[kind][index] <= LEAST_GAIN_NATS:
        return []
    return [Change(kind, index)] if kind != "outlier" else _outliers(rises[kind], index, n)


def _outliers(rise: np.ndarray, index: int, n: int) -> list[Change]:
    """Returns the outlier and others that raise the evidence half as much by themselves and have no neighbour."""
    enough = np.flatnonzero(rise > max(LEAST_GAIN_NATS, rise[index] / 2))
    found: list[int] = []
    for i in enough[np.argsort(-rise[enough])]:
        if all(abs(i - j) > 1 for j in found) and len(found) < max(1, MOST_OUTLIER_SHARE * n):
            found.append(int(i))
    return [Change("outlier", i) for i in found]


def _rise(gain: np.ndarray, evidence: np.ndarray) -> np.ndarray:
    """Returns by how much each change raises the evidence of the best atom and form over that without the change."""
    return (gain + evidence).max(axis=(1, 2)) - evidence.max()


def apply(observed: Observed, change: Change) -> Observed:
    """Returns the series with one change more."""
    index = change.place
    if change.kind == "shift":
        return replace(observed, jumps=observed.jumps | {index: JUMP_VARIANCE})
    if change.kind == "bend":
        return replace(observed, bends=observed.bends | {index: BEND_VARIANCE})
    return replace(observed, outliers=observed.outliers | {index: OUTLIER_VARIANCE})
