"""How well a library foresees series that were not learned from, by which a draw and its width are chosen."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from wakesleep.domains.timeseries.statespace.filtering import Observed
from wakesleep.domains.timeseries.statespace.inference import stages
from wakesleep.domains.timeseries.statespace.library import Library
from wakesleep.domains.timeseries.statespace.m3 import Competitor
from wakesleep.domains.timeseries.statespace.mixture import Mixture
from wakesleep.domains.timeseries.statespace.posterior import forms

WIDTHS = (0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1)
NEARLY_BEST_NATS = 0.003
"""Of the widths whose mean log density is within this of the best, the one nearest to 1 is taken."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class Tuned(NamedTuple):
    """The width of a library, and means over tuning series with it, errors in naive scales."""

    width: float
    log_density: float
    pinball: float
    """The loss of quantiles, by which draws of a library are compared: it counts both the point and the bands."""


def tune(library: Library, tuning: Sequence[Competitor], season: int, origins: int) -> Tuned:
    """Returns the factor of the scales by which the futures of tuning series are foreseen best, and how well.

    A series is foreseen from its own split and from earlier origins, each half a horizon before the last.
    """
    cases = [(c, k * len(c.future) // 2) for c in tuning for k in range(origins)]
    said = [foreseen(library, c, season, back) for c, back in cases if len(c.past) - back >= 2 * season + 10]
    means = np.mean([[_log_density(one, w) for w in WIDTHS] for one in said], axis=0)
    near = [w for w, d in zip(WIDTHS, means, strict=True) if d >= means.max() - NEARLY_BEST_NATS]
    width = min(near, key=lambda w: abs(w - 1))
    return Tuned(width, float(means[WIDTHS.index(width)]), float(np.mean([_pinball(one, width) for one in said])))


class Foreseen(NamedTuple):
    """The distribution of what follows an origin, what followed, and the naive scale."""

    said: Mixture
    future: np.ndarray
    scale: float


def foreseen(library: Library, one: Competitor, season: int, back: int) -> Foreseen:
    """Returns what a library says of what follows an origin, some steps before the series' own split."""
    whole = np.concatenate([one.past, one.future])
    end, horizon = len(one.past) - back, len(one.future)
    past, future = whole[:end], whole[end : end + horizon]
    seen, logs = forms(past)
    least = 0.0 if past.min() >= 0 else -np.inf
    lengths = (season,) * (season > 1)
    *_, found = stages(Observed(np.arange(float(end)), seen), logs, library, lengths, least, beyond=False)
    scale = float(np.abs(past[season:] - past[:-season]).mean())
    return Foreseen(found.predict(end + np.arange(float(horizon))), future, scale)


def _log_density(one: Foreseen, width: float) -> float:
    said = replace(one.said, scale=width * one.said.scale)
    return float(said.log_density(one.future).mean() + np.log(one.scale))


def _pinball(one: Foreseen, width: float) -> float:
    said = replace(one.said, scale=width * one.said.scale)
    above = [(one.future - said.quantile(q), q) for q in QUANTILES]
    return float(np.mean([np.maximum(q * e, (q - 1) * e).mean() for e, q in above]) / one.scale)
