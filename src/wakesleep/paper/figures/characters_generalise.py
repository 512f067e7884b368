"""The tables of drawings not trained on, by algorithm and K, from their results file."""

import itertools
from pathlib import Path

import numpy as np

from wakesleep.paper.cells import VARIANTS
from wakesleep.paper.characters import NATS_PER_BIT_A_PIXEL
from wakesleep.paper.characters_generalise import NAME, SPLITS
from wakesleep.paper.paired import paired, unpack
from wakesleep.paper.results import Row, longest
from wakesleep.paper.tables import markdown

OUR_CHARACTERS = ("MWS-tail+fantasy", "MWS-tail+both", "MWS-revise+both")
RIVALS_OF_CHARACTERS = ("RWS", "VIMCO", "MWS")
TITLES = {"drawers": "other drawers", "characters": "other characters"}


def table_generalise(folder: Path) -> str:
    """Returns bits a pixel of drawings not trained on, for each algorithm and K, with what was kept and its cost."""
    table = longest(folder / f"{NAME}.json")
    rows, plan = table["rows"], table["settings"]
    lines = []
    for k, name in itertools.product(sorted({r["K"] for r in rows}), VARIANTS):
        some = [r for r in rows if (r["algorithm"], r["K"]) == (name, k)]
        if some:
            means = [_mean([r for r in some if r["split"] == split]) for split in SPLITS]
            kept = [r for r in some if "kept" in r]
            steps = ", ".join(f"{r['kept']:,}" for r in kept)
            seconds = f"{np.mean([r['train_cpu_seconds'] for r in kept]):.0f}"
            lines.append([f"K = {k}, {name}", *means, str(len(kept)), steps, seconds])
    head = ["", *TITLES.values(), "seeds", "steps kept", "train CPU s"]
    counts = " and ".join(f"{r['images']} drawings of {TITLES[r['split']]}" for r in rows[:2])
    caption = (
        f"Bits a pixel of {counts}, after at most {rows[0]['steps']:,} steps of batch {plan['batch_size']} and "
        f"{plan['pretrain']:,} of sleep before; ±: the standard error over images, or the standard deviation over "
        f"seeds where there are several. By {plan['wakes']} wake phases of {plan['proposals']} proposals, and "
        f"{plan['samples']} more for the tail."
    )
    return markdown(head, lines) + "\n\n" + caption


def _mean(rows: list[Row]) -> str:
    values = [r["bits_per_pixel"] for r in rows]
    spread = np.std(values, ddof=1) if len(values) > 1 else rows[0]["spread"]
    return f"{np.mean(values):.4f} ± {spread:.4f}"


def table_paired(folder: Path) -> str:
    """Returns the differences to each rival, drawing by drawing, with bootstrap intervals."""
    rows = longest(folder / f"{NAME}.json")["rows"]
    lines = []
    for k, ours, rival in itertools.product(sorted({r["K"] for r in rows}), OUR_CHARACTERS, RIVALS_OF_CHARACTERS):
        first, second = ([r for r in rows if (r["algorithm"], r["K"]) == (name, k)] for name in (ours, rival))
        if first and second:
            lines.append([f"K = {k}, {ours} - {rival}", *(_difference(first, second, split) for split in SPLITS)])
    caption = (
        "Mean difference in bits a pixel over the same drawings [95 % interval by the bootstrap over drawings, and "
        "over seeds where there are several]; below zero the first is better."
    )
    return markdown(["", *TITLES.values()], lines) + "\n\n" + caption


def _difference(first: list[Row], second: list[Row], split: str) -> str:
    one, two = ([unpack(r["items"]["nll"]) for r in rows if r["split"] == split] for rows in (first, second))
    found = paired(one, two, resamples=2000)
    mean, low, high = (v / NATS_PER_BIT_A_PIXEL for v in found)
    return f"{mean:+.4f} [{low:+.4f}, {high:+.4f}]"


TABLES = {NAME: table_generalise, f"{NAME}-paired": table_paired}
DRAW: dict = {}
