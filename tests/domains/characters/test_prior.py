import itertools

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from tests.domains.characters.hands import small_hand, some_program
from wakesleep.domains.characters.hand.orders import MOST_SUMMED_PENS, best_order, log_prior_of_all, log_priors
from wakesleep.domains.characters.hand.prior import log_arcs, log_gaussian, log_prior, log_start, places, whitener
from wakesleep.domains.characters.hand.strokes import Pen


def densities(prior):
    return [multivariate_normal(m, np.linalg.inv(w.T @ w)) for m, w in zip(prior.mean, prior.whiten, strict=True)]


def test_gaussians_are_those_of_scipy():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    covariance, x = root @ root.T + np.eye(3), rng.normal(size=(4, 3))
    expected = multivariate_normal(np.ones(3), covariance).logpdf(x)
    np.testing.assert_allclose(log_gaussian(x, np.ones(3), whitener(covariance)), expected)


def test_arcs_are_summed_over_every_spelling():
    prior, rng = small_hand().prior, np.random.default_rng(1)
    (pen,) = some_program(rng, [3])
    arcs = np.column_stack([np.diff(pen.knots, axis=0), pen.bends])
    each = np.array([d.logpdf(arcs) for d in densities(prior)])
    terms = []
    for spelled in itertools.product(range(3), repeat=3):
        chain = np.log(prior.opening[spelled[0]]) + sum(
            np.log(prior.following[a, b]) for a, b in itertools.pairwise(spelled)
        )
        terms.append(chain + sum(each[k, j] for j, k in enumerate(spelled)))
    np.testing.assert_allclose(log_arcs(prior, pen.knots[None], pen.bends[None])[0], logsumexp(terms))


def test_a_later_start_is_the_mixture_of_anywhere_ends_and_points():
    prior, rng = small_hand().prior, np.random.default_rng(2)
    one, two = some_program(rng, [2, 1])
    start = two.knots[0]
    inverse = np.linalg.inv(prior.later_whiten.T @ prior.later_whiten)
    density = prior.relation[0] * multivariate_normal(prior.later_mean, inverse).pdf(start)
    for share, width, targets in (
        (prior.relation[1], prior.near_pixels[0], one.knots[[0, -1]]),
        (prior.relation[2], prior.near_pixels[1], places(one.knots, one.bends)),
    ):
        density += share * np.mean([multivariate_normal(t, width**2 * np.eye(2)).pdf(start) for t in targets])
    rest = log_prior(prior, (one, two)) - log_prior(prior, (one,))
    arcs = log_arcs(prior, two.knots[None], two.bends[None])[0]
    decided = np.log(prior.decide[0, 1, 1]) - np.log(prior.decide[0, 1, 2]) + np.log(prior.decide[1, 0, 2])
    np.testing.assert_allclose(rest, np.log(density) + arcs + decided)
    first = log_start(prior, start, None)
    inverse = np.linalg.inv(prior.first_whiten.T @ prior.first_whiten)
    np.testing.assert_allclose(first, multivariate_normal(prior.first_mean, inverse).logpdf(start))


def test_orders_and_directions_are_summed_as_by_enumeration():
    prior, rng = small_hand().prior, np.random.default_rng(3)
    for pens in ([1], [1, 2], [2, 1, 1]):
        program = some_program(rng, pens)
        every = []
        for order in itertools.permutations(program):
            for turned in itertools.product((False, True), repeat=len(program)):
                every.append(tuple(p.reversed() if t else p for p, t in zip(order, turned, strict=True)))
        scores = [log_prior(prior, p) for p in every]
        batch = [(p.knots[None], p.bends[None]) for p in program]
        np.testing.assert_allclose(log_prior_of_all(prior, batch)[0], logsumexp(scores))
        np.testing.assert_allclose(log_prior(prior, best_order(prior, program)), max(scores))


def test_with_many_pens_the_sum_is_a_lower_bound_that_keeps_their_order():
    prior, rng = small_hand().prior, np.random.default_rng(4)
    program = some_program(rng, [1] * 8)
    batch = [(p.knots[None], p.bends[None]) for p in program]
    assert log_prior_of_all(prior, batch)[0] >= log_prior(prior, program)
    kept = best_order(prior, program)
    assert log_prior(prior, kept) >= log_prior(prior, program)
    assert all({tuple(a.knots[0]), tuple(a.knots[-1])} == {tuple(b.knots[0]), tuple(b.knots[-1])}
               for a, b in zip(kept, program, strict=True))  # fmt: skip


def test_an_impossible_bend_of_a_far_arc_is_no_nan():
    prior = small_hand().prior
    far = Pen(np.array([[-500.0, 0.0], [900.0, 0.0]]), np.array([5.0]))
    assert np.isfinite(log_prior(prior, (far,)))


def test_priors_of_several_programs_are_those_of_each_alone():
    prior, rng = small_hand().prior, np.random.default_rng(5)
    structures = ([1], [2, 1, 1], [1, 2, 1], [1, 1, 2], [3, 1], [1, 3], [1] * (MOST_SUMMED_PENS + 1), [2, 1])
    programs = [some_program(rng, pens) for pens in structures * 2]
    programs.append(tuple(reversed(programs[2])))
    many = some_program(rng, [2, *[1] * MOST_SUMMED_PENS])
    programs += [many, tuple(reversed(many))]
    alone = [log_prior_of_all(prior, [(p.knots[None], p.bends[None]) for p in program])[0] for program in programs]
    np.testing.assert_allclose(log_priors(prior, programs), alone, rtol=1e-10)
    assert abs(alone[-1] - alone[-2]) > 0.01  # beyond the most that are summed, the order counts
