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
from wakesleep.paper.characters_oneshot import MATCHING
from wakesleep.paper.characters_runs import official_runs
from wakesleep.paper.results import longest
from wakesleep.paper.tables import markdown

CHANGES = {
    "official": "official",
    "other characters": "other characters of the same alphabets",
    "other drawers": "other people, the same characters",
    "both other": "other characters and other people",
    "practice": "practice: background alphabets",
}
GIVEN, EXAMPLES, ONESHOT_LINE_POINTS = 8, 6, 2.2


def table_oneshot(folder: Path) -> str:
    """Returns the accuracy of both methods beside published figures as Markdown."""
    rows = {(row["runs"], row["method"]): row for row in longest(folder / "characters-oneshot.json")["rows"]}
    ours = {method: row for (kind, method), row in rows.items() if kind == "official"}
    known = [(f"**{method} (no strokes seen)**", row["accuracy"]) for method, row in ours.items()]
    known += ours[MATCHING]["published"].items()
    known.sort(key=lambda pair: -pair[1])
    shown = markdown(["20 runs of 20 ways", "right"], [[name.replace("|", "\\|"), _percent(v)] for name, v in known])
    said = [
        f"{method}: ± {_percent(row['error'])} over runs, one way alone {_percent(row['one_way'])}"
        + (f", practice runs {_percent(rows['practice', method]['accuracy'])}" if ("practice", method) in rows else "")
        for method, row in ours.items()
    ]
    return f"{shown}\n\n{'. '.join(said)}."


def table_changed(folder: Path) -> str:
    """Returns the accuracy of matching on official runs that were changed, as Markdown."""
    rows = [r for r in longest(folder / "characters-oneshot.json")["rows"] if r["method"] == MATCHING]
    cells = [[CHANGES[r["runs"]], f"{_percent(r['accuracy'])} ± {100 * r['error']:.1f}"] for r in rows]
    return markdown(["runs, strokes matched", "right"], cells)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


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
TABLES = {"characters-oneshot": table_oneshot, "characters-oneshot-changed": table_changed}
