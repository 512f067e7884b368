"""How long an engine that backtracks (Python's `re`, ECMAScript) may take to refuse a value.

RE2, Rust and PostgreSQL read a value once. A backtracking engine tries every way to read its beginning. A pattern has
exponentially many ways if a loop can read one text in two ways, and about N^k if k loops in a row can share a text of
N characters. Both are found on the automaton of the pattern's characters (Weber and Seidl, "On the degree of
ambiguity of finite automata", 1991), with edges counted, so that `(?:a*)*` has two from `a` to itself.
"""

import math
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from wakesleep.domains.strings.table.characters import Characters
from wakesleep.domains.strings.table.pattern import Choice, Part, Repeat, Sequence, parse

LONGEST_VALUE_MATCHED = 100_000
"""Characters of the values that are spoken of."""
MOST_MATCHING_STEPS = 1e7
"""Python makes as many in well under a second."""
MOST_POSITIONS, MOST_PAIRS_LOOKED_AT = 3000, 200_000
"""Patterns that are larger, or take longer to look through, count as slow."""
MOST_POSITIONS_LISTED, FEW_COPIES = 60, 2


@lru_cache(maxsize=4096)
def is_slow(pattern: str) -> bool:
    """Returns whether a backtracking engine may need over a second for a value of `LONGEST_VALUE` characters."""
    return steps(pattern) > MOST_MATCHING_STEPS


def steps(pattern: str) -> float:
    """Returns about how many steps are made, at most, to refuse a value; infinity if they grow exponentially."""
    part = parse(pattern)
    if not any(p.high is None or p.high > 1 for p in _repeats(part)):
        return float(LONGEST_VALUE_MATCHED)
    try:
        once = _Automaton(part, counted=True)
        if any(once.ambiguous(c) for c in once.components()):
            return math.inf
        return _Automaton(part, counted=False).most_ways()
    except _TooLarge:
        return math.inf


class _TooLarge(Exception):
    pass


def _repeats(part: Part) -> Iterator[Repeat]:
    if isinstance(part, Repeat):
        yield part
        yield from _repeats(part.part)
    elif not isinstance(part, Characters):
        for p in part.parts:
            yield from _repeats(p)


@dataclass
class _Piece:
    """The positions that a part may begin and end with, and whether it may be empty."""

    first: set[int] = field(default_factory=set)
    last: set[int] = field(default_factory=set)
    empty: bool = True


class _Automaton:
    """The automaton of a pattern: its states are the places of its characters.

    With `counted` a bounded count is written out, up to a few copies, where what it repeats has one length. Without,
    each count is a loop with a weight: how often it may go round.
    """

    def __init__(self, part: Part, counted: bool):
        self.counted = counted
        self.sets: list[int] = []
        self.weights: list[float] = []
        self.follow: list[Counter[int]] = []
        self.looks = 0
        self._atoms = _Atoms(part)
        self.whole = self._build(part, 1.0)

    def _build(self, part: Part, weight: float) -> _Piece:
        if isinstance(part, Characters):
            return self._place(self._atoms.mask(part), weight)
        if isinstance(part, Choice):
            if (few := _short_list(part)) is not None:
                return self._build(few, weight)
            pieces = [self._build(p, weight) for p in part.parts]
            return _Piece(
                set().union(*(p.first for p in pieces)),
                set().union(*(p.last for p in pieces)),
                any(p.empty for p in pieces),
            )
        if isinstance(part, Sequence):
            return self._joined([self._build(p, weight) for p in part.parts])
        return self._repeated(part, weight)

    def _place(self, mask: int, weight: float) -> _Piece:
        if len(self.sets) >= MOST_POSITIONS:
            raise _TooLarge
        self.sets.append(mask)
        self.weights.append(min(weight, LONGEST_VALUE_MATCHED))
        self.follow.append(Counter())
        i = len(self.sets) - 1
        return _Piece({i}, {i}, False)

    def _joined(self, pieces: list[_Piece]) -> _Piece:
        found = _Piece()
        for p in pieces:
            self._connect(found.last, p.first)
            found = _Piece(
                found.first | p.first if found.empty else found.first,
                p.last | found.last if p.empty else p.last,
                found.empty and p.empty,
            )
        return found

    def _connect(self, last: set[int], first: set[int]) -> None:
        for i in last:
            for j in first:
                self.follow[i][j] += 1

    def _repeated(self, part: Repeat, weight: float) -> _Piece:
        low, high = part.low, part.high
        if high == 0:
            return _Piece()
        varies = any(r.low != r.high for r in _repeats(part.part))
        if self.counted and high is not None and (not varies or high <= FEW_COPIES):
            return self._copies(part.part, min(low, FEW_COPIES), min(high - low, FEW_COPIES), weight)
        times = LONGEST_VALUE_MATCHED if high is None else max(high, 2)
        found = self._build(part.part, weight * times)
        self._connect(found.last, found.first)
        found.empty = found.empty or low == 0
        return found

    def _copies(self, part: Part, low: int, more: int, weight: float) -> _Piece:
        """Returns copies of a part, of which the last ones may be missing: `aa(?:aa?)?`."""
        pieces = [self._build(part, weight) for _ in range(low + more)]
        if pieces[0].empty:
            return self._joined(pieces)
        for one, two in pairwise(pieces):
            self._connect(one.last, two.first)
        return _Piece(pieces[0].first, set().union(*(p.last for p in pieces[max(low - 1, 0) :])), low == 0)

    def components(self) -> list[list[int]]:
        """Returns the sets of states that lie on a common loop, in the order in which texts pass them."""
        return [c for c in _strong(list(map(list, self.follow)))[::-1] if len(c) > 1 or c[0] in self.follow[c[0]]]

    def ambiguous(self, component: list[int]) -> bool:
        """Returns whether a loop of the component reads one text in two ways."""
        inside = set(component)
        if any(n > 1 for i in component for j, n in self.follow[i].items() if j in inside):
            return True

        def pairs(state: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
            yield from self._steps(state, (inside, inside))

        forward = self._reached([(i, i) for i in component], pairs)
        apart = [s for s in forward if s[0] != s[1]]
        return any(s[0] == s[1] for s in self._reached(apart, pairs))

    def most_ways(self) -> float:
        """Returns the largest product of weights of components in a row that can share a text."""
        everything = self._atoms.everything
        sure = [
            i in self.follow[i] and i in self.whole.last and self.sets[i] == everything for i in range(len(self.sets))
        ]
        components = [c for c in self.components() if not sure[c[0]]]  # whoever gets there has read the value
        best = [max(self.weights[i] for i in c) for c in components]
        own = list(best)
        for k, later in enumerate(components):
            for i, earlier in enumerate(components[:k]):
                if best[i] * own[k] > best[k] and self._share(set(earlier), set(later)):
                    best[k] = best[i] * own[k]
        return float(max([LONGEST_VALUE_MATCHED, *best]))

    def _share(self, one: set[int], two: set[int]) -> bool:
        """Returns whether some text goes round in one loop, leads from it to the other, and goes round there."""
        anywhere = set(range(len(self.sets)))

        def triples(state: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
            yield from self._steps(state, (one, anywhere, two))

        return any(
            (p, q, q) in self._reached([(p, p, q)], triples)
            for p in one
            for q in two
            if self.sets[p] & self.sets[q] or len(one) > 1 or len(two) > 1
        )

    def _steps(self, state: tuple[int, ...], inside: tuple[set[int], ...]) -> Iterator[tuple[int, ...]]:
        """Yields the states that several runs of the automaton reach together by one character."""
        found: list[tuple[tuple[int, ...], int]] = [((), -1)]
        for i, allowed in zip(state, inside, strict=True):
            found = [
                ((*done, j), mask & self.sets[j])
                for done, mask in found
                for j in self.follow[i]
                if j in allowed and mask & self.sets[j]
            ]
        self.looks += len(found) + 1
        if self.looks > MOST_PAIRS_LOOKED_AT:
            raise _TooLarge
        yield from (done for done, _ in found)

    def _reached(
        self, starts: list[tuple[int, ...]], steps: Callable[[tuple[int, ...]], Iterator[tuple[int, ...]]]
    ) -> set[tuple[int, ...]]:
        """Returns what is reached from some states in at least one step."""
        seen, waiting = set[tuple[int, ...]](), deque(starts)
        while waiting:
            for state in steps(waiting.popleft()):
                if state not in seen:
                    seen.add(state)
                    waiting.append(state)
        return seen


def _short_list(part: Choice) -> Part | None:
    """Returns a wider part in place of a long list of plain texts: any of their characters, up to four times."""
    if any(_repeats(part)) or len(found := set(_sets(part))) + len(part.parts) <= MOST_POSITIONS_LISTED:
        return None
    every = Characters(tuple(r for one in found for r in one.all_ranges))
    return Sequence((every, *[Repeat(every, 0, 1)] * 3))


def _sets(part: Part) -> Iterator[Characters]:
    if isinstance(part, Characters):
        yield part
    else:
        for p in (part.part,) if isinstance(part, Repeat) else part.parts:
            yield from _sets(p)


class _Atoms:
    """The classes of characters that no set of a pattern divides; a set is a number with a bit for each."""

    def __init__(self, part: Part):
        self._sets = {one: one.all_ranges for one in set(_sets(part))}
        ends = sorted({e for ranges in self._sets.values() for first, last in ranges for e in (first, last + 1)})
        self._bits = {e: i for i, e in enumerate(ends)}
        self._masks: dict[Characters, int] = {}
        whole = next((one for one in self._sets if one.everything), None)
        self.everything = -1 if whole is None else self.mask(whole)

    def mask(self, one: Characters) -> int:
        """Returns the bits of a set."""
        if one not in self._masks:
            ranges = self._sets.get(one, one.all_ranges)
            bits = ((self._bits[first], self._bits[last + 1]) for first, last in ranges)
            self._masks[one] = sum({(1 << b) - (1 << a) for a, b in bits})
        return self._masks[one]


def _strong(follow: list[list[int]]) -> list[list[int]]:
    """Returns the strongly connected components, later ones first (Tarjan, without recursion)."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    held: set[int] = set()
    found: list[list[int]] = []
    for root in range(len(follow)):
        if root in number:
            continue
        work = [(root, iter(follow[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        held.add(root)
        while work:
            i, others = work[-1]
            j = next(others, None)
            if j is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[i])
                if low[i] == number[i]:
                    component: list[int] = []
                    while not component or component[-1] != i:
                        component.append(stack.pop())
                        held.discard(component[-1])
                    found.append(component)
            elif j not in number:
                number[j] = low[j] = len(number)
                stack.append(j)
                held.add(j)
                work.append((j, iter(follow[j])))
            elif j in held:
                low[i] = min(low[i], number[j])
    return found
