"""The exact Kalman filter of many atoms at once: arrays over atoms, a loop over time.

The level is diffuse: the filter begins with the state given the first value, which is its exact limit. Gains do not
depend on the values, so several forms of a series (its values and their logarithms) share them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.statespace.atoms import Atoms
from wakesleep.domains.timeseries.statespace.seasons import Season
from wakesleep.domains.timeseries.statespace.transition import ECHO, LEVEL, SEASON, SLOPE, Transition, transition

ATOMS_AT_A_TIME = 400
"""Covariances of this many atoms stay in the cache of a core."""
LEAST_SUM_OF_SQUARES = 1e-300


@dataclass(frozen=True)
class Observed:
    """The values of a series, without those that are missing, in one or several forms."""

    positions: Float[np.ndarray, "n"]
    """Increasing times, in steps."""
    values: Float[np.ndarray, "m n"]
    jumps: dict[int, float] = field(default_factory=dict)
    """Level shifts: the index of the first value after each, and its prior variance relative to the scale."""
    bends: dict[int, float] = field(default_factory=dict)
    """Changes of slope: likewise."""
    outliers: dict[int, float] = field(default_factory=dict)
    """Outlying values: their indices, and the variance of each beyond that of the noise."""

    def latest(self, count: int) -> "Observed":
        """Returns the last values alone."""
        cut = max(0, len(self.positions) - count)
        changes = ({i - cut: v for i, v in d.items() if i > cut} for d in (self.jumps, self.bends, self.outliers))
        return Observed(self.positions[cut:], self.values[:, cut:], *changes)


class State(NamedTuple):
    """Mean and covariance of the states of each atom; the arrays are changed in place."""

    mean: Float[np.ndarray, "d m a"]
    covariance: Float[np.ndarray, "d d a"]


class Filtered(NamedTuple):
    """What the filter leaves behind."""

    log_likelihood: Float[np.ndarray, "m a"]
    squares: Float[np.ndarray, "m a"]
    """Sums of squared standardised innovations: the scale's posterior is inverse gamma with n / 2 and half of this."""
    states: list[tuple[np.ndarray, Atoms, State]]
    """The states after the last value, a group of atoms at a time: their places, the atoms, the states."""


class Innovation(NamedTuple):
    """One step of the filter: what was not foreseen, its variance, and the covariance with the states."""

    error: Float[np.ndarray, "m a"]
    variance: Float[np.ndarray, "a"]
    covariance: Float[np.ndarray, "d a"]


class Clock:
    """Transitions of a group of atoms, computed once for each distance in time."""

    def __init__(self, atoms: Atoms) -> None:
        self.atoms = atoms
        self.forgetting = bool((atoms.season_memory < 1).any())
        self._known: dict[tuple[float, int], Transition] = {}

    def between(self, start: float, end: float) -> Transition:
        """Returns the transition from one time to another."""
        key = (round(float(end - start), 9), int(np.floor(end) - np.floor(start)) % 2)
        if key not in self._known:
            self._known[key] = transition(self.atoms, *key)
        return self._known[key]


class Rows:
    """Which states each time observes: level, echo, and a seasonal effect or a mixture of them."""

    def __init__(self, seasons: Sequence[Season], positions: Float[np.ndarray, "n"]) -> None:
        self.states = SEASON + sum(s.effects for s in seasons)
        self.single = all(s.single for s in seasons)
        rows = [s.row(positions) for s in seasons]
        ones = np.zeros((len(positions), SEASON))
        ones[:, [LEVEL, ECHO]] = 1.0
        self.rows = np.concatenate([ones, *rows], axis=1)
        self.seen = [np.flatnonzero(row) for row in self.rows] if self.single else []

    def apply(self, i: int, array: np.ndarray) -> np.ndarray:
        """Returns the sum over the first axis of an array, weighted by the row of time i."""
        if self.single:
            seen = self.seen[i]
            total = array[seen[0]] + array[seen[1]]
            for state in seen[2:]:
                total += array[state]
            return total
        flat = array.reshape(self.states, -1)
        return (self.rows[i] @ flat).reshape(array.shape[1:])


def filter_atoms(atoms: Atoms, observed: Observed, seasons: Sequence[Season]) -> Filtered:
    """Returns the exact log-likelihood of a series under each atom, and the states after the last value.

    `seasons` are those that every one of the atoms has. The scale is integrated out under the density 1 / s^2 of s^2:
    log p = log Gamma(n / 2) - n / 2 log(pi S) - 1/2 sum log F.
    """
    rows = Rows(seasons, observed.positions)
    n, m = len(observed.positions), len(observed.values)
    squares, log_f, states = np.empty((m, len(atoms))), np.empty(len(atoms)), []
    for places in groups(atoms):
        group = atoms.take(places)
        squares[:, places], log_f[places], state = _filter(group, observed, rows)
        states.append((places, group, state))
    log_p = math.lgamma(n / 2) - n / 2 * np.log(np.pi * squares) - log_f / 2
    return Filtered(log_p, squares, states)


def groups(atoms: Atoms) -> list[np.ndarray]:
    """Returns the places of atoms that are filtered together; those with forgotten seasons cost more and come apart."""
    forgetting = atoms.season_memory < 1
    sides = (np.flatnonzero(forgetting), np.flatnonzero(~forgetting))
    return [p for side in sides if len(side) for p in np.array_split(side, -(-len(side) // ATOMS_AT_A_TIME))]


def _filter(atoms: Atoms, observed: Observed, rows: Rows) -> tuple[np.ndarray, np.ndarray, State]:
    """Returns sums of squares, sums of the log-variances and the final state of one group of atoms."""
    clock = Clock(atoms)
    state = first_state(atoms, observed, rows)
    room = np.empty_like(state.covariance)
    squares = np.zeros((len(observed.values), len(atoms)))
    variances = np.ones((len(observed.positions), len(atoms)))
    for i in range(1, len(observed.positions)):
        move(state, clock.between(observed.positions[i - 1], observed.positions[i]), clock.forgetting)
        intervene(state, observed, i)
        seen = innovate(state, atoms, rows, i, observed)
        squares += seen.error**2 / seen.variance
        variances[i] = seen.variance
        condition(state, seen, room)
    return np.maximum(squares, LEAST_SUM_OF_SQUARES), np.log(variances).sum(axis=0), state


def first_state(atoms: Atoms, observed: Observed, rows: Rows) -> State:
    """Returns the state given the first value, in the limit of a level of infinite variance.

    The level is what the other states leave of the value: level = y - echo - season - noise.
    """
    d, a = rows.states, len(atoms)
    covariance = np.zeros((d, d, a))
    covariance[SLOPE, SLOPE] = atoms.slope_prior
    covariance[ECHO, ECHO] = atoms.echo_variance
    for k in range(SEASON, d):
        covariance[k, k] = atoms.season_prior
    others = rows.apply(0, covariance)
    covariance[LEVEL] = -others
    covariance[:, LEVEL] = -others
    covariance[LEVEL, LEVEL] = rows.apply(0, others) + atoms.noise + observed.outliers.get(0, 0.0)
    mean = np.zeros((d, len(observed.values), a))
    mean[LEVEL] = observed.values[:, :1]
    return State(mean, covariance)


def move(state: State, by: Transition, forgetting: bool) -> None:
    """Moves the states over a stretch of time."""
    mean, p = state
    mean[LEVEL] += by.reach * mean[SLOPE]
    mean[SLOPE] *= by.damping
    mean[ECHO] *= by.echo
    p[LEVEL] += by.reach * p[SLOPE]
    p[SLOPE] *= by.damping
    p[ECHO] *= by.echo
    p[:, LEVEL] += by.reach * p[:, SLOPE]
    p[:, SLOPE] *= by.damping
    p[:, ECHO] *= by.echo
    if forgetting and len(p) > SEASON:
        mean[SEASON:] *= by.memory
        p[SEASON:] *= by.memory
        p[:, SEASON:] *= by.memory
    p[LEVEL, LEVEL] += by.level_noise
    p[LEVEL, SLOPE] += by.cross_noise
    p[SLOPE, LEVEL] += by.cross_noise
    p[SLOPE, SLOPE] += by.slope_noise
    p[ECHO, ECHO] += by.echo_noise
    d = len(p)
    p.reshape(d * d, -1)[SEASON * (d + 1) :: d + 1] += by.season_noise


def intervene(state: State, observed: Observed, i: int) -> None:
    """Adds the variance of a level shift or of a change of slope before value i."""
    if i in observed.jumps:
        state.covariance[LEVEL, LEVEL] += observed.jumps[i]
    if i in observed.bends:
        state.covariance[SLOPE, SLOPE] += observed.bends[i]


def innovate(state: State, atoms: Atoms, rows: Rows, i: int, observed: Observed) -> Innovation:
    """Returns what value i adds to what was known."""
    covariance = rows.apply(i, state.covariance)
    variance = rows.apply(i, covariance) + (atoms.noise + observed.outliers.get(i, 0.0))
    return Innovation(observed.values[:, i, None] - rows.apply(i, state.mean), variance, covariance)


def condition(state: State, seen: Innovation, room: np.ndarray) -> None:
    """Conditions the states on a value; `room` holds a product for a moment."""
    gain = seen.covariance / seen.variance
    mean, covariance = state
    mean += gain[:, None] * seen.error
    np.multiply(gain[:, None], seen.covariance, out=room)
    covariance -= room
