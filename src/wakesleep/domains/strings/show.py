"""Regexes and strings in words and pictures."""

from typing import Any

import numpy as np
from jaxtyping import Array, Int
from matplotlib.figure import FigureBase

from wakesleep.domains.strings.evaluator import Strings, as_text
from wakesleep.domains.strings.language import text_of

MOST_STRINGS_DRAWN = 5


def show(z: Int[np.ndarray, "t"] | Int[Array, "t"]) -> str:
    """The regex in the paper's notation."""
    return text_of(np.asarray(z).tolist())


def words(x: Strings) -> list[str]:
    """The strings."""
    return as_text(x)


def picture(figure: FigureBase, x: Strings, programs: Any, evaluator: Any) -> None:
    """The strings on the left, and on the right the best regexes, each with a bar for its probability."""
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.6))
    strings = as_text(x)
    for row, text in enumerate(strings):
        left.text(0.02, 1 - (row + 0.5) / max(len(strings), 5), _plain(text), family="monospace", va="center")
    left.axis("off")
    drawn = programs[:MOST_STRINGS_DRAWN]
    places = np.arange(len(drawn))
    right.barh(places, [p for _, p in drawn], height=0.3, color="#4c6ef5", align="edge")
    for place, (z, p) in zip(places, drawn, strict=True):
        right.text(0.0, place - 0.08, f"{_plain(show(z))}   {100 * p:.0f} %", family="monospace", va="bottom")
    right.set(xlim=(0, 1), ylim=(MOST_STRINGS_DRAWN - 0.3, -0.6))
    right.axis("off")


def _plain(text: str) -> str:
    """Text as Matplotlib prints it, with no dollar read as the start of a formula."""
    return text.replace("$", r"\$")
