"""The bound against simulation: drawing characters from the model is another way to p(image), without any formula."""

from collections import Counter

import numpy as np
import pytest
from scipy.special import logsumexp

from tests.domains.characters.hands import NIB, ink_of, small_hand
from wakesleep.domains.characters.hand import pen as ink
from wakesleep.domains.characters.hand.bound import estimate
from wakesleep.domains.characters.hand.dream import draw_image, draw_program
from wakesleep.domains.characters.hand.fit import Hand, fit
from wakesleep.domains.characters.hand.pen import Nib
from wakesleep.domains.characters.hand.prior import Prior, log_decisions, whitener
from wakesleep.domains.characters.hand.strokes import Pen, pack

NEVER = 1e-9
DRAWS = 20_000


def one_or_two_lines():
    """A hand that draws one or two arcs near the middle; its faint pen tells little of where they are."""
    decide = np.tile([NEVER, NEVER, 1 - 2 * NEVER], (5, 4, 1))
    decide[0, 0] = [NEVER, 0.5, 0.5 - NEVER]
    bank = np.zeros((1, 3)), whitener(np.diag([9.0, 9.0, 0.09]))[None], np.ones(1), np.ones((1, 1))
    middle, wide = np.array([14.0, 14.0]), whitener(np.diag([3.0, 3.0]))
    starts = middle, wide, middle, wide, np.array([0.6, 0.2, 0.2]), np.array([1.5, 1.5])
    return Hand(Prior(decide, *bank, *starts), Nib(-2.5, 1.0, 3.0, 1.0))


ONE = (Pen(np.array([[12.0, 12.0], [17.0, 14.0]]), np.zeros(1)),)
TWO = (
    Pen(np.array([[12.0, 12.0], [17.0, 12.0]]), np.zeros(1)),
    Pen(np.array([[14.0, 16.0], [14.0, 19.0]]), np.zeros(1)),
)


@pytest.fixture(scope="module")
def dreams():
    rng, prior = np.random.default_rng(0), one_or_two_lines().prior
    return [draw_program(prior, rng) for _ in range(DRAWS)]


@pytest.mark.parametrize("program", [ONE, TWO])
def test_the_estimate_of_an_image_and_a_structure_is_its_share_among_dreams(dreams, program):
    # An order or a direction counted twice, or a density that is not normalised, would be .69 nats off.
    hand, x = one_or_two_lines(), ink_of(program, 1.5)
    scores = []
    same = [p for p in dreams if len(p) == len(program)]
    for begin in range(0, len(same), 500):
        batch = pack(same[begin : begin + 500])
        scores.append(ink.log_likelihood(hand.nib, ink.nearest(batch, batch.theta)[0], ink.flat(x)))
    by_dreams = logsumexp(np.concatenate(scores)) - np.log(len(dreams))
    found = estimate(hand, x, fit(hand, x, [program])[0], np.random.default_rng(0), 6, 500, 4000).log_p
    assert abs(found - by_dreams) < 0.3


def test_dreams_have_the_structures_that_decisions_say():
    prior, rng = small_hand().prior, np.random.default_rng(1)
    seen = Counter(tuple(len(p.bends) for p in draw_program(prior, rng)) for _ in range(4000))
    for counts, n in seen.most_common(6):
        log_p = sum(log_decisions(prior, i, a, i == len(counts) - 1) for i, a in enumerate(counts))
        p = np.exp(log_p)
        assert abs(n / 4000 - p) < 4 * np.sqrt(p * (1 - p) / 4000)


def test_dreamt_arcs_have_the_mean_and_the_spread_of_the_bank():
    prior, rng = small_hand(1).prior, np.random.default_rng(2)
    prior = prior._replace(mean=prior.mean * [1, 1, 0.1], whiten=whitener(np.diag([4.0, 9.0, 0.25]))[None])
    arcs = [np.append(p.knots[1] - p.knots[0], p.bends[0]) for _ in range(1500) for p in draw_program(prior, rng)]
    np.testing.assert_allclose(np.mean(arcs, axis=0), prior.mean[0], atol=0.25)
    np.testing.assert_allclose(np.std(arcs, axis=0), [2, 3, 0.5], rtol=0.1)


def test_a_dreamt_image_is_black_where_its_strokes_are():
    hand = small_hand()._replace(nib=NIB)
    line = (Pen(np.array([[8.0, 12.5], [20.0, 12.5]]), np.zeros(1)),)
    x = draw_image(hand, line, np.random.default_rng(3))
    assert x[12, 8:20].mean() > 0.9
    assert x[:8].mean() < 0.05
