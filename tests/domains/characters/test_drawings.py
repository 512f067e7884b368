"""Drawings of a user's own: any size, antialiased or not, dark or light ground, fine or broad lines; digits too."""

import numpy as np
import pytest
from PIL import Image as Files
from PIL import ImageDraw, ImageFont
from scipy.ndimage import binary_fill_holes, label

from wakesleep.domains.characters.drawings import drawing, read_image
from wakesleep.domains.characters.explain import HAND
from wakesleep.domains.characters.hand import files
from wakesleep.domains.characters.hand.compare import overlap, shaded
from wakesleep.domains.characters.hand.explanation import explain_image
from wakesleep.domains.characters.hand.search import search
from wakesleep.domains.characters.hand.words import describe
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


def line(canvas, points, width, fill):
    ImageDraw.Draw(canvas).line(points, fill=fill, width=width, joint="curve")
    return np.asarray(canvas)


@pytest.mark.parametrize("width", [8, 10, 12])
def test_a_diagonal_line_too_fine_for_28_pixels_stays_one_line(width):
    four = [(250, 60), (80, 300), (330, 300), (250, 300), (250, 60), (250, 440)]
    x = drawing("4.png", line(Files.new("RGB", (400, 500), "white"), four, width, "black"))
    assert label(x, np.ones((3, 3)))[1] == 1
    closed = binary_fill_holes(x) & (x == 0)
    assert closed.sum() > 15


@pytest.mark.parametrize("side", [20, 100, 1000])
def test_a_dot_is_a_dot_and_not_a_cross(side):
    canvas = Files.new("RGB", (side, side), "white")
    ImageDraw.Draw(canvas).ellipse([0.4 * side, 0.4 * side, 0.6 * side, 0.6 * side], fill="black")
    x = drawing("dot.png", np.asarray(canvas))
    assert 1 <= x.sum() <= 4
    assert describe(explain_image(files.load(HAND), x).programs[0]) == ["from the middle: a dot"]


def test_a_digit_of_eight_pixels_is_read():
    # A zero of a table of scanned digits: without a margin, and its ink covers about a half.
    rows = ("005d9100", "00dfafc5", "03f20b80", "04c00880", "05800980", "04b01c70", "02e5ac00", "006da000")
    zero = np.array([[17 * int(d, 16) for d in row] for row in rows], np.uint8)
    x = drawing("0.png", zero[..., None].repeat(3, axis=2))
    inside = binary_fill_holes(x) & (x == 0)
    assert label(inside)[1] == 1
    assert inside.sum() > 60


@pytest.mark.parametrize("ink", ["white", "black", (255, 255, 0), (0, 0, 120)])
def test_ink_on_a_transparent_ground_is_read(ink, tmp_path):
    points = [(100, 80), (300, 80), (180, 340)]
    clear = Files.new("RGBA", (400, 400), (0, 0, 0, 0))
    ImageDraw.Draw(clear).line(points, fill=ink, width=12)
    clear.save(tmp_path / "seven.png")
    plain = line(Files.new("RGB", (400, 400), "white"), points, 12, "black")
    assert overlap(read_image(tmp_path / "seven.png") > 0, drawing("seven.png", plain)) > 0.8
