"""The tables and figures of the automata experiments, from their results files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wakesleep.core.memory import Weighted
from wakesleep.domains.automata.data import Settings, load
from wakesleep.domains.automata.evaluator import NoisyAutomaton, Picture
from wakesleep.domains.automata.language import Rule, rule
from wakesleep.domains.automata.show import cells, extrapolate, icons, name, wrong_cells
from wakesleep.domains.figures import colour, plain, save
from wakesleep.errors import Refusal
from wakesleep.paper import results
from wakesleep.paper.results import Row
from wakesleep.paper.tables import markdown

NEIGHBOURS = {"easy": 3, "hard": 5}
IMAGES_SHOWN = 5
COLUMNS_GROWN = 64


def read(path: Path) -> dict[str, Any]:
    """Reads the results."""
    table = results.load(path)
    if table is None or not table["rows"]:
        raise Refusal(f"{path} has no results yet: make them with wakesleep reproduce {path.stem}.")
    return table


def table_automata(folder: Path, file: str = "automata.json") -> str:
    """Returns the table of |phi - epsilon| for each algorithm and K, ours and the paper's, and of rules recovered."""
    table = read(folder / file)
    rows = table["rows"]
    ks = sorted({row["K"] for row in rows if "K" in row})
    lines = []
    for task in dict.fromkeys(row["task"] for row in rows):
        for algorithm in dict.fromkeys(row["algorithm"] for row in rows):
            here = [row for row in rows if row["task"] == task and row["algorithm"] == algorithm]
            if here:
                lines.append([f"{task}, {algorithm}", *_cells(here, ks), _recovered(here)])
    seeds, steps = ({row[name] for row in rows if name in row} for name in ("seeds", "steps"))
    caption = (
        f"Distance |phi - epsilon| in percentage points, mean ± standard deviation of {max(seeds)} seeds after "
        f"{' and '.join(f'{s:,}' for s in sorted(steps))} steps on {table['settings']['observations']:,} images, "
        "the paper's in brackets. Last stands the share of images whose rule is right on every pattern that occurs, "
        "at the smallest and the greatest K."
    )
    return markdown(["", *(f"K = {k}" for k in ks), "rules"], lines) + "\n\n" + caption


def _cells(rows: list[Row], ks: list[int]) -> list[str]:
    by_k = {row.get("K"): row for row in rows}
    if None in by_k:
        return [f"{by_k[None]['distance']:.3f}", *[""] * (len(ks) - 1)]
    return [_distance(by_k[k]) if k in by_k else "" for k in ks]


def _distance(row: Row) -> str:
    ours = f"{row['distance']:.3f} ± {row['distance_spread']:.3f}"
    return f"{ours} ({row['paper']:.2f})" if "paper" in row else ours


def _recovered(rows: list[Row]) -> str:
    """The share of rules recovered at the smallest and the greatest K, whatever the order of the rows."""
    shares = [f"{100 * row['rules_recovered']:.1f} %" for row in _by_k(rows)]
    return shares[0] if len(shares) == 1 else f"{shares[0]} to {shares[-1]}"


def _by_k(rows: list[Row]) -> list[Row]:
    """The rows in the order of K; rows are in the order in which they were computed."""
    return sorted(rows, key=lambda row: row.get("K", 0))


def table_unknown(folder: Path) -> str:
    """Returns the table of unknown neighbourhoods: distance, rules and sizes recovered."""
    table = read(folder / "automata-unknown.json")
    lines = [
        [
            row["algorithm"] + (f", K = {row['K']}" if "K" in row else ""),
            f"{row['distance']:.3f} ± {row['distance_spread']:.3f}" if "K" in row else f"{row['distance']:.3f}",
            f"{100 * row['rules_recovered']:.1f} %",
            f"{100 * row['sizes_recovered']:.1f} %",
        ]
        for row in table["rows"]
    ]
    return markdown(["", "distance (points)", "rules recovered", "sizes recovered"], lines)


def draw_automata(folder: Path) -> list[Path]:
    """Draws the distances, and for each task images with their rules and continuations; returns the paths."""
    table = read(folder / "automata.json")
    paths = [draw_distances(table["rows"], folder / "automata-distance.png")]
    for task in NEIGHBOURS:
        found = [r for r in table["rows"] if r["task"] == task and r["algorithm"] == "MWS"]
        if found:
            row = max(found, key=lambda r: r["K"])
            path = folder / f"automata-{task}.png"
            paths.append(draw_extrapolations(examples(task, row, table["settings"]), path))
    return [*paths, draw_icons([rule(30), rule(110), rule(90)], folder / "automata-rules.png")]


Example = tuple[Picture, Rule, Int[np.ndarray, "h w"]]


def examples(task: str, row: Row, settings: dict[str, Any]) -> list[Example]:
    """Returns the first few images, the rule found for each, and each continued by it with the noise learned."""
    size = NEIGHBOURS[task]
    chosen = Settings(
        observations=settings["observations"], neighbours=size, data_seed=settings["data_seed"], recognition="counts"
    )
    data = load(chosen).train
    evaluator = NoisyAutomaton(row["example"]["noise"] / 100, (size,), (chosen.height, chosen.width))
    made = []
    for i, table in enumerate(row["example"]["rules"][:IMAGES_SHOWN]):
        z = Rule(jnp.asarray(size), jnp.asarray(table, jnp.int32))
        q = Weighted(jax.tree.map(lambda a: a[None], z), jnp.zeros(1))
        x = data[i].x
        made.append((x, z, extrapolate(jax.random.key(i), evaluator, x, q, COLUMNS_GROWN)))
    return made


def draw_extrapolations(shown: list[Example], path: Path) -> Path:
    """Draws a row for each image: the data, its continuation to the right under Q, and the rule."""
    figure = Figure(figsize=(12, 2.1 * len(shown)))
    axes = figure.subplots(len(shown), 2, width_ratios=(2.4, 3), squeeze=False)
    for line, (x, z, longer) in zip(axes, shown, strict=True):
        width = x.image.shape[1]
        wrong = wrong_cells(longer, z)
        wrong[:, width:] = False
        cells(line[0], longer, wrong)
        line[0].axvspan(width - 0.5, longer.shape[1] - 0.5, color="#1b6ca8", alpha=0.14, lw=0)
        line[0].axvline(width - 0.5, color="#1b6ca8", lw=1.5)
        icons(line[1], z, np.asarray(x.counts).sum(axis=1))
        line[1].set_title(f"rule {name(z)}", fontsize=9, loc="left")
    axes[0][0].set_title("image (red: not what the rule says)  |  continued under Q", fontsize=9)
    figure.tight_layout()
    return save(figure, path)


def draw_icons(rules: list[Rule], path: Path) -> Path:
    """Draws rules as small pictures of their neighbourhoods."""
    figure = Figure(figsize=(7, 1.3 * len(rules)))
    axes = figure.subplots(len(rules), 1, squeeze=False)[:, 0]
    for axis, z in zip(axes, rules, strict=True):
        icons(axis, z)
        axis.set_title(f"rule {name(z)}", fontsize=10, loc="left")
    return save(figure, path)


def draw_distances(rows: list[Row], path: Path) -> Path:
    """Draws |phi - epsilon| against K, ours as lines and the paper's as crosses."""
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    figure = Figure(figsize=(4.6 * len(tasks), 3.6))
    for axis, task in zip(figure.subplots(1, len(tasks), squeeze=False)[0], tasks, strict=True):
        here = [row for row in rows if row["task"] == task]
        for algorithm in dict.fromkeys(row["algorithm"] for row in here if "K" in row):
            _draw_distance(axis, algorithm, _by_k([r for r in here if r["algorithm"] == algorithm]))
        floor = next(row["distance"] for row in here if row["algorithm"] == "counting")
        axis.axhline(floor, color="black", lw=0.8, ls=":")
        axis.text(2, 0.93 * floor, "counting", fontsize=8, va="top")
        axis.plot([], [], "x", color="grey", ms=5, label="the paper's")
        axis.set(yscale="log", xscale="log", xlabel="K", title=task, ylim=(floor / 2, None))
        axis.set_xticks([2, 3, 5, 10], labels=["2", "3", "5", "10"])
        axis.set_xticks([], minor=True)
        axis.set_ylabel("distance (percentage points)", fontsize=9)
        plain(axis)
    figure.tight_layout()
    figure.legend(
        *axis.get_legend_handles_labels(), fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5)
    )
    return save(figure, path)


def _draw_distance(axis: Axes, algorithm: str, rows: list[Row]) -> None:
    k, distance, spread = (np.array([r[n] for r in rows]) for n in ("K", "distance", "distance_spread"))
    axis.errorbar(k, distance, yerr=_within(distance, spread), color=colour(algorithm), label=algorithm, lw=1.5)
    paper = [(r["K"], r["paper"]) for r in rows if "paper" in r]
    if paper:
        axis.plot(*zip(*paper, strict=True), "x", color=colour(algorithm), ms=5)


def _within(distance: Float[np.ndarray, "n"], spread: Float[np.ndarray, "n"]) -> Float[np.ndarray, "2 n"]:
    """Returns error bars that stay above zero, for a logarithmic axis."""
    return np.stack([np.minimum(spread, 0.9 * distance), spread])


DRAW: dict[str, Callable[[Path], list[Path]]] = {
    "automata": draw_automata,
    "automata-counts": lambda _: [],
    "automata-unknown": lambda _: [],
}
TABLES: dict[str, Callable[[Path], str]] = {
    "automata": table_automata,
    "automata-counts": lambda folder: table_automata(folder, "automata-counts.json"),
    "automata-unknown": table_unknown,
}
