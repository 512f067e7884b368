"""The tables and figures of the clusters experiments, from their results files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from wakesleep.domains.clusters.data import Settings
from wakesleep.domains.clusters.data import load as load_data
from wakesleep.domains.clusters.show import predictive, scatter
from wakesleep.domains.figures import colour, plain, save
from wakesleep.errors import Refusal
from wakesleep.paper.cells import VARIANTS
from wakesleep.paper.clusters import PAPER_SPARSITY
from wakesleep.paper.results import Row, load, longest
from wakesleep.paper.tables import markdown

MAIN_ALGORITHMS = ("MWS", "RWS", "VIMCO")
CURVES = (*MAIN_ALGORITHMS, "MWS-explore")
SHOWN_K = 5
CLUSTER_MEASURES = {
    "nll": "NLL",
    "nll_test": "NLL, held out",
    "kl": "KL",
    "kl_test": "KL, held out",
    "kl_published": "KL as published",
}


def table_clusters(folder: Path) -> str:
    """Returns the table of median exact NLL and KL for each algorithm and K, with quartiles."""
    rows = longest(folder / "clusters.json")["rows"]
    names = _algorithms(rows)
    lines = []
    for measure, title in CLUSTER_MEASURES.items():
        shown = [n for n in names if measure != "kl_published" or not n.startswith("MWS")]
        shown = [n for n in shown if any(measure in row for row in rows if row["algorithm"] == n)]
        lines += _lines(rows, shown, measure, f"{title}, ")
    return _with_caption(rows, lines)


def table_clusters_short(folder: Path) -> str:
    """Returns the table of median exact NLL alone."""
    rows = longest(folder / "clusters.json")["rows"]
    return _with_caption(rows, _lines(rows, _algorithms(rows), "nll", ""))


def _algorithms(rows: list[Row]) -> list[str]:
    """Returns the algorithms that have rows, in the order of the experiment."""
    return [name for name in VARIANTS if any(row["algorithm"] == name for row in rows)]


def _lines(rows: list[Row], names: list[str], measure: str, title: str) -> list[list[str]]:
    """Returns one line for each algorithm, one cell for each K."""
    cell = {(row["algorithm"], row["K"]): row for row in rows}
    ks = sorted({row["K"] for row in rows})
    return [[f"{title}{name}", *(_quartiles(cell.get((name, k)), measure) for k in ks)] for name in names]


def _with_caption(rows: list[Row], lines: list[list[str]]) -> str:
    first = rows[0]
    caption = (
        f"Medians (quartiles) of {first['seeds']} seeds after {first['steps']:,} steps, in nats for a group of 7. The "
        f"true model's NLL is {first['true_nll']:.3f} on the training groups, {first['true_nll_test']:.3f} held out."
    )
    return markdown(["", *(f"K = {k}" for k in sorted({row["K"] for row in rows}))], lines) + "\n\n" + caption


def _quartiles(row: Row | None, measure: str) -> str:
    if row is None or measure not in row:
        return ""
    low, high = row[f"{measure}_quartiles"]
    return f"{row[measure]:.3f} ({low:.2f} to {high:.2f})"


def table_sparsity(folder: Path) -> str:
    """Returns the table of MWS's gain in KL by variance and K: ours, ours with the published error, the paper's."""
    rows = longest(folder / "sparsity.json")["rows"]
    variances, ks = sorted({r["variance"] for r in rows}), sorted({r["K"] for r in rows})
    cells = {(r["variance"], r["K"], r["algorithm"]): r for r in rows}
    lines = []
    for k in ks:
        found = [{a: cells.get((v, k, a)) for a in MAIN_ALGORITHMS} for v in variances]
        lines.append([f"K = {k}", *(_improvement(here, "kl") for here in found)])
        lines.append([f"K = {k}, with the published error", *(_improvement(here, "kl_published") for here in found)])
        lines.append([f"K = {k}, paper", *(f"{PAPER_SPARSITY[v][k]:.2f}" for v in variances)])
    caption = f"Medians of {rows[0]['seeds']} seeds after {rows[0]['steps']:,} steps, nats."
    return markdown(["", *(f"variance {v:g}" for v in variances)], lines) + "\n\n" + caption


def improvement(mws: float, rws: float, vimco: float) -> float:
    """Returns by how much the KL of MWS is below that of the better rival."""
    return min(rws, vimco) - mws


def _improvement(cell: dict[str, Row | None], measure: str) -> str:
    """Returns the improvement of the medians; nothing where one of the three has not been run."""
    values = [row[measure] for row in cell.values() if row is not None]
    return f"{improvement(*values):.2f}" if len(values) == len(MAIN_ALGORITHMS) else ""


def table_benchmark(folder: Path) -> str:
    """Returns the table of CPU milliseconds a step for each algorithm and K."""
    table = load(folder / "benchmark-clusters.json")
    if table is None:
        raise Refusal(f"{folder} has no benchmark-clusters.json: make it with python benchmarks/clusters.py.")
    rows = table["rows"]
    ks = sorted({row["K"] for row in rows})
    kinds = list(dict.fromkeys((row["algorithm"], row["seeds"]) for row in rows))
    cell = {(row["algorithm"], row["seeds"], row["K"]): row for row in rows}
    lines = []
    for name, seeds in kinds:
        here = [cell[name, seeds, k] for k in ks]
        lines.append([name if seeds == 1 else f"{name}, ten seeds", *(_milliseconds(row) for row in here)])
    shares = [f"{cell['MWS', 1, k]['irreducible_share']:.0%}" for k in ks]
    return markdown(["", *(f"K = {k}" for k in ks)], [*lines, ["irreducible share of MWS", *shares]])


def _milliseconds(row: Row) -> str:
    return f"{row['ms']:.3f} ({row['least']:.3f} to {row['most']:.3f})"


def draw_clusters(folder: Path) -> list[Path]:
    """Draws the paper's figures: curves, and clusterings with their posterior predictive; returns their paths."""
    table = longest(folder / "clusters.json")
    return [_draw_curves(table, folder / "clusters.png"), _draw_clusterings(table, folder / "clusters-fits.png")]


def _draw_curves(table: dict[str, Any], path: Path) -> Path:
    rows = _preferred(table["rows"], CURVES)
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
    axes[0][0].legend(fontsize=8, frameon=False)
    return save(figure, path)


def _preferred(rows: list[Row], names: tuple[str, ...]) -> list[Row]:
    """Returns the rows of those algorithms; all rows where there is none of them."""
    return [row for row in rows if row["algorithm"] in names] or rows


def _draw_curve(axis: Any, row: Row, measure: str) -> None:
    first = 1 if measure == "kl" else 0  # before the first step the memory, and so Q, is empty
    steps = np.asarray(row["curve"]["steps"])[first:] / 1000
    low, middle, high = np.asarray(row["curve"][measure])[first:].T
    axis.plot(steps, middle, color=colour(row["algorithm"]), label=row["algorithm"], lw=1.5)
    axis.fill_between(steps, low, high, color=colour(row["algorithm"]), alpha=0.2, lw=0)


def _draw_clusterings(table: dict[str, Any], path: Path) -> Path:
    ks = {r["K"] for r in table["rows"]}
    k = SHOWN_K if SHOWN_K in ks else min(ks)
    rows = {r["algorithm"]: r for r in _preferred([r for r in table["rows"] if r["K"] == k], MAIN_ALGORITHMS)}
    data = np.asarray(load_data(Settings(data_seed=table["settings"]["data_seed"])).train.x)
    count = len(next(iter(rows.values()))["example"]["z"])
    figure = Figure(figsize=(1.9 * count, 1.9 * len(rows)))
    axes = figure.subplots(len(rows), count, squeeze=False)
    for line, (name, row) in zip(axes, rows.items(), strict=True):
        line[0].set_ylabel(f"{name}, K = {k}", fontsize=9)
        for axis, group, z in zip(line, row["example"]["rows"], row["example"]["z"], strict=True):
            predictive(axis, data[group], np.asarray(z), np.asarray(row["example"]["sigma"]))
            scatter(axis, data[group], np.asarray(z))
    return save(figure, path)


DRAW: dict[str, Callable[[Path], list[Path]]] = {"clusters": draw_clusters, "sparsity": lambda _: []}
TABLES: dict[str, Callable[[Path], str]] = {
    "clusters": table_clusters,
    "clusters-short": table_clusters_short,
    "sparsity": table_sparsity,
    "benchmark-clusters": table_benchmark,
}
