"""The tables and figures of the characters experiment, from its results file and from the model that ships."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from wakesleep.core.evaluate import posterior
from wakesleep.core.keys import fused
from wakesleep.core.model import Model, dream
from wakesleep.domains.characters.data import Settings, splits
from wakesleep.domains.characters.domain import DOMAIN
from wakesleep.domains.characters.evaluator import Renderer
from wakesleep.domains.characters.language import LENGTH
from wakesleep.domains.characters.show import paint, stages
from wakesleep.domains.figures import colour, plain, save
from wakesleep.domains.shipped import load as load_model
from wakesleep.paper.cells import VARIANTS
from wakesleep.paper.results import Row, load, longest
from wakesleep.paper.tables import markdown

CHARACTERS_SHOWN, SAMPLE_COLUMNS = 14, 12
ALPHABETS_SHOWN = (4, 13, 20, 24, 29, 35, 40, 48)


def table_characters(folder: Path) -> str:
    """Returns the table of bits a pixel by algorithm and K: training images, with the paper's, and held-out ones."""
    table = longest(folder / "characters.json")
    rows, plan = table["rows"], table["settings"]
    ks = sorted({row["K"] for row in rows})
    lines = []
    for split, title in (("train", "trained on"), ("heldout", "held out")):
        for name in (a for a in VARIANTS if any(row["algorithm"] == a for row in rows)):
            cells = [_pick(rows, split, name, k) for k in ks]
            lines.append([f"{title}, {name}", *map(_cell, cells)])
    caption = (
        f"Bits a pixel after {rows[0]['steps']:,} steps of batch {plan['batch_size']}, one seed (in brackets: the "
        f"paper's, on the authors' own reduction of the images). IWAE bound of {plan['samples']:,} proposals on "
        f"{plan['images']} images, the best of three recognition networks that were each trained "
        f"{plan['refine_steps']} steps further; ±: the standard error over images."
    )
    return markdown(["", *(f"K = {k}" for k in ks)], lines) + "\n\n" + caption


def table_memory(folder: Path) -> str:
    """Returns the table of bits a pixel of all training images by the remembered programs alone."""
    rows = [row for row in longest(folder / "characters.json")["rows"] if "memory_bits" in row]
    ks = sorted({row["K"] for row in rows})
    lines = []
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        cells = [_pick(rows, "train", name, k) for k in ks]
        lines.append([name, *(f"{c['memory_bits']:.3f}, {c['strokes']:.1f} strokes" if c else "" for c in cells)])
    return markdown(["", *(f"K = {k}" for k in ks)], lines)


def table_explaining(folder: Path) -> str:
    """Returns the table of CPU seconds and peak memory of explaining one drawing, by model."""
    table = load(folder / "benchmark-characters-explain.json")
    assert table is not None
    lines = []
    for model in dict.fromkeys(row["model"] for row in table["rows"]):
        some = [row for row in table["rows"] if row["model"] == model]
        spans = [_span([row[name] for row in some]) for name in ("first_cpu_s", "cold_cpu_s", "warm_cpu_s")]
        lines.append([model, *spans, str(max(row["mebibytes"] for row in some))])
    return markdown(["model", "first CPU s", "cold", "warm", "peak MiB"], lines)


def table_bank_search(folder: Path) -> str:
    """Returns the table of what the bank's memory is worth by wake phases and by its search."""
    table = load(folder / "benchmark-characters-explain.json")
    assert table is not None
    rows = {name: row for name, row in table["bank"].items() if name != "drawings"}
    lines = [
        [
            name,
            f"{row['bits']:.3f} ± {row['standard_error']:.3f}",
            f"{row['strokes']:.1f}",
            f"{row['cpu_s']:.2f}, {row['greatest_cpu_s']:.2f}",
        ]
        for name, row in rows.items()
    ]
    head = ["memory of ten programs by", "bits a pixel", "strokes of the best", "CPU s: median, greatest"]
    return markdown(head, lines) + f"\n\n{table['bank']['drawings']} drawings; ±: the standard error over drawings."


def _span(values: list[float]) -> str:
    low, high = (f"{v:.2f}" for v in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def table_speed(folder: Path) -> str:
    """Returns the table of CPU time of a training step for an image and a program, and peak memory."""
    table = load(folder / "benchmark-characters.json")
    assert table is not None
    lines = [
        [
            f"{r['algorithm']}, K = {r['K']}, batch {r['batch']}",
            f"{r['milliseconds']:.0f} ms",
            f"{r['pair']:.3f} ms",
            f"{r['authors'] / r['pair']:.0f}" if r.get("authors") else "",
            f"{r['mebibytes']:,}",
        ]
        for r in table["rows"]
        if r["what"] == "step"
    ]
    parts = next(r for r in table["rows"] if r["what"] == "parts")
    caption = (
        f"Of 250 programs at once, in one process: all shifts by slices take {parts['shifts']:.0f} us a program, by "
        f"moving the canvas {parts['shifts_by_moving']:.0f}; the gradient through the closest arc takes "
        f"{parts['gradient']:.0f}, through every arc {parts['gradient_of_every_arc']:.0f}."
    )
    head = ["", "CPU time of a step", "an image and program", "authors' code / ours", "peak MiB"]
    return markdown(head, lines) + "\n\n" + caption


def _pick(rows: list[Row], split: str, algorithm: str, k: int) -> Row | None:
    wanted = {"split": split, "algorithm": algorithm, "K": k}
    return next((row for row in rows if wanted.items() <= row.items()), None)


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    paper = f" ({row['paper']:.3f})" if "paper" in row else ""
    return f"{row['bits_per_pixel']:.3f} ± {row['spread']:.3f}{paper}"


def draw(folder: Path) -> list[Path]:
    """Draws the figures for which there are results or a shipped model, and returns their paths."""
    drawn = [draw_bits(folder)]
    if DOMAIN.shipped is not None:
        model = load_model(DOMAIN)[1]
        drawn += [draw_bank(model, folder), draw_reconstructions(model, folder), draw_samples(model, folder)]
    return drawn


def draw_bits(folder: Path) -> Path:
    """Draws bits a pixel against K on both splits."""
    rows = longest(folder / "characters.json")["rows"]
    figure = Figure(figsize=(7, 2.8), layout="constrained")
    for axis, (split, title) in zip(
        figure.subplots(1, 2, sharey=True),
        (("train", "images trained on"), ("heldout", "held-out images")),
        strict=True,
    ):
        for name in dict.fromkeys(row["algorithm"] for row in rows):
            mine = sorted((r for r in rows if (r["algorithm"], r["split"]) == (name, split)), key=lambda r: r["K"])
            values = [r["bits_per_pixel"] for r in mine]
            axis.plot([r["K"] for r in mine], values, "o-", color=colour(name), label=name, markersize=4)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel("K", fontsize=8)
        plain(axis)
    figure.axes[0].set_ylabel("bits a pixel", fontsize=8)
    figure.axes[0].legend(fontsize=7, frameon=False)
    return save(figure, folder / "characters.png")


def draw_bank(model: Model, folder: Path) -> Path:
    """Draws every stroke of the bank."""
    evaluator = _renderer(model)
    strokes = evaluator.angle.shape[0]
    figure = Figure(figsize=(8, 0.5 * -(-strokes // 16) + 0.1))
    for j, axis in enumerate(figure.subplots(-(-strokes // 16), 16).reshape(-1)[:strokes]):
        paint(axis, stages(evaluator, np.array([1 + j]))[0])
    return save(figure, folder / "characters-bank.png")


def draw_reconstructions(model: Model, folder: Path, seed: int = 0) -> Path:
    """Draws characters of many alphabets with their best program, stroke by stroke (the paper's Figure B)."""
    parts, names = splits(Settings(images="omniglot"))
    rows = np.linspace(3, len(names) - 1, CHARACTERS_SHOWN).astype(int)
    data = parts["train"][jnp.asarray(rows)]
    found = posterior(jax.random.key(seed), model, data, proposals=100, wakes=50, revise=0.5)
    figure = Figure(figsize=(0.75 * (LENGTH + 1), 0.78 * CHARACTERS_SHOWN))
    grid = figure.subplots(CHARACTERS_SHOWN, LENGTH + 1)
    for i, axes in enumerate(grid):
        for axis in axes:
            axis.axis("off")
        paint(axes[0], _as_ink(np.asarray(data.x[i])))
        axes[0].set_ylabel(names[rows[i]].rsplit(" ", 1)[0].replace("_", " ")[:24], rotation=0, ha="right", fontsize=6)
        for axis, canvas in zip(axes[1:], stages(_renderer(model), np.asarray(found.programs[i, 0])), strict=False):
            paint(axis, canvas)
    return save(figure, folder / "characters-reconstructions.png")


def draw_samples(model: Model, folder: Path, seed: int = 0) -> Path:
    """Draws new characters from the prior, as canvases and as sampled pixels."""
    z, x = jax.tree.map(np.asarray, dream(model, fused(jax.random.key(seed)), None, 2 * SAMPLE_COLUMNS))
    figure = Figure(figsize=(0.7 * SAMPLE_COLUMNS, 0.72 * 4))
    grid = figure.subplots(4, SAMPLE_COLUMNS)
    for i in range(2 * SAMPLE_COLUMNS):
        row, column = 2 * (i // SAMPLE_COLUMNS), i % SAMPLE_COLUMNS
        paint(grid[row, column], _as_ink(_drawn(model, z[i])))
        paint(grid[row + 1, column], _as_ink(x[i]))
    return save(figure, folder / "characters-samples.png")


def draw_alphabets(folder: Path) -> list[Path]:
    """Draws training characters of some alphabets, and new ones from the prior told of each (Figure C)."""
    file = folder / "characters-alphabets.safetensors"
    model = load_model(DOMAIN, file)[1]
    parts, names = splits(Settings(images="omniglot", condition="alphabet"))
    data = parts["train"]
    figure = Figure(figsize=(0.55 * 21, 0.58 * len(ALPHABETS_SHOWN)))
    for axes, alphabet in zip(figure.subplots(len(ALPHABETS_SHOWN), 21), ALPHABETS_SHOWN, strict=True):
        shown = np.nonzero(np.asarray(data.c) == alphabet)[0][:10]
        z: np.ndarray = np.asarray(dream(model, fused(jax.random.key(1)), jnp.full(10, alphabet, jnp.int32), 10)[0])
        axes[10].axis("off")
        for j, row in enumerate(shown):
            paint(axes[j], _as_ink(np.asarray(data.x[row]), red=True))
            paint(axes[11 + j], _as_ink(_drawn(model, z[j])))
        title = names[shown[0]].rsplit(" ", 1)[0].replace("_", " ")[:20]
        axes[0].set_ylabel(title, rotation=0, ha="right", va="center", fontsize=7)
    return [save(figure, folder / "characters-alphabets.png")]


def table_alphabets(folder: Path) -> str:
    """Returns a line: bits a pixel by the remembered programs of the model that is told of alphabets."""
    row = longest(folder / "characters-alphabets.json")["rows"][0]
    return (
        f"{row['algorithm']}, K = {row['K']}, {row['steps']:,} steps, told of alphabets: {row['memory_bits']:.3f} bits "
        f"a pixel by the remembered programs, {row['strokes']:.1f} strokes."
    )


def _renderer(model: Model) -> Renderer:
    assert isinstance(model.evaluator, Renderer)
    return model.evaluator


def _drawn(model: Model, z: np.ndarray) -> np.ndarray:
    """Returns the finished canvas of a program."""
    renderer = _renderer(model)
    return np.asarray(renderer.shade(renderer.draw(jnp.asarray(z))))


def _as_ink(image: np.ndarray, red: bool = False) -> np.ndarray:
    """Returns an image as colours: ink dark, or red."""
    colours = 1 - image[..., None].astype(float).repeat(3, axis=2)
    if red:
        colours[..., 0] = 1 - 0.16 * image
    return colours


DRAW = {"characters": draw, "characters-alphabets": draw_alphabets}
TABLES = {
    "characters": table_characters,
    "characters-memory": table_memory,
    "characters-alphabets": table_alphabets,
    "benchmark-characters": table_speed,
    "benchmark-characters-explain": table_explaining,
    "benchmark-characters-bank": table_bank_search,
}
