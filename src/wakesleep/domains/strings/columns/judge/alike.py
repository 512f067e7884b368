"""Values that some programs cannot tell apart: they have the same probability, which is computed once."""

from collections.abc import Sequence

import numpy as np

from wakesleep.domains.strings.columns.characters import Chars
from wakesleep.domains.strings.columns.choices import Either, Listing, Maybe
from wakesleep.domains.strings.columns.concepts import Concept
from wakesleep.domains.strings.columns.judge.texts import TABLED, Flat, Table, hash_texts, mixed, powers, without_long
from wakesleep.domains.strings.columns.nodes import Literal, Node, Run
from wakesleep.domains.strings.columns.sequences import Series
from wakesleep.domains.strings.columns.words import Words

ASCII_CODES = 128
LONGEST_GROUPED = 400
"""Characters of the longest value that is compared with others."""
MOST_SIZES = 8
"""Sizes of texts that are looked for in values; if programs name texts of more, their characters are told apart."""
TRANSPARENT = (Series, Either, Maybe, Listing, Concept)
"""Nodes that look at characters through their parts only."""


class Alike:
    """What some programs look at: the sets that a character is of, and the places of the texts that they name.

    Values of which both agree are read alike by every program. Classes of characters are filled as they come.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._named: set[str] = set()
        self._sets: list[Chars] = []
        self._numbers: dict[str | tuple[bool, ...], int] = {}
        self._class = np.full(ASCII_CODES, -1, np.int64)
        self.possible = all(self._look(node) for node in nodes)
        """Whether the programs are made of parts whose look at characters is known; False for dates and checks."""
        sizes = {len(text) for text in self._named} - {0, 1}
        whole = self._named if len(sizes) > MOST_SIZES else {text for text in self._named if len(text) == 1}
        self._told = set("".join(whole))
        """Characters that have a class of their own."""
        self._texts = {} if len(sizes) > MOST_SIZES else {k: self._of_size(k) for k in sizes}

    def _of_size(self, size: int) -> tuple[np.ndarray, Table]:
        """Returns the first code points of the named texts of a size, and the number of each text by its hash."""
        texts = sorted(text for text in self._named if len(text) == size)
        hashes = hash_texts(texts)
        order = np.argsort(hashes)
        return np.unique([ord(text[0]) for text in texts]), Table(hashes[order], 1 + order)

    def _look(self, node: Node) -> bool:
        """Notes the sets of a program and the texts that it names; returns whether that is all it looks at."""
        if isinstance(node, Literal):
            self._named.add(node.text)
        elif isinstance(node, Words):
            self._named.update(node.words)
        elif isinstance(node, Run):
            self._named.add(node.habit)
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
        hashes = flat.mapped(self._class[flat.codes]).hashes() + self._places(flat)
        long = np.fromiter(map(len, values), np.int64, len(values)) > LONGEST_GROUPED
        hashes[long] = np.arange(1, 1 + long.sum(), dtype=np.uint64)
        _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
        return [values[i] for i in first.tolist()], group

    def _number(self, c: str) -> int:
        """Returns the number of a character's class: a character that is named has one of its own."""
        seen = c if c in self._told else tuple(s.holds(c) for s in self._sets)
        return self._numbers.setdefault(seen, len(self._numbers))

    def _places(self, flat: Flat) -> np.ndarray:
        """Returns, for each text, a hash of the named texts of more than one character in it and of their places."""
        found = np.zeros(len(flat.sizes), np.uint64)
        for size, (firsts, table) in self._texts.items():
            begins = np.zeros(len(self._class), bool)
            begins[firsts[firsts < len(begins)]] = True
            at = np.flatnonzero(begins[flat.codes])
            at = at[flat.place[at] + size <= flat.sizes[flat.owner[at]]]
            number = table.find(flat.parts(at, at + size)) if len(at) else np.zeros(0, np.int64)
            at, number = at[number > 0], number[number > 0]
            np.add.at(found, flat.owner[at], mixed(number) * powers()[flat.place[at] + 1] * mixed(np.array([size])))
        return found
