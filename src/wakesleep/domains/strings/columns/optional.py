"""Forms that differ by parts which only some values have: one sequence with optional parts instead of alternatives."""

import re
from collections.abc import Sequence
from itertools import groupby, islice

from wakesleep.domains.strings.columns.characters import chars
from wakesleep.domains.strings.columns.choices import Maybe
from wakesleep.domains.strings.columns.counts import exactly
from wakesleep.domains.strings.columns.nodes import Node, Run
from wakesleep.domains.strings.columns.reading import LETTER_KINDS, RUNS, Forms, by_form, columns_of, numbers_among
from wakesleep.domains.strings.columns.sequences import series
from wakesleep.domains.strings.columns.slot import Slot, places_among
from wakesleep.domains.strings.columns.slots import Reading, fit_loosely, fit_slot

MOST_MERGED, MOST_OPTIONAL_TOKENS, MOST_OPTIONAL = 8, 14, 3
SHORTEST_CODE = 3
"""Characters of a part that one value has, from which it is a word or a code of that length."""
WORDS_AFTER = (" ", *LETTER_KINDS)
"""Kinds of tokens after which a text that one value has is a word, or an end of one, and others may stand there."""
LEAST_MERGED_SHARE = 0.9
"""Share of the values whose forms are merged."""
GAP, OTHER_SYMBOL, OTHER_TEXT = 1.0, 0.9, 0.3
"""Costs of aligning: a token that one form lacks, symbols that differ, letters not seen at that place."""


_WORD = re.compile(r"[^\W\d_]{4}")
"""Where there are words, a capital belongs to the letters after it."""


class Merged:
    """Values of several forms in one table: a place for every token, empty where a value has none."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.columns: list[list[str]] = []
        self.rows = 0

    def add(self, kinds: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Aligns a form with those merged so far, at the least cost, and adds its values."""
        texts = columns_of(rows)
        merged: list[tuple[str, list[str]]] = []
        for i, j in self._pairs(kinds, texts):
            before = self.columns[i] if i is not None else [""] * self.rows
            merged.append(
                (
                    kinds[j] if i is None and j is not None else self.kinds[i or 0],
                    before + (list(texts[j]) if j is not None else [""] * len(rows)),
                )
            )
        self.kinds, self.columns = [k for k, _ in merged], [c for _, c in merged]
        self.rows += len(rows)

    def _pairs(self, kinds: Sequence[str], texts: Sequence[Sequence[str]]) -> list[tuple[int | None, int | None]]:
        """Returns places and tokens that belong together, the first of them where there is a choice; None for a gap."""
        n, m = len(self.kinds), len(kinds)
        costs = [[GAP * (i + j) for j in range(m + 1)] for i in range(n + 1)]
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                same = costs[i - 1][j - 1] + self._cost(i - 1, kinds[j - 1], texts[j - 1])
                costs[i][j] = min(same, costs[i - 1][j] + GAP, costs[i][j - 1] + GAP)
        found: list[tuple[int | None, int | None]] = []
        i, j = n, m
        while i or j:
            if i and costs[i][j] == costs[i - 1][j] + GAP:
                i -= 1
                found.append((i, None))
            elif j and costs[i][j] == costs[i][j - 1] + GAP:
                j -= 1
                found.append((None, j))
            else:
                i, j = i - 1, j - 1
                found.append((i, j))
        return found[::-1]

    def _cost(self, place: int, kind: str, texts: Sequence[str]) -> float:
        own = self.kinds[place]
        if own == kind:
            return 0.0 if not kind.isalpha() or texts[0] in self.columns[place] else OTHER_TEXT
        symbols = not (own.isalnum() or kind.isalnum() or own.isspace() or kind.isspace())
        return OTHER_SYMBOL if symbols else 3 * GAP


def optional_levels(values: Sequence[str]) -> tuple[str, str]:
    """Returns the granularities at which optional parts are looked for: runs of one kind, and letters with digits."""
    return "titles" if any(map(_WORD.search, values)) else RUNS, "alphanumeric"


def with_optional_parts(values: Sequence[str], level: str, reading: Reading) -> Node | None:
    """Returns a sequence of parts that some values lack; None where all have one form, or too many."""
    forms = by_form(values, level)
    if len(forms) < 2:
        return None
    merged = _merged(forms)
    if merged.rows < LEAST_MERGED_SHARE * len(values):
        return None
    there = [tuple(map(bool, c)) for c in merged.columns]
    groups = [(present, list(places)) for present, places in groupby(range(len(there)), key=there.__getitem__)]
    if not _plausible(merged, groups):
        return None
    nodes = _fitted(merged, reading)
    parts: list[Node] = []
    for present, places in groups:
        part = series(*(nodes[i] for i in places))
        parts.append(part if all(present) else Maybe(part, sum(present) / merged.rows))
    return series(*parts)


def _plausible(merged: Merged, groups: Sequence[tuple[tuple[bool, ...], list[int]]]) -> bool:
    """Returns whether a few parts are optional, none of them a symbol beside another: that would be free text."""
    optional = [not all(present) for present, _ in groups]
    if sum(optional) > MOST_OPTIONAL or (not any(optional) and _no_other_symbols(merged)):
        return False
    symbols = [not any(merged.kinds[i].isalnum() for i in places) for _, places in groups]
    pairs = zip(zip(optional, symbols, strict=True), zip(optional[1:], symbols[1:], strict=True), strict=False)
    return not any(a and b and (x or y) for (a, x), (b, y) in pairs)


def _merged(forms: Forms) -> Merged:
    found = Merged()
    for kinds, rows in islice(forms.items(), MOST_MERGED):
        if 0 < len(kinds) <= MOST_OPTIONAL_TOKENS:
            found.add(kinds, rows)
    return found


def _no_other_symbols(merged: Merged) -> bool:
    """Returns whether every place has one symbol at most, so that there is nothing to merge but absent parts."""
    return all(k.isalnum() or len(set(c)) == 1 for k, c in zip(merged.kinds, merged.columns, strict=True))


def _fitted(merged: Merged, reading: Reading) -> list[Node]:
    """Returns a program for each place; short texts of one value are loose, several symbols are a set."""
    present = [tuple(t for t in c if t) for c in merged.columns]
    numbers = numbers_among(merged.kinds, present)
    places = places_among(merged.kinds, present)
    found: list[Node] = []
    before = ["", *merged.kinds]
    for left, kind, slot in zip(before, merged.kinds, map(Slot, present, numbers, places), strict=False):
        if not kind.isalnum() and len(slot.table) > 1 and max(slot.lengths) == 1:
            found.append(Run(chars(extra="".join(slot.table)), exactly(1)))
        else:
            loose = len(slot.texts) == 1 and (len(slot.texts[0]) < SHORTEST_CODE or left in WORDS_AFTER)
            found.append((fit_loosely if loose else fit_slot)(slot, reading)[0])
    return found
