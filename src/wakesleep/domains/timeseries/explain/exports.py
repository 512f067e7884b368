"""Explanations for machines: JSON rows, and a CSV file of what was observed, its parts and what comes next."""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from wakesleep.domains.timeseries.explain.explanation import Explanation
from wakesleep.domains.timeseries.language import flatten, text_of


def as_row(e: Explanation, most: int, ahead: float) -> dict[str, Any]:
    """The explanation of one series; the extrapolation as a list of times with median and credible band."""
    future = e.extrapolate(ahead)
    programs = e.programs[:most]
    return {
        "series": e.record.name,
        "points": len(e.record.times),
        "unit": e.record.unit,
        "transform": "log" if e.log else "none",
        "notes": list(e.record.notes) + ["explained by its logarithm, so that its parts multiply"] * e.log,
        "log_evidence": round(e.log_evidence, 3),
        "programs": [p._asdict() for p in programs],
        "variables": e.variables(),
        "first": future[0],
        "last": future[-1],
        "extrapolation": future,
    }


def write_csv(found: list[Explanation], path: Path, ahead: float) -> None:
    """A line for each time of each series: what was observed, the band ahead, and the part of each term.

    Parts are those of the best expression: they add up to the series less its mean (of logarithms, where it says so).
    """
    lines: list[dict[str, Any]] = []
    for e in found:
        times = np.concatenate([e.record.times, e.future(ahead)])
        terms, parts, _ = e.decompose(times)
        names = [text_of(flatten((term,))) for term in terms]
        seen = np.exp(e.record.values) if e.log else e.record.values
        future = e.extrapolate(ahead)
        for i, t in enumerate(times):
            row = {"series": e.record.name, "time": e.label(t)}
            if i < len(seen):
                row["observed"] = f"{seen[i]:.8g}"
            else:
                row |= {k: f"{future[i - len(seen)][k]:.8g}" for k in ("median", "low", "high")}
            lines.append(row | {f"part {n + 1}: {name}": f"{parts[n, i]:.6g}" for n, name in enumerate(names)})
    parts_named = dict.fromkeys(k for row in lines for k in row if k.startswith("part"))
    fields = ["series", "time", "observed", "median", "low", "high", *parts_named]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        writer.writerows(lines)
