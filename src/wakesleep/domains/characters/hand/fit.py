"""Strokes fitted to an image: Gauss-Newton steps on log p(image, strokes), and Laplace's estimate of the evidence."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int8

from wakesleep.domains.characters.hand import pen as ink
from wakesleep.domains.characters.hand.orders import log_priors
from wakesleep.domains.characters.hand.pen import Nib
from wakesleep.domains.characters.hand.prior import Prior, places
from wakesleep.domains.characters.hand.strokes import MOST_BEND, Batch, Program, pack, unpack

FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 0.3, 1e-3, 1e3
MOST_STEP_PIXELS = 1.5
UNUSED_PRECISION, LEAST_PRECISION = 1.0, 1e-3
SPREAD = np.array([[-1, 0, 1, 0, 0], [0, -1, 0, 1, 0], [0, 0, 0, 0, 1.0]])
"""From the features of an arc, both ends and the bend, to its displacement and bend."""


class Hand(NamedTuple):
    """The whole model: p(strokes) and p(image | strokes)."""

    prior: Prior
    nib: Nib


class Fit(NamedTuple):
    """A program whose knots and bends are fitted to an image."""

    program: Program
    log_likelihood: float
    log_prior: float
    """log p(strokes), summed over orders and directions."""
    log_volume: float
    """log of the Gaussian integral about the fit, (2 pi)^(p / 2) |H|^(-1 / 2)."""
    precision: Float[np.ndarray, "p p"]
    """H: knots in the order of the pen strokes, x and y in turn, then bends."""

    @property
    def log_evidence(self) -> float:
        """Laplace's estimate of log p(image, structure)."""
        return self.log_likelihood + self.log_prior + self.log_volume


class Expansion(NamedTuple):
    """log p(image, strokes) of programs up to decisions and starts, its gradient, and minus its rough Hessian."""

    value: Float[np.ndarray, "b"]
    slope: Float[np.ndarray, "b p"]
    curvature: Float[np.ndarray, "b p p"]


def fit(hand: Hand, x: Int8[np.ndarray, "y x"], programs: list[Program], steps: int = 10) -> list[Fit]:
    """Returns the programs fitted to an image, each from where it stands."""
    if not programs:
        return []
    batch, flat = pack(programs), ink.flat(x)
    theta, damping = batch.theta.copy(), np.full(len(programs), FIRST_DAMPING)
    here = _expanded(hand, batch, theta, flat)
    for _ in range(steps):
        trial = theta + _step(here, damping, batch)
        bends = trial[:, 2 * batch.knots :]
        np.clip(bends, -MOST_BEND, MOST_BEND, out=bends)
        there = _expanded(hand, batch, trial, flat)
        better = there.value > here.value
        damping = np.clip(np.where(better, damping / 4, damping * 6), LEAST_DAMPING, MOST_DAMPING)
        theta = np.where(better[:, None], trial, theta)
        pairs = zip(there, here, strict=True)
        here = Expansion(*(np.where(better.reshape(-1, *[1] * (a.ndim - 1)), a, b) for a, b in pairs))
    return _finished(hand, batch, theta, flat, here.curvature, programs)


def _step(at: Expansion, damping: Float[np.ndarray, "b"], batch: Batch) -> Float[np.ndarray, "b p"]:
    """Returns damped Newton steps, none longer than a pixel and a half in any knot."""
    diagonal = np.einsum("bii->bi", at.curvature)
    damped = at.curvature + (damping[:, None] * diagonal)[:, :, None] * np.eye(diagonal.shape[1])
    step = np.linalg.solve(damped, at.slope[..., None])[..., 0]
    longest = np.abs(step[:, : 2 * batch.knots]).max(axis=1, keepdims=True)
    return step * np.minimum(1.0, MOST_STEP_PIXELS / np.maximum(longest, 1e-9))


def _expanded(hand: Hand, batch: Batch, theta: Float[np.ndarray, "b p"], x: Float[np.ndarray, "q"]) -> Expansion:
    """Returns the expansion at these parameters."""
    value, local_slope, local_curvature = ink.expanded(hand.nib, batch, theta, x)
    more, prior_slope, prior_curvature = _bank(hand.prior, batch, theta)
    slope, curvature = batch.scattered(local_slope + prior_slope, local_curvature + prior_curvature)
    least = np.where(batch.used, LEAST_PRECISION, UNUSED_PRECISION)
    return Expansion(value + more, slope, curvature + least[:, :, None] * np.eye(theta.shape[1]))


def _bank(
    prior: Prior, batch: Batch, theta: Float[np.ndarray, "b p"]
) -> tuple[Float[np.ndarray, "b"], Float[np.ndarray, "b a 5"], Float[np.ndarray, "b a 5 5"]]:
    """Returns the log density of all arcs under the bank with one set of weights, its gradient and curvature.

    Responsibilities are held fixed in the curvature, so that it is positive definite.
    """
    arc = batch.features(theta) @ SPREAD.T
    white = np.matmul(prior.whiten, (arc[:, :, None] - prior.mean)[..., None])
    log_det = np.log(np.diagonal(prior.whiten, axis1=1, axis2=2)).sum(axis=1)
    each = np.log(prior.opening) + log_det - 0.5 * (white[..., 0] ** 2).sum(axis=-1)
    most = each.max(axis=-1, keepdims=True)
    share = np.exp(each - most)
    total = share.sum(axis=-1, keepdims=True)
    value = np.where(batch.on, (np.log(total) + most)[..., 0], 0).sum(axis=1)
    share = share / total
    pull = np.matmul(np.swapaxes(prior.whiten, 1, 2), white)[..., 0]
    slope = -(share[..., None] * pull).sum(axis=2)
    precision = np.swapaxes(prior.whiten, 1, 2) @ prior.whiten
    curvature = (share.reshape(-1, len(prior.mean)) @ precision.reshape(-1, 9)).reshape(*share.shape[:2], 3, 3)
    return value, slope @ SPREAD, SPREAD.T @ curvature @ SPREAD


def _finished(
    hand: Hand,
    batch: Batch,
    theta: Float[np.ndarray, "b p"],
    x: Float[np.ndarray, "q"],
    curvature: Float[np.ndarray, "b p p"],
    programs: list[Program],
) -> list[Fit]:
    """Returns the fitted programs with their scores."""
    likelihood = ink.log_likelihood(hand.nib, ink.nearest(batch, theta)[0], x)
    fitted = [unpack(program, theta[row], batch.knots) for row, program in enumerate(programs)]
    priors, found = log_priors(hand.prior, fitted), []
    for row, program in enumerate(fitted):
        used = batch.used[row]
        precision = curvature[row][np.ix_(used, used)]
        for i, extra in _starts(hand.prior, program):
            precision[i, i] += extra
        volume = 0.5 * (used.sum() * np.log(2 * np.pi) - np.linalg.slogdet(precision)[1])
        found.append(Fit(program, float(likelihood[row]), float(priors[row]), float(volume), precision))
    return found


def _starts(prior: Prior, program: Program) -> list[tuple[int, float]]:
    """Returns where starts of pen strokes are among the parameters, and the precision that the prior gives them."""
    found, knot = [], 0
    for i, pen in enumerate(program):
        narrow = np.diag(prior.first_whiten if i == 0 else prior.later_whiten) ** 2
        if i:
            earlier = np.concatenate([places(p.knots, p.bends) for p in program[:i]])
            squared = ((pen.knots[0] - earlier) ** 2).sum(axis=1).min()
            if squared < (2 * prior.near_pixels[1]) ** 2:
                narrow = np.full(2, prior.near_pixels[1] ** -2.0)
        found += [(2 * knot, float(narrow[0])), (2 * knot + 1, float(narrow[1]))]
        knot += len(pen.knots)
    return found
