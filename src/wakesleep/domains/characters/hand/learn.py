"""Learning a hand: the prior and the pen that explain best the programs remembered for some images."""

import numpy as np
from jaxtyping import Float, Int8
from scipy.optimize import minimize

from wakesleep.domains.characters.hand import pen as ink
from wakesleep.domains.characters.hand.fit import Hand
from wakesleep.domains.characters.hand.orders import best_order
from wakesleep.domains.characters.hand.pen import Nib
from wakesleep.domains.characters.hand.prior import (
    ALONG,
    ANY_PLACE,
    AT_END,
    CONTINUE,
    LAST_PIECE,
    LIFT,
    MOST_ARCS_COUNTED,
    MOST_PENS_COUNTED,
    Prior,
    log_gaussian,
    places,
    whitener,
)
from wakesleep.domains.characters.hand.strokes import Program, pack

FLOOR = np.diag([0.5**2, 0.5**2, 0.2**2])
"""The least covariance of a stroke of the bank, in pixels and radians: what a fit leaves unsure."""
PSEUDO_ARCS = 4.0
"""A stroke of the bank varies as if that many arcs of the whole bank's usual spread had been seen beside its own."""
BANK_ROUNDS = 30
LEAST_NEAR_PIXELS, MOST_NEAR_PIXELS = 0.5, 1.5


def first_hand() -> Hand:
    """Returns a hand that knows nothing: straight and bent arcs anywhere, and a pen of a pixel and a half."""
    decide = np.tile([0.4, 0.35, 0.25], (MOST_PENS_COUNTED, MOST_ARCS_COUNTED, 1))
    wide, middle = np.eye(2) / 6.0, np.full(2, 14.0)
    bank = np.zeros((1, 3)), whitener(np.diag([64.0, 64.0, 1.4]))[None], np.ones(1), np.ones((1, 1))
    prior = Prior(decide, *bank, middle, wide, middle, wide, np.array([0.4, 0.3, 0.3]), np.array([0.7, 0.7]))
    return Hand(prior, Nib(-5.0, 8.0, 1.1, 1.0))


def learn(hand: Hand, images: Int8[np.ndarray, "n y x"], programs: list[Program], strokes: int, seed: int = 0) -> Hand:
    """Returns the hand with the highest penalised likelihood of the images and their programs."""
    prior = learn_prior(hand.prior, programs, strokes, np.random.default_rng(seed))
    return Hand(prior, learn_nib(hand.nib, images, programs))


def learn_prior(before: Prior, programs: list[Program], strokes: int, rng: np.random.Generator) -> Prior:
    """Returns the prior that fits the programs, each in the order that is most probable before."""
    programs = [best_order(before, p) for p in programs]
    pens = [pen for p in programs for pen in p]
    arcs = [np.column_stack([np.diff(p.knots, axis=0), p.bends]) for p in pens]
    bank = _bank(arcs, strokes, rng)
    first = np.array([p[0].knots[0] for p in programs])
    later = np.array([pen.knots[0] for p in programs for pen in p[1:]]).reshape(-1, 2)
    later = later if len(later) > 2 else first
    relation, near = _relations(before, programs)
    wide, free = (whitener(np.cov(s.T) + np.eye(2)) for s in (first, later))
    starts = first.mean(axis=0), wide, later.mean(axis=0), free
    return Prior(_decisions(programs), bank[0], bank[1], bank[2], bank[3], *starts, relation, near)


def _decisions(programs: list[Program]) -> Float[np.ndarray, "pens arcs 3"]:
    """Returns the shares of going on, lifting and ending, each shrunk towards the share over all counts."""
    seen = np.zeros((MOST_PENS_COUNTED, MOST_ARCS_COUNTED, 3))
    for program in programs:
        for i, pen in enumerate(program):
            for a in range(len(pen.bends)):
                last = LAST_PIECE if i == len(program) - 1 else LIFT
                choice = CONTINUE if a < len(pen.bends) - 1 else last
                seen[min(i, MOST_PENS_COUNTED - 1), min(a, MOST_ARCS_COUNTED - 1), choice] += 1
    overall = seen.sum(axis=(0, 1)) + 1
    smoothed = seen + 5 * overall / overall.sum()
    return smoothed / smoothed.sum(axis=-1, keepdims=True)


def _bank(arcs: list[Float[np.ndarray, "_ 3"]], strokes: int, rng: np.random.Generator) -> tuple:
    """Returns means, covariances and weights of the bank: a mixture of Gaussians by EM, then how they follow."""
    data = np.concatenate(arcs)
    strokes = min(strokes, len(data))
    scale = data.std(axis=0) + 1e-3
    mean = _spread(data / scale, strokes, rng) * scale
    strokes = len(mean)
    covariance = np.tile(np.cov(data.T) / strokes ** (2 / 3) + FLOOR, (strokes, 1, 1))
    weight = np.full(strokes, 1 / strokes)
    for _ in range(BANK_ROUNDS):
        share = _shares(data, mean, covariance, weight)
        count = share.sum(axis=0)
        weight = (count + 1) / (count + 1).sum()
        mean = (share.T @ data + 0.5 * mean) / (count + 0.5)[:, None]
        off = data[:, None] - mean
        scatter = np.einsum("nk,nki,nkj->kij", share, off, off)
        usual = scatter.sum(axis=0) / len(data)
        covariance = (scatter + PSEUDO_ARCS * usual) / (count + PSEUDO_ARCS)[:, None, None] + FLOOR / 2
    shares = [_shares(a, mean, covariance, weight) for a in arcs]
    opening = sum((s[0] for s in shares), np.zeros(strokes)) + 20 * weight
    following = sum((s[:-1].T @ s[1:] for s in shares), np.zeros((strokes, strokes)))
    onward = following.sum(axis=0) + 20 * weight
    following += 8 * onward / onward.sum()
    return mean, whitener(covariance), opening / opening.sum(), following / following.sum(axis=1, keepdims=True)


def _spread(data: Float[np.ndarray, "n 3"], count: int, rng: np.random.Generator) -> Float[np.ndarray, "k 3"]:
    """Returns points of the data that are far from each other (k-means++), each different."""
    chosen = [data[rng.integers(len(data))]]
    squared = ((data - chosen[0]) ** 2).sum(axis=1)
    while len(chosen) < count and squared.any():  # there may be fewer different arcs
        chosen.append(data[rng.choice(len(data), p=squared / squared.sum())])
        squared = np.minimum(squared, ((data - chosen[-1]) ** 2).sum(axis=1))
    return np.array(chosen)


def _shares(
    data: Float[np.ndarray, "n 3"],
    mean: Float[np.ndarray, "k 3"],
    covariance: Float[np.ndarray, "k 3 3"],
    weight: Float[np.ndarray, "k"],
) -> Float[np.ndarray, "n k"]:
    """Returns the probability of each stroke of the bank for each arc."""
    joint = np.log(weight) + log_gaussian(data[:, None], mean, whitener(covariance))
    joint = np.exp(joint - joint.max(axis=1, keepdims=True))
    return joint / joint.sum(axis=1, keepdims=True)


def _relations(before: Prior, programs: list[Program]) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "2"]]:
    """Returns the shares of the three ways to start a later pen stroke, and the spreads of two of them."""
    share, squares = np.zeros(3), []
    relation, near = before.relation, before.near_pixels
    for program in programs:
        for i in range(1, len(program)):
            start, earlier = program[i].knots[0], program[:i]
            ends = np.concatenate([p.knots[[0, -1]] for p in earlier])
            points = np.concatenate([places(p.knots, p.bends) for p in earlier])
            log_p = [np.log(relation[ANY_PLACE]) + log_gaussian(start, before.later_mean, before.later_whiten)]
            least = []
            for kind, targets in ((AT_END, ends), (ALONG, points)):
                squared, variance = ((start - targets) ** 2).sum(axis=1), near[kind - 1] ** 2
                density = np.mean(np.exp(-squared / (2 * variance))) / (2 * np.pi * variance)
                log_p.append(np.log(relation[kind] * density + 1e-300))
                least.append(squared.min())
            p = np.exp(np.array(log_p) - max(log_p))
            p = p / p.sum()
            share += p
            squares.append([p[1], least[0], p[2], least[1]])
    seen = np.array(squares or [[0.0] * 4])
    spreads = [np.sqrt((s + 2 * 0.5) / (2 * w + 2)) for w, s in (_weighted(seen[:, :2]), _weighted(seen[:, 2:]))]
    return (share + 2) / (share + 2).sum(), np.clip(spreads, LEAST_NEAR_PIXELS, MOST_NEAR_PIXELS)


def _weighted(pairs: Float[np.ndarray, "n 2"]) -> tuple[float, float]:
    """Returns the sum of weights, and of weighted squares."""
    return float(pairs[:, 0].sum()), float((pairs[:, 0] * pairs[:, 1]).sum())


def learn_nib(before: Nib, images: Int8[np.ndarray, "n y x"], programs: list[Program]) -> Nib:
    """Returns the pen under which the images are most likely, given their programs; it stays near a real pen."""
    squared, black = [], []
    for x, program in zip(images, programs, strict=True):
        batch = pack([program])
        squared.append(np.minimum(ink.nearest(batch, batch.theta)[0][0], 100.0))
        black.append(ink.flat(x))
    d, x = np.concatenate(squared), np.concatenate(black)
    edges = np.concatenate([np.linspace(0, 9, 361), [16.0, 101.0]])
    place = np.digitize(d, edges)
    total, inked = np.bincount(place), np.bincount(place, x)
    middle = np.bincount(place, d) / np.maximum(total, 1)

    def cost(given: Float[np.ndarray, "4"]) -> float:
        nib = _bounded(given)
        logit = nib.paper + nib.contrast * nib.ink(middle)[0]
        return float((total * np.logaddexp(0, logit) - inked * logit).sum() / len(programs))

    start = [before.paper, before.contrast, np.log(before.reach_pixels), np.log(before.shape)]
    return _bounded(minimize(cost, start, method="Nelder-Mead", options={"maxiter": 2000, "fatol": 1e-4}).x)


def _bounded(given: Float[np.ndarray, "4"]) -> Nib:
    """Returns a pen whose reach is between .7 and 1.2 pixels, so that it draws lines of one to two pixels."""
    reach, shape = np.clip(np.exp(given[2]), 0.7, 1.2), np.clip(np.exp(given[3]), 1.0, 3.0)
    return Nib(float(given[0]), float(np.clip(given[1], 2.0, 16.0)), float(reach), float(shape))
