import numpy as np
import pytest
from scipy.spatial import cKDTree

from tests.domains.characters.hands import NIB, some_program
from wakesleep.domains.characters.hand import pen as ink
from wakesleep.domains.characters.hand.strokes import Pen, along, pack, structure, unpack


def test_distances_are_those_of_dense_sampling():
    rng = np.random.default_rng(0)
    programs = [some_program(rng) for _ in range(12)]
    batch = pack(programs)
    squared, _ = ink.nearest(batch, batch.theta)
    for row, program in enumerate(programs):
        points = np.concatenate([along(p.knots, p.bends, 5001).reshape(-1, 2) for p in program])
        expected = cKDTree(points).query(np.stack([ink.PIXEL_X, ink.PIXEL_Y], axis=1))[0]
        np.testing.assert_allclose(np.sqrt(squared[row]), expected, atol=6e-3)


def test_slopes_are_those_of_finite_differences():
    rng = np.random.default_rng(1)
    batch = pack([some_program(rng) for _ in range(8)])
    squared, which = ink.nearest(batch, batch.theta)
    rows, pixels = np.nonzero(squared < 9)
    found = ink.slopes(batch.features(batch.theta)[rows, which[rows, pixels]], pixels)
    columns = batch.columns()[rows, which[rows, pixels]]
    for part in range(5):
        step = 1e-2
        for parameter in np.unique(columns[:, part]):
            moved = np.zeros_like(batch.theta)
            moved[:, parameter] = step
            ahead, behind = (ink.nearest(batch, batch.theta + s * moved)[0] for s in (1, -1))
            numeric = ((ahead - behind) / (2 * step))[rows, pixels]
            mine = columns[:, part] == parameter
            wrong = np.abs(numeric - found[:, part])[mine] > 0.05 + 0.02 * np.abs(numeric[mine])
            assert wrong.mean() < 0.03  # a few pixels change their nearest arc or its end


@pytest.mark.parametrize("bend", [0.0, 1e-9, -1e-4])
def test_a_straight_arc_is_an_ordinary_one(bend):
    batch = pack([(Pen(np.array([[5.0, 9.0], [20.0, 9.0]]), np.array([bend])),)])
    squared, which = ink.nearest(batch, batch.theta)
    np.testing.assert_allclose(squared[0].reshape(28, 28)[:, 10], (ink.CENTRES - 9) ** 2, rtol=1e-3, atol=1e-3)
    slopes = ink.slopes(batch.features(batch.theta)[0, which[0]], np.arange(784))
    assert np.isfinite(slopes).all()


def test_the_expansion_near_strokes_is_the_whole_likelihood():
    rng = np.random.default_rng(2)
    batch = pack([some_program(rng) for _ in range(5)])
    x = (rng.uniform(size=784) < 0.1).astype(np.float32)
    value, _, curvature = ink.expanded(NIB, batch, batch.theta, x)
    squared = ink.nearest(batch, batch.theta)[0]
    np.testing.assert_allclose(value, ink.log_likelihood(NIB, squared, x), rtol=1e-3)
    logit = NIB.paper + NIB.contrast * np.exp(-squared / NIB.reach_pixels**2)
    expected = np.where(x > 0, -np.logaddexp(0, -logit), -np.logaddexp(0, logit)).sum(axis=1)
    np.testing.assert_allclose(ink.log_likelihood(NIB, squared, x), expected, rtol=1e-4)
    assert (np.linalg.eigvalsh(curvature) > -1e-6).all()


def test_programs_survive_packing_and_turning_round():
    rng = np.random.default_rng(3)
    programs = [some_program(rng) for _ in range(4)]
    batch = pack(programs)
    for row, program in enumerate(programs):
        for a, b in zip(unpack(program, batch.theta[row], batch.knots), program, strict=True):
            np.testing.assert_array_equal(a.knots, b.knots)
            np.testing.assert_array_equal(a.bends, b.bends)
        turned = tuple(p.reversed() for p in program[::-1])
        both = pack([program, turned])
        one, two = ink.nearest(both, both.theta)[0]
        np.testing.assert_allclose(one, two, atol=1e-2)
        assert structure(turned) == structure(program)


def test_an_arc_of_no_length_is_a_point():
    batch = pack([(Pen(np.full((2, 2), 10.5), np.zeros(1)),)])
    squared = ink.nearest(batch, batch.theta)[0][0]
    np.testing.assert_allclose(squared, (ink.PIXEL_X - 10.5) ** 2 + (ink.PIXEL_Y - 10.5) ** 2, rtol=1e-3, atol=1e-3)
