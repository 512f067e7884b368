"""The ink that remains after each stroke, the frames of a film, and new characters in a style."""

from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from tests.domains.characters.hands import PLUS, SEVEN
from wakesleep.domains.characters.page import drawing
from wakesleep.domains.pages import Asked
from wakesleep.errors import Refusal

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


class Kept(dict):
    """A shelf with some things."""

    def keep(self, thing):
        raise NotImplementedError

    def kept(self, word):
        return self[word]


def drawn(program):
    return drawing.Drawn(SimpleNamespace(found=[SimpleNamespace(programs=[program])]))


def asked(things=(), **fields):
    shelf = Kept({str(i): thing for i, thing in enumerate(things)})
    return Asked({"count": ["3"], "seed": ["1"], "explained": list(shelf), **fields}, shelf)


def test_new_characters_have_the_style_that_is_asked_for():
    own = [drawn(SEVEN), drawn(PLUS), drawn((PLUS[1],))]
    greek = drawing.styles(asked())["styles"].index("Greek")
    assert greek > 0
    made = [drawing.more(asked(own, style=[style]))["pictures"] for style in ("any", "Greek", "Hebrew", "own")]
    assert [len(pictures) for pictures in made] == [3] * 4
    assert len({picture for pictures in made for picture in pictures}) == 12
    assert drawing.more(asked(style=["Greek"]))["pictures"] == made[1]


@pytest.mark.parametrize(
    ("things", "style", "said"),
    [
        ([], "Klingon", "no alphabet 'Klingon'"),
        ([drawn(SEVEN), drawn(PLUS)], "own", "at least 3"),
        (["a table"], "own", "draw one first"),
    ],
)
def test_a_style_that_is_not_known_is_refused(things, style, said):
    with pytest.raises(Refusal, match=said):
        drawing.more(asked(things, style=[style]))
