"""Library learning: sub-programs that recur in the memories of many columns, with their share of the prior.

A sub-program is known by its regex: neighbouring parts of a sequence, or a run alone; frequencies that were fitted to
a column are left aside. In the grammar `library` is one more choice of a part, and the sub-programs share its
probability by their counts.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from wakesleep.domains.strings.columns.concepts import Concept
from wakesleep.domains.strings.columns.nodes import Literal, Node, Run
from wakesleep.domains.strings.columns.sequences import Series

LIBRARY = "library"
LONGEST_PIECE = 5
"""Parts of the longest sub-program."""
FEWEST_COLUMNS = 6.0
"""Columns, counted by the weights of their programs, from which a sub-program is kept."""
MOST_LIBRARY_PIECES = 200
NO_PIECE = "\0"
Pieces = tuple[Node, ...]


def regex_of(part: Node) -> str:
    """Returns the regex of a part; a text that no sub-program has where a part has more that must be paid for."""
    seen = (isinstance(part, Run) and part.habit) or (isinstance(part, Concept) and part.fitted)
    return NO_PIECE if seen else part.regex


def key(regexes: Sequence[str]) -> str:
    """Returns the name of a sub-program among the grammar's choices, from the regexes of its parts."""
    return f"{LIBRARY}: {''.join(regexes)}"


def log_shares(counts: Mapping[str, float]) -> dict[str, float]:
    """Returns log-probabilities of the sub-programs in a table of pseudo-counts, given that the library is chosen."""
    found = {name: k for name, k in counts.items() if name.startswith(f"{LIBRARY}: ")}
    total = sum(found.values())
    return {name: math.log(k / total) for name, k in found.items()}


def pieces(node: Node) -> Iterator[Pieces]:
    """Returns the sub-programs of a program: neighbouring parts that are not all literals, and single runs."""
    parts = node.parts if isinstance(node, Series) else (node,)
    for i in range(len(parts)):
        for j in range(i + 1, min(i + LONGEST_PIECE, len(parts)) + 1):
            if isinstance(parts[i], Run) if j == i + 1 else not all(isinstance(p, Literal) for p in parts[i:j]):
                yield parts[i:j]
    for part in parts:
        for below in part.parts_below():
            yield from pieces(below)


def mine(memories: Iterable[Mapping[Node, float]], cost: Callable[[Pieces], float]) -> dict[str, float]:
    """Returns the sub-programs that save most nats over all memories, with the columns that hold them.

    A sub-program saves the difference of its costs in the grammar and in the library in every column but one, which
    pays for writing it.
    """
    counts: Counter[str] = Counter()
    examples: dict[str, Pieces] = {}
    for memory in memories:
        for program, weight in memory.items():
            for name, parts in {key(list(map(regex_of, p))): p for p in pieces(program)}.items():
                if NO_PIECE in name:
                    continue
                counts[name] += weight  # type: ignore[assignment]
                examples.setdefault(name, parts)
    often = {name: k for name, k in counts.items() if k >= FEWEST_COLUMNS}
    total = sum(often.values())
    saved = {name: (k - 1) * (cost(examples[name]) + math.log(k / total)) for name, k in often.items()}
    best = sorted((n for n in saved if saved[n] > 0), key=lambda n: -saved[n])[:MOST_LIBRARY_PIECES]
    return {name: often[name] for name in best}
