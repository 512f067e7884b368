# ruff: noqa: D102, overridden methods are explained in `Node`
"""Programs that choose: optional parts, alternatives, lists of items."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from wakesleep.domains.strings.columns.characters import Chars
from wakesleep.domains.strings.columns.counts import Counts
from wakesleep.domains.strings.columns.nodes import (
    MEMO_TEXTS,
    Ends,
    Literal,
    Node,
    Run,
    add_end,
    grouped,
    log_of,
    union,
)


@dataclass(frozen=True)
class Maybe(Node):
    """A part that is there with a probability."""

    part: Node
    chance: float

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return self.part.exact

    def ends(self, x: str, i: int) -> Ends:
        found: Ends = {i: log_of(1 - self.chance)}
        for j, log_p in self.part.ends(x, i).items():
            add_end(found, j, log_p + log_of(self.chance))
        return found

    def sample(self, rng: random.Random) -> str:
        return self.part.sample(rng) if rng.random() < self.chance else ""

    @property
    def regex(self) -> str:
        inner = self.part.regex
        alone = (isinstance(self.part, Literal) and len(self.part.text) == 1) or (
            isinstance(self.part, Run) and self.part.counts.regex == ""
        )
        return (inner if alone else grouped(inner)) + "?"

    @property
    def alphabet(self) -> Chars | None:
        return self.part.alphabet

    def parts_below(self) -> Sequence[Node]:
        return (self.part,)


@dataclass(frozen=True)
class Either(Node):
    """One of several parts, each with its probability."""

    branches: tuple[Node, ...]
    weights: tuple[float, ...]

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return all(b.exact for b in self.branches)

    def ends(self, x: str, i: int) -> Ends:
        found: Ends = {}
        for branch, weight in zip(self.branches, self.weights, strict=True):
            for j, log_p in branch.ends(x, i).items():
                add_end(found, j, log_p + log_of(weight))
        return found

    def log_prob(self, x: str) -> float:
        log_ps = [b.log_prob(x) + log_of(w) for b, w in zip(self.branches, self.weights, strict=True)]
        best = max(log_ps)
        return best if best == -math.inf else best + math.log(sum(math.exp(p - best) for p in log_ps))

    def sample(self, rng: random.Random) -> str:
        return rng.choices(self.branches, self.weights)[0].sample(rng)

    @property
    def regex(self) -> str:
        return grouped("|".join(dict.fromkeys(b.regex for b in self.branches)))

    @property
    def alphabet(self) -> Chars | None:
        return union([b.alphabet for b in self.branches])

    @property
    def first(self) -> Chars | None:
        firsts = [b.first for b in self.branches]
        return None if any(f is None for f in firsts) else union(firsts)

    @property
    def fixed(self) -> bool:
        return False

    def parts_below(self) -> Sequence[Node]:
        return self.branches


@dataclass(frozen=True)
class Listing(Node):
    """Items separated by one text; the counts are of items."""

    item: Node
    separator: Node
    counts: Counts

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return self.item.exact and self.separator.exact

    def ends(self, x: str, i: int) -> Ends:
        found: Ends = {}
        if self.counts.low == 0:
            found[i] = self.counts.log_prob(0)
        reached = self.item.ends(x, i)
        k, most = 1, self.counts.high if self.counts.high is not None else len(x) + 1
        while reached and k <= most:
            chance = self.counts.log_prob(k)
            if chance > -math.inf:
                for j, log_p in reached.items():
                    add_end(found, j, log_p + chance)
            after: Ends = {}
            for j, log_p in reached.items():
                for s, log_s in self.separator.ends(x, j).items():
                    for e, log_e in self.item.ends(x, s).items():
                        if e > j:
                            add_end(after, e, log_p + log_s + log_e)
            reached, k = after, k + 1
        return found

    @cached_property
    def decided(self) -> bool:
        """Whether items end where the separator begins, so that a text can be read in one way only."""
        return (
            isinstance(self.separator, Literal)
            and self.separator.text != ""
            and not self.item.writes(self.separator.text[0])
        )

    @cached_property
    def _known(self) -> dict[str, float]:
        return {}

    def log_prob(self, x: str) -> float:
        if not self.decided:
            return super().log_prob(x)
        if not x:
            empty = self.counts.log_prob(0)
            return empty if self.counts.low == 0 else self.counts.log_prob(1) + self.item.log_prob("")
        assert isinstance(self.separator, Literal)
        items = x.split(self.separator.text)
        log_p = self.counts.log_prob(len(items))
        for item in items:
            if log_p == -math.inf:
                break
            log_q = self._known.get(item)
            if log_q is None:
                log_q = self.item.log_prob(item)
                if len(self._known) < MEMO_TEXTS:
                    self._known[item] = log_q
            log_p += log_q
        return log_p

    def sample(self, rng: random.Random) -> str:
        count = self.counts.sample(rng)
        found = [self.item.sample(rng)] if count else []
        for _ in range(count - 1):
            found += [self.separator.sample(rng), self.item.sample(rng)]
        return "".join(found)

    @property
    def regex(self) -> str:
        item, rest = self.item.regex, grouped(self.separator.regex + self.item.regex)
        low, high = self.counts.low, self.counts.high
        more = Counts(max(low - 1, 0), None if high is None else high - 1)
        whole = item + ("" if high == 1 else rest + more.regex)
        return whole if low else grouped(whole) + "?"

    @property
    def alphabet(self) -> Chars | None:
        return union([self.item.alphabet, self.separator.alphabet])

    @property
    def first(self) -> Chars | None:
        return self.item.first if self.counts.low else None

    def parts_below(self) -> Sequence[Node]:
        return (self.item, self.separator)
