"""Pen strokes in words: where each starts, which way its arcs go and how they bend."""

import numpy as np
from jaxtyping import Float

from wakesleep.domains.characters.hand.edits import inked
from wakesleep.domains.characters.hand.prior import places
from wakesleep.domains.characters.hand.strokes import Pen, Program

DIRECTIONS = ("right", "down right", "down", "down left", "left", "up left", "up", "up right")
ROW_WORDS, COLUMN_WORDS = ("top", "middle", "bottom"), ("left", "centre", "right")
STRAIGHT_BEND, HALF_CIRCLE_BEND, CIRCLE_BEND = 0.35, 2.4, 4.2
MIDDLE = ("middle", "centre")
DOT_PIXELS, SHORT_PIXELS, LONG_PIXELS = 1.5, 4.5, 14.0
TOUCH_PIXELS = 1.8
LEAST_FRAME_PIXELS = 6.0


def describe(program: Program) -> list[str]:
    """Returns a phrase for each pen stroke, in the order of drawing."""
    points = inked(program)
    low, high = points.min(axis=0), points.max(axis=0)
    return [f"{_start(program, i, low, high)}: {', then '.join(_arcs(pen))}" for i, pen in enumerate(program)]


def _start(program: Program, i: int, low: Float[np.ndarray, "2"], high: Float[np.ndarray, "2"]) -> str:
    """Returns where pen stroke i starts: on an earlier one, or somewhere in the drawing's frame."""
    start = program[i].knots[0]
    for j, earlier in enumerate(program[:i]):
        for knot, word in ((0, "start"), (-1, "end")):
            if np.hypot(*(earlier.knots[knot] - start)) < TOUCH_PIXELS:
                return f"from the {word} of {j + 1}"
    for j, earlier in enumerate(program[:i]):
        if np.hypot(*(places(earlier.knots, earlier.bends) - start).T).min() < TOUCH_PIXELS:
            return f"from {j + 1}"
    share = 0.5 + (start - (low + high) / 2) / np.maximum(high - low, LEAST_FRAME_PIXELS)
    column, row = (words[min(int(3 * max(s, 0)), 2)] for s, words in zip(share, (COLUMN_WORDS, ROW_WORDS), strict=True))
    return "from the middle" if (row, column) == MIDDLE else f"from the {row} {column}"


def _arcs(pen: Pen) -> list[str]:
    """Returns a phrase for each arc of a pen stroke."""
    steps = np.diff(pen.knots, axis=0)
    found = []
    for step, bend in zip(steps, pen.bends, strict=True):
        chord = float(np.hypot(*step))
        half = abs(bend) / 2
        length = chord * (half / np.sin(half) if half > 1e-3 else 1.0)
        if length < DOT_PIXELS:
            found.append("a dot")
            continue
        size = "short " if length < SHORT_PIXELS else "long " if chord > LONG_PIXELS else ""
        way = DIRECTIONS[round(float(np.arctan2(step[1], step[0])) / (np.pi / 4)) % 8]
        said = f"{size}{_shape(bend)} {way}"
        found.append(f"an {said}" if said.startswith("a") else f"a {said}")
    return found


def _shape(bend: float) -> str:
    """Returns what an arc of that bend is called; it turns clockwise where the bend is positive."""
    if abs(bend) < STRAIGHT_BEND:
        return "line"
    turn = "clockwise" if bend > 0 else "anticlockwise"
    name = "bow" if abs(bend) < HALF_CIRCLE_BEND else "half circle" if abs(bend) < CIRCLE_BEND else "loop"
    return f"{turn} {name}"
