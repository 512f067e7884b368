"""Drawings bent as a hand might: the map against scipy's, and what the settings make of it."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from tests.domains.test_characters import TINY
from wakesleep.domains.characters import omniglot
from wakesleep.domains.characters.data import MOST_DRAWINGS, MOST_VARIED, build, load
from wakesleep.domains.characters.networks import StrokeRecognition
from wakesleep.domains.characters.vary import BEND_SIDE, LEAST_SHADE, VaryingRecognition, bends, bent
from wakesleep.errors import Refusal


@pytest.fixture(scope="module")
def drawings():
    return load(TINY).train


def test_no_bend_is_the_drawing_itself(drawings):
    linear, grid = bends(jax.random.key(0), 0.0)
    for x in drawings.x:
        np.testing.assert_array_equal(bent(x, linear, grid), x)


def test_the_whole_is_mapped_about_its_middle_as_by_scipy(drawings):
    linear = jnp.array([[1.1, 0.15], [-0.2, 0.9]])
    shift = jnp.array([1.3, -0.4])
    grid = jnp.broadcast_to(shift[:, None, None], (2, BEND_SIDE, BEND_SIDE))
    for x in np.asarray(drawings.x):
        middle = (len(x) - 1) / 2
        places = np.indices(x.shape).reshape(2, -1) - middle
        places = np.asarray(linear) @ places + middle + np.asarray(shift)[:, None]
        shade = map_coordinates(x.astype(float), places, order=1, mode="grid-constant").reshape(x.shape)
        clear = np.abs(shade - LEAST_SHADE) > 1e-3
        assert clear.mean() > 0.9
        np.testing.assert_array_equal(
            np.asarray(bent(jnp.asarray(x), linear, grid))[clear], (shade > LEAST_SHADE)[clear]
        )


def test_bent_drawings_differ_and_keep_about_their_ink(drawings):
    x = drawings.x[0]
    others = jax.vmap(lambda key: bent(x, *bends(key, 1.0)))(jax.random.split(jax.random.key(1), 50))
    assert len({np.asarray(o).tobytes() for o in others}) == 50
    assert others.dtype == x.dtype
    assert 0.8 < float(others.sum() / (50 * x.sum())) < 1.3


def test_only_what_recognition_is_trained_on_depends_on_the_setting(drawings):
    plain, varying = (build(jax.random.key(0), s, drawings).recognition for s in (TINY, replace(TINY, vary=1.0)))
    assert type(plain) is StrokeRecognition
    assert type(varying) is VaryingRecognition
    z = jnp.array([1, 2])
    values = [r.log_prob(z, r.encode(drawings.x[0], None)) for r in (plain, varying)]
    assert values[0] == values[1]
    assert not np.array_equal(varying.varied(jax.random.key(0), drawings.x[0]), drawings.x[0])


@pytest.mark.parametrize("wrong", [{"vary": -1.0}, {"vary": MOST_VARIED + 1}, {"vary": float("nan")}, {"drawings": 0}])
def test_settings_without_sense_are_refused(wrong):
    with pytest.raises(Refusal, match=next(iter(wrong))):
        replace(TINY, **wrong)


def made_omniglot(people=20):
    """Two alphabets of three characters, drawn by so many people; the images do not matter."""
    places = [(a, c, d) for a in range(2) for c in range(1, 4) for d in range(1, people + 1)]
    alphabet, character, drawer = (np.array(column, np.uint8) for column in zip(*places, strict=True))
    return omniglot.Omniglot(np.zeros((len(places), 1), np.uint8), alphabet, character, drawer, ["one", "two"])


@pytest.mark.parametrize("drawings_each", [1, 4, MOST_DRAWINGS])
def test_more_drawings_of_a_character_are_by_people_of_whom_nothing_is_held_out(drawings_each):
    data = made_omniglot()
    rows, one = omniglot.split(data, 2, 0, drawings_each), omniglot.split(data, 2, 0)
    assert rows[1:] == one[1:]
    assert len(rows.train) == len(set(rows.train)) == len(one.train) * drawings_each
    assert not set(rows.train) & {*rows.drawers, *rows.characters, *rows.tuning}
    assert {(data.alphabet[r], data.character[r]) for r in rows.train} == {
        (data.alphabet[r], data.character[r]) for r in one.train
    }
