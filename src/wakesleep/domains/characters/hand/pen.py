"""p(image | strokes): a Bernoulli for each pixel, whose logit falls from ink to paper with the distance to a stroke."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Int8

from wakesleep.domains.characters.drawings import SIDE
from wakesleep.domains.characters.hand.strokes import Batch, off_zero

FAR_SQUARED_PIXELS = 1e4
LEAST_HALF_PIXELS = 1e-3
NEAR_SQUARED_PIXELS = 16.0
"""Pixels farther than this from every stroke are paper."""
CENTRES = (np.arange(SIDE) + 0.5).astype(np.float32)
PIXEL_X, PIXEL_Y = (a.reshape(-1) for a in np.meshgrid(CENTRES, CENTRES))


class Nib(NamedTuple):
    """A pen: ink is exp(-((d / reach)^2)^shape) at the distance d, and its logit is paper + contrast * ink."""

    paper: float
    contrast: float
    reach_pixels: float
    shape: float

    def ink(self, squared: Float[np.ndarray, "*n"]) -> tuple[Float[np.ndarray, "*n"], Float[np.ndarray, "*n"]]:
        """Returns ink at squared distances, and its derivative in them."""
        scaled = np.maximum(squared, 1e-8) / self.reach_pixels**2
        power = scaled**self.shape
        ink = np.exp(-power)
        return ink, -ink * power * self.shape / (scaled * self.reach_pixels**2)


class Arcs(NamedTuple):
    """Arcs in frames of their own: the origin at the middle, one axis along the chord, the other to the centre."""

    x: Float[np.ndarray, "b a"]
    y: Float[np.ndarray, "b a"]
    along_x: Float[np.ndarray, "b a"]
    along_y: Float[np.ndarray, "b a"]
    half: Float[np.ndarray, "b a"]
    curvature: Float[np.ndarray, "b a"]
    slope: Float[np.ndarray, "b a"]
    sagitta: Float[np.ndarray, "b a"]


def frames(features: Float[np.ndarray, "b a 5"]) -> Arcs:
    """Returns the frames of arcs, given both ends and the bend of each."""
    x0, y0, x1, y1, bend = np.moveaxis(features, -1, 0)
    chord = np.hypot(x1 - x0, y1 - y0)
    half = np.maximum(0.5 * chord, LEAST_HALF_PIXELS)
    along_x = np.where(chord < 2 * LEAST_HALF_PIXELS, 1.0, (x1 - x0) / (2 * half))  # a point lies along any line
    along_y = np.where(chord < 2 * LEAST_HALF_PIXELS, 0.0, (y1 - y0) / (2 * half))
    sagitta = half * np.tan(bend / 4)
    x, y = (x0 + x1) / 2 + sagitta * along_y, (y0 + y1) / 2 - sagitta * along_x
    parts = (x, y, along_x, along_y, half, np.sin(bend / 2) / half, np.cos(bend / 2) / half, sagitta)
    return Arcs(*(p.astype(np.float32) for p in parts))


def nearest(batch: Batch, theta: Float[np.ndarray, "b p"]) -> tuple[Float[np.ndarray, "b q"], Int[np.ndarray, "b q"]]:
    """Returns the squared distance of each pixel from the nearest arc, and which arc that is."""
    arc = frames(batch.features(theta))
    best = np.full((len(theta), len(PIXEL_X)), FAR_SQUARED_PIXELS, np.float32)
    which = np.zeros(best.shape, np.int16)
    for j in range(batch.on.shape[1]):
        rows = np.nonzero(batch.on[:, j])[0]
        squared = _squared(Arcs(*(a[rows, j, None] for a in arc)))
        closer = squared < best[rows]
        which[rows] = np.where(closer, j, which[rows])
        best[rows] = np.where(closer, squared, best[rows])
    return best, which


def _squared(arc: Arcs) -> Float[np.ndarray, "b q"]:
    """Returns the squared distances of all pixels from one arc; from the circle it is g / (1 + sqrt(1 + k g))."""
    x, y = PIXEL_X - arc.x, PIXEL_Y - arc.y
    t = np.abs(x * arc.along_x + y * arc.along_y)
    n = y * arc.along_x - x * arc.along_y
    g = arc.curvature * (x * x + y * y) - 2 * n
    circle = g / (1 + np.sqrt(np.maximum(1 + arc.curvature * g, 1e-12)))
    beside = 1 - arc.curvature * n - arc.slope * t >= 0
    return np.where(beside, circle * circle, (t - arc.half) ** 2 + (n - arc.sagitta) ** 2)


def log_likelihood(nib: Nib, squared: Float[np.ndarray, "b q"], x: Float[np.ndarray, "q"]) -> Float[np.ndarray, "b"]:
    """Returns log p(x | strokes), given the squared distances of the pixels from the strokes."""
    logit = nib.paper + nib.contrast * nib.ink(squared)[0]
    return (x * logit - np.log1p(np.exp(np.minimum(logit, 30.0)))).sum(axis=-1, dtype=float)


def expanded(
    nib: Nib, batch: Batch, theta: Float[np.ndarray, "b p"], x: Float[np.ndarray, "q"]
) -> tuple[Float[np.ndarray, "b"], Float[np.ndarray, "b a 5"], Float[np.ndarray, "b a 5 5"]]:
    """Returns log p(x | strokes), its gradient in the features of each arc, and minus its Gauss-Newton Hessian.

    Pixels far from every stroke are paper, and move none.
    """
    squared, which = nearest(batch, theta)
    rows, pixels = np.nonzero(squared < NEAR_SQUARED_PIXELS)
    near, arc, (b, a) = squared[rows, pixels], which[rows, pixels], batch.on.shape
    shade, fall = nib.ink(near)
    logit = nib.paper + nib.contrast * shade
    each = x[pixels] * nib.contrast * shade - np.logaddexp(0, logit) + np.logaddexp(0, nib.paper)
    blank = nib.paper * x.sum() - len(x) * np.logaddexp(0, nib.paper)
    value = blank + np.bincount(rows, each, b)
    turn = slopes(batch.features(theta)[rows, arc].astype(np.float32), pixels) * (nib.contrast * fall)[:, None]
    black = 1 / (1 + np.exp(-logit))
    place, miss, weighted = rows * a + arc, x[pixels] - black, turn * (black * (1 - black))[:, None]
    slope, curvature = np.zeros((b, a, 5)), np.zeros((b, a, 5, 5))
    for i in range(5):
        slope[..., i] = np.bincount(place, miss * turn[:, i], b * a).reshape(b, a)
        for j in range(i + 1):
            both = np.bincount(place, weighted[:, i] * turn[:, j], b * a).reshape(b, a)
            curvature[..., i, j] = curvature[..., j, i] = both
    return value, slope, curvature


def slopes(features: Float[np.ndarray, "n 5"], pixels: Int[np.ndarray, "n"]) -> Float[np.ndarray, "n 5"]:
    """Returns the derivative of pixels' squared distances in the features of the arc that is nearest to each.

    With F the foot on the arc, the derivative of |p - F|^2 is -2 (p - F) . dF, where F moves with its share u fixed.
    """
    x0, y0, x1, y1, bend = features.T
    dx, dy, x, y = x1 - x0, y1 - y0, PIXEL_X[pixels], PIXEL_Y[pixels]
    half = off_zero(bend / 2)
    sine, cosine = np.sin(half), np.cos(half)
    chord = np.maximum(dx * dx + dy * dy, 4 * LEAST_HALF_PIXELS**2)
    # In lengths of the chord, from its middle: t along it, n to the side that a positive bend bulges to.
    from_x, from_y = x - x0 - dx / 2, y - y0 - dy / 2
    t, n = (from_x * dx + from_y * dy) / chord, (from_x * dy - from_y * dx) / chord
    # The circle is (t, n - centre) = (sin v, cos v) / (2 sine), whose radius has the sign of the bend.
    side = np.sign(sine)
    v = np.arctan2(side * t, side * (n + cosine / (2 * sine)))
    v = np.where(np.abs(v) <= np.abs(half), v, np.where(t < 0, -half, half))
    sine_v, cosine_v = np.sin(v), np.cos(v)
    a, b = 0.5 + sine_v / (2 * sine), (cosine_v - cosine) / (2 * sine)
    # The share u = (v / half + 1) / 2 stays while the bend changes, so dv / dbend = v / bend.
    turn = v / (2 * half)
    a_bend = (cosine_v * turn * sine - sine_v * cosine / 2) / (2 * sine**2)
    b_bend = ((sine / 2 - sine_v * turn) * sine - (cosine_v - cosine) * cosine / 2) / (2 * sine**2)
    ex, ey = x - (x0 + dx * a + dy * b), y - (y0 + dy * a - dx * b)
    start = ex * (1 - a) + ey * b, ey * (1 - a) - ex * b
    end = ex * a - ey * b, ey * a + ex * b
    by_bend = ex * (dx * a_bend + dy * b_bend) + ey * (dy * a_bend - dx * b_bend)
    return -2 * np.stack([*start, *end, by_bend], axis=-1)


def flat(x: Int8[np.ndarray, "y x"]) -> Float[np.ndarray, "q"]:
    """Returns the pixels of an image row by row, 1 where there is ink."""
    return np.asarray(x).reshape(-1).astype(np.float32)
