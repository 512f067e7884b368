"""A mixture of Student distributions of the values or of their logarithms, at each of several times.

Logarithms may be bent: g(y) = log y up to the knee c, and log c + y / c - 1 above it. Values up to the knee have the
same likelihood as under logarithms, but what grows past it goes on as a straight line, not as an exponential.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.statespace.student import student_cdf

TABLE_SIZE, TAIL_END, TABLE_END = 4001, 8.0, 1e6
QUANTILE_BISECTIONS = 44
LARGEST_LOG, LEAST_LOG = 600.0, -745.0


@dataclass(frozen=True)
class Mixture:
    """Members k at times h: value, or its logarithm where `log`, = mean + scale * Student(freedom)."""

    weight: Float[np.ndarray, "k"]
    mean: Float[np.ndarray, "h k"]
    scale: Float[np.ndarray, "h k"]
    log: np.ndarray
    freedom: float
    least: float = -np.inf
    """Values below are impossible: quantiles are cut there."""
    knee: float = np.inf
    """The logarithm above which logarithms are bent."""

    def log_density(self, values: Float[np.ndarray, "h"]) -> Float[np.ndarray, "h"]:
        """Returns the log of the density at a value for each time."""
        with np.errstate(divide="ignore"):
            return np.logaddexp.reduce(np.log(self.weight) + self.log_densities(values), axis=1)

    def log_densities(self, values: Float[np.ndarray, "h"]) -> Float[np.ndarray, "h k"]:
        """Returns the log of the density of each member at a value for each time."""
        v = self.freedom
        y, jacobian = self._seen(values)
        z = (y - self.mean) / self.scale
        constant = math.lgamma((v + 1) / 2) - math.lgamma(v / 2) - 0.5 * np.log(v * np.pi)
        return constant - np.log(self.scale) - (v + 1) / 2 * np.log1p(z**2 / v) - jacobian

    def quantile(self, probability: float) -> Float[np.ndarray, "h"]:
        """Returns the value below which that much probability lies, for each time."""
        points, cdf = _student_table(self.freedom)
        start = np.interp(probability, cdf, points)
        each = self._back(self.mean + self.scale * start)
        low, high = each.min(axis=1), each.max(axis=1)
        for _ in range(QUANTILE_BISECTIONS):
            middle = (low + high) / 2
            y, _ = self._seen(middle)
            below = np.interp((y - self.mean) / self.scale, points, cdf) @ self.weight < probability
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.maximum((low + high) / 2, self.least)

    def middle(self) -> Float[np.ndarray, "h"]:
        """Returns the point forecast: the mean over the members of each one's median."""
        return np.maximum(self._back(self.mean) @ self.weight, self.least)

    def draw(self, rng: np.random.Generator, count: int) -> Float[np.ndarray, "h n"]:
        """Returns independent draws at each time."""
        members = rng.choice(len(self.weight), count, p=self.weight)
        noise = rng.standard_t(self.freedom, (len(self.mean), count))
        drawn = self.mean[:, members] + self.scale[:, members] * noise
        chosen = replace(self, log=self.log[members])
        return np.maximum(chosen._back(drawn), self.least)

    def _seen(self, values: Float[np.ndarray, "h"]) -> tuple[np.ndarray, np.ndarray]:
        """Returns the value as each member sees it, and the log of the derivative's inverse."""
        if not self.log.any():
            return values[:, None], np.zeros(1)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(values > 0, np.log(values), -np.inf)
        bent = logs
        if np.isfinite(self.knee):
            bent = np.where(logs > self.knee, self.knee + values * np.exp(-self.knee) - 1, logs)
        jacobian = np.clip(logs, LEAST_LOG, self.knee)
        return np.where(self.log, bent[:, None], values[:, None]), np.where(self.log, jacobian[:, None], 0.0)

    def _back(self, seen: np.ndarray) -> np.ndarray:
        return np.where(self.log, unbent(seen * self.log, self.knee), seen)


def unbent(seen: np.ndarray, knee: float) -> np.ndarray:
    """Returns the values whose logarithms, bent at the knee, are given."""
    if not np.isfinite(knee):
        return np.exp(np.minimum(seen, LARGEST_LOG))
    return np.exp(np.minimum(seen, knee)) + np.exp(knee) * np.maximum(seen - knee, 0.0)


def mixed(parts: Sequence[tuple[float, Mixture]]) -> Mixture:
    """Returns the mixture of mixtures with some weights; all have the same times and degrees of freedom."""
    if len(parts) == 1:
        return parts[0][1]
    total = sum(share for share, _ in parts)
    return replace(
        parts[0][1],
        weight=np.concatenate([share / total * m.weight for share, m in parts]),
        mean=np.hstack([m.mean for _, m in parts]),
        scale=np.hstack([m.scale for _, m in parts]),
        log=np.concatenate([m.log for _, m in parts]),
    )


_TABLES: dict[float, tuple[np.ndarray, np.ndarray]] = {}


def _student_table(freedom: float) -> tuple[np.ndarray, np.ndarray]:
    """Returns points and the distribution function of a Student distribution, to be interpolated."""
    if freedom not in _TABLES:
        core = np.linspace(-TAIL_END, TAIL_END, TABLE_SIZE)
        tail = np.geomspace(TAIL_END, TABLE_END, 200)[1:]
        points = np.concatenate([-tail[::-1], core, tail])
        _TABLES[freedom] = points, student_cdf(freedom, points)
    return _TABLES[freedom]
