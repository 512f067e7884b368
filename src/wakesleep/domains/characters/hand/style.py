"""New drawings: further examples of a given character, and new characters in the style of some drawings.

A style is a prior that is learned from the strokes of the given drawings. The hand's own prior counts beside them as
the strokes of some dreams, so that a few drawings shift it and many decide it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int8

from wakesleep.domains.characters.hand import pictures
from wakesleep.domains.characters.hand.dream import draw_program
from wakesleep.domains.characters.hand.edits import inked, is_possible
from wakesleep.domains.characters.hand.explanation import explain_image
from wakesleep.domains.characters.hand.fit import Hand
from wakesleep.domains.characters.hand.learn import learn_prior
from wakesleep.domains.characters.hand.pen import SIDE
from wakesleep.domains.characters.hand.prior import Prior
from wakesleep.domains.characters.hand.redraw import Redrawing, redrawn
from wakesleep.domains.characters.hand.search import search
from wakesleep.domains.characters.hand.strokes import Pen, Program
from wakesleep.domains.characters.hand.words import describe
from wakesleep.domains.contract import Explanation, Report, Rows, Standing, Table
from wakesleep.errors import Refusal

DREAMS = 4
"""The hand's own prior counts as the strokes of this many characters."""
MOST_STYLE_STROKES = 24
MARGIN_PIXELS = 1.0
MOST_STYLE_TRIES = 1000
LEAST_STYLE_DRAWINGS = 3
STYLE_COLUMNS = 10


class Style(NamedTuple):
    """How some drawings are made: a prior over strokes, and the least and the largest size of a drawing."""

    prior: Prior
    sizes: tuple[float, float]

    def draw(self, number: int, rng: np.random.Generator) -> list[Program]:
        """Draws new characters, each in the middle of the canvas."""
        return [_centred(_within(self.prior, rng, self.sizes)) for _ in range(number)]


@dataclass(frozen=True)
class NewDrawings(Explanation):
    """New drawings beside the given ones: rows of (name, given images, new programs)."""

    given: list[tuple[str, list[Int8[np.ndarray, "y x"]], list[Program]]]
    note: str

    def notes(self) -> list[str]:
        """Returns what was drawn."""
        return [self.note]

    def rows(self, most: int = 5) -> Rows:
        """Returns the new drawings of each row in words and in numbers."""
        return [{"name": name, "new": [_row(p) for p in programs[:most]]} for name, _, programs in self.given]

    def table(self, most: int = 5, width: int = 80) -> list[Table]:
        """Returns one table: a line for each pen stroke of each new drawing."""
        lines: list[tuple[str, ...]] = []
        for name, _, programs in self.given:
            for n, program in enumerate(programs[:most]):
                for i, words in enumerate(describe(program)):
                    lines.append((name if n == i == 0 else "", str(n + 1) if i == 0 else "", f"{i + 1}  {words}"))
        return [Table("new drawings", ("of", "new", "strokes"), lines)]

    def draw(self, path: Path) -> Path:
        """Draws the given images, and the new strokes after them."""
        from matplotlib.figure import Figure

        from wakesleep.domains.figures import save

        cells: list[list[Any]] = [[*images, *programs] for _, images, programs in self.given]
        lines = [row[i : i + STYLE_COLUMNS] for row in cells for i in range(0, len(row), STYLE_COLUMNS)]
        figure = Figure(figsize=(STYLE_COLUMNS, 1.05 * len(lines)), layout="constrained")
        for axes, line in zip(figure.subplots(len(lines), STYLE_COLUMNS, squeeze=False), lines, strict=True):
            for axis in axes[len(line) :]:
                axis.axis("off")
            for axis, one in zip(axes, line, strict=False):
                if isinstance(one, np.ndarray):
                    pictures.paint(axis, 1.0 - one[..., None].repeat(3, axis=2))
                else:
                    pictures.frame(axis)
                    pictures.draw_strokes(axis, one, numbered=False)
        return save(figure, path)

    def write(self, name: str, path: Path) -> Path:
        """Writes the picture, or the new strokes as an SVG."""
        if name != "svg":
            return super().write(name, path)
        path.write_text(pictures.svg([(n, p) for n, _, programs in self.given for p in programs]), encoding="utf-8")
        return path


def _row(program: Program) -> dict:
    pens = [{"knots": np.round(p.knots, 2).tolist(), "bends": np.round(p.bends, 3).tolist()} for p in program]
    return {"program": "; ".join(f"{i + 1} {w}" for i, w in enumerate(describe(program))), "strokes": pens}


def redrawings(
    hand: Hand, images: list[Int8[np.ndarray, "y x"]], names: list[str], number: int, seed: int, report: Report
) -> NewDrawings:
    """Returns new examples of each drawing: its program, deformed as a hand would."""
    rng, found = np.random.default_rng(seed), []
    for i, (x, name) in enumerate(zip(images, names, strict=True)):
        one = explain_image(hand, x)
        if not one.programs:
            raise Refusal(f"{name} has no strokes that could be drawn again.")
        found.append((name, [x], [redrawn(Redrawing(), one.programs[0], rng) for _ in range(number)]))
        report(Standing(i + 1, len(images), name))
    many = f"{number} new example{'s' * (number > 1)}"
    return NewDrawings(found, f"{many} of {names[0] if len(names) == 1 else f'each of {len(names)} drawings'}")


def inventions(
    hand: Hand, images: list[Int8[np.ndarray, "y x"]], names: list[str], number: int, seed: int, report: Report
) -> NewDrawings:
    """Returns new characters, drawn from a prior that is learned from the strokes of some drawings."""
    _require_several(len(images))
    rng, programs = np.random.default_rng(seed), []
    for i, (x, name) in enumerate(zip(images, names, strict=True)):
        programs += [f.program for f in search(hand, x, 1, seed)[:1]]
        report(Standing(i + 1, len(images), name))
    new = style(hand.prior, programs, rng).draw(number, rng)
    shown = images[:: max(len(images) // STYLE_COLUMNS, 1)][:STYLE_COLUMNS]
    note = f"{number} new character{'s' * (number > 1)} in the style of {len(images)} drawings"
    return NewDrawings([(note, shown, new)], note)


def of_style(known: Style, name: str, number: int, seed: int) -> NewDrawings:
    """Returns new characters of a style that is known already, without the drawings that it was learned from."""
    note = f"{number} new character{'s' * (number > 1)} in the style of {name}, as it ships with the package"
    return NewDrawings([(note, [], known.draw(number, np.random.default_rng(seed)))], note)


def style(prior: Prior, programs: list[Program], rng: np.random.Generator) -> Style:
    """Returns a style: learned from the programs and a few dreams of the prior that it starts from."""
    _require_several(len(programs))
    dreams = [_within(prior, rng) for _ in range(DREAMS)]
    sizes = [_size(p) for p in programs]
    return Style(learn_prior(prior, [*programs, *dreams], MOST_STYLE_STROKES, rng), (min(sizes), max(sizes)))


def _require_several(drawings: int) -> None:
    if drawings < LEAST_STYLE_DRAWINGS:
        raise Refusal(f"A style is learned from at least {LEAST_STYLE_DRAWINGS} drawings, but {drawings} were given.")


def _within(prior: Prior, rng: np.random.Generator, sizes: tuple[float, float] = (0.0, np.inf)) -> Program:
    """Draws a program that lies on the canvas and has such a size; any other is drawn again."""
    for _ in range(MOST_STYLE_TRIES):
        program = draw_program(prior, rng)
        points = inked(program)
        inside = (points > MARGIN_PIXELS).all() and (points < SIDE - MARGIN_PIXELS).all()
        if is_possible(program) and inside and sizes[0] <= _size(program) <= sizes[1]:
            return program
    raise Refusal("No new character of this style fits on the canvas.")


def _centred(program: Program) -> Program:
    """Returns a program whose drawing has its frame in the middle of the canvas."""
    points = inked(program)
    off = SIDE / 2 - (points.min(axis=0) + points.max(axis=0)) / 2
    return tuple(Pen(pen.knots + off, pen.bends) for pen in program)


def _size(program: Program) -> float:
    """Returns the longer side of a drawing's frame."""
    points = inked(program)
    return float((points.max(axis=0) - points.min(axis=0)).max())
