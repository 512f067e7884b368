"""New characters: programs drawn from p(strokes), and images drawn from them."""

import numpy as np
from jaxtyping import Float, Int8

from wakesleep.domains.characters.hand.compare import shaded
from wakesleep.domains.characters.hand.fit import Hand
from wakesleep.domains.characters.hand.prior import (
    ANY_PLACE,
    AT_END,
    LAST_PIECE,
    LIFT,
    MOST_ARCS_COUNTED,
    MOST_PENS_COUNTED,
    Prior,
    places,
)
from wakesleep.domains.characters.hand.strokes import MOST_BEND, Pen, Program


def draw_program(prior: Prior, rng: np.random.Generator) -> Program:
    """Draws a program from the prior, its pen strokes in the order of drawing."""
    pens: list[Pen] = []
    choice = LIFT
    while choice == LIFT:
        knots, bends, stroke = [_start(prior, pens, rng)], [], -1
        choice = -1
        while choice not in (LIFT, LAST_PIECE):
            weight = prior.opening if stroke < 0 else prior.following[stroke]
            stroke = int(rng.choice(len(weight), p=weight))
            dx, dy, bend = _arc(prior, stroke, rng)
            knots.append(knots[-1] + np.array([dx, dy]))
            bends.append(bend)
            place = min(len(pens), MOST_PENS_COUNTED - 1), min(len(bends), MOST_ARCS_COUNTED) - 1
            choice = int(rng.choice(3, p=prior.decide[place]))
        pens.append(Pen(np.array(knots), np.array(bends)))
    return tuple(pens)


def _arc(prior: Prior, stroke: int, rng: np.random.Generator) -> Float[np.ndarray, "3"]:
    """Draws the displacement and the bend of an arc; one that bends too far is drawn again."""
    while True:
        arc = _gaussian(prior.mean[stroke], prior.whiten[stroke], rng)
        if abs(arc[2]) <= MOST_BEND:
            return arc


def _start(prior: Prior, earlier: list[Pen], rng: np.random.Generator) -> Float[np.ndarray, "2"]:
    """Draws where a pen stroke starts."""
    if not earlier:
        return _gaussian(prior.first_mean, prior.first_whiten, rng)
    relation = int(rng.choice(3, p=prior.relation))
    if relation == ANY_PLACE:
        return _gaussian(prior.later_mean, prior.later_whiten, rng)
    points = [p.knots[[0, -1]] if relation == AT_END else places(p.knots, p.bends) for p in earlier]
    return rng.choice(np.concatenate(points)) + prior.near_pixels[relation - 1] * rng.normal(size=2)


def _gaussian(
    mean: Float[np.ndarray, "d"], whiten: Float[np.ndarray, "d d"], rng: np.random.Generator
) -> Float[np.ndarray, "d"]:
    return mean + np.linalg.solve(whiten, rng.normal(size=len(mean)))


def draw_image(hand: Hand, program: Program, rng: np.random.Generator) -> Int8[np.ndarray, "y x"]:
    """Draws every pixel of an image of a program."""
    shade = shaded(hand.nib, program)
    return (rng.uniform(size=shade.shape) < shade).astype(np.int8)
