"""What fitted programs say at any times: the series to come with its uncertainty, and the part of each term.

In NumPy, which needs no compilation for each new number of points; `matrices` are those of the domain's own kernels.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float
from scipy.special import ndtr

from wakesleep.domains.timeseries.expressions.neighbours import Part, parts_of
from wakesleep.domains.timeseries.kernels import LEAST_NOISE_DEVIATION, WALK_LENGTH_SPANS
from wakesleep.domains.timeseries.language import LIN, M12, PER, RW, SE, WN, C, Kernel
from wakesleep.domains.timeseries.variational import GREATEST_LOG_VARIABLE, points

BAND_PROBABILITY = 0.9
BISECTIONS = 60
LEAST_LOGGED_VALUE, GREATEST_EXPONENT = 1e-300, 600.0


class Mixture(NamedTuple):
    """Gaussians at each of t times, k of them with weights, each of a value or of its logarithm."""

    weight: Float[np.ndarray, "k"]
    mean: Float[np.ndarray, "k t"]
    deviation: Float[np.ndarray, "k t"]
    log: Bool[np.ndarray, "k"]
    """Which of them are of the logarithm."""

    def log_density(self, y: Float[np.ndarray, "t"]) -> Float[np.ndarray, "t"]:
        """Returns the logarithm of the density of a value at each time."""
        away, possible = self._away(y)
        stretched = np.where(self.log[:, None], np.log(np.maximum(y, LEAST_LOGGED_VALUE)), 0.0) + np.log(self.deviation)
        each = np.log(self.weight)[:, None] - 0.5 * away**2 - stretched - 0.5 * np.log(2 * np.pi)
        each = np.where(possible, each, -np.inf)
        top = each.max(axis=0)
        return top + np.log(np.exp(each - top[None]).sum(axis=0))

    def quantile(self, share: float) -> Float[np.ndarray, "t"]:
        """Returns the quantile at each time, by bisection between the quantiles of the components."""
        ends = self._values(self.mean + NormalDist().inv_cdf(share) * self.deviation)
        low, high = ends.min(axis=0), ends.max(axis=0)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            away, possible = self._away(middle)
            below = self.weight @ np.where(possible, ndtr(away), 0.0)
            low, high = np.where(below < share, middle, low), np.where(below < share, high, middle)
        return (low + high) / 2

    def _values(self, a: Float[np.ndarray, "k t"]) -> Float[np.ndarray, "k t"]:
        return np.where(self.log[:, None], np.exp(np.minimum(a, GREATEST_EXPONENT)), a)

    def _away(self, y: Float[np.ndarray, "t"]) -> tuple[Float[np.ndarray, "k t"], Bool[np.ndarray, "k t"]]:
        """Returns a value's distance from each mean, in deviations, and whether its logarithm exists where needed."""
        seen = np.where(self.log[:, None], np.log(np.maximum(y, LEAST_LOGGED_VALUE)), y)
        return (seen - self.mean) / self.deviation, ~self.log[:, None] | (y > 0)


class Conditions(NamedTuple):
    """Observed times and values, and the times asked for, as the model counts them."""

    times: Float[np.ndarray, "n"]
    values: Float[np.ndarray, "n"]
    asked: Float[np.ndarray, "t"]


def matrix(part: Part, a: Float[np.ndarray, "j"], b: Float[np.ndarray, "k"], scaled: bool) -> Float[np.ndarray, "j k"]:
    """Returns the covariance that one term gives between points; noise gives none."""
    if part.term == (WN,):
        return np.zeros((len(a), len(b)))
    if part.term == (LIN,):
        return np.exp(2 * part.values[0]) * np.outer(a, b)
    lags, values = np.abs(a[:, None] - b[None, :]), list(part.values)
    if part.term == (RW,):
        return np.exp(2 * values[0]) * WALK_LENGTH_SPANS / 2 * np.exp(-lags / WALK_LENGTH_SPANS)
    product = np.full(lags.shape, np.exp(2 * values.pop(0)) if scaled or part.term[0] == C else 1.0)
    for factor in part.term:
        if factor != C:
            length = np.exp(values.pop(0))
            product *= _factor(factor, lags, length, np.exp(values.pop(0)) if factor == PER else 1.0)
    return product


def _factor(kind: int, lags: Float[np.ndarray, "j k"], length: float, period: float) -> Float[np.ndarray, "j k"]:
    ratio = lags / length
    if kind == PER:
        return np.exp(-2 * np.sin(np.pi * lags / period) ** 2 / length**2)
    if kind == SE:
        return np.exp(-0.5 * ratio**2)
    return np.exp(-ratio) if kind == M12 else (1 + np.sqrt(3) * ratio) * np.exp(-np.sqrt(3) * ratio)


def nugget(parts: Sequence[Part]) -> float:
    """Returns the noise variance of one point."""
    return LEAST_NOISE_DEVIATION**2 + sum(float(np.exp(2 * p.values[0])) for p in parts if p.term == (WN,))


def mixture(programs: Sequence[Kernel], weights: Float[np.ndarray, "p"], given: Conditions, scaled: bool) -> Mixture:
    """Returns the predictive distribution of a new value at each time asked for, over programs and their variables."""
    weight, means, variances = [], [], []
    for z, w in zip(programs, weights, strict=True):
        drawn = draws(z, scaled)
        for parts in drawn:
            mean, variance = _predict(parts, given, scaled)
            weight.append(w / len(drawn))
            means.append(mean)
            variances.append(variance)
    none = np.zeros(len(weight), bool)
    return Mixture(np.array(weight), np.array(means), np.sqrt(np.array(variances)), none)


def draws(z: Kernel, scaled: bool) -> list[list[Part]]:
    """Returns a program with its variables at the ten points that stand for its Gaussian."""
    active = np.diag(np.asarray(z.root)) > 0
    thetas = np.asarray(z.mean) + _points(tuple(active.tolist())) @ np.asarray(z.root).T
    clipped = np.clip(thetas, -GREATEST_LOG_VARIABLE, GREATEST_LOG_VARIABLE)
    return [parts_of(z._replace(mean=theta), scaled) for theta in clipped]


def _points(active: tuple[bool, ...]) -> Float[np.ndarray, "s v"]:
    mask: Bool[np.ndarray, v] = np.array(active)
    with jax.enable_x64(True):
        return np.asarray(points(jnp.asarray(mask)))


def _predict(
    parts: list[Part], given: Conditions, scaled: bool
) -> tuple[Float[np.ndarray, "t"], Float[np.ndarray, "t"]]:
    """Returns mean and variance of a new value at each time asked for."""
    cross = _between(parts, given.asked, given.times, scaled)
    solved = _solve(parts, given, np.column_stack([given.values, cross.T]), scaled)
    own = nugget(parts)
    alone = np.array([sum(matrix(p, u, u, scaled)[0, 0] for p in parts) for u in given.asked[:, None]])
    variance = alone + own - np.sum(cross.T * solved[:, 1:], axis=0)
    return cross @ solved[:, 0], np.maximum(variance, own)


def _between(
    parts: list[Part], a: Float[np.ndarray, "j"], b: Float[np.ndarray, "k"], scaled: bool
) -> Float[np.ndarray, "j k"]:
    return np.sum([matrix(p, a, b, scaled) for p in parts], axis=0)


def _solve(parts: list[Part], given: Conditions, sides: Float[np.ndarray, "n s"], scaled: bool) -> np.ndarray:
    """Solves K a = b for each column b of `sides`; K is the covariance of the observations."""
    dense = _between(parts, given.times, given.times, scaled)
    return np.linalg.solve(dense + nugget(parts) * np.eye(len(dense)), sides)
