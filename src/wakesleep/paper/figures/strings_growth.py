"""The tables of strings, grown: M and R apart, and the number of concepts."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from wakesleep.paper.results import Row, longest
from wakesleep.paper.tables import markdown

GROWTH_MEASURES = (("nll", "novel"), ("nll_given_first", "novel, given five"))


def table_memory(folder: Path) -> str:
    """Returns the NLL of novel concepts for each M (lines) and R (columns)."""
    rows = longest(folder / "strings-memory.json")["rows"]
    ms, rs = (sorted({r[letter] for r in rows}) for letter in ("M", "R"))
    names = list(dict.fromkeys(r["algorithm"] for r in rows))
    some = lambda *key: [r for r in rows if (r["algorithm"], r["M"], r["R"]) == key]  # noqa: E731
    lines = [[f"{name}, M = {m}", *(_mean(some(name, m, r), "nll") for r in rs)] for name in names for m in ms]
    return markdown(["", *(f"R = {r}" for r in rs)], lines) + "\n\n" + _caption(rows)


def table_concepts(folder: Path) -> str:
    """Returns the NLL of novel concepts for each number of concepts that were trained on."""
    rows = longest(folder / "strings-concepts.json")["rows"]
    counts = sorted({r["N"] for r in rows})
    keys = list(dict.fromkeys((r["K"], r["algorithm"]) for r in rows))
    some = lambda *key: [r for r in rows if (r["K"], r["algorithm"], r["N"]) == key]  # noqa: E731
    lines = [
        [f"{title}, K = {k}, {name}", *(_mean(some(k, name, n), measure) for n in counts)]
        for measure, title in GROWTH_MEASURES
        for k, name in keys
    ]
    return markdown(["", *(f"N = {n:,}" for n in counts)], lines) + "\n\n" + _caption(rows)


def _mean(rows: list[Row], measure: str) -> str:
    return f"{np.mean([r[measure] for r in rows]):.1f}" if rows else ""


def _caption(rows: list[Row]) -> str:
    seeds = len({r["seed"] for r in rows})
    return f"NLL in nats of five strings of the novel concepts, {rows[0]['steps']:,} steps at most, seeds: {seeds}."


DRAW: dict[str, Callable[[Path], list[Path]]] = {}
TABLES: dict[str, Callable[[Path], str]] = {"strings-memory": table_memory, "strings-concepts": table_concepts}
