"""Whole values that come again: a Pitman-Yor process over rows, or a closed list of values."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from wakesleep.domains.strings.columns.reading import changes

DISCOUNTS = (0.0, 0.25, 0.5, 0.75, 0.95)
CONCENTRATIONS = (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0)
CLOSED_PSEUDO_COUNT = 0.5
RANDOM_DEVIATIONS = 2.0
"""Standard deviations (Poisson) by which equal neighbours may exceed their expected number in a random order."""

LATE_DEVIATIONS = 1.5
"""Standard deviations by which values first seen in the second half may exceed their expected number."""


@dataclass(frozen=True)
class Rows:
    """Rows of a column, nulls apart: values with their counts in order of first appearance."""

    counts: dict[str, int]
    changes: dict[str, int]
    """Counts without rows that repeat the row before: sorted columns say no more than their values do."""
    late_news: int
    """Rows of the second half at which a value is seen for the first time."""

    @cached_property
    def evidence(self) -> tuple[int, ...]:
        """The counts that tell how often news comes: of all rows if their order is random, else of `changes`."""
        n, counts = self.total, self.counts.values()
        alike = sum(c * (c - 1) for c in counts) / n
        in_random_order = n - sum(self.changes.values()) <= alike + RANDOM_DEVIATIONS * math.sqrt(alike + 1)
        return tuple(counts if in_random_order else self.changes.values())

    @property
    def total(self) -> int:
        """The number of rows."""
        return sum(self.counts.values())


def count_rows(values: Sequence[str]) -> Rows:
    """Counts the rows; `late_news` is taken in their order."""
    early, counts = set(values[: len(values) // 2]), dict(Counter(values))
    moves = dict(Counter(changes(values))) if len(counts) > 1 else counts
    return Rows(counts, moves, len(set(values) - early))


def log_partition(sizes: Sequence[int], discount: float, concentration: float) -> float:
    """Returns log p of the grouping of rows into values of such counts by a Pitman-Yor process."""
    n, k = sum(sizes), len(sizes)
    tables = Counter(sizes)
    if discount:
        ratio = concentration / discount
        log_p = (k - 1) * math.log(discount) + math.lgamma(ratio + k) - math.lgamma(ratio + 1)
    else:
        log_p = (k - 1) * math.log(concentration)
    log_p -= math.lgamma(concentration + n) - math.lgamma(concentration + 1)
    each = math.lgamma(1 - discount)
    return log_p + sum(c * (math.lgamma(s - discount) - each) for s, c in tables.items())


@dataclass(frozen=True)
class News:
    """What a Pitman-Yor process, averaged over a grid of its parameters, says of the next row."""

    evidence: float
    """log p(grouping of the rows)."""
    discount: float
    chance: float
    """Probability that the next row is a value not seen."""


def pitman_yor(rows: Rows) -> News:
    """Returns the evidence and the posterior means over the grid."""
    sizes = rows.evidence
    grid = [(d, t, log_partition(sizes, d, t)) for d in DISCOUNTS for t in CONCENTRATIONS]
    best = max(g[2] for g in grid)
    weights = [math.exp(g[2] - best) for g in grid]
    total, n, k = sum(weights), sum(sizes), len(sizes)
    discount = sum(w * d for w, (d, _, _) in zip(weights, grid, strict=True)) / total
    chance = sum(w * (t + d * k) / (t + n) for w, (d, t, _) in zip(weights, grid, strict=True)) / total
    return News(best + math.log(total / len(grid)), discount, chance)


def log_closed(rows: Rows) -> float:
    """Returns log p(rows | a closed list of exactly these values): Dirichlet-multinomial, in order."""
    sizes = rows.evidence
    a, k, n = CLOSED_PSEUDO_COUNT, len(sizes), sum(sizes)
    return math.lgamma(a * k) - math.lgamma(a * k + n) + sum(math.lgamma(a + s) - math.lgamma(a) for s in sizes)


def expected_late_news(values: int, rows: int) -> float:
    """Returns the number of values, of so many alike, that are first seen in the second half of the rows."""
    missed = 1 - 1 / values
    return values * (missed ** (rows / 2) - missed**rows)


def may_be_closed(rows: Rows, factor: float) -> bool:
    """Returns whether no more news is to be expected: few singletons, little news in the second half of the rows."""
    k, moves = len(rows.evidence), sum(rows.evidence)
    once = sum(c == 1 for c in rows.evidence)
    expected = expected_late_news(k, moves)
    late = max(0.005 * rows.total, expected + LATE_DEVIATIONS * math.sqrt(expected) + 0.5)
    return moves >= 1.5 * k and once <= 0.15 * factor * moves and rows.late_news <= factor * late
