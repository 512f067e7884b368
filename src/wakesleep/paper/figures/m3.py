"""The tables of the M3 experiment, from its results file."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from wakesleep.errors import Refusal
from wakesleep.paper.results import Row, load
from wakesleep.paper.tables import markdown

RESAMPLES = 10_000
BAND = (2.5, 97.5)


def table(folder: Path, period: str = "") -> str:
    """Returns the measures of every method, of one period or of all."""
    found = load(folder / "m3.json")
    if found is None:
        raise Refusal(f"{folder} has no results yet: make them with wakesleep reproduce m3.")
    periods = [period] if period else list(dict.fromkeys(r["period"] for r in found["rows"]))
    return "\n\n".join(_table([r for r in found["rows"] if r["period"] == p]) for p in periods)


def _table(rows: list[Row]) -> str:
    best = {"mase": min(r["mase"] for r in rows), "log_density": max(r["log_density"] for r in rows)}
    ours = next(r for r in rows if r["method"] == "wakesleep")
    lines = []
    for r in rows:
        said = [f"{r[k]:.3f}" for k in ("mase", "log_density")]
        shown = [f"**{s}**" if r[k] == best[k] else s for s, k in zip(said, ("mase", "log_density"), strict=True)]
        lines.append([r["method"], *shown, f"{100 * r['coverage']:.1f} %", f"{r['cpu']:.3f}", against(ours, r)])
    head = [f"{rows[0]['series']} {rows[0]['period']} series", "MASE", "log density", "coverage of 90 %", "CPU s"]
    return markdown([*head, "wakesleep's MASE against it (95 %)"], lines)


def against(ours: Row, other: Row) -> str:
    """Returns by how many per cent wakesleep's mean MASE differs, with a bootstrap interval over pairs."""
    if ours is other:
        return ""
    a, b = np.array(ours["each_mase"]), np.array(other["each_mase"])
    drawn = np.random.default_rng(0).integers(0, len(a), (RESAMPLES, len(a)))
    low, high = np.percentile(100 * (a[drawn].mean(axis=1) / b[drawn].mean(axis=1) - 1), BAND)
    return f"{100 * (a.mean() / b.mean() - 1):+.1f} % ({low:+.1f} to {high:+.1f})"


DRAW: dict[str, Callable[[Path], list[Path]]] = {}
TABLES: dict[str, Callable[..., str]] = {"m3": table} | {
    f"m3-{p}": partial(table, period=p) for p in ("monthly", "quarterly", "yearly")
}
