"""How the states of atoms move over a stretch of time, exactly for any length of it."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.statespace.atoms import Atoms

SMALL_RATE_TIME = 0.02
"""Below this product of rate and time a power series replaces differences of exponentials."""
LEVEL, SLOPE, ECHO, SEASON = 0, 1, 2, 3
"""The order of the states; seasonal effects begin at SEASON."""


class Transition(NamedTuple):
    """Coefficients and variances of one stretch of time, for each atom."""

    reach: Float[np.ndarray, "a"]
    """By how much a unit of slope moves the level."""
    damping: Float[np.ndarray, "a"]
    echo: Float[np.ndarray, "a"]
    memory: Float[np.ndarray, "a"]
    level_noise: Float[np.ndarray, "a"]
    cross_noise: Float[np.ndarray, "a"]
    slope_noise: Float[np.ndarray, "a"]
    echo_noise: Float[np.ndarray, "a"]
    season_noise: Float[np.ndarray, "a"]


def transition(atoms: Atoms, time: float, whole_steps: int) -> Transition:
    """Returns the transition over `time` steps that begins `whole_steps` new whole steps.

    A negative echo changes its sign at each whole step, so that it is defined between them too.
    """
    rate = -np.log(atoms.damping)
    damping = np.exp(-rate * time)
    reach, slope_gain, level_gain = _integrals(rate, time, damping)
    echo = np.abs(atoms.echo) ** time * np.where(atoms.echo < 0, (-1.0) ** whole_steps, 1.0)
    memory = atoms.season_memory**time
    return Transition(
        reach=reach,
        damping=damping,
        echo=echo,
        memory=memory,
        level_noise=atoms.level_walk * time + atoms.slope_walk * level_gain,
        cross_noise=atoms.slope_walk * reach**2 / 2,
        slope_noise=atoms.slope_walk * slope_gain,
        echo_noise=atoms.echo_variance * (1 - echo**2),
        season_noise=atoms.season_walk * time + atoms.season_prior * (1 - memory**2),
    )


def _integrals(rate: np.ndarray, time: float, damping: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the integrals over the stretch of exp(-r u), exp(-2 r u) and ((1 - exp(-r u)) / r)^2."""
    x = rate * time
    small = x < SMALL_RATE_TIME
    r = np.where(small, 1.0, rate)
    once = np.where(small, time * (1 - x / 2 + x**2 / 6 - x**3 / 24 + x**4 / 120), (1 - damping) / r)
    twice = np.where(small, time * (1 - x + 2 * x**2 / 3 - x**3 / 3 + 2 * x**4 / 15), (1 - damping**2) / (2 * r))
    series = time**3 * (1 / 3 - x / 4 + 7 * x**2 / 60 - x**3 / 24 + 31 * x**4 / 2520)
    return once, twice, np.where(small, series, (time - 2 * once + twice) / r**2)
