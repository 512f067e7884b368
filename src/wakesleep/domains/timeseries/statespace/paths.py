"""Draws of the whole future of a series: a program, its scale and its states, then step by step."""

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.statespace.atoms import Atoms, joined
from wakesleep.domains.timeseries.statespace.filtering import Clock, Rows
from wakesleep.domains.timeseries.statespace.mixture import unbent
from wakesleep.domains.timeseries.statespace.posterior import Group, Posterior
from wakesleep.domains.timeseries.statespace.transition import ECHO, LEVEL, SEASON, SLOPE, Transition


def simulate(
    posterior: Posterior, positions: Float[np.ndarray, "h"], count: int, rng: np.random.Generator
) -> Float[np.ndarray, "p h"]:
    """Returns draws of the values at later positions, jointly over the positions."""
    if not count:
        return np.zeros((0, len(positions)))
    flat = posterior.weight.ravel() / posterior.weight.sum()
    m, member = np.divmod(rng.choice(flat.size, count, p=flat), posterior.weight.shape[1])
    starts = np.cumsum([0, *(len(g.atoms) for g in posterior.groups)])
    out = np.empty((count, len(positions)))
    for k, group in enumerate(posterior.groups):
        mine = np.flatnonzero((member >= starts[k]) & (member < starts[k + 1]))
        if len(mine):
            out[mine] = _futures(posterior, group, m[mine], member[mine] - starts[k], positions, rng)
    logs = np.array(posterior.logs)[m]
    out[logs] = unbent(out[logs], posterior.knee)
    return np.maximum(out, posterior.least)


def _futures(
    posterior: Posterior,
    group: Group,
    form: np.ndarray,
    places: np.ndarray,
    positions: Float[np.ndarray, "h"],
    rng: np.random.Generator,
) -> Float[np.ndarray, "p h"]:
    """Returns one future for each pair of a form and an atom of a group."""
    n, count = len(posterior.observed.positions), len(places)
    atoms, states = _drawn_states(group, form, places, n, posterior.width, rng)
    scale, state = states
    rows, clock = Rows(group.seasons, positions), Clock(atoms)
    last, out = posterior.observed.positions[-1], np.empty((count, len(positions)))
    for i, position in enumerate(positions):
        _advance(state, clock.between(last, position), scale, rng)
        noise = scale * np.sqrt(atoms.noise) * rng.normal(size=count)
        out[:, i] = rows.apply(i, state) + noise
        last = position
    return out


def _drawn_states(
    group: Group, form: np.ndarray, places: np.ndarray, n: int, width: float, rng: np.random.Generator
) -> tuple[Atoms, tuple[np.ndarray, np.ndarray]]:
    """Returns the atoms, a scale drawn for each from its posterior, and states drawn at the last value."""
    squares = group.filtered.squares[form, places]
    scale = width * np.sqrt(squares / rng.chisquare(n, len(places)))
    drawn: list[np.ndarray] = [np.empty(0)] * len(places)
    atoms: list[Atoms] = [group.atoms] * len(places)
    for known, members, state in group.filtered.states:
        for j in np.flatnonzero(np.isin(places, known)):
            at = int(np.searchsorted(known, places[j]))
            covariance = state.covariance[:, :, at]
            values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
            noise = vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.normal(size=len(values)))
            drawn[j] = state.mean[:, form[j], at] + scale[j] * noise
            atoms[j] = members.take(slice(at, at + 1))
    return joined(atoms), (scale, np.stack(drawn, axis=1))


def _advance(state: np.ndarray, by: Transition, scale: np.ndarray, rng: np.random.Generator) -> None:
    """Moves drawn states over a stretch of time, with noise."""
    count = state.shape[1]
    u, v, w = rng.normal(size=(3, count))
    slope_sd = np.sqrt(by.slope_noise)
    along = np.divide(by.cross_noise, slope_sd, out=np.zeros(count), where=slope_sd > 0)
    rest = np.sqrt(np.maximum(by.level_noise - along**2, 0.0))
    state[LEVEL] += by.reach * state[SLOPE] + scale * (along * u + rest * v)
    state[SLOPE] = by.damping * state[SLOPE] + scale * slope_sd * u
    state[ECHO] = by.echo * state[ECHO] + scale * np.sqrt(by.echo_noise) * w
    effects = state[SEASON:]
    state[SEASON:] = by.memory * effects + scale * np.sqrt(by.season_noise) * rng.normal(size=effects.shape)
