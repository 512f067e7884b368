"""p(image | strokes of another drawing of the same character): strokes are drawn again, with knots and bends adjusted.

Adjustments are Gaussian: an affine map of the whole, a smooth displacement, and noise on each knot and bend. Their sum
is one Gaussian over knots and bends. It is integrated with the pen's likelihood by Laplace's method about the best fit.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int8

from wakesleep.domains.characters.hand import pen as ink
from wakesleep.domains.characters.hand.fit import FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING, MOST_STEP_PIXELS
from wakesleep.domains.characters.hand.match import Placed, displaced, moved
from wakesleep.domains.characters.hand.pen import Nib
from wakesleep.domains.characters.hand.strokes import MOST_BEND, Batch, Pen, Program, along, arcs_of, pack, unpack

BROAD_NIBS = ((Nib(-3.5, 4.0, 2.0, 1.0), 3), (Nib(-5.0, 8.0, 1.0, 1.0), 3))
"""Broader and softer pens, and the steps with each: strokes find ink that is some pixels away."""
STEPS_AGAIN = 6


class Variation(NamedTuple):
    """How a character differs when another person draws it: the standard deviations of Gaussians."""

    shift_pixels: float = 2.0
    linear: float = 0.15
    """Of each entry of the linear map of the whole, beside the identity."""
    smooth_pixels: float = 1.0
    """Of a displacement that near knots share."""
    smooth_reach_pixels: float = 6.0
    knot_pixels: float = 0.6
    bend: float = 0.4


class Again(NamedTuple):
    """Programs fitted to an image that was not theirs."""

    log_p: Float[np.ndarray, "b"]
    """Laplace's estimate of log p(image | program)."""
    programs: list[Program]
    spread: list[np.ndarray]
    """The covariance of the adjustments given the image."""


class Point(NamedTuple):
    """log p(image, adjustments | program), its gradient and minus its rough Hessian."""

    value: Float[np.ndarray, "b"]
    slope: Float[np.ndarray, "b p"]
    curvature: Float[np.ndarray, "b p p"]


def covariance(how: Variation, program: Program) -> Float[np.ndarray, "p p"]:
    """Returns the covariance of knots, x and y in turn, and bends of a program that is drawn again."""
    knots = np.concatenate([p.knots for p in program])
    off, apart = knots - knots.mean(axis=0), ((knots[:, None] - knots) ** 2).sum(axis=-1)
    shared = how.shift_pixels**2 + how.linear**2 * off @ off.T
    shared += how.smooth_pixels**2 * np.exp(-apart / (2 * how.smooth_reach_pixels**2))
    found = np.zeros((2 * len(knots) + arcs_of(program),) * 2)
    found[: 2 * len(knots), : 2 * len(knots)] = np.kron(shared + how.knot_pixels**2 * np.eye(len(knots)), np.eye(2))
    bends = np.arange(2 * len(knots), len(found))
    found[bends, bends] = how.bend**2
    return found


def moved_onto(programs: list[Program], target: Program) -> list[Program]:
    """Returns the programs moved onto the strokes of another by `match`, as a start for a fit."""
    places, goal = [Placed.of(p) for p in programs], Placed.of(target)
    ends = moved([p.shape for p in places], goal.shape)
    found = []
    for program, place, points in zip(programs, places, ends.points, strict=True):
        pens = []
        for pen in program:
            knots, middles = (
                goal.outside(displaced(place.inside(p), place.shape.points, points))
                for p in (pen.knots, along(pen.knots, pen.bends, 3)[:, 1])
            )
            pens.append(Pen(knots, bends_through(knots, middles)))
        found.append(tuple(pens))
    return found


def bends_through(knots: Float[np.ndarray, "k 2"], middles: Float[np.ndarray, "a 2"]) -> Float[np.ndarray, "a"]:
    """Returns the bends of arcs between knots that pass by these middles."""
    step, off = np.diff(knots, axis=0), middles - (knots[:-1] + knots[1:]) / 2
    chord = np.maximum(np.hypot(*step.T), 1e-3)
    height = (off[:, 0] * step[:, 1] - off[:, 1] * step[:, 0]) / chord
    return np.clip(4 * np.arctan(2 * height / chord), -MOST_BEND, MOST_BEND)


def draw_again(
    nib: Nib, how: Variation, x: Int8[np.ndarray, "y x"], programs: list[Program], starts: list[Program]
) -> Again:
    """Returns how probable an image is as another drawing of each program; fits begin at `starts`."""
    batch, flat = pack(programs), ink.flat(x)
    wide = [covariance(how, p) for p in programs]
    hold = _embedded([np.linalg.inv(c) for c in wide], batch)
    theta = pack(starts).theta.copy()
    for pen, steps in (*BROAD_NIBS, (nib, STEPS_AGAIN)):
        theta, at = _climbed(pen, batch, hold, theta, flat, steps)
    log_p, spread = at.value.copy(), []
    for row, c in enumerate(wide):
        used = batch.used[row]
        precise = at.curvature[row][np.ix_(used, used)]
        log_p[row] -= 0.5 * (np.linalg.slogdet(c)[1] + np.linalg.slogdet(precise)[1])
        spread.append(np.linalg.inv(precise))
    return Again(log_p, [unpack(p, t, batch.knots) for p, t in zip(programs, theta, strict=True)], spread)


def _embedded(each: list[np.ndarray], batch: Batch) -> Float[np.ndarray, "b p p"]:
    """Returns matrices over the parameters that a program uses as matrices over all, with ones for the others."""
    found = np.tile(np.eye(batch.theta.shape[1]), (len(each), 1, 1))
    for row, one in enumerate(each):
        used = np.nonzero(batch.used[row])[0]
        found[row][np.ix_(used, used)] = one
    return found


def _climbed(
    nib: Nib,
    batch: Batch,
    hold: Float[np.ndarray, "b p p"],
    theta: Float[np.ndarray, "b p"],
    x: Float[np.ndarray, "q"],
    steps: int,
) -> tuple[Float[np.ndarray, "b p"], Point]:
    """Returns the parameters after damped Newton steps, and the expansion there."""
    damping, here = np.full(len(theta), FIRST_DAMPING), _expanded(nib, batch, hold, theta, x)
    for _ in range(steps):
        diagonal = np.einsum("bii->bi", here.curvature)
        damped = here.curvature + (damping[:, None] * diagonal)[:, :, None] * np.eye(theta.shape[1])
        step = np.linalg.solve(damped, here.slope[..., None])[..., 0]
        longest = np.abs(step[:, : 2 * batch.knots]).max(axis=1, keepdims=True)
        trial = theta + step * np.minimum(1.0, MOST_STEP_PIXELS / np.maximum(longest, 1e-9))
        bends = trial[:, 2 * batch.knots :]
        np.clip(bends, -MOST_BEND, MOST_BEND, out=bends)
        there = _expanded(nib, batch, hold, trial, x)
        better = there.value > here.value
        damping = np.clip(np.where(better, damping / 4, damping * 6), LEAST_DAMPING, MOST_DAMPING)
        theta = np.where(better[:, None], trial, theta)
        pairs = zip(there, here, strict=True)
        here = Point(*(np.where(better.reshape(-1, *[1] * (a.ndim - 1)), a, b) for a, b in pairs))
    return theta, here


def _expanded(
    nib: Nib,
    batch: Batch,
    hold: Float[np.ndarray, "b p p"],
    theta: Float[np.ndarray, "b p"],
    x: Float[np.ndarray, "q"],
) -> Point:
    """Returns the expansion at these parameters, up to the Gaussian's norm."""
    value, slope, curvature = ink.expanded(nib, batch, theta, x)
    slope, curvature = batch.scattered(slope, curvature)
    off = theta - batch.theta
    pull = np.einsum("bij,bj->bi", hold, off)
    return Point(value - 0.5 * (off * pull).sum(axis=1), slope - pull, curvature + hold)
