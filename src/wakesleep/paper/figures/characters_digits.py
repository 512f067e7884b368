"""The sentence and the figure of digits explained by a hand."""

from pathlib import Path

from matplotlib.figure import Figure

from wakesleep.domains.characters.explain import HAND
from wakesleep.domains.characters.hand import files, pictures
from wakesleep.domains.characters.hand.explanation import explain_image
from wakesleep.domains.figures import save
from wakesleep.paper.characters_digits import DIGITS_NAME, digits
from wakesleep.paper.figures.characters_hand import LINE_POINTS
from wakesleep.paper.results import longest

SHOWN_DIGITS = 10


def table_digits(folder: Path) -> str:
    """Returns a sentence on how well digits are explained."""
    table = longest(folder / f"{DIGITS_NAME}.json")
    row = table["rows"][0]
    return (
        f"{table['settings']['images']} digits: {row['bits_per_pixel']:.3f} ± {row['error']:.3f} bits a pixel, overlap "
        f"{row['overlap']:.3f} with one pixel of tolerance and {row['overlap_exact']:.3f} exactly, {row['arcs']:.1f} "
        "arcs a digit."
    )


def draw_digits(folder: Path) -> list[Path]:
    """Draws the first of each digit: as given, as read, and its strokes."""
    some = digits(longest(folder / f"{DIGITS_NAME}.json")["settings"]["images"])
    first = {one.which: one for one in reversed(some)}
    hand = files.load(HAND)
    figure = Figure(figsize=(SHOWN_DIGITS, 3.1), layout="constrained")
    for one, column in zip((first[k] for k in sorted(first)), figure.subplots(3, SHOWN_DIGITS).T, strict=False):
        pictures.paint(column[0], one.given / 255)
        pictures.paint(column[1], 1.0 - one.x[..., None].repeat(3, axis=2))
        pictures.frame(column[2])
        pictures.draw_strokes(column[2], explain_image(hand, one.x).programs[0], numbered=False, width=LINE_POINTS)
    return [save(figure, folder / f"{DIGITS_NAME}.png")]


DRAW = {DIGITS_NAME: draw_digits}
TABLES = {DIGITS_NAME: table_digits}
