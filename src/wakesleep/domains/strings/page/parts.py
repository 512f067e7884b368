"""Which part of a program wrote which characters of a text: the most probable reading."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from wakesleep.domains.strings.columns.choices import Either, Listing, Maybe
from wakesleep.domains.strings.columns.concepts import Concept
from wakesleep.domains.strings.columns.nodes import Node
from wakesleep.domains.strings.columns.sequences import Series
from wakesleep.domains.strings.columns.wording import describe

LONGEST_READ = 200
"""Characters of a text that is read by parts; a longer one is shown as a whole."""
Path = tuple[float, tuple[tuple[int, int, int], ...]]
"""The log-probability of a reading, and its pieces: start, end and number of the part."""
Paths = dict[int, Path]


class Part(NamedTuple):
    """A part of a program that is not divided further."""

    number: int
    words: str
    regex: str


class Piece(NamedTuple):
    """Characters of a text, and the number of the part that wrote them."""

    text: str
    part: int


def leaves(node: Node) -> Iterator[Node]:
    """Yields the parts of a program that are not divided further, in their order."""
    match node:
        case Series(below):
            for part in below:
                yield from leaves(part)
        case Either(below, _):
            for part in below:
                yield from leaves(part)
        case Maybe(part, _):
            yield from leaves(part)
        case Listing(item, separator, _):
            yield from leaves(item)
            yield from leaves(separator)
        case Concept(_, body):
            yield from leaves(body)
        case _:
            yield node


class Reader:
    """Reads texts by the parts of one program."""

    def __init__(self, program: Node) -> None:
        self.program = program
        found = list(dict.fromkeys(leaves(program)))
        self._numbers = {node: i for i, node in enumerate(found)}
        self.parts = [Part(i, describe(node), node.regex) for i, node in enumerate(found)]

    def read(self, text: str) -> list[Piece]:
        """Returns the pieces of the most probable reading; none where the program cannot write the text."""
        if len(text) > LONGEST_READ:
            return []
        found = self._paths(self.program, text, 0).get(len(text))
        return [] if found is None else [Piece(text[i:j], part) for i, j, part in found[1] if j > i]

    def _paths(self, node: Node, x: str, i: int) -> Paths:
        """Returns the best reading of x[i:j], for every j at which the part can end."""
        match node:
            case Series(parts):
                reached: Paths = {i: (0.0, ())}
                for part in parts:
                    reached = self._after(reached, part, x)
                return reached
            case Either(branches, weights):
                return _best(
                    _shifted(self._paths(branch, x, i), weight)
                    for branch, weight in zip(branches, weights, strict=True)
                )
            case Maybe(part, chance):
                return _best([_shifted({i: (0.0, ())}, 1 - chance), _shifted(self._paths(part, x, i), chance)])
            case Concept(_, body):
                return self._paths(body, x, i)
            case Listing():
                return self._listing(node, x, i)
        number = self._numbers[node]
        return {j: (log_p, ((i, j, number),)) for j, log_p in node.ends(x, i).items() if log_p > -math.inf}

    def _after(self, reached: Paths, part: Node, x: str) -> Paths:
        """Returns the readings that go on with a part from every place that was reached."""
        found: list[Paths] = []
        for start, (log_p, pieces) in reached.items():
            more = self._paths(part, x, start)
            found.append({j: (log_p + log_q, pieces + added) for j, (log_q, added) in more.items()})
        return _best(found)

    def _listing(self, node: Listing, x: str, i: int) -> Paths:
        """Returns the readings of items between separators; each further item moves on."""
        found: list[Paths] = [{i: (node.counts.log_prob(0), ())}] if node.counts.low == 0 else []
        reached, k = self._paths(node.item, x, i), 1
        while reached and k <= len(x) + 1:
            chance = node.counts.log_prob(k)
            if chance > -math.inf:
                found.append({j: (log_p + chance, pieces) for j, (log_p, pieces) in reached.items()})
            before = min(reached)
            after = self._after(self._after(reached, node.separator, x), node.item, x)
            reached, k = {j: path for j, path in after.items() if j > before}, k + 1
        return _best(found)


def _shifted(paths: Paths, weight: float) -> Paths:
    """Returns readings whose probability is multiplied by a weight; none where it is zero."""
    return {j: (p + math.log(weight), pieces) for j, (p, pieces) in paths.items()} if weight > 0 else {}


def _best(all_paths: "Iterator[Paths] | list[Paths]") -> Paths:
    """Returns the better of the readings that end at the same place."""
    best: Paths = {}
    for paths in all_paths:
        for j, path in paths.items():
            if path[0] > -math.inf and (j not in best or path[0] > best[j][0]):
                best[j] = path
    return best
