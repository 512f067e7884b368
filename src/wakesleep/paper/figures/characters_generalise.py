"""The tables and the figure of drawings not trained on, by algorithm and K, from their results file."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wakesleep.domains.figures import colour, plain, save
from wakesleep.paper.cells import VARIANTS
from wakesleep.paper.characters import NATS_PER_BIT_A_PIXEL
from wakesleep.paper.characters_generalise import DRAWINGS_COMPARED, NAME, SPLITS, SPREADS_COMPARED, VARIED_NAME
from wakesleep.paper.paired import paired, unpack
from wakesleep.paper.results import Row, longest
from wakesleep.paper.tables import markdown

OUR_CHARACTERS = ("MWS-tail+fantasy", "MWS-tail+both", "MWS-revise+both")
RIVALS_OF_CHARACTERS = ("RWS", "VIMCO", "MWS")
DRAWN_CHARACTERS = ("MWS-tail+fantasy", "MWS", "VIMCO", "RWS")
"""The algorithms of the figure: the others have few K."""
SECONDS_DRAWN = (32, 4500)
SECONDS_MARKED = (50, 100, 200, 500, 1000, 2000)
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
    return _paired(*([r for r in rows if r["split"] == split] for rows in (first, second)))


def _paired(first: list[Row], second: list[Row]) -> str:
    one, two = ([unpack(r["items"]["nll"]) for r in rows] for rows in (first, second))
    found = paired(one, two, resamples=2000)
    mean, low, high = (v / NATS_PER_BIT_A_PIXEL for v in found)
    return f"{mean:+.4f} [{low:+.4f}, {high:+.4f}]"


def draw_generalise(folder: Path) -> list[Path]:
    """Draws bits a pixel against K on both splits with their spread over seeds, and against the cost of training."""
    rows = longest(folder / f"{NAME}.json")["rows"]
    figure = Figure(figsize=(9.6, 3.0), layout="constrained")
    *by_k, by_cost = figure.subplots(1, len(TITLES) + 1, sharey=True)
    for name in DRAWN_CHARACTERS:
        _draw_line(by_k, by_cost, name, [r for r in rows if r["algorithm"] == name])
    ks = sorted({r["K"] for r in rows})
    for axis, title in zip(by_k, TITLES.values(), strict=True):
        axis.set(xscale="log", xlabel="K")
        axis.set_xticks(ks, labels=[str(k) for k in ks])
        axis.set_xticks([], minor=True)
        axis.set_title(title, fontsize=9)
    by_cost.set(xscale="log", xlabel="CPU seconds of training", xlim=SECONDS_DRAWN)
    by_cost.set_xticks(SECONDS_MARKED, labels=[f"{s:,}" for s in SECONDS_MARKED])
    by_cost.set_title(TITLES[SPLITS[0]], fontsize=9)
    for axis in figure.axes:
        plain(axis)
    by_k[0].set_ylabel("bits a pixel")
    by_k[0].legend(fontsize=7, frameon=False)
    return [save(figure, folder / f"{NAME}.png")]


def _draw_line(by_k: list[Axes], by_cost: Axes, name: str, rows: list[Row]) -> None:
    """Draws one algorithm on every axis, with its least and its greatest K beside its cost."""
    at = {k: [r for r in rows if r["K"] == k] for k in sorted({r["K"] for r in rows})}
    look: dict[str, Any] = {"color": colour(name), "label": name, "marker": "o", "markersize": 4, "linewidth": 1.4}
    for axis, split in zip(by_k, SPLITS, strict=True):
        centre, spread = zip(*(_centre_and_spread(some, split) for some in at.values()), strict=True)
        axis.errorbar(list(at), centre, spread, capsize=3, **look)
    seconds = [np.mean([r["train_cpu_seconds"] for r in some if "kept" in r]) for some in at.values()]
    drawers = [_centre_and_spread(some, SPLITS[0])[0] for some in at.values()]
    by_cost.plot(seconds, drawers, **look)
    ends = ((0, (-5, -2), "right"), (-1, (5, -2), "left"))
    for end, offset, side in ends[: len(at)]:
        by_cost.annotate(f"K = {list(at)[end]}", (seconds[end], drawers[end]), offset, textcoords="offset points",
                         fontsize=6, color=colour(name), ha=side)  # fmt: skip


def _centre_and_spread(rows: list[Row], split: str) -> tuple[float, float]:
    """Returns the mean over seeds, and the standard deviation where there are several."""
    values = [r["bits_per_pixel"] for r in rows if r["split"] == split]
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def table_vary(folder: Path) -> str:
    """Returns bits a pixel by what recognition learned from, with the paired differences to the plain."""
    table = longest(folder / f"{VARIED_NAME}.json")
    rows, plan = table["rows"], table["settings"]
    lines = []
    for name, drawings, vary in itertools.product(VARIANTS, DRAWINGS_COMPARED, SPREADS_COMPARED):
        some, plain_rows = (_learned_from(rows, name, d, v) for d, v in ((drawings, vary), (1, 0.0)))
        if some and plain_rows:
            bent = "bent" if vary else "as they are"
            many = "one drawing" if drawings == 1 else f"{drawings} drawings"
            gap = "" if (drawings, vary) == (1, 0.0) else _paired(some, plain_rows)
            lines.append([f"{name}, {many} of a character, {bent}", _mean(some), gap])
    caption = (
        f"Bits a pixel of {rows[0]['images']} drawings by people not trained on, which no other table reports; K = 5, "
        f"{rows[0]['steps']:,} steps at most, {plan['pretrain']:,} of sleep. ±: the standard deviation over "
        f"{len({r['seed'] for r in rows})} seeds. Right: the mean difference to the first row of the algorithm, with "
        "its 95 % interval by the bootstrap over drawings and seeds."
    )
    return markdown(["", "bits a pixel", "less the plain one"], lines) + "\n\n" + caption


def _learned_from(rows: list[Row], name: str, drawings: int, vary: float) -> list[Row]:
    return [r for r in rows if (r["algorithm"], r["drawings"], r["vary"]) == (name, drawings, vary)]


TABLES = {NAME: table_generalise, f"{NAME}-paired": table_paired, VARIED_NAME: table_vary}
DRAW = {NAME: draw_generalise}
