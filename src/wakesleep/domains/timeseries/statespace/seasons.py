"""Calendar seasons: the effects that a season has, and which of them a time observes."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

MOST_SINGLE_EFFECTS = 24
"""A season of at most this many whole steps has an effect for each; a longer one has sines and cosines."""
MOST_HARMONICS = 5
"""Sines and cosines of a long season."""


@dataclass(frozen=True)
class Season:
    """A season or cycle of `length` steps; `single` where each step of it has its own effect."""

    length: float | int
    single: bool
    harmonics: int = MOST_HARMONICS
    """Sines and cosines, where the effects are not single."""

    @property
    def effects(self) -> int:
        """Returns the number of states."""
        return int(self.length) if self.single else 2 * min(self.harmonics, max(1, int(self.length // 2)))

    def row(self, positions: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n s"]:
        """Returns how much of each effect each time observes; the squares of a row sum to one."""
        if self.single:
            return np.eye(int(self.length))[np.round(positions).astype(int) % int(self.length)]
        count = self.effects // 2
        angle = 2 * np.pi * np.outer(positions, np.arange(1, count + 1)) / self.length
        return np.concatenate([np.cos(angle), np.sin(angle)], axis=1) / np.sqrt(count)


def season_of(length: float | int, positions: Float[np.ndarray, "n"]) -> Season:
    """Returns the season of that many steps in the form that suits the times."""
    whole = length == int(length) and bool(np.all(positions == np.round(positions)))
    return Season(length, whole and length <= MOST_SINGLE_EFFECTS)


def cycle_of(length: float) -> Season:
    """Returns a cycle: one sine and cosine, whose forgotten effects are a damped rotation, an AR(2) of that period."""
    return Season(length, False, 1)
