"""Learning how a character varies from hand to hand, from pairs of drawings of one character by two people (EM)."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int8
from scipy.optimize import minimize

from wakesleep.domains.characters.hand.again import Again, Variation, covariance, draw_again
from wakesleep.domains.characters.hand.learn import learn_nib
from wakesleep.domains.characters.hand.pen import Nib
from wakesleep.domains.characters.hand.strokes import Program, pack

VARIATION_ROUNDS = 3
WORST_SHARE = 0.1
"""The share of pairs with the least probability that the spreads are not learned from: two ways to draw it."""
MOST_TRIALS = 150


class Pair(NamedTuple):
    """The program of one drawing, moved onto another, and that other one."""

    program: Program
    start: Program
    image: Int8[np.ndarray, "y x"]


class Adjusted(NamedTuple):
    """The adjustments found for a pair: their mean and covariance given the image."""

    program: Program
    mean: Float[np.ndarray, "p"]
    spread: Float[np.ndarray, "p p"]


def learn_variation(
    nib: Nib, pairs: list[Pair], rounds: int = VARIATION_ROUNDS
) -> tuple[Variation, Nib, Float[np.ndarray, "n"]]:
    """Returns spreads and a pen under which the pairs are probable, and log p of each pair before the last step."""
    how, log_p = Variation(), np.zeros(len(pairs))
    for _ in range(rounds):
        found = [draw_again(nib, how, p.image, [p.program], [p.start]) for p in pairs]
        log_p = np.array([f.log_p[0] for f in found])
        good = log_p >= np.quantile(log_p, WORST_SHARE)
        adjusted = [_adjusted(p, f) for p, f, g in zip(pairs, found, good, strict=True) if g]
        how = most_probable(how, adjusted)
        nib = learn_nib(nib, np.stack([p.image for p in pairs]), [f.programs[0] for f in found])
    return how, nib, log_p


def _adjusted(pair: Pair, found: Again) -> Adjusted:
    before, after = (pack([p]).theta[0] for p in (pair.program, found.programs[0]))
    return Adjusted(pair.program, after - before, found.spread[0])


def most_probable(how: Variation, adjusted: list[Adjusted]) -> Variation:
    """Returns the spreads that maximise the mean over the posterior of log N(adjustments; 0, covariance)."""

    def cost(logs: Float[np.ndarray, "v"]) -> float:
        trial, total = Variation(*np.exp(logs)), 0.0
        for one in adjusted:
            wide = covariance(trial, one.program)
            precise = np.linalg.inv(wide)
            total += np.linalg.slogdet(wide)[1] + one.mean @ precise @ one.mean + (precise * one.spread).sum()
        return 0.5 * total / len(adjusted)

    options = {"maxfev": MOST_TRIALS, "xatol": 0.02, "fatol": 0.01}
    return Variation(*(float(v) for v in np.exp(minimize(cost, np.log(how), method="Nelder-Mead", options=options).x)))
