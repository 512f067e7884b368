"""Hands and programs that the tests of a hand share."""

import numpy as np

from wakesleep.domains.characters.hand.fit import Hand
from wakesleep.domains.characters.hand.learn import first_hand
from wakesleep.domains.characters.hand.pen import PIXEL_X, PIXEL_Y, SIDE, Nib
from wakesleep.domains.characters.hand.prior import Prior, whitener
from wakesleep.domains.characters.hand.strokes import Pen, along

NIB = Nib(-6.0, 10.0, 0.9, 1.0)


def small_hand(strokes=3, seed=0):
    """A hand with a few strokes in its bank and every number its own."""
    rng = np.random.default_rng(seed)
    scatter = rng.normal(size=(strokes, 3, 3))
    covariance = scatter @ np.swapaxes(scatter, 1, 2) + 4 * np.eye(3)
    following = rng.dirichlet(np.ones(strokes), strokes)
    decide = rng.dirichlet(np.ones(3), (5, 4))
    wide = [np.array([12.0, 11.0]), np.eye(2) / 5, np.array([15.0, 13.0]), np.array([[0.2, 0.0], [0.05, 0.15]])]
    bank = rng.normal(0, 4, (strokes, 3)), whitener(covariance), rng.dirichlet(np.ones(strokes)), following
    return Hand(Prior(decide, *bank, *wide, np.array([0.5, 0.2, 0.3]), np.array([0.7, 0.9])), NIB)


def some_program(rng, pens=None):
    """Random pen strokes of one to three arcs."""
    counts = rng.integers(1, 4, rng.integers(1, 4)) if pens is None else pens
    return tuple(Pen(rng.uniform(4, 24, (n + 1, 2)), rng.uniform(-4, 4, n)) for n in counts)


def ink_of(program, reach=0.8):
    """The image of a program: black within a distance of its strokes, by dense sampling."""
    points = np.concatenate([along(p.knots, p.bends, 201).reshape(-1, 2) for p in program])
    squared = (PIXEL_X[:, None] - points[:, 0]) ** 2 + (PIXEL_Y[:, None] - points[:, 1]) ** 2
    return (squared.min(axis=1) < reach**2).astype(np.int8).reshape(SIDE, SIDE)


SEVEN = (Pen(np.array([[6.0, 6.0], [20.0, 6.0], [10.0, 22.0]]), np.array([0.0, 0.4])),)
PLUS = (
    Pen(np.array([[14.0, 4.0], [14.0, 24.0]]), np.zeros(1)),
    Pen(np.array([[4.0, 13.0], [24.0, 13.0]]), np.zeros(1)),
)
PLAIN = first_hand()._replace(nib=NIB)
HOUSE = (
    Pen(np.array([[6.0, 22.0], [6.0, 10.0], [22.0, 10.0], [22.0, 22.0]]), np.zeros(3)),
    Pen(np.array([[6.0, 10.0], [14.0, 4.0], [22.0, 10.0]]), np.zeros(2)),
)
HOUSE_IMAGE = ink_of(HOUSE)
