"""One-shot classification of drawings made here: each test image by itself, and labels are not seen."""

import numpy as np
import pytest

from tests.domains.characters.hands import HOUSE, NIB, PLUS, SEVEN
from wakesleep.domains.characters.hand.again import Variation
from wakesleep.domains.characters.hand.strokes import Pen, along
from wakesleep.domains.characters.omniglot import ORIGINAL_SIDE, Omniglot
from wakesleep.paper.characters_oneshot import drawn_again, matched
from wakesleep.paper.characters_runs import Run, run_of, source_of

CHARACTERS = (PLUS, SEVEN, HOUSE)
LINE_PIXELS = 1.6


def drawing(program, linear=((1, 0), (0, 1)), shift=0.0):
    """A program drawn at 105 x 105, after an affine map about the middle."""
    scale = ORIGINAL_SIDE / 28
    moved = [Pen((p.knots - 14) @ np.asarray(linear).T + 14 + shift, p.bends) for p in program]
    points = scale * np.concatenate([along(p.knots, p.bends, 101).reshape(-1, 2) for p in moved])
    y, x = np.mgrid[:ORIGINAL_SIDE, :ORIGINAL_SIDE] + 0.5
    squared = (x[..., None] - points[:, 0]) ** 2 + (y[..., None] - points[:, 1]) ** 2
    return squared.min(axis=-1) < LINE_PIXELS**2


@pytest.fixture(scope="module")
def run():
    training = np.stack([drawing(p) for p in CHARACTERS])
    label = np.array([2, 0, 1])
    test = np.stack([drawing(CHARACTERS[c], [[0.9, 0.1], [-0.05, 1.05]], 0.7) for c in label])
    return Run(training, test, label)


def by_likelihood(run):
    return drawn_again(run, Variation(), NIB)


@pytest.mark.parametrize("method", [matched, by_likelihood])
def test_a_test_image_is_classified_by_itself_whatever_the_order_and_the_labels(run, method):
    both, one_way = method(run)
    assert (np.argmax(both, axis=1) == run.label).all()
    assert (np.argmax(one_way, axis=1) == run.label).all()
    turned = Run(run.training[::-1], run.test[:1], np.zeros(1, int))
    np.testing.assert_allclose(method(turned)[0][0], both[0, ::-1], atol=1e-3)


def test_a_run_is_found_in_omniglot_and_made_again_from_there():
    rng = np.random.default_rng(0)
    ink = rng.uniform(size=(12, ORIGINAL_SIDE, ORIGINAL_SIDE)) < 0.1
    packed = np.packbits(ink.reshape(12, -1), axis=1)
    alphabet, character, drawer = (
        np.array(a, np.uint8) for a in ([0] * 6 + [1] * 6, [1, 1, 2, 2, 3, 3] * 2, [1, 2] * 6)
    )
    whole = Omniglot(packed, alphabet, character, drawer, ["a", "b"])
    run = Run(ink[[8, 6]], ink[[7, 9]], np.array([1, 0]))
    source = source_of(whole, run)
    assert source == (1, (2, 1), (1, 2))
    again = run_of(whole, source)
    assert (again.training == run.training).all()
    assert (again.test[run.label] == run.test).all()
