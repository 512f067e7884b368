"""p(image | strokes of another drawing) against simulation, sampling and finite trials."""

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from tests.domains.characters.hands import HOUSE, NIB, PLUS, SEVEN, ink_of, some_program
from wakesleep.domains.characters.hand import pen as ink
from wakesleep.domains.characters.hand.again import (
    Variation,
    bends_through,
    covariance,
    draw_again,
    moved_onto,
)
from wakesleep.domains.characters.hand.pen import Nib
from wakesleep.domains.characters.hand.strokes import Pen, along, pack
from wakesleep.domains.characters.hand.variation import Adjusted, most_probable

HOW = Variation(1.5, 0.1, 0.8, 5.0, 0.5, 0.3)


def redraw(program, rng, how=HOW):
    """Adjustments of a program, drawn one cause after another."""
    knots = np.concatenate([p.knots for p in program])
    off = knots - knots.mean(axis=0)
    kernel = np.exp(-((knots[:, None] - knots) ** 2).sum(axis=-1) / (2 * how.smooth_reach_pixels**2))
    smooth = np.linalg.cholesky(kernel + 1e-9 * np.eye(len(knots))) @ rng.normal(size=knots.shape)
    step = how.shift_pixels * rng.normal(size=2) + off @ (how.linear * rng.normal(size=(2, 2))).T
    step = step + how.smooth_pixels * smooth + how.knot_pixels * rng.normal(size=knots.shape)
    return np.concatenate([step.reshape(-1), how.bend * rng.normal(size=sum(len(p.bends) for p in program))])


def test_the_covariance_is_that_of_many_redrawings():
    rng = np.random.default_rng(0)
    program = some_program(rng, [2, 1])
    drawn = np.array([redraw(program, rng) for _ in range(20_000)])
    expected = covariance(HOW, program)
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    np.testing.assert_allclose(np.cov(drawn.T) / size, expected / size, atol=0.04)


def test_the_probability_of_an_image_is_that_of_weighted_samples():
    # With a soft pen, for which log p is nearly quadratic; a factor of (2 pi)^(p / 2) would be 7 nats and more.
    rng, soft = np.random.default_rng(1), Nib(-3.0, 4.5, 1.5, 1.0)
    for program in (SEVEN, PLUS):
        x = ink_of(tuple(Pen(p.knots + np.array([1.0, -0.5]), p.bends + 0.1) for p in program))
        found = draw_again(soft, HOW, x, [program], [program])
        batch = pack(found.programs)
        wide = 1.5 * found.spread[0]
        theta = rng.multivariate_normal(batch.theta[0], wide, 4000)
        log_q = multivariate_normal(batch.theta[0], wide).logpdf(theta)
        log_p = multivariate_normal(pack([program]).theta[0], covariance(HOW, program)).logpdf(theta)
        many = batch._replace(theta=theta, first=batch.first.repeat(4000, 0), on=batch.on.repeat(4000, 0))
        log_x = ink.log_likelihood(soft, ink.nearest(many, theta)[0], ink.flat(x))
        assert abs(logsumexp(log_x + log_p - log_q) - np.log(4000) - found.log_p[0]) < 2.0


def test_one_of_a_batch_scores_as_it_does_alone():
    x = ink_of(SEVEN)
    both = draw_again(NIB, HOW, x, [HOUSE, SEVEN], [HOUSE, SEVEN])
    alone = [draw_again(NIB, HOW, x, [p], [p]).log_p[0] for p in (HOUSE, SEVEN)]
    np.testing.assert_allclose(both.log_p, alone, atol=1e-3)
    assert both.log_p[1] > both.log_p[0] + 100


def test_bends_are_those_of_arcs_through_their_middles():
    (pen,) = some_program(np.random.default_rng(2), [3])
    found = bends_through(pen.knots, along(pen.knots, pen.bends, 3)[:, 1])
    np.testing.assert_allclose(found, pen.bends, atol=1e-6)


def test_a_program_is_moved_onto_another_drawing_of_it():
    linear = np.array([[1.1, 0.15], [-0.1, 0.9]])
    other = tuple(Pen((p.knots - 14) @ linear.T + [16.0, 13.0], p.bends) for p in HOUSE)
    (found,) = moved_onto([HOUSE], other)
    for a, b in zip(found, other, strict=True):
        assert np.abs(a.knots - b.knots).max() < 1.6
        assert np.abs(a.bends - b.bends).max() < 0.5


def test_spreads_are_learned_from_adjustments():
    rng = np.random.default_rng(3)
    adjusted = []
    for _ in range(150):
        program = some_program(rng, [3, 2])
        mean = redraw(program, rng)
        adjusted.append(Adjusted(program, mean, np.zeros((len(mean), len(mean)))))
    found = most_probable(Variation(), adjusted)
    np.testing.assert_allclose(found, HOW, rtol=0.4)
    assert abs(found.bend - HOW.bend) < 0.03
