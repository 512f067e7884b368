# ruff: noqa: D102, overridden methods are explained in `Node`
"""Words with frequencies: a closed list, or an open one with a program for new words."""

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from wakesleep.domains.strings.columns.characters import Chars, chars, escape
from wakesleep.domains.strings.columns.nodes import Ends, Node, add_end, grouped, log_of, union

MOST_FACTORED_WORDS = 400
"""Longer lists of words are written one after the other, without shared characters."""


@dataclass(frozen=True)
class Words(Node):
    """Words with their frequencies; with probability `new` a text of `other`, which may also be one of the words."""

    words: tuple[str, ...]
    weights: tuple[float, ...]
    new: float = 0.0
    other: Node | None = None

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return self.other is None or self.other.exact

    @cached_property
    def _table(self) -> dict[str, float]:
        return {w: log_of(p * (1 - self.new)) for w, p in zip(self.words, self.weights, strict=True)}

    @cached_property
    def _lengths(self) -> tuple[int, ...]:
        return tuple(sorted({len(w) for w in self.words}))

    def ends(self, x: str, i: int) -> Ends:
        found: Ends = {}
        for k in self._lengths:
            log_p = self._table.get(x[i : i + k]) if i + k <= len(x) else None
            if log_p is not None:
                found[i + k] = log_p
        if self.other is not None and self.new > 0:
            for j, log_p in self.other.ends(x, i).items():
                add_end(found, j, log_p + log_of(self.new))
        return found

    def log_prob(self, x: str) -> float:
        known = self._table.get(x, -math.inf)
        if self.other is None or self.new == 0:
            return known
        found: Ends = {0: known}
        add_end(found, 0, self.other.log_prob(x) + log_of(self.new))
        return found[0]

    def sample(self, rng: random.Random) -> str:
        if self.other is not None and rng.random() < self.new:
            return self.other.sample(rng)
        return rng.choices(self.words, self.weights)[0]

    @property
    def regex(self) -> str:
        """The words; where new ones are possible, what `other` writes, and the words that it does not."""
        if self.other is None or self.new == 0:
            return words_regex(self.words)
        other = self.other.regex
        reader = re.compile(other)
        outside = [w for w in self.words if not reader.fullmatch(w)]
        return grouped(f"{words_regex(tuple(outside))}|{other}") if outside else other

    @property
    def alphabet(self) -> Chars | None:
        own = chars(extra="".join(self.words))
        return own if self.other is None else union([own, self.other.alphabet])

    @property
    def first(self) -> Chars | None:
        if not all(self.words):
            return None
        own = chars(extra="".join(w[0] for w in self.words))
        return own if self.other is None else union([own, self.other.first])

    def writes(self, c: str) -> bool:
        return any(c in w for w in self.words) or (self.other is not None and self.other.writes(c))

    @property
    def fixed(self) -> bool:
        return len(self._lengths) == 1 and (self.other is None or (self.other.fixed and self._sizes_agree()))

    def _sizes_agree(self) -> bool:
        assert self.other is not None
        return len(self.other.sample(random.Random(0))) == self._lengths[0]

    def parts_below(self) -> Sequence[Node]:
        return () if self.other is None else (self.other,)


def words_regex(words: Sequence[str]) -> str:
    """Returns a regex of some words: brackets where they differ in one character at an end, else alternatives."""
    if len(words) == 1:
        return escape(words[0])
    if all(len(w) == 1 for w in words):
        return chars(extra="".join(words)).regex
    shared = _shared(words)
    if len(words) <= MOST_FACTORED_WORDS and shared and all(len(w) == len(shared) + 1 for w in words):
        return escape(shared) + chars(extra="".join(w[-1] for w in words)).regex
    ending = _shared([w[1:][::-1] for w in words])[::-1]
    if ending and all(len(w) == len(ending) + 1 for w in words):
        return chars(extra="".join(w[0] for w in words)).regex + escape(ending)
    return grouped("|".join(escape(w) for w in words))


def _shared(words: Sequence[str]) -> str:
    """Returns the beginning that all words share."""
    low, high = min(words), max(words)
    k = 0
    while k < len(low) and k < len(high) and low[k] == high[k]:
        k += 1
    return low[:k]
