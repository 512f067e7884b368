"""The range that numbers of a column are expected in: what was seen, and what the tails lead one to expect."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

TAIL_SCALES = 3.0
"""Scales of the tail beyond the largest value: an exponential tail then passes the end within as many rows as were
seen with probability 1 / (1 + exp 3), about one in twenty; no data were looked at to choose it."""
TAIL_SHARE, FEWEST_IN_TAIL, MOST_IN_TAIL = 0.1, 2, 50
REACHED_AGAIN = 3
"""Times that an end was reached from which it is taken for the end: ratings up to 10, shares up to 1."""
FEWEST_IN_ORDER = 20
MOVING_CORRELATION = 0.5
"""Correlation of ranks and rows from which a column is taken to move on; no data were looked at to choose it."""
LARGEST_NUMBER, LEAST_STEP, LARGEST_EXPONENT = 1e100, 1e-300, 300.0
"""Within these nothing overflows; numbers further from zero take no part in a range."""


def expected_range(numbers: Sequence[float], whole: bool) -> tuple[float | None, float | None]:
    """Returns the ends of the range for numbers in the order of rows; None is open.

    A column that only rises, as of running numbers, is open above, one that only falls below.
    """
    if not (numbers := _bounded(numbers)):
        return None, None
    low, high = -_reach([-x for x in numbers]), _reach(numbers)
    step = _step(high - low, whole)
    if low != min(numbers):
        low = math.floor(low / step) * step
    if high != max(numbers):
        high = math.ceil(high / step) * step
    if min(numbers) >= 0:
        low = max(low, 0.0)
    if max(numbers) <= 0:
        high = min(high, 0.0)
    rises, falls = _in_order(numbers), _in_order([-x for x in numbers])
    return None if falls else _plain(low), None if rises else _plain(high)


def wider_ranges(numbers: Sequence[float], whole: bool) -> dict[str, tuple[float | None, float | None]]:
    """Returns ranges wider than the expected one, by name: of twice its width, then open to one side and to both.

    A column that moves on with its rows has none of twice the width, since it would leave that later.
    """
    low, high = expected_range(numbers, whole)
    if not (numbers := _bounded(numbers)):
        return {}
    sign = 0.0 if min(numbers) >= 0 else None
    found: dict[str, tuple[float | None, float | None]] = {}
    if low is not None and high is not None and not moves(numbers):
        span = max((high - low) / 2, _step(high - low, whole))
        far = low - span if sign is None else max(0.0, low - span)
        found["wide"] = _plain(far), _plain(high + span if max(numbers) > 0 else min(0.0, high + span))
    return found | {"above": (low, None), "below": (sign, high), "sign": (sign, None)}


def moves(values: Sequence[float] | Sequence[str]) -> bool:
    """Returns whether values rise or fall with their rows, by the correlation of ranks."""
    if len(set(values)) < FEWEST_IN_ORDER:
        return False
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return bool(abs(np.corrcoef(ranks, np.arange(len(values)))[0, 1]) > MOVING_CORRELATION)


def _bounded(numbers: Sequence[float]) -> list[float]:
    """Returns the numbers that arithmetic cannot make infinite."""
    return [x for x in numbers if abs(x) <= LARGEST_NUMBER]


def _reach(numbers: Sequence[float]) -> float:
    """Returns how far up values are expected."""
    x = sorted(numbers)
    top = x[-1]
    if x[-REACHED_AGAIN:].count(top) == REACHED_AGAIN or x[0] == top:
        return top
    k = max(FEWEST_IN_TAIL, min(int(TAIL_SHARE * len(x)), MOST_IN_TAIL))
    if len(x) <= k:
        return top + (top - x[0])
    start, tail = x[-k - 1], x[-k:]
    mean = sum(tail) / k - start
    spread = math.sqrt(sum((t - start - mean) ** 2 for t in tail) / k)
    if start > 0 and spread > mean:  # heavier than exponential: the tail is one of the logarithm
        return top * math.exp(min(TAIL_SCALES * sum(math.log(t / start) for t in tail) / k, LARGEST_EXPONENT))
    return top + TAIL_SCALES * mean


def _step(span: float, whole: bool) -> float:
    """Returns the unit that ends are rounded to: a hundredth to a tenth of the range."""
    if not span > 0 or not math.isfinite(span):
        return 1.0
    step = max(10.0 ** (math.floor(math.log10(span)) - 1), LEAST_STEP)
    return max(step, 1.0) if whole else step


def _in_order(numbers: Sequence[float]) -> bool:
    return len(set(numbers)) >= FEWEST_IN_ORDER and all(a <= b for a, b in pairwise(numbers))


def _plain(x: float) -> float:
    """Returns a number without the noise of binary fractions."""
    return float(f"{x:.12g}")
