"""Beyond section 4.2: handwritten digits of 8 x 8 grey pixels, explained by the hand that learned from letters."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int8, UInt8

from wakesleep.domains.characters.drawings import drawing
from wakesleep.domains.characters.explain import HAND
from wakesleep.domains.characters.hand import files
from wakesleep.domains.characters.hand.compare import overlap, shaded
from wakesleep.domains.characters.hand.explanation import explain_image
from wakesleep.errors import Refusal
from wakesleep.paper.results import Row, complete

DIGITS_SEED = 0
MOST_GREY = 16
DIGITS_NAME = "characters-digits"


@dataclass(frozen=True)
class Plan:
    """The size of an experiment."""

    steps: int = 1
    seeds: int = 1
    images: int = 200
    """Digits drawn at random from the 1,797."""


FULL = {DIGITS_NAME: Plan()}
QUICK = {DIGITS_NAME: Plan(images=4)}


class Digit(NamedTuple):
    """A digit: which, as it is given, and as it is read."""

    which: int
    given: UInt8[np.ndarray, "8 8 3"]
    x: Int8[np.ndarray, "y x"]


def digits(count: int) -> list[Digit]:
    """Returns some digits at random, read as a user's own drawings are."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise Refusal("The digits are those of scikit-learn: pip install scikit-learn") from None
    data = load_digits()
    rows = np.random.default_rng(DIGITS_SEED).choice(len(data.target), count, replace=False)
    found = []
    for row in rows:
        ink = np.rint(data.images[row] * 255 / MOST_GREY).astype(np.uint8)
        pixels = np.repeat(255 - ink[..., None], 3, axis=2)
        found.append(Digit(int(data.target[row]), pixels, drawing(f"digit {row}", pixels)))
    return found


def reproduce(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Scores the hand that ships on the digits; fills characters-digits.json."""

    def compute(cell: Row) -> Row:
        hand, measured = files.load(HAND), []
        for _, _, x in digits(plan.images):
            one = explain_image(hand, x)
            drawn = shaded(hand.nib, one.programs[0]) > 0.5
            arcs = sum(len(pen.bends) for pen in one.programs[0])
            measured.append((one.bits_per_pixel, overlap(drawn, x, 1), overlap(drawn, x), arcs))
        means = np.mean(measured, axis=0)
        names = ("bits_per_pixel", "overlap", "overlap_exact", "arcs")
        error = float(np.std([bits for bits, *_ in measured]) / np.sqrt(len(measured)))
        found = {name: round(float(mean), 4) for name, mean in zip(names, means, strict=True)}
        return found | {"error": round(error, 4), "digest": files.card(HAND).get("digest", "")}

    shared = {k: v for k, v in asdict(plan).items() if k not in ("steps", "seeds")}
    return complete(output / f"{DIGITS_NAME}.json", shared, [{"model": "hand", "steps": 1}], compute, report)


EXPERIMENTS = {DIGITS_NAME: reproduce}
