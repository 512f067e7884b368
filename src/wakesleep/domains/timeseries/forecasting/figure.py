"""The figure of forecasts: the latest values of each series, its point forecast and its bands."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure

from wakesleep.domains.figures import plain, save
from wakesleep.domains.timeseries.forecasting.forecasts import Forecast
from wakesleep.domains.timeseries.reading.series import Series

OBSERVED_COLOUR, AHEAD_COLOUR, CHANGE_COLOUR = "#1b6ca8", "#dc6a12", "#c2255c"
MOST_SERIES_DRAWN = 6
LIGHTEST_SHADE, DARKEST_SHADE = 0.15, 0.45
SHOWN_HORIZONS = 6
"""So many times the horizon of the past is drawn, and no less than two of the longest season."""
FIRST_DRAWN_YEAR, LAST_DRAWN_YEAR = 1, 9998
"""Matplotlib draws no dates beyond."""


def draw_forecasts(found: Sequence[Forecast], path: Path) -> Path:
    """Draws a panel for each of the first series."""
    shown = found[:MOST_SERIES_DRAWN]
    figure = Figure(figsize=(9.0, 2.9 * len(shown)), layout="constrained")
    for axis, each in zip(figure.subplots(len(shown), 1, squeeze=False)[:, 0], shown, strict=True):
        _panel(axis, each)
    return save(figure, path)


def _panel(axis: Axes, f: Forecast) -> None:
    series, ahead = f.series, f.ahead
    steps = ahead.height
    past = max(SHOWN_HORIZONS * steps, 2 * max(series.seasons, default=0))
    kept = series.positions > series.positions[-1] - past
    place = _places(series, steps)
    axis.plot(place(series.positions[kept]), series.values[kept], color=OBSERVED_COLOUR, lw=1, label="observed")
    future = place(series.future(steps))
    levels = sorted((int(name.removeprefix("lo-")) for name in ahead.columns if name.startswith("lo-")), reverse=True)
    for shade, level in zip(np.linspace(LIGHTEST_SHADE, DARKEST_SHADE, len(levels)), levels, strict=True):
        low, high = (ahead[f"{side}-{level}"].to_numpy() for side in ("lo", "hi"))
        axis.fill_between(future, low, high, color=AHEAD_COLOUR, alpha=shade, lw=0, label=f"{level} % band")
    axis.plot(future, ahead["mean"].to_numpy(), color=AHEAD_COLOUR, lw=1.3, label="forecast")
    _mark(axis, f, place, float(series.positions[kept][0]))
    axis.set_title(f.series.name, fontsize=9, loc="left")
    plain(axis)
    if np.asarray(future).dtype.kind == "M":
        ticks = AutoDateLocator(minticks=4, maxticks=9)
        axis.xaxis.set_major_locator(ticks)
        axis.xaxis.set_major_formatter(ConciseDateFormatter(ticks))
    axis.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _mark(axis: Axes, f: Forecast, place: Any, start: float) -> None:
    """Rings the outliers, and draws a line before each shift of the level, from a position on."""
    out = np.array([p for p in f.outliers if p >= start])
    if len(out):
        values = f.series.values[np.searchsorted(f.series.positions, out)]
        axis.plot(place(out), values, ls="", marker="o", mfc="none", mec=CHANGE_COLOUR, ms=7, label="outlier")
    for i, position in enumerate(p for p in f.shifts if p >= start):
        at = place(np.array([position]))[0]
        axis.axvline(at, color=CHANGE_COLOUR, lw=0.9, ls="--", label="" if i else "shift")


def _places(series: Series, steps: int) -> Any:
    """Returns the function from positions to places on the axis: dates where they can be drawn, else numbers."""
    ends = series.time_at([0.0, float(series.positions[-1]) + steps])
    if series.times is None:
        return series.time_at
    years = ends.astype("datetime64[Y]").astype(int) + 1970
    inside = years[0] >= FIRST_DRAWN_YEAR and years[1] <= LAST_DRAWN_YEAR
    return series.time_at if inside else lambda positions: positions
