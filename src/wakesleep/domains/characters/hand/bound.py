"""log p(image, structure): the knots and bends of a program are summed out by adaptive importance sampling.

Orders and directions of pen strokes are summed over too. Each estimate of p is unbiased or too small, so the mean of
its logarithm is a lower bound of log p. Only samples of the last round are used in it; the others adapt the proposal.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int8
from scipy.special import logsumexp

from wakesleep.domains.characters.hand import pen as ink
from wakesleep.domains.characters.hand.fit import Fit, Hand
from wakesleep.domains.characters.hand.orders import Pens, log_prior_of_all
from wakesleep.domains.characters.hand.strokes import MOST_BEND, Batch, Pen, Program, pack, unpack

SCALES = np.array([0.35, 0.7, 1.2])
"""The proposal is an even mixture of Gaussians of these scales."""
CHUNK = 64


class Estimate(NamedTuple):
    """log p(image, structure) by importance sampling, and samples of the posterior with their log weights."""

    log_p: float
    theta: Float[np.ndarray, "s p"]
    log_weight: Float[np.ndarray, "s"]
    program: Program
    batch: Batch

    def draw(self, rng: np.random.Generator) -> Program:
        """Returns a program with knots and bends drawn from the posterior."""
        row = rng.choice(len(self.theta), p=np.exp(self.log_weight - logsumexp(self.log_weight)))
        return unpack(self.program, self.theta[row], self.batch.knots)


def estimate(
    hand: Hand,
    x: Int8[np.ndarray, "y x"],
    found: Fit,
    rng: np.random.Generator,
    rounds: int = 2,
    samples: int = 160,
    last: int = 256,
) -> Estimate:
    """Returns the estimate for a fitted program."""
    batch, flat = pack([found.program]), ink.flat(x)
    mean, covariance = batch.theta[0], np.linalg.inv(found.precision)
    for _ in range(rounds):
        theta, log_q = _proposed(mean, covariance, samples, rng)
        log_w = log_joint(hand, found.program, batch, theta, flat) - log_q
        mean, covariance = _adapted(theta, log_w, mean, covariance)
    theta, log_q = _proposed(mean, covariance, last, rng)
    log_w = log_joint(hand, found.program, batch, theta, flat) - log_q
    return Estimate(float(logsumexp(log_w) - np.log(last)), theta, log_w, found.program, batch)


def _proposed(
    mean: Float[np.ndarray, "p"], covariance: Float[np.ndarray, "p p"], count: int, rng: np.random.Generator
) -> tuple[Float[np.ndarray, "s p"], Float[np.ndarray, "s"]]:
    """Draws parameters from the mixture of scales; returns them with their log density."""
    size = len(mean)
    chol = np.linalg.cholesky(covariance)
    scale = SCALES[rng.integers(len(SCALES), size=count)]
    z = scale[:, None] * rng.normal(size=(count, size))
    squares = (z**2).sum(axis=1)
    each = -0.5 * squares[:, None] / SCALES**2 - size * np.log(SCALES)
    log_q = logsumexp(each, axis=1) - np.log(len(SCALES))
    return mean + z @ chol.T, log_q - np.log(np.diag(chol)).sum() - 0.5 * size * np.log(2 * np.pi)


def _adapted(
    theta: Float[np.ndarray, "s p"],
    log_w: Float[np.ndarray, "s"],
    mean: Float[np.ndarray, "p"],
    covariance: Float[np.ndarray, "p p"],
) -> tuple[Float[np.ndarray, "p"], Float[np.ndarray, "p p"]]:
    """Returns mean and covariance moved towards those of the samples, whose weights are tempered where few count."""
    if not np.isfinite(log_w).any():
        return mean, covariance * 0.5
    power = 1.0
    while True:
        w = np.exp(power * (log_w - log_w.max()))
        w = w / w.sum()
        effective = 1 / (w**2).sum()
        if effective >= 0.15 * len(w) or power < 0.02:
            break
        power *= 0.75
    centre = w @ theta
    off = theta - centre
    trust = min(1.0, effective / (3 * len(mean)))
    spread = (w[:, None] * off).T @ off
    return centre, trust * spread + (1 - trust) * covariance + 1e-6 * np.eye(len(mean))


def log_joint(
    hand: Hand, program: Program, batch: Batch, theta: Float[np.ndarray, "s p"], x: Float[np.ndarray, "q"]
) -> Float[np.ndarray, "s"]:
    """Returns log p(image, strokes) of one structure for many parameters; an arc that bends too far is impossible."""
    total = np.empty(len(theta))
    for begin in range(0, len(theta), CHUNK):
        part = theta[begin : begin + CHUNK]
        many = batch._replace(
            theta=part, first=np.repeat(batch.first, len(part), axis=0), on=np.repeat(batch.on, len(part), axis=0)
        )
        total[begin : begin + CHUNK] = ink.log_likelihood(hand.nib, ink.nearest(many, part)[0], x)
    pens = split(program, theta, batch.knots)
    possible = (np.abs(theta[:, 2 * batch.knots :]) <= MOST_BEND).all(axis=1) & keeps_names(program, pens)
    return np.where(possible, total + log_prior_of_all(hand.prior, pens), -np.inf)


def split(program: Program, theta: Float[np.ndarray, "s p"], knots: int) -> Pens:
    """Returns the knots and bends of each pen stroke, with a leading axis of samples."""
    points, bends = theta[:, : 2 * knots].reshape(len(theta), -1, 2), theta[:, 2 * knots :]
    found, knot, arc = [], 0, 0
    for pen in program:
        n = len(pen.bends)
        found.append((points[:, knot : knot + n + 1], bends[:, arc : arc + n]))
        knot, arc = knot + n + 1, arc + n
    return found


def keeps_names(program: Program, pens: Pens) -> Bool[np.ndarray, "s"]:
    """Returns in which samples each pen stroke is nearest to its own in the program, of all in both directions.

    Samples that pass and their reorderings never meet, so a sum over orders counts no drawing twice.
    """
    passes = np.ones(len(pens[0][0]), bool)
    for i, (knots, bends) in enumerate(pens):
        own = _apart(program[i], knots, bends)
        for j, other in enumerate(program):
            if len(other.bends) == bends.shape[1]:
                turned = [other.reversed()] if j == i else [other, other.reversed()]
                for pen in turned:
                    passes &= own < _apart(pen, knots, bends)
    return passes


def _apart(pen: Pen, knots: Float[np.ndarray, "s k 2"], bends: Float[np.ndarray, "s a"]) -> Float[np.ndarray, "s"]:
    """Returns squared distances of sampled pen strokes from one; turning both round changes none."""
    return ((knots - pen.knots) ** 2).sum(axis=(1, 2)) + ((bends - pen.bends) ** 2).sum(axis=1)
