"""A backtest: each series is forecast from several origins in its past, by every method, and scored."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl

from wakesleep.domains.contract import Explanation, Report, Rows, Standing, Table
from wakesleep.domains.timeseries.forecasting.forecasts import steps_of
from wakesleep.domains.timeseries.forecasting.peers import Method, Said, Split, lagged, methods, season_of
from wakesleep.domains.timeseries.reading.series import Series
from wakesleep.errors import Refusal

FEWEST_TRAINING_VALUES = 8
FIGURES = ("mase", "log_density", "coverage", "cpu_seconds")
HEADER = ("method", "MASE", "log density (scaled)", "coverage of 90 %", "CPU s a forecast")


@dataclass(frozen=True)
class Backtest(Explanation):
    """The scores of every series and method: columns series, method, origins and the figures."""

    scores: pl.DataFrame
    said: tuple[str, ...] = ()

    def means(self) -> pl.DataFrame:
        """Returns the means over series by method, the least MASE first."""
        means = self.scores.group_by("method", maintain_order=True).agg(pl.col(*FIGURES).mean(), series=pl.len())
        return means.sort("mase")

    def rows(self, most: int = 5) -> Rows:
        """Returns an object for each method, all of them whatever `most`."""
        return self.means().to_dicts()

    def table(self, most: int = 5, width: int = 80) -> list[Table]:
        """Returns the table of methods."""
        count = self.scores["series"].n_unique()
        title = f"{count:,} series, {self.scores['origins'].sum() // self.scores['method'].n_unique():,} forecasts"
        rows = [_words(row) for row in self.means().head(most).to_dicts()]
        return [Table(title, HEADER, rows)]

    def notes(self) -> list[str]:
        """Returns which series were left out, and why."""
        return list(self.said)

    def write(self, name: str, path: Path) -> Path:
        """Writes the scores of every series and method as CSV."""
        if name != "csv":
            return super().write(name, path)
        path.write_bytes(self.scores.write_csv().encode())
        return path


def _words(row: dict[str, Any]) -> tuple[str, ...]:
    """Returns a row of the table of methods."""
    figures = (f"{row['mase']:.3f}", f"{row['log_density']:.3f}", f"{row['coverage']:.0%}", f"{row['cpu_seconds']:.2g}")
    return str(row["method"]), *figures


def score_past(every: Sequence[Series], horizon: int | None, origins: int, report: Report) -> Backtest:
    """Returns the scores of all methods on all series that are long enough for one origin."""
    found: list[dict[str, Any]] = []
    said: list[str] = []
    for done, series in enumerate(every):
        report(Standing(done, len(every), series.name))
        try:
            found += _scores(series, steps_of(series, horizon, None), origins, methods())
        except Refusal as why:
            said.append(str(why))
    if not found:
        raise Refusal(said[0])
    if "AutoETS" not in methods():
        said.append("With statsforecast installed (pip install statsforecast) its models are scored too.")
    return Backtest(pl.DataFrame(found), tuple(said))


def splits(series: Series, horizon: int, origins: int) -> list[Split]:
    """Returns the series up to each origin and the values that follow, the latest origin last.

    Origins are a horizon apart, or nearer together where the series is short.
    """
    there = np.flatnonzero(np.isfinite(series.values))
    least = max(FEWEST_TRAINING_VALUES, 2 * season_of(series) + 1)
    if len(there) <= least:
        raise _too_short(series, horizon, least)
    last = series.positions[there[-1]]
    room = last - horizon - series.positions[there[least - 1]]
    if room < 0:
        raise _too_short(series, horizon, least)
    stride = max(1.0, min(float(horizon), np.floor(room / max(origins - 1, 1))))
    count = min(origins, int(room // stride) + 1)
    made = [_split(series, last - horizon - k * stride, horizon) for k in reversed(range(count))]
    return [one for one in made if len(one.values)]


def _too_short(series: Series, horizon: int, least: int) -> Refusal:
    count = int(np.isfinite(series.values).sum())
    return Refusal(
        f"{series.name} has {count} values, but a backtest of {horizon} steps needs at least {least} before them: "
        "ask for a shorter horizon (--horizon)."
    )


def _split(series: Series, origin: float, horizon: int) -> Split:
    train = series.first(int(np.searchsorted(series.positions, origin, side="right")))
    after = (series.positions > origin) & (series.positions <= origin + horizon) & np.isfinite(series.values)
    return Split(train, series.positions[after], series.values[after])


def _scores(series: Series, horizon: int, origins: int, by: dict[str, Method]) -> list[dict[str, Any]]:
    """Returns a row for each method with its means over origins."""
    parts = splits(series, horizon, origins)
    rows = []
    for name, method in by.items():
        each = [_score(series, name, method, part) for part in parts]
        means = {figure: float(np.mean([e[figure] for e in each])) for figure in FIGURES}
        rows.append({"series": series.name, "method": name, "origins": len(parts)} | means)
    return rows


def _score(series: Series, name: str, method: Method, part: Split) -> dict[str, float]:
    """Returns the figures of one forecast; errors and densities are in mean absolute naive errors of the past."""
    scale = float(np.abs(lagged(part.train, season_of(part.train))).mean())
    if not scale > 0:
        raise Refusal(f"{series.name} does not differ from its past, so its errors have no scale: it is left out.")
    begun = process_time()
    said = _said(series, name, method, part)
    return {
        "mase": float(np.abs(part.values - said.point).mean()) / scale,
        "log_density": float(said.log_density.mean() + np.log(scale)),
        "coverage": float(np.mean((part.values >= said.low) & (part.values <= said.high))),
        "cpu_seconds": process_time() - begun,
    }


def _said(series: Series, name: str, method: Method, part: Split) -> Said:
    """Returns what a method says; a series on which one fails is left out for all, so that means are comparable."""
    try:
        said = method(part)
    except Refusal:
        raise
    except Exception as error:
        raise Refusal(f"{series.name} is left out: {name} failed on it ({type(error).__name__}: {error}).") from error
    if not all(np.isfinite(a).all() for a in (said.point, said.low, said.high)):
        raise Refusal(f"{series.name} is left out: {name} gave no number for some of its steps.")
    return said
