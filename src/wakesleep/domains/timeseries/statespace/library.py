"""The library of atoms that ships with the package: draws from the learned prior p(z) of each kind of series."""

from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.statespace.atoms import Atoms, unstacked

FILE = "library.npz"
KIND_OF_SEASON = {12: "month", 4: "quarter", 1: "year"}
KIND_OF_UNIT = {"year": "year", "quarter": "quarter", "month": "month"}
NUMBERS_OF_AN_ATOM = 10


@dataclass(frozen=True)
class Library:
    """Atoms and their log-probabilities, for values and for logarithms."""

    atoms: Atoms
    log_prior: Float[np.ndarray, "2 a"]

    def take(self, which: np.ndarray) -> "Library":
        """Returns a part of the library."""
        return Library(self.atoms.take(which), self.log_prior[:, which])


def equal(atoms: Atoms) -> Library:
    """Returns a library of atoms that are equally probable."""
    return Library(atoms, np.full((2, len(atoms)), -np.log(2 * len(atoms))))


@cache
def shipped(kind: str) -> Library:
    """Returns the library of a kind of series: year, quarter, month or step."""
    with np.load(str(files(__package__) / FILE)) as file:
        table = file[kind].astype(float)
    return Library(unstacked(table[:NUMBERS_OF_AN_ATOM]), table[NUMBERS_OF_AN_ATOM:])


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
    seasonal = months.take(months.atoms.seasonal)
    slower = 12 / min(seasons)
    stretched = replace(
        seasonal.atoms,
        season_walk=seasonal.atoms.season_walk * slower,
        season_memory=seasonal.atoms.season_memory**slower,
    )
    atoms = np.concatenate([steps.atoms.stacked(), stretched.stacked()], axis=1)
    return Library(unstacked(atoms), np.concatenate([steps.log_prior, seasonal.log_prior], axis=1))
