"""What `wakesleep forecast` shows: for each series of a file the next steps, with bands, and words."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from wakesleep.domains.contract import Explanation, Report, Rows, Standing, Table
from wakesleep.domains.timeseries.reading.series import Series
from wakesleep.errors import Refusal

DEFAULT_STEPS = {"year": 6, "quarter": 8, "month": 18, "week": 13, "day": 14, "hour": 48, "minute": 60, "second": 60}
DEFAULT_PLAIN_STEPS = 10
MOST_HORIZON = 10_000


class Forecast(NamedTuple):
    """A series, what is said of it, and its next steps: columns time, mean and two for each level."""

    series: Series
    sentences: tuple[str, ...]
    ahead: pl.DataFrame
    outliers: tuple[float, ...] = ()
    """Positions of the values that do not fit."""
    shifts: tuple[float, ...] = ()
    """Positions of the first value after each shift of the level."""


@dataclass(frozen=True)
class Forecasts(Explanation):
    """The forecasts of a file's series."""

    found: tuple[Forecast, ...]
    refused: tuple[str, ...] = ()
    """Why some series have none, a sentence each."""

    def rows(self, most: int = 5) -> Rows:
        """Returns an object for each series, all of them whatever `most`."""
        return [
            {
                "series": f.series.name,
                "unit": f.series.unit,
                "sentences": list(f.sentences),
                "forecast": _labelled(f).to_dicts(),
            }
            for f in self.found
        ]

    def table(self, most: int = 5, width: int = 80) -> list[Table]:
        """Returns a table of the next steps for each of the first series, with its words above."""
        shown = []
        for f in self.found[:most]:
            frame = _labelled(f)
            rows = [tuple(v if isinstance(v, str) else f"{v:.5g}" for v in row) for row in frame.iter_rows()]
            shown.append(Table(f"{f.series.name}: {' '.join(f.sentences)}", tuple(frame.columns), rows))
        return shown

    def notes(self) -> list[str]:
        """Returns what was done while reading, each once, and why some series have no forecast."""
        count = len(self.found)
        said: dict[str, list[str]] = {}
        for f in self.found:
            for note in f.series.notes:
                said.setdefault(note, []).append(f.series.name)
        notes = [
            f"{note[0].upper()}{note[1:]}." if len(of) == count else f"{_names(of)}: {note}."
            for note, of in said.items()
        ]
        return [*notes, *self.refused]

    def frame(self) -> pl.DataFrame:
        """Returns all forecasts as one table with the name of the series first."""
        return pl.concat([_labelled(f).insert_column(0, _name_column(f)) for f in self.found])

    def draw(self, path: Path) -> Path:
        """Draws the first series and their forecasts to a PNG file."""
        from wakesleep.domains.timeseries.forecasting.figure import draw_forecasts

        return draw_forecasts(self.found, path)

    def write(self, name: str, path: Path) -> Path:
        """Writes the forecasts as CSV, or one of the files of every explanation."""
        if name != "csv":
            return super().write(name, path)
        path.write_bytes(self.frame().write_csv().encode())
        return path


def _name_column(f: Forecast) -> pl.Series:
    return pl.Series("series", [f.series.name] * f.ahead.height, pl.String)


def _labelled(f: Forecast) -> pl.DataFrame:
    """Returns the next steps with their times in words."""
    words = [f.series.label(p) for p in f.series.future(f.ahead.height)]
    return f.ahead.with_columns(pl.Series("time", words)).select("time", pl.exclude("time"))


def _names(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + f" and {len(names) - most} more" * (len(names) > most)


def steps_of(series: Series, horizon: int | None, until: str | None) -> int:
    """Returns the number of steps to forecast: as asked, or as is usual for the unit of the series."""
    if horizon is not None and until is not None:
        raise Refusal("Give --horizon or --until, not both: each says how far the forecast goes.")
    usual = DEFAULT_STEPS.get(series.unit, DEFAULT_PLAIN_STEPS)
    steps = series.steps_until(until) if until is not None else usual if horizon is None else horizon
    if not 1 <= steps <= MOST_HORIZON:
        raise Refusal(f"The horizon must be 1 to {MOST_HORIZON:,} steps, but {steps:,} were asked for.")
    return steps


def forecast_all(
    every: Sequence[Series],
    horizon: int | None,
    until: str | None,
    levels: Sequence[int],
    report: Report,
    combine: Sequence[str] = (),
) -> Forecasts:
    """Returns the forecasts of series; one that cannot be explained is told apart, unless all are such."""
    from wakesleep.domains.timeseries.explain import explain_series

    found, refused = [], []
    for done, series in enumerate(every):
        report(Standing(done, len(every), series.name))
        steps = steps_of(series, horizon, until)
        try:
            explained: Any = explain_series(series)
        except Refusal as why:
            refused.append(str(why))
            continue
        ahead = explained.forecast(horizon=steps, levels=tuple(levels), combine=combine)
        marks = (explained.changed(kind) for kind in ("outlier", "shift"))
        found.append(Forecast(series, tuple(explained.sentences()), ahead, *marks))
    if not found:
        raise Refusal(refused[0])
    return Forecasts(tuple(found), tuple(refused))
