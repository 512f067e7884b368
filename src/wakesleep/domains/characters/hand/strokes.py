"""Programs of a hand: pen strokes, each a chain of arcs between knots, and batches of them as arrays.

Lengths are in pixels, x to the right and y down; a pixel's centre is at a half. A bend is the angle of an arc, positive
where it bulges to the left of a pen that looks from knot to knot (up, for a pen that moves to the right).
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

MOST_BEND = 1.75 * np.pi
MOST_ARCS = 24


class Pen(NamedTuple):
    """One pen stroke: the pen goes through n + 1 knots in n arcs without leaving the paper."""

    knots: Float[np.ndarray, "k 2"]
    bends: Float[np.ndarray, "a"]

    def reversed(self) -> "Pen":
        """Returns the same ink drawn backwards."""
        return Pen(self.knots[::-1], -self.bends[::-1])


Program = tuple[Pen, ...]


def arcs_of(program: Program) -> int:
    """Returns the number of arcs of a program."""
    return sum(len(pen.bends) for pen in program)


def structure(program: Program) -> tuple[int, ...]:
    """Returns the number of arcs of each pen stroke, the most first: what is discrete in a program.

    Orders and directions of its pen strokes are summed over, so programs with the same numbers are the same one.
    """
    return tuple(sorted((len(pen.bends) for pen in program), reverse=True))


class Batch(NamedTuple):
    """Programs as arrays: parameters (knots, x and y in turn, then bends), and where each arc finds its own."""

    theta: Float[np.ndarray, "b p"]
    """Parameters that a program does not use are 0."""
    used: Bool[np.ndarray, "b p"]
    first: Int[np.ndarray, "b a"]
    """The number of the knot that an arc begins at; it ends at the next."""
    on: Bool[np.ndarray, "b a"]
    knots: int
    """The number of knots that there is room for."""

    def columns(self) -> Int[np.ndarray, "b a 5"]:
        """Returns the parameters of each arc: both ends, x and y, and the bend."""
        two = 2 * self.first
        bends = 2 * self.knots + np.arange(self.first.shape[1])
        return np.stack([two, two + 1, two + 2, two + 3, np.broadcast_to(bends, two.shape)], axis=-1)

    def features(self, theta: Float[np.ndarray, "b p"]) -> Float[np.ndarray, "b a 5"]:
        """Returns both ends and the bend of each arc, for these parameters."""
        flat = self.columns().reshape(len(theta), -1)
        return np.take_along_axis(theta, flat, axis=1).reshape(*self.first.shape, 5)

    def scattered(
        self, slope: Float[np.ndarray, "b a 5"], curvature: Float[np.ndarray, "b a 5 5"]
    ) -> tuple[Float[np.ndarray, "b p"], Float[np.ndarray, "b p p"]]:
        """Returns gradients and Hessians in the parameters, from those in the features of each arc."""
        b, p = self.theta.shape
        whole_slope, whole_curvature = np.zeros((b, p)), np.zeros((b, p, p))
        columns, every = self.columns(), np.arange(b)[:, None]
        for j in range(self.on.shape[1]):
            here, on = columns[:, j], self.on[:, j, None]
            whole_slope[every, here] += np.where(on, slope[:, j], 0)
            place = every[..., None], here[:, :, None], here[:, None, :]
            whole_curvature[place] += np.where(on[..., None], curvature[:, j], 0)
        return whole_slope, whole_curvature


def pack(programs: list[Program]) -> Batch:
    """Returns programs as arrays, with room for the longest of them."""
    arcs = max(1, *(arcs_of(p) for p in programs))
    knots = max(2, *(arcs_of(p) + len(p) for p in programs))
    theta, used = np.zeros((len(programs), 2 * knots + arcs)), np.zeros((len(programs), 2 * knots + arcs), bool)
    first, on = np.zeros((len(programs), arcs), int), np.zeros((len(programs), arcs), bool)
    for row, program in enumerate(programs):
        knot = arc = 0
        for pen in program:
            n = len(pen.bends)
            theta[row, 2 * knot : 2 * (knot + n + 1)] = pen.knots.reshape(-1)
            theta[row, 2 * knots + arc : 2 * knots + arc + n] = pen.bends
            first[row, arc : arc + n] = knot + np.arange(n)
            on[row, arc : arc + n] = True
            knot, arc = knot + n + 1, arc + n
        used[row, : 2 * knot] = True
        used[row, 2 * knots : 2 * knots + arc] = True
    return Batch(theta, used, first, on, knots)


def unpack(like: Program, theta: Float[np.ndarray, "p"], knots: int) -> Program:
    """Returns a program with the structure of another and these parameters."""
    points, bends, found = theta[: 2 * knots].reshape(-1, 2), theta[2 * knots :], []
    knot = arc = 0
    for pen in like:
        n = len(pen.bends)
        found.append(Pen(points[knot : knot + n + 1].copy(), bends[arc : arc + n].copy()))
        knot, arc = knot + n + 1, arc + n
    return tuple(found)


def along(
    knots: Float[np.ndarray, "*s k 2"], bends: Float[np.ndarray, "*s a"], count: int
) -> Float[np.ndarray, "*s a c 2"]:
    """Returns `count` points of each arc of a pen stroke, evenly spaced, ends included."""
    start, step = knots[..., :-1, None, :], np.diff(knots, axis=-2)[..., None, :]
    a, b = chord_shares(np.linspace(0, 1, count), bends[..., None])
    return start + step * a[..., None] + np.stack([step[..., 1], -step[..., 0]], axis=-1) * b[..., None]


def chord_shares(u: np.ndarray, bend: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns where an arc is after the share u of its length, along its chord and beside it, in chord lengths."""
    half = off_zero(bend / 2)
    v = (2 * u - 1) * half
    return 0.5 + np.sin(v) / (2 * np.sin(half)), (np.cos(v) - np.cos(half)) / (2 * np.sin(half))


def off_zero(half: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
    """Returns half angles moved off 0, where the formulas of an arc are 0 / 0; .001 is straight to the eye."""
    return np.where(np.abs(half) < 1e-3, np.where(half < 0, -1e-3, 1e-3), half)
