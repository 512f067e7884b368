"""Explained series, finished: what comes next and the parts are computed once, then shown in several ways."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from wakesleep.domains.contract import Explanation, Rows, Table
from wakesleep.domains.timeseries.explain.explanation import Explanation as Explained
from wakesleep.domains.timeseries.explain.explanation import Outlook
from wakesleep.domains.timeseries.explain.prediction import Decomposed
from wakesleep.domains.timeseries.language import flatten, text_of

LEAST_PROBABILITY_SHOWN = 0.05
BAND_COLUMNS = ("median", "low", "high")


class Finished(NamedTuple):
    """A series explained, what comes next, and its parts at all times, observed and to come."""

    explained: Explained
    outlook: Outlook
    times: Float[np.ndarray, "t"]
    parts: Decomposed


def finish(e: Explained, ahead: float) -> Finished:
    """Returns the explanation with its future, by a share of the length, and its parts."""
    outlook = e.outlook(ahead)
    times = np.concatenate([e.record.times, outlook.times])
    return Finished(e, outlook, times, e.decompose(times))


@dataclass(frozen=True)
class Findings(Explanation):
    """The explained series of a table."""

    found: tuple[Finished, ...]

    def rows(self, most: int = 5) -> Rows:
        """Returns expressions, sentences, variables and the extrapolation of each series."""
        return [_row(f, most) for f in self.found]

    def table(self, most: int = 5, width: int = 80) -> list[Table]:
        """Returns the expressions with their sentences, and the first and last value to come."""
        shown: list[tuple[str, ...]] = []
        rows = self.rows(most)
        for row in rows:
            likely = [p for i, p in enumerate(row["programs"]) if i == 0 or p["probability"] >= LEAST_PROBABILITY_SHOWN]
            for i, p in enumerate(likely):
                name = row["series"] if i == 0 else ""
                shown.append((name, f"{100 * p['probability']:.0f} %", p["expression"], p["sentence"]))
            shown += [("", "", "", f"note: {note}") for note in row["notes"]]
        ahead = [(r["series"], *(_ahead(r[k]) for k in ("first", "last"))) for r in rows]
        return [
            Table("series", ("series", "", "expression", "in words"), shown),
            Table("extrapolation: median (90 % band)", ("series", "next", "last"), ahead),
        ]

    def draw(self, path: Path) -> Path:
        """Draws each series with its extrapolation, and the parts of its best expression below."""
        from wakesleep.domains.timeseries.explain.figure import draw_series

        return draw_series(self.found, path)

    def write(self, name: str, path: Path) -> Path:
        """Writes the picture, the report or the CSV file."""
        return _write_csv(self.found, path) if name == "csv" else super().write(name, path)


def _row(f: Finished, most: int) -> dict[str, Any]:
    """Returns one series for machines; the extrapolation is a list of times with median and credible band."""
    e, future = f.explained, f.outlook.rows(f.explained)
    return {
        "series": e.record.name,
        "points": len(e.record.times),
        "unit": e.record.unit,
        "transform": "log" if e.log else "none",
        "notes": list(e.record.notes) + ["explained by its logarithm, so that its parts multiply"] * e.log,
        "log_evidence": round(e.log_evidence, 3),
        "programs": [p._asdict() for p in e.programs[:most]],
        "variables": e.variables(),
        "first": future[0],
        "last": future[-1],
        "extrapolation": future,
    }


def _ahead(value: dict[str, Any]) -> str:
    return f"{value['time']}: {value['median']:.5g} ({value['low']:.5g} to {value['high']:.5g})"


def _write_csv(found: tuple[Finished, ...], path: Path) -> Path:
    """Writes a line for each time of each series: what was observed, the band ahead, and the part of each term.

    Parts are those of the best expression: they add up to the series less its mean (of logarithms, where it says so).
    """
    lines = [line for f in found for line in _lines(f)]
    parts_named = dict.fromkeys(k for row in lines for k in row if k.startswith("part"))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["series", "time", "observed", *BAND_COLUMNS, *parts_named])
        writer.writeheader()
        writer.writerows(lines)
    return path


def _lines(f: Finished) -> list[dict[str, str]]:
    e, future = f.explained, f.outlook.rows(f.explained)
    names = [text_of(flatten((term,))) for term in f.parts.terms]
    seen = np.exp(e.record.values) if e.log else e.record.values
    lines = []
    for i, t in enumerate(f.times):
        row = {"series": e.record.name, "time": e.label(t)}
        if i < len(seen):
            row["observed"] = f"{seen[i]:.8g}"
        else:
            row |= {k: f"{future[i - len(seen)][k]:.8g}" for k in BAND_COLUMNS}
        lines.append(row | {f"part {n + 1}: {name}": f"{f.parts.mean[n, i]:.6g}" for n, name in enumerate(names)})
    return lines
