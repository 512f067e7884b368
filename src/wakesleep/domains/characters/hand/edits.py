"""All single edits of a program: arcs merged, split or dropped, pens joined, cut, turned round or put elsewhere."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from wakesleep.domains.characters.hand.strokes import MOST_ARCS, MOST_BEND, Pen, Program, along, arcs_of

JOIN_PIXELS = 3.0
"""Ends of pen strokes within this distance may be one knot."""


def redrawn(program: Program) -> Iterator[Program]:
    """Yields programs with other ink: their knots have to be fitted again."""
    for i, pen in enumerate(program):
        others = program[:i], program[i + 1 :]
        if len(program) > 1:
            yield (*others[0], *others[1])
        for changed in _reshaped(pen):
            yield (*others[0], changed, *others[1])
        for parts in _cut(pen):
            yield (*others[0], *parts, *others[1])
    yield from _joined(program)


def _reshaped(pen: Pen) -> Iterator[Pen]:
    """Yields a pen stroke with two arcs merged, an arc split in two, or the first or the last arc dropped."""
    knots, bends = pen
    for j in range(len(bends) - 1):
        merged = np.concatenate([bends[:j], [_through(pen, j)], bends[j + 2 :]])
        yield Pen(np.delete(knots, j + 1, axis=0), merged)
    if len(bends) < MOST_ARCS:
        middle = along(knots, bends, 3)[:, 1]
        for j in range(len(bends)):
            halves = np.concatenate([bends[:j], [bends[j] / 2] * 2, bends[j + 1 :]])
            yield Pen(np.insert(knots, j + 1, middle[j], axis=0), halves)
    if len(bends) > 1:
        yield Pen(knots[1:], bends[1:])
        yield Pen(knots[:-1], bends[:-1])


def _through(pen: Pen, j: int) -> float:
    """Returns the bend of one arc in place of the arcs j and j + 1: how far the pen's direction turns over both."""
    steps = np.diff(pen.knots[j : j + 3], axis=0)
    angle = np.arctan2(steps[:, 1], steps[:, 0])
    # A positive bend starts to the left (-bend / 2) and ends to the right (+bend / 2) of its chord, with y down.
    corner = (angle[1] - pen.bends[j + 1] / 2) - (angle[0] + pen.bends[j] / 2)
    corner = (corner + np.pi) % (2 * np.pi) - np.pi
    return float(np.clip(pen.bends[j] + pen.bends[j + 1] + corner, -MOST_BEND, MOST_BEND))


def _cut(pen: Pen) -> Iterator[tuple[Pen, Pen]]:
    """Yields a pen stroke as two, lifted at one of its knots."""
    for j in range(1, len(pen.bends)):
        yield Pen(pen.knots[: j + 1], pen.bends[:j]), Pen(pen.knots[j:], pen.bends[j:])


def _joined(program: Program) -> Iterator[Program]:
    """Yields programs in which one pen stroke goes on where it ends near an end of another."""
    for i, one in enumerate(program):
        for j in range(i + 1, len(program)):
            for a in (one, one.reversed()):
                for b in (program[j], program[j].reversed()):
                    if np.hypot(*(a.knots[-1] - b.knots[0])) < JOIN_PIXELS:
                        middle = (a.knots[-1] + b.knots[0])[None] / 2
                        joined = Pen(
                            np.concatenate([a.knots[:-1], middle, b.knots[1:]]), np.concatenate([a.bends, b.bends])
                        )
                        yield tuple(joined if k == i else p for k, p in enumerate(program) if k != j)


def inked(program: Program, count: int = 9) -> Float[np.ndarray, "n 2"]:
    """Returns points of all arcs of a program."""
    return np.concatenate([along(p.knots, p.bends, count).reshape(-1, 2) for p in program])


def is_possible(program: Program) -> bool:
    """Returns whether a program has strokes, and no more arcs than are allowed."""
    return 0 < arcs_of(program) <= MOST_ARCS
