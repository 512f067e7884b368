"""What atoms say of further times: a Student distribution each, from the states after the last value."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.statespace.filtering import Clock, Filtered, Rows, State, move
from wakesleep.domains.timeseries.statespace.seasons import Season


class Ahead(NamedTuple):
    """Location, and variance relative to the scale, of a value at each further time under each atom."""

    mean: Float[np.ndarray, "h m a"]
    variance: Float[np.ndarray, "h a"]


def predict(
    filtered: Filtered, kept: np.ndarray, last: float, positions: Float[np.ndarray, "h"], seasons: Sequence[Season]
) -> Ahead:
    """Returns the prediction of the kept atoms (places) at increasing positions after the last one."""
    rows = Rows(seasons, positions)
    forms = filtered.squares.shape[0]
    mean, variance = np.empty((len(positions), forms, len(kept))), np.empty((len(positions), len(kept)))
    for places, atoms, state in filtered.states:
        _, mine, to = np.intersect1d(places, kept, return_indices=True)
        if len(mine):
            moved = State(state.mean[:, :, mine].copy(), state.covariance[:, :, mine].copy())
            group = atoms.take(mine)
            mean[:, :, to], variance[:, to] = _ahead(moved, Clock(group), rows, last, positions)
    return Ahead(mean, variance)


def _ahead(
    state: State, clock: Clock, rows: Rows, last: float, positions: Float[np.ndarray, "h"]
) -> tuple[np.ndarray, np.ndarray]:
    mean, variance = [], []
    for i, position in enumerate(positions):
        move(state, clock.between(last, position), clock.forgetting)
        mean.append(rows.apply(i, state.mean))
        variance.append(rows.apply(i, rows.apply(i, state.covariance)) + clock.atoms.noise)
        last = position
    return np.stack(mean), np.stack(variance)
