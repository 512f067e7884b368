# ruff: noqa: D102, overridden methods are explained in `Node`
"""Programs: frozen trees that write text with exact, normalised probabilities.

`ends(x, i)` returns log p of writing x[i:j] for every possible j, so that a sequence sums over all its parses by
dynamic programming. A sequence in which every boundary is decided by the next character is read by one regex instead.
"""

import math
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from wakesleep.domains.strings.columns.characters import Chars, chars, escape
from wakesleep.domains.strings.columns.counts import Counts

Ends = dict[int, float]
MEMO_TEXTS = 20_000
USUAL_SHARE = 0.95


def log_add(a: float, b: float) -> float:
    """Returns log(exp a + exp b)."""
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + math.log1p(math.exp(b - a))


def add_end(ends: Ends, j: int, log_p: float) -> None:
    """Adds the probability of one more way to end at j."""
    ends[j] = log_add(ends[j], log_p) if j in ends else log_p


class Node:
    """A part of a program; the subclasses are final."""

    exact: bool
    """Whether `regex` accepts exactly what the part can write, and not more."""

    def ends(self, x: str, i: int) -> Ends:
        """Returns log p of writing x[i:j], for every j at which that is possible."""
        raise NotImplementedError

    def log_prob(self, x: str) -> float:
        """Returns log p of writing x and then stopping; minus infinity if that is impossible."""
        return self.ends(x, 0).get(len(x), -math.inf)

    def log_probs(self, values: Iterable[str]) -> list[float]:
        """Returns `log_prob` of each value."""
        return [self.log_prob(v) for v in values]

    def sample(self, rng: random.Random) -> str:
        """Returns a text."""
        raise NotImplementedError

    @property
    def regex(self) -> str:
        """A regex, not anchored."""
        raise NotImplementedError

    @property
    def alphabet(self) -> Chars | None:
        """The characters it can write; None where they are not easily listed."""
        raise NotImplementedError

    @property
    def first(self) -> Chars | None:
        """The characters it can begin with; None where it may be empty or they are not easily listed."""
        return None

    @property
    def fixed(self) -> bool:
        """Whether all its texts have one length."""
        return False

    def writes(self, c: str) -> bool:
        """Returns whether the character may occur in its texts; True where that is not known."""
        below = self.parts_below()
        if below:
            return any(part.writes(c) for part in below)
        return self.alphabet is None or self.alphabet.holds(c)

    def parts_below(self) -> "Sequence[Node]":
        """Returns the parts that it consists of."""
        return ()


@dataclass(frozen=True)
class Literal(Node):
    """Always the same text."""

    text: str
    exact = True

    def ends(self, x: str, i: int) -> Ends:
        return {i + len(self.text): 0.0} if x.startswith(self.text, i) else {}

    def sample(self, rng: random.Random) -> str:
        return self.text

    @property
    def regex(self) -> str:
        return escape(self.text)

    @property
    def alphabet(self) -> Chars:
        return chars(extra=self.text)

    @property
    def first(self) -> Chars | None:
        return chars(extra=self.text[:1]) if self.text else None

    @property
    def fixed(self) -> bool:
        return True


@dataclass(frozen=True)
class Run(Node):
    """Characters of a set, each alike, as many as the counts say; `habit` is a beginning shared by all that was seen.

    A run has a habit or a usual part of its set, not both.
    p(x) = p(length) (habitual [x begins with habit] / size^(length - |habit|) + (1 - habitual) / size^length).
    """

    chars: Chars
    counts: Counts
    habit: str = ""
    habitual: float = 0.0
    usual: Chars | None = None
    """A part of the set that most characters are of (`USUAL_SHARE`); None where all are alike."""
    exact = True

    @cached_property
    def _reader(self) -> re.Pattern[str]:
        return re.compile(self.chars.regex + "*")

    @cached_property
    def _log_size(self) -> float:
        return math.log(self.chars.size)

    def _log_text(self, x: str, i: int, k: int) -> float:
        """Returns log p of the k characters from i, given that there are k."""
        if self.usual is not None:
            return self._log_usual(x[i : i + k])
        plain = -k * self._log_size
        if not self.habit or k < len(self.habit):
            return plain
        rest = math.log1p(-self.habitual) + plain
        if not x.startswith(self.habit, i):
            return rest
        return log_add(math.log(self.habitual) + plain + len(self.habit) * self._log_size, rest)

    def log_length(self, k: int) -> float:
        """Returns log p of a text of k characters of the set that begins with the habit, if there is one."""
        return self.counts.log_prob(k) + self._log_text(self.habit, 0, k)

    def _log_usual(self, text: str) -> float:
        assert self.usual is not None
        members = self.usual.listed
        common = sum(map(self.usual.holds if members is None else members.__contains__, text))
        log_common, log_rest = self._log_shares
        return common * log_common + (len(text) - common) * log_rest

    @cached_property
    def _log_shares(self) -> tuple[float, float]:
        assert self.usual is not None
        rest = (1 - USUAL_SHARE) / (self.chars.size - self.usual.size)
        return math.log(USUAL_SHARE / self.usual.size), math.log(rest)

    def _draw(self, rng: random.Random) -> str:
        if self.usual is None:
            return draw_character(self.chars, rng)
        common = rng.random() < USUAL_SHARE
        while True:
            c = draw_character(self.usual if common else self.chars, rng)
            if common or not self.usual.holds(c):
                return c

    def ends(self, x: str, i: int) -> Ends:
        low, high = self.counts.low, self.counts.high
        match = self._reader.match(x, i)
        longest = match.end() - i if match else 0
        if high is not None and high < longest:
            longest = high
        if self.usual is None and not self.habit:
            log_size, log_count = self._log_size, self.counts.log_prob
            return {i + k: log_count(k) - k * log_size for k in range(low, longest + 1)}
        return {i + k: self.counts.log_prob(k) + self._log_text(x, i, k) for k in range(low, longest + 1)}

    def log_prob(self, x: str) -> float:
        log_p = self.counts.log_prob(len(x))
        if log_p == -math.inf or not self._reader.fullmatch(x):
            return -math.inf
        return log_p + self._log_text(x, 0, len(x))

    def sample(self, rng: random.Random) -> str:
        k = self.counts.sample(rng)
        start = self.habit if self.habit and k >= len(self.habit) and rng.random() < self.habitual else ""
        return start + "".join(self._draw(rng) for _ in range(k - len(start)))

    @property
    def regex(self) -> str:
        return self.chars.regex + self.counts.regex

    @property
    def alphabet(self) -> Chars:
        return self.chars

    @property
    def first(self) -> Chars | None:
        return self.chars if self.counts.low > 0 else None

    @property
    def fixed(self) -> bool:
        return self.counts.fixed


def draw_character(members: Chars, rng: random.Random) -> str:
    """Returns a character of a set, each alike."""
    if members.listed is not None:
        return rng.choice(members.ordered)
    while True:
        c = chr(rng.randrange(0x110000) if members.classes[0] != "han" else rng.randint(0x4E00, 0x9FFF))
        if members.holds(c):
            return c


def union(alphabets: Sequence[Chars | None]) -> Chars | None:
    """Returns the union of alphabets that can be listed, else None."""
    lists = [a.listed if a is not None else None for a in alphabets]
    if any(m is None for m in lists):
        return None
    return chars(extra="".join(c for m in lists if m is not None for c in m))


def grouped(regex: str) -> str:
    """Returns a regex that can be followed by a quantifier."""
    return f"(?:{regex})"


def log_of(p: float) -> float:
    """Returns the logarithm; minus infinity for zero."""
    return math.log(p) if p > 0 else -math.inf
