"""Characters that some programs cannot tell apart: values that differ in nothing else have the same probability."""

from collections.abc import Sequence

import numpy as np

from wakesleep.domains.strings.columns.characters import Chars
from wakesleep.domains.strings.columns.choices import Either, Listing, Maybe
from wakesleep.domains.strings.columns.concepts import Concept
from wakesleep.domains.strings.columns.judge.texts import TABLED, Flat, without_long
from wakesleep.domains.strings.columns.nodes import Literal, Node, Run
from wakesleep.domains.strings.columns.sequences import Series
from wakesleep.domains.strings.columns.words import Words

ASCII_CODES = 128
LONGEST_GROUPED = 400
"""Characters of the longest value that is compared with others."""
TRANSPARENT = (Series, Either, Maybe, Listing, Concept)
"""Nodes that look at characters through their parts only."""


class Alike:
    """The classes of characters that some programs treat alike, by code point; filled as characters come."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._told: set[str] = set()
        self._sets: list[Chars] = []
        self._numbers: dict[str | tuple[bool, ...], int] = {}
        self._class = np.full(ASCII_CODES, -1, np.int64)
        self.possible = all(self._look(node) for node in nodes)
        """Whether the programs are made of parts whose look at characters is known; False for dates and checks."""

    def _look(self, node: Node) -> bool:
        """Notes the sets of a program and the characters that it names; returns whether that is all it looks at."""
        if isinstance(node, Literal):
            self._told.update(node.text)
        elif isinstance(node, Words):
            self._told.update("".join(node.words))
        elif isinstance(node, Run):
            self._told.update(node.habit)
            self._sets += [s for s in (node.chars, node.usual) if s is not None and s not in self._sets]
        elif not isinstance(node, TRANSPARENT):
            return False
        return all(self._look(part) for part in node.parts_below())

    def groups(self, values: Sequence[str]) -> tuple[list[str], np.ndarray]:
        """Returns values of which each stands for all that it cannot be told from, and the number of each value's."""
        flat = Flat.of(without_long(values, LONGEST_GROUPED))
        if not self.possible or (len(flat.codes) and flat.codes.max() >= TABLED):
            return list(values), np.arange(len(values))
        more = int(flat.codes.max(initial=0)) + 1 - len(self._class)
        if more > 0:
            self._class = np.concatenate([self._class, np.full(more, -1, np.int64)])
        for code in np.flatnonzero(np.bincount(flat.codes[self._class[flat.codes] < 0])).tolist():
            self._class[code] = self._number(chr(code))
        hashes = flat.mapped(self._class[flat.codes]).hashes()
        long = np.fromiter(map(len, values), np.int64, len(values)) > LONGEST_GROUPED
        hashes[long] = np.arange(1, 1 + long.sum(), dtype=np.uint64)
        _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
        return [values[i] for i in first.tolist()], group

    def _number(self, c: str) -> int:
        """Returns the number of a character's class: a character that is named has one of its own."""
        seen = c if c in self._told else tuple(s.holds(c) for s in self._sets)
        return self._numbers.setdefault(seen, len(self._numbers))
