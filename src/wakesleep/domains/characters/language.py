"""Programs of the characters domain: strokes of a bank, placed end to end, on paper or in the air.

Token 0 ends a program; with a bank of s strokes, token 1 + j draws stroke j and token 1 + s + j moves the pen along
it without drawing. The first and the last stroke are drawn: position does not matter, and what comes after the last
is not seen, so that each drawing order is spelled in one way.
"""

from functools import lru_cache

import numpy as np
from jaxtyping import Array, Bool, Int

from wakesleep.core.networks import END, Grammar, grammar

STROKES, LENGTH = 64, 10
DRAW_KIND, MOVE_KIND = 1, 2
Tokens = Int[Array, "t"]


@lru_cache
def rules(strokes: int) -> Grammar:
    """Returns the grammar: a move only between drawn strokes; a blank program is a program."""
    kinds = [0] + [DRAW_KIND] * strokes + [MOVE_KIND] * strokes

    def move(state: str, kind: int) -> str | None:
        if kind == 0:
            return None if state == "moved" else "end"
        if kind == MOVE_KIND:
            return None if state == "start" else "moved"
        return "drawn"

    return grammar(kinds, "start", move)


def stroke(z: Tokens, strokes: int) -> Int[Array, "t"]:
    """Returns the stroke of each token; it is arbitrary after the end."""
    return (z - 1) % strokes


def drawn(z: Tokens, strokes: int) -> Bool[Array, "t"]:
    """Returns which tokens leave ink."""
    return (z > END) & (z <= strokes)


def spell(z: Int[np.ndarray, "t"], strokes: int = STROKES) -> str:
    """Returns a program in a line: strokes by number, in brackets where the pen is in the air."""
    words = [f"{t - 1}" if t <= strokes else f"({t - 1 - strokes})" for t in z.tolist() if t != END]
    return " ".join(words) or "blank"
