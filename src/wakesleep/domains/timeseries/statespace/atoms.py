"""Atoms: programs of a series, each a structure with its variance ratios, as arrays over many atoms.

    y(t) = level(t) + season(t) + echo(t) + noise(t),    d level = slope dt + walk,    d slope = -rate slope dt + walk

Every variance is relative to one scale, which is integrated out. The level is diffuse.
"""

from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float

RATIO_NAMES = (
    "noise",
    "level_walk",
    "slope_prior",
    "slope_walk",
    "damping",
    "season_prior",
    "season_walk",
    "season_memory",
    "echo_variance",
    "echo",
)  # fmt: skip


@dataclass(frozen=True)
class Atoms:
    """Arrays over atoms; a part is absent where its variances are zero."""

    noise: Float[np.ndarray, "a"]
    """Variance of white noise."""
    level_walk: Float[np.ndarray, "a"]
    """Variance of the level's random walk, for each step."""
    slope_prior: Float[np.ndarray, "a"]
    """Prior variance of the slope at the first point."""
    slope_walk: Float[np.ndarray, "a"]
    """Variance of the slope's random walk, for each step."""
    damping: Float[np.ndarray, "a"]
    """The share of the slope that is left after a step, at most 1."""
    season_prior: Float[np.ndarray, "a"]
    """Prior variance of each seasonal effect."""
    season_walk: Float[np.ndarray, "a"]
    """Variance of each effect's random walk, for each step."""
    season_memory: Float[np.ndarray, "a"]
    """The share of an effect that is left after a step; below 1, the effects are stationary and are forgotten."""
    echo_variance: Float[np.ndarray, "a"]
    """Stationary variance of an autoregression of order one."""
    echo: Float[np.ndarray, "a"]
    """The autoregression's coefficient, of either sign."""

    def __len__(self) -> int:
        return len(self.noise)

    def take(self, which: np.ndarray | slice) -> "Atoms":
        """Returns some of the atoms."""
        return Atoms(*(getattr(self, f.name)[which] for f in fields(self)))

    def stacked(self) -> Float[np.ndarray, "10 a"]:
        """Returns all numbers as one array."""
        return np.stack([getattr(self, f.name) for f in fields(self)])

    @property
    def seasonal(self) -> np.ndarray:
        """Returns which atoms have a season."""
        return self.season_prior > 0

    @property
    def sloped(self) -> np.ndarray:
        """Returns which atoms have a slope."""
        return (self.slope_prior > 0) | (self.slope_walk > 0)

    @property
    def walking(self) -> np.ndarray:
        """Returns which atoms have a level that wanders by itself or through its slope."""
        return (self.level_walk > 0) | (self.slope_walk > 0)

    @property
    def echoing(self) -> np.ndarray:
        """Returns which atoms have an autoregression."""
        return self.echo_variance > 0


def unstacked(table: Float[np.ndarray, "10 a"]) -> Atoms:
    """Returns the atoms of an array that `Atoms.stacked` made."""
    return Atoms(*np.asarray(table, float))


def joined(groups: list[Atoms]) -> Atoms:
    """Returns the atoms of several groups in order."""
    return unstacked(np.concatenate([g.stacked() for g in groups], axis=1))


def normalised(atoms: Atoms) -> Atoms:
    """Returns the atoms with the variance of noise, walk and echo innovations of a step scaled to a sum of one."""
    total = atoms.noise + atoms.level_walk + atoms.slope_walk + atoms.echo_variance * (1 - atoms.echo**2)
    table = atoms.stacked()
    for name in ("noise", "level_walk", "slope_prior", "slope_walk", "season_prior", "season_walk", "echo_variance"):
        table[RATIO_NAMES.index(name)] /= total
    return unstacked(table)
