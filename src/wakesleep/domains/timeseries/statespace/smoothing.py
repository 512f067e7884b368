"""The parts of a series under a few atoms: the states at every time given all values, and their spread."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.statespace.atoms import Atoms
from wakesleep.domains.timeseries.statespace.filtering import (
    Clock,
    Observed,
    Rows,
    condition,
    first_state,
    innovate,
    intervene,
    move,
)
from wakesleep.domains.timeseries.statespace.seasons import Season
from wakesleep.domains.timeseries.statespace.transition import ECHO, LEVEL, SEASON, SLOPE, Transition


class Step(NamedTuple):
    """What the way back needs of one time: the filtered states, the transition into it, and what was not foreseen."""

    mean: Float[np.ndarray, "d m a"]
    covariance: Float[np.ndarray, "d d a"]
    into: Transition | None
    error: Float[np.ndarray, "m a"]
    variance: Float[np.ndarray, "a"]
    gain: Float[np.ndarray, "d a"]


class Smoothed(NamedTuple):
    """Means of the states at each time, and covariances relative to the scale."""

    mean: Float[np.ndarray, "n d m a"]
    covariance: Float[np.ndarray, "n d d a"]


class Later(NamedTuple):
    """What later values say of the states: the score and the information, relative to the scale."""

    score: Float[np.ndarray, "d m a"]
    information: Float[np.ndarray, "d d a"]


def smooth(atoms: Atoms, observed: Observed, seasons: Sequence[Season]) -> Smoothed:
    """Returns the states at every observed time given all values (a fixed-interval smoother)."""
    rows = Rows(seasons, observed.positions)
    clock = Clock(atoms)
    steps = forward(atoms, observed, rows, clock)
    d, m, a = steps[0].mean.shape
    r, big_n = np.zeros((d, m, a)), np.zeros((d, d, a))
    mean, covariance = np.empty((len(steps), d, m, a)), np.empty((len(steps), d, d, a))
    for i in range(len(steps) - 1, -1, -1):
        step = steps[i]
        mean[i] = step.mean + np.einsum("ijx,jmx->imx", step.covariance, r)
        left = np.einsum("ijx,jkx->ikx", step.covariance, big_n)
        covariance[i] = step.covariance - np.einsum("ijx,jkx->ikx", left, step.covariance)
        if step.into is not None:
            later = carry(step, rows.rows[i], Later(r, big_n))
            r, big_n = before(step.into, later)
    return Smoothed(mean, covariance)


def forward(atoms: Atoms, observed: Observed, rows: Rows, clock: Clock) -> list[Step]:
    """Returns the filter's steps, kept for the way back."""
    state = first_state(atoms, observed, rows)
    room = np.empty_like(state.covariance)
    empty = np.zeros(0)
    steps = [Step(state.mean.copy(), state.covariance.copy(), None, empty, empty, empty)]
    for i in range(1, len(observed.positions)):
        by = clock.between(observed.positions[i - 1], observed.positions[i])
        move(state, by, clock.forgetting)
        intervene(state, observed, i)
        seen = innovate(state, atoms, rows, i, observed)
        condition(state, seen, room)
        gain = seen.covariance / seen.variance
        steps.append(Step(state.mean.copy(), state.covariance.copy(), by, seen.error, seen.variance, gain))
    return steps


def carry(step: Step, row: np.ndarray, later: Later) -> Later:
    """Returns what a value and all later ones say of the states before the value is seen."""
    z = row[:, None]
    r, big_n = later
    r = r + z[:, None] * (step.error / step.variance - np.einsum("dx,dmx->mx", step.gain, r))
    side = np.einsum("dx,dex->ex", step.gain, big_n)
    around = z[:, None] * side[None] + side[:, None] * z[None]
    centre = np.einsum("ex,ex->x", side, step.gain) + 1 / step.variance
    return Later(r, big_n - around + (z[:, None] * z[None]) * centre)


def before(into: Transition, later: Later) -> Later:
    """Returns what later values say of the states before a stretch of time."""
    n = _transposed(into, later.information)
    return Later(_transposed(into, later.score), _transposed(into, n.transpose(1, 0, 2)).transpose(1, 0, 2))


def _transposed(by: Transition, array: np.ndarray) -> np.ndarray:
    """Returns the transition's transpose applied to the first axis."""
    out = array.copy()
    out[SLOPE] = by.reach * array[LEVEL] + by.damping * array[SLOPE]
    out[ECHO] = by.echo * array[ECHO]
    out[SEASON:] = by.memory * array[SEASON:]
    return out


class Parts(NamedTuple):
    """Parts of a series at its observed times, a row each: mean and standard deviation; they sum to the fit."""

    names: tuple[str, ...]
    mean: Float[np.ndarray, "p n"]
    deviation: Float[np.ndarray, "p n"]
    slope: Float[np.ndarray, "n"]
    """The mean slope at each time."""


def parts_of(
    smoothed: Smoothed, seasons: Sequence[Season], positions: np.ndarray, weight: np.ndarray, scale: np.ndarray
) -> Parts:
    """Returns trend, seasons and echo as mixtures over atoms of the first form, with `scale` the variance's scale.

    A season's mean over its effects at a time belongs to the trend, so that seasons are centred.
    """
    rows = Rows(seasons, positions).rows
    maps = [_functional(name, rows, seasons) for name in ("trend", *range(len(seasons)), "echo")]
    mean = np.stack([np.einsum("nd,ndx->nx", f, smoothed.mean[:, :, 0]) for f in maps])
    variance = np.stack([np.einsum("nd,ndex,ne->nx", f, smoothed.covariance, f) for f in maps]) * scale
    middle = mean @ weight
    spread = np.maximum(variance, 0) @ weight + (mean**2) @ weight - middle**2
    names = ("trend", *(f"season {s.length:.4g}" for s in seasons), "echo")
    return Parts(names, middle, np.sqrt(np.maximum(spread, 0)), smoothed.mean[:, SLOPE, 0] @ weight)


def _functional(part: str | int, rows: np.ndarray, seasons: Sequence[Season]) -> np.ndarray:
    """Returns the weights of the states that make up a part at each time."""
    out = np.zeros_like(rows)
    if part == "echo":
        out[:, ECHO] = 1.0
        return out
    starts = np.cumsum([SEASON, *(s.effects for s in seasons)])
    if part == "trend":
        out[:, LEVEL] = 1.0
    for k, season in enumerate(seasons):
        here = slice(starts[k], starts[k + 1])
        shared = 1 / season.effects if season.single else 0.0
        if part == "trend":
            out[:, here] = shared
        elif part == k:
            out[:, here] = rows[:, here] - shared
    return out
