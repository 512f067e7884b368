"""p(strokes): decisions to go on, to lift the pen or to stop; where a pen stroke starts; and a bank of arcs.

An arc (its displacement and bend) is drawn from a mixture of the Gaussians of a bank: each is a stroke and how a hand
varies it. Which of them comes next depends on the one before, and all spellings of an arc are summed over. A pen
stroke starts anywhere, or near an end or another point of an earlier one.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from wakesleep.domains.characters.hand.strokes import Pen, along

CONTINUE, LIFT, LAST_PIECE = 0, 1, 2
MOST_ARCS_COUNTED, MOST_PENS_COUNTED = 4, 5
POINTS_ALONG = 5
"""Points of an arc that a later stroke may start at."""
ANY_PLACE, AT_END, ALONG = 0, 1, 2
LOG_TWO_PI = float(np.log(2 * np.pi))


class Prior(NamedTuple):
    """The parameters of p(strokes). A Gaussian has its mean and the inverse W of its Cholesky factor."""

    decide: Float[np.ndarray, "pens arcs 3"]
    """p(go on, lift, end) by the number of pen strokes and of arcs of the last one, each from 1 and counted so far."""
    mean: Float[np.ndarray, "k 3"]
    """Displacement and bend of each stroke of the bank."""
    whiten: Float[np.ndarray, "k 3 3"]
    opening: Float[np.ndarray, "k"]
    """p(stroke) of the bank for the first arc of a pen stroke."""
    following: Float[np.ndarray, "k k"]
    """p(stroke | the one before) within a pen stroke."""
    first_mean: Float[np.ndarray, "2"]
    """Where the first pen stroke starts."""
    first_whiten: Float[np.ndarray, "2 2"]
    later_mean: Float[np.ndarray, "2"]
    """Where a later pen stroke starts that starts anywhere."""
    later_whiten: Float[np.ndarray, "2 2"]
    relation: Float[np.ndarray, "3"]
    """p(anywhere, near an end, along): where a later pen stroke starts."""
    near_pixels: Float[np.ndarray, "2"]
    """The standard deviation about an end, and about a point along."""


def whitener(covariance: Float[np.ndarray, "*n d d"]) -> Float[np.ndarray, "*n d d"]:
    """Returns the inverse of the Cholesky factor of a covariance."""
    return np.linalg.inv(np.linalg.cholesky(covariance))


def log_gaussian(
    x: Float[np.ndarray, "*n d"], mean: Float[np.ndarray, "*m d"], whiten: Float[np.ndarray, "*m d d"]
) -> np.ndarray:
    """Returns the log density of Gaussians; leading axes are broadcast."""
    z = np.matmul(whiten, (x - mean)[..., None])[..., 0]
    log_det = np.log(np.diagonal(whiten, axis1=-2, axis2=-1)).sum(axis=-1)
    return np.asarray(-0.5 * (z * z).sum(axis=-1) + log_det - 0.5 * x.shape[-1] * LOG_TWO_PI)


def log_decisions(prior: Prior, place: int, arcs: int, last: bool) -> float:
    """Returns the log-probability of a pen stroke of so many arcs at a place in the order, and of what follows it."""
    table = np.log(prior.decide[min(place, MOST_PENS_COUNTED - 1)])
    going_on = sum(float(table[min(a, MOST_ARCS_COUNTED - 1), CONTINUE]) for a in range(arcs - 1))
    return going_on + float(table[min(arcs - 1, MOST_ARCS_COUNTED - 1), LAST_PIECE if last else LIFT])


def log_arcs(
    prior: Prior, knots: Float[np.ndarray, "s k 2"], bends: Float[np.ndarray, "s a"]
) -> Float[np.ndarray, "s"]:
    """Returns the log density of the arcs of a pen stroke, summed over strokes of the bank (the forward algorithm)."""
    arcs = np.concatenate([np.diff(knots, axis=1), bends[..., None]], axis=-1)
    each = log_gaussian(arcs[:, :, None], prior.mean, prior.whiten)
    weight, total = prior.opening[None], np.zeros(len(bends))
    for j in range(bends.shape[1]):
        most = each[:, j].max(axis=1, keepdims=True)
        joint = weight * np.exp(each[:, j] - most)
        norm = np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
        total += (np.log(norm) + most)[:, 0]
        weight = (joint / norm) @ prior.following
    return total


def log_start(prior: Prior, start: Float[np.ndarray, "*s 2"], near: Float[np.ndarray, "*s 2"] | None) -> np.ndarray:
    """Returns the log density of where a pen stroke starts; `near` is `closeness` to the earlier ones, if any."""
    if near is None:
        return log_gaussian(start, prior.first_mean, prior.first_whiten)
    anywhere = prior.relation[ANY_PLACE] * np.exp(log_gaussian(start, prior.later_mean, prior.later_whiten))
    variance = prior.near_pixels**2
    return np.asarray(np.log(anywhere + (near * prior.relation[AT_END:] / (2 * np.pi * variance)).sum(axis=-1)))


def closeness(
    prior: Prior, start: Float[np.ndarray, "*s 2"], pens: list[tuple[np.ndarray, np.ndarray]]
) -> Float[np.ndarray, "*s q 3"]:
    """Returns, for each pen stroke (knots, bends), two sums of exp(-d^2 / 2 variance), and the points of the second.

    The sums run over its two ends and over its points along.
    """
    found = []
    for knots, bends in pens:
        points = places(knots, bends)
        sums = [
            np.exp(-((start[..., None, :] - targets) ** 2).sum(axis=-1) / (2 * width**2)).sum(axis=-1)
            for targets, width in ((knots[..., [0, -1], :], prior.near_pixels[0]), (points, prior.near_pixels[1]))
        ]
        found.append(np.stack([*sums, np.full(sums[0].shape, float(points.shape[-2]))], axis=-1))
    return np.stack(found, axis=-2)


def gathered(near: Float[np.ndarray, "*s q 3"]) -> Float[np.ndarray, "*s 2"]:
    """Returns the means over ends and over points along of several pen strokes, from their `closeness`."""
    total = near.sum(axis=-2)
    return np.stack([total[..., 0] / (2 * near.shape[-2]), total[..., 1] / total[..., 2]], axis=-1)


def places(knots: Float[np.ndarray, "*s k 2"], bends: Float[np.ndarray, "*s a"]) -> Float[np.ndarray, "*s n 2"]:
    """Returns the points of a pen stroke's arcs that a later stroke may start at."""
    points = along(knots, bends, POINTS_ALONG)
    return points.reshape(*points.shape[:-3], -1, 2)


def log_prior(prior: Prior, program: tuple[Pen, ...]) -> float:
    """Returns log p(strokes) in the order and the directions that they are given in."""
    total = 0.0
    for i, pen in enumerate(program):
        near = None
        if i:
            near = gathered(closeness(prior, pen.knots[0], [(p.knots, p.bends) for p in program[:i]]))
        total += float(log_start(prior, pen.knots[0], near))
        total += float(log_arcs(prior, pen.knots[None], pen.bends[None])[0])
        total += log_decisions(prior, i, len(pen.bends), i == len(program) - 1)
    return total
