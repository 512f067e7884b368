"""The table and figures of drawings by a hand."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from wakesleep.domains.characters import omniglot
from wakesleep.domains.characters.explain import HAND
from wakesleep.domains.characters.hand import files, pictures
from wakesleep.domains.characters.hand.compare import shaded
from wakesleep.domains.characters.hand.explanation import Explained, explain_image
from wakesleep.domains.figures import save
from wakesleep.paper.characters_hand import PER_ALPHABET
from wakesleep.paper.results import longest
from wakesleep.paper.tables import markdown

SHOWN_DRAWINGS, DRAWINGS_A_ROW, SHOWN_SEED = 24, 8, 0
LINE_POINTS = 3.4


def table_shipped(folder: Path) -> str:
    """Returns the table of held-out drawings as Markdown."""
    table = longest(folder / "characters-shipped.json")
    head = ["held-out drawings", "bits a pixel", "overlap, one pixel tolerance", "overlap, exact"]
    rows = []
    for row in table["rows"]:
        both = [f"{row[name]:.3f}" if name in row else "" for name in ("overlap", "overlap_exact")]
        rows.append([row["model"], f"{row['bits_per_pixel']:.3f} ± {row['error']:.3f}", *both])
    hand = next(row for row in table["rows"] if row["model"] == "hand")
    tenth = {name: hand[f"{name}_deciles"] for name in ("bits", "overlap", "overlap_exact")}
    said = (
        f"{hand['images']} drawings by people of whom the hand saw none; it learned from 300 drawings. The baselines "
        "learned from 500, each by another person than the drawing of its character that is scored. On alphabets "
        f"that the hand did not see it has {hand['bits_new_alphabets']:.3f} bits. ±: the standard error over "
        f"drawings. Of a hundred drawings by the hand, the tenth best has {tenth['bits'][0]:.2f} bits and the "
        f"tenth worst {tenth['bits'][-1]:.2f}; the tenth lowest overlaps are {tenth['overlap'][0]:.2f} and, exactly, "
        f"{tenth['overlap_exact'][0]:.2f}. The hand uses {hand['arcs']:.1f} arcs a drawing."
    )
    return f"{markdown(head, rows)}\n\n{said}"


def table_hand(folder: Path) -> str:
    """Returns a sentence on the training of the hand."""
    row = longest(folder / "characters-hand.json")["rows"][0]
    paper, contrast, reach, shape = row["nib"]
    return (
        f"A hand with {row['strokes']} strokes in its bank, learned from {row['images']} drawings: "
        f"{'; '.join(row['curve'])}. Its pen: ink within {reach:.2f} pixels, logit {paper:.1f} for paper, "
        f"{paper + contrast:.1f} for full ink, shape {shape:.1f}."
    )


def draw_shipped(folder: Path) -> list[Path]:
    """Draws held-out characters that were chosen at random, each with its strokes below."""
    whole = omniglot.load()
    rows = np.random.default_rng(SHOWN_SEED).choice(
        omniglot.split(whole, PER_ALPHABET, 0).drawers, SHOWN_DRAWINGS, replace=False
    )
    hand = files.load(HAND)
    found = [explain_image(hand, x) for x in whole.images(rows.tolist())]
    figure = Figure(figsize=(DRAWINGS_A_ROW, 2.08 * SHOWN_DRAWINGS / DRAWINGS_A_ROW), layout="constrained")
    axes = figure.subplots(2 * SHOWN_DRAWINGS // DRAWINGS_A_ROW, DRAWINGS_A_ROW)
    for i, one in enumerate(found):
        above, below = (axes[2 * (i // DRAWINGS_A_ROW) + k, i % DRAWINGS_A_ROW] for k in (0, 1))
        pictures.paint(above, 1.0 - one.x[..., None].repeat(3, axis=2))
        pictures.frame(below)
        pictures.draw_strokes(below, one.programs[0], numbered=False, width=LINE_POINTS)
    return [save(figure, folder / "characters-heldout.png"), _closely(found[:4], folder)]


def _closely(found: list[Explained], folder: Path) -> Path:
    """Draws a few characters as `explain` does: the image, numbered strokes, and what differs."""
    nib = files.load(HAND).nib
    figure = Figure(figsize=(2 * len(found), 6), layout="constrained")
    axes = figure.subplots(3, len(found))
    for column, one in enumerate(found):
        pictures.paint(axes[0, column], 1.0 - one.x[..., None].repeat(3, axis=2))
        pictures.frame(axes[1, column])
        pictures.draw_strokes(axes[1, column], one.programs[0])
        pictures.paint(axes[2, column], pictures.marked(one.x, shaded(nib, one.programs[0])))
    return save(figure, folder / "characters-strokes.png")


DRAW = {"characters-shipped": draw_shipped}
TABLES = {"characters-hand": table_hand, "characters-shipped": table_shipped}
