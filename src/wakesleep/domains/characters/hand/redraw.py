"""New examples of a character: the program of one drawing, deformed as a hand would."""

from typing import NamedTuple

import numpy as np

from wakesleep.domains.characters.drawings import SIDE
from wakesleep.domains.characters.hand.strokes import MOST_BEND, Pen, Program


class Redrawing(NamedTuple):
    """How a character differs when it is drawn again: the standard deviations of Gaussians."""

    shift_pixels: float = 0.5
    linear: float = 0.07
    """Of each entry of the linear map, beside the identity."""
    knot_pixels: float = 0.6
    bend: float = 0.25


def redrawn(how: Redrawing, program: Program, rng: np.random.Generator) -> Program:
    """Draws a new example: an affine map of the whole, then each knot and bend by itself."""
    linear = np.eye(2) + how.linear * rng.normal(size=(2, 2))
    shift = how.shift_pixels * rng.normal(size=2)
    return tuple(
        Pen(
            (pen.knots - SIDE / 2) @ linear.T + SIDE / 2 + shift + how.knot_pixels * rng.normal(size=pen.knots.shape),
            np.clip(pen.bends + how.bend * rng.normal(size=pen.bends.shape), -MOST_BEND, MOST_BEND),
        )
        for pen in program
    )
