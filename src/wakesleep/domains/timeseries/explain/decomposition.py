"""The parts of an explained series: trend, seasons, echo and what is left, under the programs of the most weight."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.statespace.filtering import Observed
from wakesleep.domains.timeseries.statespace.posterior import Group, Posterior
from wakesleep.domains.timeseries.statespace.seasons import Season
from wakesleep.domains.timeseries.statespace.smoothing import Parts, Smoothed, parts_of, smooth
from wakesleep.domains.timeseries.statespace.transition import SLOPE

MOST_ATOMS, MOST_ATOMS_LONG, LONG_SERIES_POINTS = 4, 2, 2000
"""Atoms whose parts are averaged, and fewer for a long series."""
MISSING_VARIANCE = 1e14
"""A value with this much noise says nothing: so parts exist at times without a value."""


@dataclass(frozen=True)
class Decomposition:
    """Parts at every time from the first value on, in the values or in their logarithms."""

    positions: Float[np.ndarray, "n"]
    parts: Parts
    log: bool
    noise: float
    """The typical size of what is left, in the units of the parts."""
    slope_deviation: Float[np.ndarray, "n"]
    """Standard deviation of the slope at each time."""
    seasons: tuple[Season, ...]

    @property
    def fit(self) -> Float[np.ndarray, "n"]:
        """Returns the sum of the parts, in the user's values."""
        total = self.parts.mean.sum(axis=0)
        return np.exp(total) if self.log else total

    def in_values(self) -> tuple[Float[np.ndarray, "p n"], Float[np.ndarray, "p n"], Float[np.ndarray, "p n"]]:
        """Returns the parts and their 90 % bands in the user's values; the parts add up to the fit.

        Of logarithms the trend is exp(trend), and each further part what it adds to the product of those before.
        """
        mean, spread = self.parts.mean, 1.645 * self.parts.deviation
        if not self.log:
            return mean, mean - spread, mean + spread
        before = np.vstack([np.zeros_like(mean[:1]), np.cumsum(mean, axis=0)[:-1]])
        below, here, above = (np.exp(before + m) - np.exp(before) for m in (mean - spread, mean, mean + spread))
        for a, m in ((below, mean - spread), (here, mean), (above, mean + spread)):
            a[0] = np.exp(m[0])
        return here, below, above


def decompose(posterior: Posterior, positions: Float[np.ndarray, "n"]) -> Decomposition:
    """Returns the parts at positions that include those of the values, under the likeliest form and seasons."""
    group, m, weight = leading(posterior)
    count = MOST_ATOMS if len(positions) <= LONG_SERIES_POINTS else MOST_ATOMS_LONG
    places = np.argsort(-weight)[:count]
    share = weight[places] / weight[places].sum()
    observed = _everywhere(posterior.observed, m, positions)
    atoms = group.atoms.take(places)
    smoothed = smooth(atoms, observed, group.seasons)
    scale = group.filtered.squares[m, places] / len(posterior.observed.positions)
    parts = parts_of(smoothed, group.seasons, positions, share, scale)
    noise = float(np.sqrt((atoms.noise * scale) @ share))
    return Decomposition(
        positions, parts, posterior.logs[m], noise, _slope_deviation(smoothed, share, scale), group.seasons
    )


def leading(posterior: Posterior) -> tuple[Group, int, Float[np.ndarray, "a"]]:
    """Returns the group and the form of the most weight, and the weights of its atoms."""
    starts = np.cumsum([0, *(len(g.atoms) for g in posterior.groups)])
    every = [
        (float(posterior.weight[m, starts[k] : starts[k + 1]].sum()), k, m)
        for k in range(len(posterior.groups))
        for m in range(len(posterior.logs))
    ]
    _, k, m = max(every)
    return posterior.groups[k], m, posterior.weight[m, starts[k] : starts[k + 1]]


def _everywhere(observed: Observed, m: int, positions: Float[np.ndarray, "n"]) -> Observed:
    """Returns the series of one form with a value of no information where it has none."""
    places = np.searchsorted(positions, observed.positions)
    values = np.full(len(positions), observed.values[m].mean())
    values[places] = observed.values[m]
    empty = dict.fromkeys(np.setdiff1d(np.arange(len(positions)), places).tolist(), MISSING_VARIANCE)
    jumps, bends, outliers = (
        {int(places[i]): v for i, v in d.items()} for d in (observed.jumps, observed.bends, observed.outliers)
    )
    return replace(
        observed, positions=positions, values=values[None], jumps=jumps, bends=bends, outliers=outliers | empty
    )


def _slope_deviation(smoothed: Smoothed, share: np.ndarray, scale: np.ndarray) -> Float[np.ndarray, "n"]:
    mean, variance = smoothed.mean[:, SLOPE, 0], smoothed.covariance[:, SLOPE, SLOPE] * scale
    middle = mean @ share
    return np.sqrt(np.maximum(variance @ share + (mean**2) @ share - middle**2, 0.0))
