"""The tables and figures of the clusters experiments, from their results files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from wakesleep.domains.clusters.data import Settings
from wakesleep.domains.clusters.data import load as load_data
from wakesleep.domains.clusters.show import predictive, scatter
from wakesleep.errors import Refusal
from wakesleep.experiments.clusters import PAPER_SPARSITY
from wakesleep.experiments.results import Row, load
from wakesleep.report.figures import colour, plain, save
from wakesleep.report.tables import markdown

MAIN = ("MWS", "RWS", "VIMCO")
SHOWN_K = 5


def longest(path: Path) -> dict[str, Any]:
    """The results with only the rows of the longest run in it."""
    table = load(path)
    if table is None or not table["rows"]:
        raise Refusal(f"{path} has no results yet: make them with wakesleep reproduce {path.stem}.")
    steps = max(row["steps"] for row in table["rows"])
    return table | {"rows": [row for row in table["rows"] if row["steps"] == steps]}


def table_clusters(folder: Path) -> str:
    """Median exact NLL and KL for each algorithm and K, with quartiles."""
    table = longest(folder / "clusters.json")
    rows = table["rows"]
    ks = sorted({row["K"] for row in rows})
    names = list(dict.fromkeys(row["algorithm"] for row in rows))
    cell = {(row["algorithm"], row["K"]): row for row in rows}
    lines = []
    for measure, title in (("nll", "NLL"), ("kl", "KL"), ("kl_published", "KL as published")):
        for name in names if measure != "kl_published" else [n for n in names if not n.startswith("MWS")]:
            lines.append([f"{title}, {name}", *(_quartiles(cell.get((name, k)), measure) for k in ks)])
    first = rows[0]
    caption = (
        f"Medians (quartiles) of {first['seeds']} seeds after {first['steps']:,} steps, in nats for a group of 7. "
        f"The true model's NLL on these data is {first['true_nll']:.2f}."
    )
    return markdown(["", *(f"K = {k}" for k in ks)], lines) + "\n\n" + caption


def _quartiles(row: Row | None, measure: str) -> str:
    if row is None:
        return ""
    low, high = row[f"{measure}_quartiles"]
    return f"{row[measure]:.2f} ({low:.2f} to {high:.2f})"


def table_sparsity(folder: Path) -> str:
    """Improvement in KL by MWS for each variance and K: ours, ours with the published error, the paper's."""
    rows = longest(folder / "sparsity.json")["rows"]
    variances, ks = sorted({r["variance"] for r in rows}), sorted({r["K"] for r in rows})
    lines = []
    for k in ks:
        here = {v: {r["algorithm"]: r for r in rows if r["K"] == k and r["variance"] == v} for v in variances}
        ours = [improvement(here[v], "kl") for v in variances]
        published = [improvement(here[v], "kl_published") for v in variances]
        lines.append([f"K = {k}", *(f"{x:.2f}" for x in ours)])
        lines.append([f"K = {k}, with the published error", *(f"{x:.2f}" for x in published)])
        lines.append([f"K = {k}, paper", *(f"{PAPER_SPARSITY[v][k]:.2f}" for v in variances)])
    caption = f"Medians of {rows[0]['seeds']} seeds after {rows[0]['steps']:,} steps, nats."
    return markdown(["", *(f"variance {v:g}" for v in variances)], lines) + "\n\n" + caption


def improvement(cell: dict[str, Row], measure: str) -> float:
    """min(KL of VIMCO, KL of RWS) - KL of MWS, of the medians."""
    return min(cell["VIMCO"][measure], cell["RWS"][measure]) - cell["MWS"][measure]


def draw_clusters(folder: Path) -> list[Path]:
    """The paper's figure: curves above, clusterings with their posterior predictive below."""
    table = longest(folder / "clusters.json")
    return [_draw_curves(table, folder / "clusters.png"), _draw_clusterings(table, folder / "clusters-fits.png")]


def _draw_curves(table: dict[str, Any], path: Path) -> Path:
    rows = [r for r in table["rows"] if r["algorithm"] in MAIN]
    ks = sorted({r["K"] for r in rows})
    figure = Figure(figsize=(2.3 * len(ks), 4.2))
    axes = figure.subplots(2, len(ks), sharex=True, sharey="row", squeeze=False)
    for column, k in enumerate(ks):
        for line, measure in enumerate(("nll", "kl")):
            axis = axes[line][column]
            for row in (r for r in rows if r["K"] == k):
                _draw_curve(axis, row, measure)
            plain(axis)
            if measure == "nll":
                axis.axhline(rows[0]["true_nll"], color="black", lw=0.8, ls=":")
                axis.set_title(f"K = {k}", fontsize=10)
    axes[0][0].set_ylabel("exact NLL (nats)", fontsize=9)
    axes[1][0].set_ylabel("KL(Q || p) (nats)", fontsize=9)
    axes[1][len(ks) // 2].set_xlabel("steps (thousands)", fontsize=9)
    axes[0][-1].legend(fontsize=8, frameon=False)
    return save(figure, path)


def _draw_curve(axis: Any, row: Row, measure: str) -> None:
    steps = np.asarray(row["curve"]["steps"]) / 1000
    low, middle, high = np.asarray(row["curve"][measure]).T
    axis.plot(steps, middle, color=colour(row["algorithm"]), label=row["algorithm"], lw=1.5)
    axis.fill_between(steps, low, high, color=colour(row["algorithm"]), alpha=0.2, lw=0)


def _draw_clusterings(table: dict[str, Any], path: Path) -> Path:
    ks = {r["K"] for r in table["rows"]}
    k = SHOWN_K if SHOWN_K in ks else min(ks)
    rows = {r["algorithm"]: r for r in table["rows"] if r["K"] == k and r["algorithm"] in MAIN}
    data = np.asarray(load_data(Settings(data_seed=table["settings"]["data_seed"])).train.x)
    count = len(next(iter(rows.values()))["example"]["z"])
    figure = Figure(figsize=(1.9 * count, 1.9 * len(rows)))
    axes = figure.subplots(len(rows), count, sharex=True, sharey=True, squeeze=False)
    for line, (name, row) in zip(axes, rows.items(), strict=True):
        line[0].set_ylabel(f"{name}, K = {k}", fontsize=9)
        for axis, x, z in zip(line, data, row["example"]["z"], strict=False):
            predictive(axis, x, np.asarray(z), np.asarray(row["example"]["sigma"]))
            scatter(axis, x, np.asarray(z))
    return save(figure, path)


DRAW: dict[str, Callable[[Path], list[Path]]] = {"clusters": draw_clusters, "sparsity": lambda _: []}
TABLES: dict[str, Callable[[Path], str]] = {"clusters": table_clusters, "sparsity": table_sparsity}
