"""The ink that remains after each stroke, and the frames of a film."""

import numpy as np
import pytest
from PIL import Image

from wakesleep.domains.characters.page import drawing

SIDE = 28


def canvas(*rows):
    pixels = np.full((SIDE, SIDE, 3), 255, np.uint8)
    pixels[list(rows), 4:24] = 0
    return Image.fromarray(pixels)


@pytest.mark.parametrize(("rows", "left"), [((), 1.0), ((10,), 0.5), ((11,), 0.5), ((13,), 1.0), ((10, 20), 0.0)])
def test_ink_farther_than_a_pixel_from_the_strokes_remains(rows, left):
    given = np.zeros((SIDE, SIDE), bool)
    given[[10, 20], 4:24] = True
    assert drawing._remaining(given, canvas(*rows)) == left


def test_a_film_is_taken_apart(tmp_path):
    frames = [canvas(), canvas(5), canvas(5, 9)]
    frames[0].save(tmp_path / "film.gif", save_all=True, append_images=frames[1:], duration=100)
    found = drawing._frames(tmp_path / "film.gif")
    assert [np.asarray(frame).min() < 128 for frame in found] == [False, True, True]
