"""Drawings of a user's own: any size, antialiased or not, dark or light ground, fine or broad lines; digits too."""

import numpy as np
import pytest
from PIL import Image as Files
from PIL import ImageDraw, ImageFont

from wakesleep.domains.characters.drawings import drawing
from wakesleep.domains.characters.explain import HAND
from wakesleep.domains.characters.hand import files
from wakesleep.domains.characters.hand.compare import overlap, shaded
from wakesleep.domains.characters.hand.explanation import explain_image
from wakesleep.domains.characters.hand.search import search
from wakesleep.errors import Refusal

SCALE = 4
LETTER = ((0.2, 0.1), (0.2, 0.9), (0.8, 0.9))
"""An L, in shares of the canvas."""


def drawn(side, width, dark=True, antialiased=True, ground=0):
    """An L drawn with a pen of that width, in pixels."""
    paper, ink = (255 - ground, ground) if dark else (ground, 255 - ground)
    scale = SCALE if antialiased else 1
    canvas = Files.new("L", (side * scale, side * scale), paper)
    points = [(x * side * scale, y * side * scale) for x, y in LETTER]
    ImageDraw.Draw(canvas).line(points, fill=ink, width=width * scale, joint="curve")
    small = canvas.resize((side, side), Files.Resampling.LANCZOS) if antialiased else canvas
    return np.asarray(small.convert("RGB"))


def digit(n, size, dark):
    paper, ink = (255, 0) if dark else (10, 240)
    canvas = Files.new("L", (size, size), paper)
    font = ImageFont.load_default(0.7 * size)
    ImageDraw.Draw(canvas).text((size / 2, size / 2), str(n), fill=ink, font=font, anchor="mm")
    return np.asarray(canvas.convert("RGB"))


@pytest.mark.parametrize("dark", [True, False])
@pytest.mark.parametrize(("side", "width"), [(28, 2), (64, 3), (301, 40), (1000, 4), (1000, 90)])
def test_a_letter_is_the_same_at_any_size_width_and_ground(side, width, dark):
    x = drawing("l.png", drawn(side, width, dark, ground=20))
    rows, columns = np.nonzero(x.any(axis=1))[0], np.nonzero(x.any(axis=0))[0]
    assert 17 <= rows[-1] - rows[0] + 1 <= 22
    assert columns[-1] - columns[0] < rows[-1] - rows[0]
    # Two lines of some 15 and 20 pixels, one to two pixels wide.
    assert 25 <= x.sum() <= 85
    assert x[rows[0] : rows[0] + 8, columns[0] + 6 :].sum() == 0


@pytest.mark.parametrize("dark", [True, False])
def test_a_letter_on_an_uneven_ground_is_the_same(dark):
    # As in a photograph: light falls off to the right and the bottom, and every pixel is noisy.
    rng, even = np.random.default_rng(0), drawn(300, 14, dark, ground=60)
    light = np.linspace(1.0, 0.35, 300)[None] * np.linspace(1.0, 0.6, 300)[:, None]
    uneven = np.clip(even * light[..., None] + rng.normal(0, 3, even.shape), 0, 255).astype(np.uint8)
    a, b = drawing("a.png", even), drawing("b.png", uneven)
    assert overlap(a > 0, b, 1) > 0.95


def test_what_is_filled_is_refused():
    noise = np.random.default_rng(1).integers(0, 255, (100, 100, 1), np.uint8).repeat(3, axis=2)
    with pytest.raises(Refusal, match=r"ink on 5[0-9]% of its frame: a drawing of lines was expected"):
        drawing("noise.png", noise)


def test_aliased_lines_and_fine_ones_are_left_as_they_are():
    fine = drawing("a.png", drawn(105, 3))
    hard = drawing("b.png", drawn(105, 3, antialiased=False))
    assert overlap(fine > 0, hard, 1) > 0.95


def test_a_broad_line_is_drawn_as_a_fine_one():
    broad, fine = (drawing("l.png", drawn(400, width)) for width in (60, 16))
    assert broad.sum() < 2 * fine.sum()
    hand = files.load(HAND)
    assert [len(search(hand, x, 1)[0].program) for x in (broad, fine)] == [1, 1]


@pytest.mark.parametrize(("n", "size", "dark"), [(1, 40, True), (4, 90, False), (7, 333, True), (8, 200, False)])
def test_printed_digits_are_explained(n, size, dark):
    hand = files.load(HAND)
    x = drawing(f"{n}.png", digit(n, size, dark))
    found = explain_image(hand, x)
    assert overlap(shaded(hand.nib, found.programs[0]) > 0.5, x, 1) > 0.9
    assert found.bits_per_pixel < 0.3
