"""Distributions over how often a part is repeated."""

import math
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

BEYOND = 0.5
"""Rows' worth of probability that is spread over all counts allowed, seen or not."""
MOST_REPEATS = 10_000
"""No run is longer than this."""


@dataclass(frozen=True)
class Counts:
    """p(k) = (1 - spread) seen(k) + spread uniform(k), low <= k <= high; without `high` geometric, not uniform."""

    low: int
    high: int | None
    seen: tuple[tuple[int, float], ...] = ()
    """Counts and their probabilities, which sum to one; empty if `spread` is one."""
    spread: float = 1.0
    mean_above: float = 4.0
    """Mean of the geometric tail's excess over `low`."""

    @cached_property
    def _table(self) -> dict[int, float]:
        return dict(self.seen)

    @cached_property
    def _known(self) -> dict[int, float]:
        return {}

    def log_prob(self, k: int) -> float:
        """Returns log p(k); minus infinity outside the range."""
        log_p = self._known.get(k)
        if log_p is None:
            log_p = self._known[k] = self._log_prob(k)
        return log_p

    def _log_prob(self, k: int) -> float:
        if k < self.low or (self.high is not None and k > self.high):
            return -math.inf
        if self.high is not None:
            log_rest = -math.log(self.high - self.low + 1)
        else:
            stop = 1.0 / (1.0 + self.mean_above)
            log_rest = math.log(stop) + (k - self.low) * math.log1p(-stop)
        seen = self._table.get(k, 0.0)
        p = (1.0 - self.spread) * seen + self.spread * math.exp(log_rest)
        if p > 0:
            return math.log(p)
        return math.log(self.spread) + log_rest if self.spread > 0 else -math.inf  # too small for a probability

    def sample(self, rng: random.Random) -> int:
        """Returns a count."""
        if rng.random() >= self.spread:
            ks, ps = zip(*self.seen, strict=True)
            return int(rng.choices(ks, ps)[0])
        if self.high is not None:
            return rng.randint(self.low, self.high)
        k, stop = self.low, 1.0 / (1.0 + self.mean_above)
        while rng.random() >= stop and k < MOST_REPEATS:
            k += 1
        return k

    @property
    def regex(self) -> str:
        """The quantifier."""
        if self.high is None:
            return {0: "*", 1: "+"}.get(self.low, f"{{{self.low},}}")
        if self.low == self.high:
            return "" if self.low == 1 else f"{{{self.low}}}"
        return "?" if (self.low, self.high) == (0, 1) else f"{{{self.low},{self.high}}}"

    def shifted(self, by: int) -> "Counts":
        """Returns the counts with a number added to each."""
        high = None if self.high is None else self.high + by
        return Counts(self.low + by, high, tuple((k + by, p) for k, p in self.seen), self.spread, self.mean_above)

    @property
    def fixed(self) -> bool:
        """Whether there is only one count."""
        return self.low == self.high

    def words(self) -> str:
        """Returns the range in words."""
        if self.fixed:
            return str(self.low)
        return f"{self.low} or more" if self.high is None else f"{self.low} to {self.high}"


def exactly(k: int) -> Counts:
    """Returns the count k, for certain."""
    return Counts(k, k)


def between(low: int, high: int) -> Counts:
    """Returns the counts of a range, each alike."""
    return Counts(low, high)


def fit_counts(seen: Iterable[int], low: int, high: int | None) -> Counts:
    """Returns counts fitted to those seen, within a range that holds them."""
    table = Counter(seen)
    if low == high:
        return exactly(low)
    total = sum(table.values())
    excess = sum((k - low) * c for k, c in table.items()) / total
    return Counts(
        low,
        high,
        tuple((k, c / total) for k, c in sorted(table.items())),
        BEYOND * len(table) / (total + BEYOND * len(table)),
        max(excess, 0.5),
    )
