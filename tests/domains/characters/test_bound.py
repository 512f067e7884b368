import itertools

import numpy as np
import pytest

from tests.domains.characters.hands import NIB, PLAIN, PLUS, SEVEN, ink_of, some_program
from wakesleep.domains.characters.hand import fit as fitting
from wakesleep.domains.characters.hand.bound import estimate, keeps_names
from wakesleep.domains.characters.hand.fit import Fit, fit
from wakesleep.domains.characters.hand.prior import log_decisions, whitener
from wakesleep.domains.characters.hand.strokes import Pen, pack


def blind(hand):
    """A hand whose pen leaves no ink: images say nothing, and every pixel is black with one half."""
    return hand._replace(nib=NIB._replace(paper=0.0, contrast=0.0))


@pytest.mark.parametrize("mean", [(7.0, 2.0, 0.3), (0.5, 0.0, 0.0)])
def test_without_ink_the_estimate_is_the_probability_of_the_structure(mean):
    # Every other factor integrates to 1, orders and directions included, so this is exact.
    bank = np.array([mean]), whitener(np.diag([4.0, 4.0, 0.3]))[None]
    prior = PLAIN.prior._replace(mean=bank[0], whiten=bank[1], relation=np.array([1 - 2e-9, 1e-9, 1e-9]))
    hand = blind(PLAIN._replace(prior=prior))
    one = Pen(np.array([[12.0, 13.0], [12.0 + mean[0], 13.0 + mean[1]]]), np.array([mean[2]]))
    # Starts have a variance of 36, displacements of 4, bends of .3: the end is the start plus the displacement.
    start, step = np.eye(2) / 36, np.eye(2) / 4
    precision = np.zeros((5, 5))
    precision[:2, :2], precision[2:4, 2:4] = start + step, step
    precision[:2, 2:4] = precision[2:4, :2] = -step
    precision[4, 4] = 1 / 0.3
    found = Fit((one,), 0.0, 0.0, 0.0, precision)
    log_p = estimate(hand, np.zeros((28, 28), np.int8), found, np.random.default_rng(0), 0, 0, 20_000).log_p
    expected = -784 * np.log(2) + log_decisions(prior, 0, 1, True)
    np.testing.assert_allclose(log_p, expected, atol=0.06)


def test_samples_that_keep_their_names_never_meet_their_reorderings():
    rng = np.random.default_rng(1)
    program = some_program(rng, [1, 1, 2])
    pens = [(p.knots + rng.normal(0, 6, (400, *p.knots.shape)), p.bends + rng.normal(0, 2, (400, len(p.bends))))
            for p in program]  # fmt: skip
    kept = keeps_names(program, pens)
    assert 0.01 < kept.mean() < 0.99
    for order in itertools.permutations(range(3)):
        for turned in itertools.product((False, True), repeat=3):
            if order == (0, 1, 2) and not any(turned):
                continue
            if [len(program[i].bends) for i in order] != [1, 1, 2]:
                continue
            other = [(pens[i][0][:, ::-1], -pens[i][1][:, ::-1]) if t else pens[i]
                     for i, t in zip(order, turned, strict=True)]  # fmt: skip
            assert not (kept & keeps_names(program, other)).any()


def test_the_gradient_of_a_fit_is_that_of_finite_differences():
    rng = np.random.default_rng(2)
    batch = pack([some_program(rng, [2, 1])])
    x = ink_of(SEVEN).reshape(-1).astype(np.float32)
    at = fitting._expanded(PLAIN, batch, batch.theta, x)
    for p in range(batch.theta.shape[1]):
        moved = np.zeros_like(batch.theta)
        moved[0, p] = 5e-3
        numeric = sum(s * fitting._expanded(PLAIN, batch, batch.theta + s * moved, x).value[0] for s in (1, -1)) / 1e-2
        assert abs(numeric - at.slope[0, p]) < 0.3 + 0.05 * abs(numeric)


def test_a_fit_finds_strokes_that_were_moved():
    x = ink_of(PLUS)
    rng = np.random.default_rng(3)
    moved = tuple(Pen(p.knots + rng.normal(0, 0.7, p.knots.shape), p.bends + 0.2) for p in PLUS)
    (found,) = fit(PLAIN, x, [moved], 20)
    for a, b in zip(found.program, PLUS, strict=True):
        assert np.abs(a.knots - b.knots).max() < 1.0
        assert np.abs(a.bends).max() < 0.15
    assert found.log_evidence > fit(PLAIN, x, [moved], 0)[0].log_evidence


def test_the_estimate_is_near_that_of_many_samples_and_draws_fit():
    x = ink_of(SEVEN)
    (found,) = fit(PLAIN, x, [SEVEN])
    few = [estimate(PLAIN, x, found, np.random.default_rng(i)) for i in range(3)]
    many = estimate(PLAIN, x, found, np.random.default_rng(9), 6, 512, 6000).log_p
    assert np.mean([f.log_p for f in few]) < many + 0.5
    assert np.mean([f.log_p for f in few]) > many - 2.5
    drawn = few[0].draw(np.random.default_rng(0))
    assert np.abs(drawn[0].knots - SEVEN[0].knots).max() < 2.5
