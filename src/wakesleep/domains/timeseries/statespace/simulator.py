"""Series drawn from known parts, to test what is said of them: trend, season, walk, shift, outliers, growing season."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

DRAWN_POINTS = 144
SEASON_STEPS = 12
COMBINATIONS = (
    ("trend",),
    ("season",),
    ("trend", "season"),
    ("walk",),
    ("walk", "season"),
    ("shift",),
    ("shift", "season"),
    ("outliers",),
    ("outliers", "trend", "season"),
    ("trend", "growing season"),
)
"""The parts of series, in turn; each has noise too."""


class Simulated(NamedTuple):
    """A series, its true parts, the index of its shift and those of its outliers."""

    values: Float[np.ndarray, "n"]
    parts: frozenset[str]
    shift: int | None
    outliers: tuple[int, ...]


def simulate(number: int, seed: int = 0) -> Simulated:
    """Returns the series of a number, whose parts are the combination in turn; noise has a deviation of one."""
    rng = np.random.default_rng([seed, number])
    parts = COMBINATIONS[number % len(COMBINATIONS)]
    t = np.arange(DRAWN_POINTS)
    effects = rng.normal(size=SEASON_STEPS)
    effects *= rng.uniform(1.5, 4.0) / effects.std()
    season = (effects - effects.mean())[t % SEASON_STEPS]
    if "growing season" in parts:
        growth = rng.uniform(0.008, 0.015)
        values = 50 * np.exp(growth * t + 0.05 * season + 0.03 * rng.normal(size=DRAWN_POINTS))
        return Simulated(values, frozenset(parts), None, ())
    values = 100 + rng.normal(size=DRAWN_POINTS)
    if "trend" in parts:
        values += rng.choice([-1, 1]) * rng.uniform(0.05, 0.25) * t
    if "season" in parts:
        values += season
    if "walk" in parts:
        values += np.cumsum(rng.normal(size=DRAWN_POINTS)) * rng.uniform(0.6, 1.5)
    shift, outliers = None, ()
    if "shift" in parts:
        shift = int(rng.integers(DRAWN_POINTS // 5, 4 * DRAWN_POINTS // 5))
        values[shift:] += rng.choice([-1, 1]) * rng.uniform(4.0, 8.0)
    if "outliers" in parts:
        outliers = tuple(sorted(rng.choice(np.arange(5, DRAWN_POINTS - 5), rng.integers(1, 4), replace=False).tolist()))
        values[list(outliers)] += rng.choice([-1, 1], len(outliers)) * rng.uniform(7.0, 12.0, len(outliers))
    return Simulated(values, frozenset(parts), shift, outliers)
