"""The library of atoms that ships with the package: draws from the learned prior p(z) of each kind of series."""

from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.statespace.atoms import Atoms, unstacked

LIBRARY_FILE = "library.npz"
KIND_OF_SEASON = {12: "month", 4: "quarter", 1: "year"}
KIND_OF_UNIT = {"year": "year", "quarter": "quarter", "month": "month"}
NUMBERS_OF_AN_ATOM = 10
STEPS_A_ROUND = 12
"""Atoms of seasons and cycles of any length are kept as those of this many steps, and stretched."""


@dataclass(frozen=True)
class Library:
    """Atoms and their log-probabilities, for values and for logarithms."""

    atoms: Atoms
    log_prior: Float[np.ndarray, "2 a"]
    width: float = 1.0
    """By which the scales of predictions are multiplied: a coarsened posterior mixes more than it should."""

    def take(self, which: np.ndarray) -> "Library":
        """Returns a part of the library."""
        return Library(self.atoms.take(which), self.log_prior[:, which], self.width)

    def stretched(self, length: float | int) -> "Library":
        """Returns the library with seasons as slow for each round as they are, for rounds of another length."""
        slower = STEPS_A_ROUND / length
        walk, memory = self.atoms.season_walk * slower, self.atoms.season_memory**slower
        return replace(self, atoms=replace(self.atoms, season_walk=walk, season_memory=memory))


def equal(atoms: Atoms) -> Library:
    """Returns a library of atoms that are equally probable."""
    return Library(atoms, np.full((2, len(atoms)), -np.log(2 * len(atoms))))


@cache
def shipped(kind: str) -> Library:
    """Returns the library of a kind of series: year, quarter, month, step, or a cycle beside the latter."""
    with np.load(str(files(__package__) / LIBRARY_FILE)) as file:
        table, width = file[kind].astype(float), float(file[f"{kind}_width"])
    return Library(unstacked(table[:NUMBERS_OF_AN_ATOM]), table[NUMBERS_OF_AN_ATOM:], width)


def library_for(unit: str, seasons: tuple[float | int, ...]) -> Library:
    """Returns the library for series of a unit of time and some seasons.

    Seasons that no library was learned for take the seasonal atoms of months, as slow for each round of the season,
    beside the others of steps.
    """
    if unit in KIND_OF_UNIT:
        return shipped(KIND_OF_UNIT[unit])
    known = KIND_OF_SEASON.get(int(seasons[0])) if len(seasons) == 1 and seasons[0] == int(seasons[0]) else None
    if known or not seasons:
        return shipped(known or "step")
    months, steps = shipped("month"), shipped("step")
    seasonal = months.take(months.atoms.seasonal).stretched(min(seasons))
    atoms = np.concatenate([steps.atoms.stacked(), seasonal.atoms.stacked()], axis=1)
    log_prior = np.concatenate([steps.log_prior, seasonal.log_prior], axis=1)
    return Library(unstacked(atoms), log_prior, max(months.width, steps.width))
