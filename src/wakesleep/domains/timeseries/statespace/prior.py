"""The prior p(z) over atoms: a broad one to begin with, and redrawing from what explained series."""

from collections.abc import Callable

import numpy as np

from wakesleep.domains.timeseries.statespace.atoms import RATIO_NAMES, Atoms, joined, normalised, unstacked
from wakesleep.domains.timeseries.statespace.library import STEPS_A_ROUND

LEAST_NOISE = 1e-3
"""The least variance of noise, relative to the innovations."""
REDRAW_DEVIATION = 0.35
"""Standard deviation by which log-ratios move when an atom is redrawn."""
TOGGLED, FRESH = 0.12, 0.05
"""Shares of redrawn atoms that gain or lose a part, and that come from the broad prior."""
RATIOS_OF_PART = {
    "slope": ("slope_prior", "slope_walk", "damping"),
    "season": ("season_prior", "season_walk", "season_memory"),
    "walk": ("level_walk",),
    "echo": ("echo_variance", "echo"),
    "slope walk": ("slope_walk",),
    "damping": ("damping",),
    "season change": ("season_walk", "season_memory"),
}


def broad(rng: np.random.Generator, count: int, season: int) -> Atoms:
    """Returns atoms of every structure with variance ratios over many orders of magnitude; season 1 is none."""
    log = lambda low, high: np.exp(rng.uniform(low, high, count))  # noqa: E731
    some = lambda p: rng.random(count) < p  # noqa: E731
    sloped = some(0.6)
    seasonal = some(0.75 if season > 1 else 0.0)
    change = rng.choice(3, count, p=(0.4, 0.3, 0.3))
    echoing = some(0.35)
    return normalised(
        Atoms(
            noise=np.where(some(0.85), 1.0, LEAST_NOISE),
            level_walk=log(-6, 3) * some(0.7),
            slope_prior=log(-8, 0) * sloped,
            slope_walk=log(-11, -1) * (sloped & some(0.5)),
            damping=np.where(some(0.4), 1.0, 1 - log(-5, -0.7)),
            season_prior=log(-4, 4) * seasonal,
            season_walk=log(-9, -2) * (seasonal & (change == 1)),
            season_memory=np.where(seasonal & (change == 2), np.exp(-log(-4, 0) / season), 1.0),
            echo_variance=log(-3, 2) * echoing,
            echo=np.where(some(0.8), rng.uniform(0.1, 0.98, count), rng.uniform(-0.9, -0.1, count)) * echoing,
        )
    )


Source = Callable[[np.random.Generator, int], Atoms]
"""Draws atoms of which parts are taken."""


def of_season(season: int) -> Source:
    """Returns the broad prior of series with a season of that many steps, 1 for none."""
    return lambda rng, count: broad(rng, count, season)


def cyclic(rng: np.random.Generator, count: int) -> Atoms:
    """Returns atoms that all have a cycle, of any strength, fixed or forgotten within some rounds of it."""
    table = dict(zip(RATIO_NAMES, broad(rng, count, 1).stacked(), strict=True))
    table["season_prior"] = np.exp(rng.uniform(-2, 6, count))
    forgotten = np.exp(-np.exp(rng.uniform(-4, 1.5, count)) / STEPS_A_ROUND)
    table["season_memory"] = np.where(rng.random(count) < 0.2, 1.0, forgotten)
    return normalised(Atoms(**table))


def redraw(rng: np.random.Generator, atoms: Atoms, share: np.ndarray, count: int, source: Source) -> Atoms:
    """Returns atoms drawn near those that explained the series; `share` is the mean posterior of each.

    This is the sleep phase's model: p(z) is the kernel density of what wake found, with structures toggled at times.
    """
    new = round(FRESH * count)
    drawn = atoms.take(rng.choice(len(atoms), count - new, p=share / share.sum()))
    return normalised(joined([moved(rng, drawn, source), source(rng, new)]))


def moved(rng: np.random.Generator, atoms: Atoms, source: Source, toggled: float = TOGGLED) -> Atoms:
    """Returns the atoms with their numbers moved a little, and a part of some exchanged for a fresh one."""
    table, count = atoms.stacked(), len(atoms)
    by = lambda: np.exp(rng.normal(0.0, REDRAW_DEVIATION, count))  # noqa: E731
    for name in ("noise", "level_walk", "slope_prior", "slope_walk", "season_prior", "season_walk", "echo_variance"):
        table[RATIO_NAMES.index(name)] *= by()
    for name in ("damping", "season_memory"):
        row = table[RATIO_NAMES.index(name)]
        table[RATIO_NAMES.index(name)] = np.where(row < 1, np.exp(np.log(row) * by()), 1.0)
    echo = table[RATIO_NAMES.index("echo")]
    table[RATIO_NAMES.index("echo")] = np.tanh(
        np.arctanh(np.clip(echo, -0.99, 0.99)) + (echo != 0) * rng.normal(0, 0.2, count)
    )
    fresh = source(rng, count).stacked()
    part = rng.choice(len(RATIOS_OF_PART), count)
    for i, names in enumerate(RATIOS_OF_PART.values()):
        where = (rng.random(count) < toggled) & (part == i)
        for name in names:
            row = RATIO_NAMES.index(name)
            table[row] = np.where(where, fresh[row], table[row])
    return tidy(unstacked(table))


def tidy(atoms: Atoms) -> Atoms:
    """Returns the atoms without numbers of parts that they do not have, and with some noise at least."""
    table = dict(zip(RATIO_NAMES, atoms.stacked(), strict=True))
    sloped = atoms.slope_prior > 0
    table["slope_walk"] = np.where(sloped, atoms.slope_walk, 0.0)
    table["damping"] = np.where(sloped, np.clip(atoms.damping, 0.2, 1.0), 1.0)
    table["season_walk"] = np.where(atoms.seasonal & (atoms.season_memory == 1), atoms.season_walk, 0.0)
    table["season_memory"] = np.where(atoms.seasonal, atoms.season_memory, 1.0)
    table["echo"] = np.where(atoms.echoing, atoms.echo, 0.0)
    table["noise"] = np.maximum(atoms.noise, LEAST_NOISE)
    return normalised(Atoms(**table))
