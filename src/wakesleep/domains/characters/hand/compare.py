"""How well strokes show an image: the picture that they make, and its overlap with the image."""

import numpy as np
from jaxtyping import Bool, Float, Int8

from wakesleep.domains.characters.hand import pen as ink
from wakesleep.domains.characters.hand.pen import SIDE, Nib
from wakesleep.domains.characters.hand.strokes import Program, pack


def shaded(nib: Nib, program: Program) -> Float[np.ndarray, "y x"]:
    """Returns the probability that each pixel is black."""
    if not program:
        return np.full((SIDE, SIDE), 1 / (1 + np.exp(-nib.paper)))
    batch = pack([program])
    logit = nib.paper + nib.contrast * nib.ink(ink.nearest(batch, batch.theta)[0][0])[0]
    return (1 / (1 + np.exp(-logit))).reshape(SIDE, SIDE)


def overlap(drawn: Bool[np.ndarray, "y x"], x: Int8[np.ndarray, "y x"], tolerance: int = 0) -> float:
    """Returns intersection over union; a black pixel also counts as met by one of the other within the tolerance."""
    one, two = drawn, np.asarray(x) > 0
    union = one | two
    met = (~one | _grown(two, tolerance)) & (~two | _grown(one, tolerance))
    return float((union & met).sum() / union.sum()) if union.any() else 1.0


def _grown(black: Bool[np.ndarray, "y x"], pixels: int) -> Bool[np.ndarray, "y x"]:
    """Returns the pixels within a distance, counted as a king moves, of a black one."""
    padded, side = np.pad(black, pixels), 2 * pixels + 1
    shifts = [padded[i : i + black.shape[0], j : j + black.shape[1]] for i in range(side) for j in range(side)]
    return np.any(shifts, axis=0)
