"""Drawings explained by a hand: programs with their probabilities, in words, on a figure, as an SVG and as a film."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int8
from scipy.special import logsumexp

from wakesleep.domains.characters.hand import pictures
from wakesleep.domains.characters.hand.bound import estimate
from wakesleep.domains.characters.hand.compare import overlap, shaded
from wakesleep.domains.characters.hand.fit import Hand
from wakesleep.domains.characters.hand.orders import best_order
from wakesleep.domains.characters.hand.search import search
from wakesleep.domains.characters.hand.strokes import Program
from wakesleep.domains.characters.hand.words import describe
from wakesleep.domains.contract import Explanation, Report, Rows, Standing, Table

WEIGHED = 2
"""Programs of an image whose probability is estimated."""
MOST_DRAWINGS_DRAWN = 12


class Explained(NamedTuple):
    """An image and its programs, the most probable first."""

    x: Int8[np.ndarray, "y x"]
    programs: list[Program]
    log_p: list[float]
    """log p(image, structure) of each, by importance sampling."""

    @property
    def bits_per_pixel(self) -> float:
        """An upper bound of -log2 p(image), for each pixel."""
        return float(-logsumexp(self.log_p) / (self.x.size * np.log(2)))

    def probabilities(self) -> list[float]:
        """Returns the probability of each program among those found."""
        return [float(p) for p in np.exp(np.array(self.log_p) - logsumexp(self.log_p))]


def explain_image(hand: Hand, x: Int8[np.ndarray, "y x"], seed: int = 0) -> Explained:
    """Returns the programs of one image with ink."""
    rng = np.random.default_rng(seed)
    found = [estimate(hand, x, one, rng) for one in search(hand, x, WEIGHED, seed)]
    found = sorted((f for f in found if np.isfinite(f.log_p)), key=lambda f: -f.log_p)
    return Explained(x, [best_order(hand.prior, f.program) for f in found], [f.log_p for f in found])


def explain_images(
    hand: Hand, images: list[Int8[np.ndarray, "y x"]], names: list[str], note: str, report: Report
) -> "ByHand":
    """Returns the explanation of some images."""
    found = []
    for i, x in enumerate(images):
        found.append(explain_image(hand, x))
        report(Standing(i + 1, len(images), names[i]))
    return ByHand(hand, found, names, note)


@dataclass(frozen=True)
class ByHand(Explanation):
    """Drawings with the pen strokes found for them."""

    hand: Hand
    found: list[Explained]
    names: list[str]
    note: str

    def notes(self) -> list[str]:
        """Returns the line on the data."""
        return [self.note]

    def rows(self, most: int = 5) -> Rows:
        """Returns for each drawing its programs in words and in numbers, the bits a pixel, and the overlaps."""
        return [self._row(name, one, most) for name, one in zip(self.names, self.found, strict=True)]

    def _row(self, name: str, one: Explained, most: int) -> dict:
        row: dict = {"name": name, "programs": []}
        for program, probability in list(zip(one.programs, one.probabilities(), strict=True))[:most]:
            pens = [{"knots": np.round(p.knots, 2).tolist(), "bends": np.round(p.bends, 3).tolist()} for p in program]
            said = "; ".join(f"{i + 1} {words}" for i, words in enumerate(describe(program)))
            row["programs"].append({"program": said, "probability": probability, "strokes": pens})
        if one.programs:
            drawn = shaded(self.hand.nib, one.programs[0]) > 0.5
            row["bits_per_pixel"] = round(one.bits_per_pixel, 4)
            row["overlap"], row["overlap_exact"] = (round(overlap(drawn, one.x, t), 3) for t in (1, 0))
        return row

    def table(self, most: int = 5, width: int = 80) -> list[Table]:
        """Returns one table: drawing, probability, and a line for each pen stroke."""
        lines: list[tuple[str, ...]] = []
        for name, one in zip(self.names, self.found, strict=True):
            shown = list(zip(one.programs, one.probabilities(), strict=True))[:most]
            for program, probability in shown:
                for i, words in enumerate(describe(program)):
                    head = (
                        (name if program is shown[0][0] else "", f"{100 * probability:.1f} %") if i == 0 else ("", "")
                    )
                    lines.append((*head, f"{i + 1}  {words}"))
            if not shown:
                lines.append((name, "", "no strokes were found"))
        return [Table("strokes", ("drawing", "probability", "strokes"), lines)]

    def draw(self, path: Path) -> Path:
        """Draws of each drawing (a dozen at most) the image, the strokes, and what they make with faults marked."""
        from matplotlib.figure import Figure

        from wakesleep.domains.figures import save

        rows = min(len(self.found), MOST_DRAWINGS_DRAWN)
        figure = Figure(figsize=(5.4, 1.95 * rows), layout="constrained")
        axes = figure.subplots(rows, 3, squeeze=False)
        for (image, strokes, made), name, one in zip(axes, self.names, self.found, strict=False):
            pictures.paint(image, 1.0 - np.asarray(one.x)[..., None].repeat(3, axis=2), name)
            pictures.frame(strokes, f"{100 * one.probabilities()[0]:.0f} %" if one.programs else "")
            if one.programs:
                pictures.draw_strokes(strokes, one.programs[0])
                shade = shaded(self.hand.nib, one.programs[0])
                pictures.paint(made, pictures.marked(one.x, shade), f"overlap {overlap(shade > 0.5, one.x):.2f}")
        return save(figure, path)

    def write(self, name: str, path: Path) -> Path:
        """Writes the picture, the report, the film of the first drawing, or all strokes as an SVG."""
        if name == "film":
            return pictures.film(self.found[0].x, self._best(0), path)
        if name == "svg":
            named = [(n, self._best(i)) for i, n in enumerate(self.names)]
            path.write_text(pictures.svg(named), encoding="utf-8")
            return path
        return super().write(name, path)

    def _best(self, i: int) -> Program:
        return self.found[i].programs[0] if self.found[i].programs else ()
