# ruff: noqa: D102, overridden methods are explained in `Node`
"""Whole numbers of a range, written with or without leading zeros."""

import math
import random
from dataclasses import dataclass
from functools import cached_property, lru_cache

from wakesleep.domains.strings.columns.characters import Chars
from wakesleep.domains.strings.columns.nodes import Ends, Node


@dataclass(frozen=True)
class Number(Node):
    """Whole numbers from `low` to `high` in decimal, padded with zeros to `width` digits.

    p(n) = share [first <= n <= last] / (last - first + 1) + (1 - share) / (high - low + 1), `usual` is (first, last).
    """

    low: int
    high: int
    width: int = 1
    usual: tuple[int, int] | None = None
    """The range of those seen so far; None where all numbers are alike."""
    share: float = 0.0
    exact = True

    def ends(self, x: str, i: int) -> Ends:
        found: Ends = {}
        for k in range(self.width, max(self.width, len(str(self.high))) + 1):
            text = x[i : i + k]
            if len(text) == k and self.log_prob(text) > -math.inf:
                found[i + k] = self._log_number(int(text))
        return found

    @cached_property
    def _log_each(self) -> tuple[float, float]:
        """log p of a number outside and inside the usual range."""
        outside = (1 - self.share) / (self.high - self.low + 1)
        first, last = self.usual or (self.low, self.high)
        return math.log(outside), math.log(outside + self.share / (last - first + 1))

    def _log_number(self, n: int) -> float:
        return self._log_each[self.usual is not None and self.usual[0] <= n <= self.usual[1]]

    def log_prob(self, x: str) -> float:
        if not (x.isascii() and x.isdigit()) or len(x) < self.width or (len(x) > self.width and x[0] == "0"):
            return -math.inf
        if len(x) > len(str(self.high)) and len(x) > self.width:
            return -math.inf
        return self._log_number(int(x)) if self.low <= int(x) <= self.high else -math.inf

    def sample(self, rng: random.Random) -> str:
        first, last = self.usual if self.usual and rng.random() < self.share else (self.low, self.high)
        return str(rng.randint(first, last)).zfill(self.width)

    @property
    def regex(self) -> str:
        return range_regex(self.low, self.high, self.width)

    @property
    def alphabet(self) -> Chars:
        return Chars(("digit",))

    @property
    def first(self) -> Chars:
        return Chars(("digit",))

    @property
    def fixed(self) -> bool:
        return len(str(self.high)) <= self.width or len(str(self.low)) == len(str(self.high)) > self.width


@lru_cache(maxsize=256)
def range_regex(low: int, high: int, width: int) -> str:
    """Returns a regex of the whole numbers from low to high, padded to `width` digits."""
    found: list[str] = []
    lengths = sorted({max(width, len(str(low))), *range(max(width, len(str(low))), max(width, len(str(high))) + 1)})
    for k in lengths:
        first = max(low, 0 if k == width else 10 ** (k - 1))
        last = min(high, 10**k - 1)
        if first <= last:
            found += _same_length(str(first).zfill(k), str(last).zfill(k))
    return found[0] if len(found) == 1 else f"(?:{'|'.join(found)})"


def _same_length(low: str, high: str) -> list[str]:
    """Returns regexes of the numbers between two of the same length."""
    if low == high:
        return [low]
    if low[0] == high[0]:
        return [low[0] + _joined(_same_length(low[1:], high[1:]))]
    if len(low) == 1:
        return [_digits(low, high)]
    found, first, last = [], int(low[0]), int(high[0])
    rest = len(low) - 1
    if low[1:] != "0" * rest:
        found.append(low[0] + _joined(_same_length(low[1:], "9" * rest)))
        first += 1
    top = high[1:] != "9" * rest
    if first <= last - top:
        found.append(_digits(str(first), str(last - top)) + "[0-9]" + ("" if rest == 1 else f"{{{rest}}}"))
    if top:
        found.append(high[0] + _joined(_same_length("0" * rest, high[1:])))
    return found


def _digits(low: str, high: str) -> str:
    if low == high:
        return low
    return f"[{low}{high}]" if int(high) == int(low) + 1 else f"[{low}-{high}]"


def _joined(regexes: list[str]) -> str:
    return regexes[0] if len(regexes) == 1 else f"(?:{'|'.join(regexes)})"
