"""Explained series, finished: what comes next and the parts are computed once, then shown in several ways."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from wakesleep.domains.contract import Explanation, Rows, Table
from wakesleep.domains.timeseries.explain.explained import Explained
from wakesleep.domains.timeseries.explain.facts import Facts, facts_of

LEVEL_PERCENT = 90
LOW, HIGH = f"lo-{LEVEL_PERCENT}", f"hi-{LEVEL_PERCENT}"


class Finished(NamedTuple):
    """A series explained, what comes next, its parts, its facts and its sentences."""

    explained: Explained
    ahead: pl.DataFrame
    parts: pl.DataFrame
    facts: Facts
    sentences: tuple[str, ...]


def finish(e: Explained, ahead: float) -> Finished:
    """Returns the explanation with its future, by a share of the length, and its parts."""
    steps = max(1, round(ahead * len(e.series.values)))
    future = e.forecast(horizon=steps, levels=(LEVEL_PERCENT,))
    return Finished(e, future, e.components(), facts_of(e), tuple(e.sentences()))


@dataclass(frozen=True)
class Findings(Explanation):
    """The explained series of a table, and what is said of those that could not be explained."""

    found: tuple[Finished, ...]
    refused: tuple[str, ...] = ()

    def rows(self, most: int = 5) -> Rows:
        """Returns sentences, probabilities of parts, changes and the forecast of each series."""
        return [_row(f) for f in self.found]

    def table(self, most: int = 5, width: int = 80) -> list[Table]:
        """Returns the sentences, and the first and last value to come."""
        said = [
            (f.explained.series.name if i == 0 else "", sentence)
            for f in self.found
            for i, sentence in enumerate(f.sentences)
        ]
        ahead = [(f.explained.series.name, _ahead(f, 0), _ahead(f, f.ahead.height - 1)) for f in self.found]
        title = f"forecast: median ({LEVEL_PERCENT} % band)"
        return [Table("series", ("series", "in words"), said), Table(title, ("series", "next", "last"), ahead)]

    def notes(self) -> list[str]:
        """Returns how the data were read, and why series were left out."""
        named = {f"{f.explained.series.name}: {note}." for f in self.found for note in f.explained.series.notes}
        return [*sorted(named), *self.refused]

    def draw(self, path: Path) -> Path:
        """Draws each series with its forecast, and its parts below."""
        from wakesleep.domains.timeseries.explain.figure import draw_series

        return draw_series(self.found, path)

    def write(self, name: str, path: Path) -> Path:
        """Writes the picture, the report or the CSV file."""
        if name != "csv":
            return super().write(name, path)
        path.write_bytes(pl.concat([_lines(f) for f in self.found], how="diagonal").write_csv().encode())
        return path


def _row(f: Finished) -> dict[str, Any]:
    """Returns one series for machines."""
    e, facts = f.explained, f.facts
    label = lambda i: e.series.label(float(e.parts.positions[i]))  # noqa: E731
    return {
        "series": e.series.name,
        "points": int(np.isfinite(e.series.values).sum()),
        "unit": e.series.unit,
        "notes": list(e.series.notes),
        "sentences": list(f.sentences),
        "probabilities": {f"season {s.length:.4g}": round(s.probability, 3) for s in facts.seasons}
        | {"logarithm": round(facts.log_probability, 3)},
        "shifts": [{"time": label(i), "size": size} for i, size in facts.shifts],
        "bends": [{"time": label(i), "before": before, "after": after} for i, before, after in facts.bends],
        "outliers": [{"time": label(i), "value": float(e.observed_values()[i])} for i in facts.outliers],
        "forecast": [_step(f, i) for i in range(f.ahead.height)],
    }


def _step(f: Finished, i: int) -> dict[str, Any]:
    row = f.ahead.row(i, named=True)
    position = f.explained.series.future(f.ahead.height)[i]
    return {"time": f.explained.series.label(position), **{k: float(v) for k, v in row.items() if k != "time"}}


def _ahead(f: Finished, i: int) -> str:
    row = _step(f, i)
    return f"{row['time']}: {row['mean']:.5g} ({row[LOW]:.5g} to {row[HIGH]:.5g})"


def _lines(f: Finished) -> pl.DataFrame:
    """Returns a line for each time, observed and to come, with times in words."""
    series = f.explained.series
    seen = f.parts.with_columns(pl.Series("time", [series.label(p) for p in f.explained.parts.positions]))
    future = f.ahead.with_columns(pl.Series("time", [series.label(p) for p in series.future(f.ahead.height)]))
    both = pl.concat([seen, future], how="diagonal")
    return both.insert_column(0, pl.Series("series", [series.name] * both.height)).fill_nan(None)
