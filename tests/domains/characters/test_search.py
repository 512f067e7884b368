import numpy as np
import pytest

from tests.domains.characters.hands import HOUSE, PLAIN, PLUS, SEVEN, ink_of, some_program
from wakesleep.domains.characters.hand import edits, trails
from wakesleep.domains.characters.hand.compare import overlap, shaded
from wakesleep.domains.characters.hand.learn import learn
from wakesleep.domains.characters.hand.match import MATCHED_POINTS, match, shape
from wakesleep.domains.characters.hand.redraw import Redrawing, redrawn
from wakesleep.domains.characters.hand.search import merge, search
from wakesleep.domains.characters.hand.skeleton import graph, length, thin
from wakesleep.domains.characters.hand.strokes import Pen, along, arcs_of, pack, structure


def test_a_thick_line_is_thinned_to_a_line():
    ink = np.zeros((28, 28), bool)
    ink[10:13, 4:24] = True
    line = thin(ink)
    assert line.sum() >= 16
    assert (line.sum(axis=0) <= 1).all()
    assert not (line & ~ink).any()


def test_the_graph_of_a_plus_has_a_junction_of_four_paths():
    points, edges = graph(ink_of(PLUS) > 0)
    counts = np.bincount([n for e in edges for n in e.nodes])
    assert sorted(counts[counts > 0].tolist()) == [1, 1, 1, 1, 4]
    assert np.abs(points[counts.argmax()] - [14, 13]).max() < 1.5


def test_a_loop_and_a_dot_are_seen():
    ring = (Pen(np.array([[8.0, 14.0], [20.0, 14.0], [8.0, 14.0]]), np.array([np.pi, np.pi])),)
    ink = ink_of(ring)
    ink[2, 2] = 1
    _, edges = graph(ink > 0)
    assert len(edges) == 1
    assert edges[0].nodes == (-1, -1)
    assert length(edges[0].points) > 30
    drawn = trails.programs(ink > 0, np.random.default_rng(0), 1)[0]
    assert len(drawn) == 2
    assert overlap(shaded(PLAIN.nib, drawn) > 0.5, ink, 1) > 0.9


def test_a_square_of_four_pixels_is_a_dot():
    ink = np.zeros((28, 28), np.int8)
    ink[5:7, 5:7] = ink[20:22, 12:14] = 1
    assert thin(ink > 0).sum() == 2
    assert structure(search(PLAIN, ink)[0].program) == (1, 1)


def test_trails_use_every_path_once():
    rng = np.random.default_rng(0)
    _, edges = graph(ink_of(HOUSE) > 0)
    for wild in (0.0, 1.0):
        found = trails.trails(edges, rng, wild)
        assert sum(length(t) for t in found) == pytest.approx(sum(length(e.points) for e in edges))


def test_a_path_is_cut_where_it_turns():
    across = np.stack([np.arange(5.0, 20), np.full(15, 5.0)], axis=1)
    down = np.stack([np.full(12, 20.0), np.arange(5.0, 17)], axis=1)
    path = np.concatenate([across, down])
    pen = trails.cut(path, 7.0)
    np.testing.assert_allclose(pen.knots, [[5, 5], [20, 5], [20, 16]])
    np.testing.assert_allclose(pen.bends, 0, atol=0.05)


def test_the_bend_of_merged_arcs_is_the_whole_turn():
    arc = Pen(np.array([[4.0, 14.0], [18.0, 10.0]]), np.array([1.4]))
    halves = Pen(np.insert(arc.knots, 1, along(arc.knots, arc.bends, 3)[0, 1], axis=0), np.array([0.7, 0.7]))
    np.testing.assert_allclose(edits._through(halves, 0), 1.4, atol=1e-6)
    turned = halves.reversed()
    np.testing.assert_allclose(edits._through(turned, 0), -1.4, atol=1e-6)


def test_edits_change_one_thing_and_splits_change_no_ink():
    program = some_program(np.random.default_rng(1), [2, 1])
    found = list(edits.redrawn(program))
    counts = {arcs_of(p) - arcs_of(program) for p in found}
    assert counts == {-2, -1, 0, 1}
    splits = [p for p in found if arcs_of(p) == arcs_of(program) + 1]
    for p in splits:
        np.testing.assert_allclose(shaded(PLAIN.nib, p), shaded(PLAIN.nib, program), atol=2e-3)
    assert all(pen.knots.shape[0] == len(pen.bends) + 1 for p in found for pen in p)


@pytest.mark.parametrize("program", [SEVEN, PLUS, HOUSE])
def test_the_search_finds_strokes_that_draw_the_image(program):
    x = ink_of(program)
    found = search(PLAIN, x)
    assert overlap(shaded(PLAIN.nib, found[0].program) > 0.5, x, 1) > 0.95
    scores = [f.log_evidence for f in found]
    assert scores == sorted(scores, reverse=True)
    assert len({structure(f.program) for f in found}) == len(found)


def test_a_blank_image_has_no_strokes():
    assert search(PLAIN, np.zeros((28, 28), np.int8)) == []


def test_the_memory_keeps_the_best_of_each_structure():
    x = ink_of(PLUS)
    one = search(PLAIN, x, 3)
    worse = [f._replace(log_prior=f.log_prior - 1) for f in one]
    assert merge(worse, one, 2) == one[:2]


def test_a_learned_hand_draws_as_its_programs_do():
    rng = np.random.default_rng(2)
    programs = [tuple(Pen(p.knots + rng.normal(0, 0.5, p.knots.shape), p.bends) for p in PLUS) for _ in range(40)]
    images = np.stack([ink_of(p) for p in programs])
    hand = learn(PLAIN, images, programs, 6)
    for vector in ([20, 0], [0, 20]):
        assert np.hypot(*(np.abs(hand.prior.mean[:, :2]) - vector).T).min() < 2
    assert abs(hand.prior.decide.sum(axis=-1) - 1).max() < 1e-9
    assert hand.prior.decide[0, 0, 1] > 0.7  # the pen is lifted after one arc
    assert 0.7 <= hand.nib.reach_pixels <= 1.2


def test_strokes_match_those_of_their_own_character():
    rng = np.random.default_rng(3)
    shapes = [shape(p) for p in (SEVEN, PLUS, HOUSE)]
    for i, program in enumerate((SEVEN, PLUS, HOUSE)):
        again = redrawn(Redrawing(knot_pixels=1.0), program, rng)
        turned = tuple(p.reversed() for p in again[::-1])
        assert int(np.argmax(match(shapes, shape(again)))) == i
        np.testing.assert_allclose(match(shapes, shape(again)), match(shapes, shape(turned)), atol=0.05)


def test_a_moved_and_scaled_drawing_is_the_same_shape():
    moved = tuple(Pen(p.knots * 0.8 + 3, p.bends) for p in HOUSE)
    np.testing.assert_allclose(shape(moved).points, shape(HOUSE).points, atol=1e-6)
    assert len(shape(HOUSE).points) == MATCHED_POINTS


def test_an_affine_map_of_a_drawing_is_undone():
    linear = np.array([[1.1, 0.1], [-0.1, 0.9]])
    mapped = tuple(Pen(p.knots @ linear.T, p.bends) for p in HOUSE)
    same, moved, other = (match([shape(p)], shape(HOUSE))[0] for p in (HOUSE, mapped, SEVEN))
    assert moved > same - 0.5 * (same - other)


def test_new_examples_vary_as_they_are_told():
    how, rng = Redrawing(), np.random.default_rng(4)
    draws = np.stack([pack([redrawn(how, PLUS, rng)]).theta[0] for _ in range(4000)]) - pack([PLUS]).theta[0]
    np.testing.assert_allclose(draws[:, -2:].std(axis=0), how.bend, rtol=0.1)
    x, y = (pack([PLUS]).theta[0][k:8:2] - 14 for k in (0, 1))
    variance = how.shift_pixels**2 + how.linear**2 * (x**2 + y**2) + how.knot_pixels**2
    np.testing.assert_allclose(draws[:, :8:2].var(axis=0), variance, rtol=0.15)
