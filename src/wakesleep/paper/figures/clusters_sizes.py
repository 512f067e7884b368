"""The tables of clusters beyond the paper: M and R apart, and sparsity by measures that the paper does not use."""

from collections.abc import Callable
from pathlib import Path

from wakesleep.paper.clusters import PAPER_SPARSITY
from wakesleep.paper.figures.clusters import improvement
from wakesleep.paper.results import Row, load, longest
from wakesleep.paper.tables import markdown

RIVALS_OF_CLUSTERS = ("RWS", "VIMCO")


def table_sizes(folder: Path) -> str:
    """Returns exact NLL, KL and the stale share for each M (lines) and R (columns)."""
    table = longest(folder / "clusters-sizes.json")
    rows = table["rows"]
    cells = {(r["algorithm"], r["M"], r["R"]): r for r in rows}
    names = list(dict.fromkeys(r["algorithm"] for r in rows))
    ms, rs = (sorted({r[letter] for r in rows}) for letter in ("M", "R"))
    lines = [[f"{name}, M = {m}", *(_sized(cells.get((name, m, r))) for r in rs)] for name in names for m in ms]
    caption = (
        f"Exact NLL of the training groups / KL / share of remembered programs that are not among the best M; medians "
        f"of {rows[0]['seeds']} seeds after {rows[0]['steps']:,} steps."
    )
    return markdown(["", *(f"R = {r}" for r in rs)], lines) + "\n\n" + caption


def _sized(row: Row | None) -> str:
    return "" if row is None else f"{row['nll']:.2f} / {row['kl']:.2f} / {row['stale']:.0%}"


def table_above(folder: Path) -> str:
    """Returns sparsity by what the floor and chance do not decide: gaps of exact NLL, and KL above its floor."""
    rows = longest(folder / "sparsity.json")["rows"]
    floors = {(r["variance"], r["K"]): r for r in (load(folder / "sparsity-floor.json") or {"rows": []})["rows"]}
    cells = {(r["variance"], r["K"], r["algorithm"]): r for r in rows}
    variances, ks = sorted(PAPER_SPARSITY), sorted({r["K"] for r in rows})
    lines = []
    for k in ks:
        found = [{a: cells.get((v, k, a)) for a in ("MWS", *RIVALS_OF_CLUSTERS)} for v in variances]
        lines.append([f"K = {k}, NLL", *(_gain(here, lambda row: row["nll"]) for here in found)])
        above = [_above(here, floors.get((v, k))) for v, here in zip(variances, found, strict=True)]
        lines.append([f"K = {k}, KL above the floor", *above])
        floor = [floors.get((v, k)) for v in variances]
        lines.append([f"K = {k}, floors", *(f"{f['memory']:.2f}, {f['draws']:.2f}" if f else "" for f in floor)])
    caption = (
        f"How much MWS is below the better rival, nats; medians of {rows[0]['seeds']} seeds after "
        f"{rows[0]['steps']:,} steps. A floor is the KL that remains when everything is learned: of the best M "
        "programs for MWS, of K draws from the exact posterior for RWS and VIMCO."
    )
    return markdown(["", *(f"variance {v:g}" for v in variances)], lines) + "\n\n" + caption


def _gain(cell: dict[str, Row | None], value: Callable[[Row], float]) -> str:
    """Returns the improvement of MWS over the better rival; nothing where one of the three has not been run."""
    found = [value(row) for row in cell.values() if row is not None]
    return f"{improvement(*found):.2f}" if len(found) == len(cell) else ""


def _above(cell: dict[str, Row | None], floor: Row | None) -> str:
    """Returns the improvement in KL above the floor of each algorithm's kind."""
    if floor is None:
        return ""
    least = {"MWS": floor["memory"], **dict.fromkeys(RIVALS_OF_CLUSTERS, floor["draws"])}
    return _gain(cell, lambda row: row["kl"] - least[row["algorithm"]])


def table_starts(folder: Path) -> str:
    """Returns the exact NLL and KL of each algorithm by variance and start of Sigma."""
    rows = longest(folder / "sparsity-starts.json")["rows"]
    keys = list(dict.fromkeys((r["K"], r["algorithm"], r["start"]) for r in rows))
    variances = sorted({r["variance"] for r in rows})
    cells = {(r["K"], r["algorithm"], r["start"], r["variance"]): r for r in rows}
    lines = [
        [f"K = {k}, {name}, start {start:g} x", *(_pair(cells.get((k, name, start, v))) for v in variances)]
        for k, name, start in keys
    ]
    caption = (
        f"Exact NLL / KL, medians of {rows[0]['seeds']} seeds after {rows[0]['steps']:,} steps, by the variance that "
        "learning begins with, as a multiple of the true one."
    )
    return markdown(["", *(f"variance {v:g}" for v in variances)], lines) + "\n\n" + caption


def _pair(row: Row | None) -> str:
    return "" if row is None else f"{row['nll']:.2f} / {row['kl']:.2f}"


DRAW: dict[str, Callable[[Path], list[Path]]] = {}
TABLES: dict[str, Callable[[Path], str]] = {
    "clusters-sizes": table_sizes,
    "sparsity-floor": table_above,
    "sparsity-starts": table_starts,
}
