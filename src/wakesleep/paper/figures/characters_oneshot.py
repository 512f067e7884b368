"""The table of one-shot classification, and new examples of characters that were seen once."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from wakesleep.domains.characters.drawings import reduce
from wakesleep.domains.characters.explain import HAND
from wakesleep.domains.characters.hand import files, pictures
from wakesleep.domains.characters.hand.explanation import explain_image
from wakesleep.domains.characters.hand.redraw import Redrawing, redrawn
from wakesleep.domains.figures import save
from wakesleep.paper.characters_oneshot import official_runs
from wakesleep.paper.results import longest
from wakesleep.paper.tables import markdown

GIVEN, EXAMPLES, ONESHOT_LINE_POINTS = 8, 6, 2.2


def table_oneshot(folder: Path) -> str:
    """Returns the accuracy beside published figures as Markdown."""
    rows = {row["runs"]: row for row in longest(folder / "characters-oneshot.json")["rows"]}
    ours = rows["official"]
    known = sorted([("**strokes matched (no strokes seen)**", ours["accuracy"]), *ours["published"].items()],
                   key=lambda pair: -pair[1])  # fmt: skip
    shown = markdown(["20 runs of 20 ways", "right"], [[name, f"{100 * v:.1f} %"] for name, v in known])
    practice = f" On the practice runs {100 * rows['practice']['accuracy']:.1f} %." if "practice" in rows else ""
    note = (
        f"± {100 * ours['error']:.1f} over runs. With the training strokes moved alone it is "
        f"{100 * ours['one_way']:.1f} %.{practice}"
    )
    return f"{shown}\n\n{note}"


def draw_oneshot(folder: Path) -> list[Path]:
    """Draws characters of evaluation alphabets, each seen once, with new examples of each."""
    hand, rng = files.load(HAND), np.random.default_rng(0)
    figure = Figure(figsize=(GIVEN, EXAMPLES + 1), layout="constrained")
    axes = figure.subplots(EXAMPLES + 1, GIVEN)
    for column, (training, _, _) in enumerate(official_runs()[:GIVEN]):
        one = explain_image(hand, reduce(training[0].astype(np.uint8)))
        pictures.paint(axes[0, column], 1.0 - one.x[..., None].repeat(3, axis=2))
        for axis in axes[1:, column]:
            pictures.frame(axis)
            new = redrawn(Redrawing(), one.programs[0], rng)
            pictures.draw_strokes(axis, new, numbered=False, width=ONESHOT_LINE_POINTS)
    return [save(figure, folder / "characters-oneshot.png")]


DRAW = {"characters-oneshot": draw_oneshot}
TABLES = {"characters-oneshot": table_oneshot}
