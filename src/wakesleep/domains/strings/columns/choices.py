"""Programs that choose: optional parts, alternatives, words with frequencies, lists of items, ranges of numbers."""

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from wakesleep.domains.strings.columns.characters import Chars, chars, escape
from wakesleep.domains.strings.columns.counts import Counts
from wakesleep.domains.strings.columns.nodes import MEMO_TEXTS, Ends, Literal, Node, Run, Series, add_end, union

MOST_FACTORED_WORDS = 400
"""Longer lists of words are written one after the other, without shared characters."""


def _log(p: float) -> float:
    return math.log(p) if p > 0 else -math.inf


def grouped(regex: str) -> str:
    """A regex that can be followed by a quantifier."""
    return f"(?:{regex})"


@dataclass(frozen=True)
class Maybe(Node):
    """A part that is there with a probability."""

    part: Node
    chance: float

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return self.part.exact

    def ends(self, x: str, i: int) -> Ends:
        found: Ends = {i: _log(1 - self.chance)}
        for j, log_p in self.part.ends(x, i).items():
            add_end(found, j, log_p + _log(self.chance))
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
                add_end(found, j, log_p + _log(weight))
        return found

    def log_prob(self, x: str) -> float:
        log_ps = [b.log_prob(x) + _log(w) for b, w in zip(self.branches, self.weights, strict=True)]
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
        return {w: _log(p * (1 - self.new)) for w, p in zip(self.words, self.weights, strict=True)}

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
                add_end(found, j, log_p + _log(self.new))
        return found

    def log_prob(self, x: str) -> float:
        known = self._table.get(x, -math.inf)
        if self.other is None or self.new == 0:
            return known
        found: Ends = {0: known}
        add_end(found, 0, self.other.log_prob(x) + _log(self.new))
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
    """A regex of some words: single characters in brackets, else alternatives, longest first among those that share a start."""
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
    """The beginning that all words share."""
    low, high = min(words), max(words)
    k = 0
    while k < len(low) and k < len(high) and low[k] == high[k]:
        k += 1
    return low[:k]


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
        return isinstance(self.separator, Literal) and self.separator.text != "" and not self.item.writes(self.separator.text[0])

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


def series(*parts: Node | str) -> Node:
    """Parts one after the other; a string stands for itself, and neighbouring literals become one."""
    found: list[Node] = []
    for part in parts:
        for node in part.parts if isinstance(part, Series) else (Literal(part) if isinstance(part, str) else part,):
            if isinstance(node, Literal) and not node.text:
                continue
            if isinstance(node, Literal) and found and isinstance(found[-1], Literal):
                found[-1] = Literal(found[-1].text + node.text)
            else:
                found.append(node)
    return found[0] if len(found) == 1 else Series(tuple(found))
