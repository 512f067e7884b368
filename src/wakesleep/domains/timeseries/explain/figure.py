"""The figure of explained series: what was observed, how it goes on, what changed, and its parts."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from wakesleep.domains.figures import plain, save
from wakesleep.domains.timeseries.explain.explained import BAND_PERCENT
from wakesleep.domains.timeseries.explain.findings import HIGH, LOW, Finished
from wakesleep.domains.timeseries.reading.series import Series

OBSERVED_COLOUR, AHEAD_COLOUR, PART_COLOUR, CHANGE_COLOUR = "#1b6ca8", "#dc6a12", "#495057", "#c2255c"
MOST_SERIES_DRAWN, SENTENCE_CHARACTERS, MOST_LINES = 6, 125, 7
MOST_TICKS = 9
LEAST_DRAWN_SHARE = 0.01
"""A season or an echo that makes less than this share of the variance has no panel."""
MOST_ROUNDS_DRAWN = 12
"""Of a season with more rounds the latest are drawn, so that its shape can be seen."""


def draw_series(found: Sequence[Finished], path: Path) -> Path:
    """Draws each series and its future, with its parts below."""
    shown = found[:MOST_SERIES_DRAWN]
    figure = Figure(figsize=(9.5, 5.2 * len(shown)))
    for part, finished in zip(figure.subfigures(len(shown), 1, squeeze=False)[:, 0], shown, strict=True):
        _draw(part, finished)
    return save(figure, path)


def _draw(figure: SubFigure, f: Finished) -> None:
    names = _shown_parts(f)
    whole = [s.replace(" %", "\N{NO-BREAK SPACE}%") for s in f.sentences]
    lines = [line for s in whole for line in textwrap.wrap(s, SENTENCE_CHARACTERS)][:MOST_LINES]
    top = 0.9 - 0.032 * len(lines)
    grid = figure.add_gridspec(2, len(names), height_ratios=(1.6, 1), hspace=0.45, wspace=0.3, top=top, right=0.86)
    _whole(figure.add_subplot(grid[0, :]), f)
    figure.text(0.06, 0.985, f.explained.series.name, fontsize=10, weight="bold", va="top")
    figure.text(0.06, 0.945, "\n".join(lines), fontsize=8, va="top")
    for column, name in enumerate(names):
        _part(figure.add_subplot(grid[1, column]), f, name)


def _shown_parts(f: Finished) -> list[str]:
    """Returns the parts that have a panel: the trend, and what makes enough of the variance."""
    names = [n for n in f.explained.parts.parts.names if n in f.parts.columns]
    least = LEAST_DRAWN_SHARE * np.nanvar(f.explained.observed_values())
    return [n for n in names if n == "trend" or f.parts[n].to_numpy().var() >= least]


def _whole(axis: Axes, f: Finished) -> None:
    """Draws the series, its fit, its changes, and the median and band beyond the last time."""
    e = f.explained
    t, future = e.parts.positions, e.series.future(f.ahead.height)
    seen, middle = e.observed_values(), f.ahead["mean"].to_numpy()
    axis.plot(t, seen, color=OBSERVED_COLOUR, lw=1, marker="." if len(t) < 60 else "", ms=4)
    axis.fill_between(future, f.ahead[LOW].to_numpy(), f.ahead[HIGH].to_numpy(), color=AHEAD_COLOUR, alpha=0.25, lw=0)
    axis.plot(future, middle, color=AHEAD_COLOUR, lw=1.2)
    for i, _ in f.facts.shifts:
        axis.axvline(t[i] - 0.5, color=CHANGE_COLOUR, lw=0.9, ls="--")
    for i, _, _ in f.facts.bends:
        axis.axvline(t[i], color=CHANGE_COLOUR, lw=0.9, ls=":")
    out = list(f.facts.outliers)
    axis.plot(t[out], seen[out], ls="", marker="o", mfc="none", mec=CHANGE_COLOUR, ms=7)
    axis.set_xlim(t[0], future[-1])
    plain(axis)
    ticks(axis, e.series, float(t[0]), float(future[-1]))
    _legend(axis, f)


def _legend(axis: Axes, f: Finished) -> None:
    """Writes the names of the lines to the right of the data."""
    words = [
        ("observed", OBSERVED_COLOUR, True),
        ("median ahead", AHEAD_COLOUR, True),
        (f"{BAND_PERCENT} % band", AHEAD_COLOUR, True),
        ("shift", CHANGE_COLOUR, bool(f.facts.shifts)),
        ("change of slope", CHANGE_COLOUR, bool(f.facts.bends)),
        ("outlier", CHANGE_COLOUR, bool(f.facts.outliers)),
    ]
    shown = [(word, colour) for word, colour, there in words if there]
    for i, (word, colour) in enumerate(shown):
        axis.annotate(word, (1.01, 0.97 - 0.09 * i), xycoords="axes fraction", color=colour, fontsize=7.5, va="top")


def _part(axis: Axes, f: Finished, name: str) -> None:
    e, frame = f.explained, f.parts
    t, title, start = e.parts.positions, name, 0
    if name.startswith("season"):
        length = float(name.removeprefix("season "))
        title = f"season of {length * e.series.clock.units_a_step:g} {e.series.unit}s"
        start = int(np.searchsorted(t, t[-1] - MOST_ROUNDS_DRAWN * length))
        title += f", the latest {MOST_ROUNDS_DRAWN} rounds" * bool(start)
    low, high = (frame[f"{name}-{side}-{BAND_PERCENT}"].to_numpy()[start:] for side in ("lo", "hi"))
    axis.fill_between(t[start:], low, high, color=PART_COLOUR, alpha=0.18, lw=0)
    axis.plot(t[start:], frame[name].to_numpy()[start:], color=PART_COLOUR, lw=0.9)
    axis.set_title(title, fontsize=8, loc="left")
    plain(axis)
    axis.tick_params(labelsize=7)
    ticks(axis, e.series, float(t[start]), float(t[-1]), most=4)


def ticks(axis: Axes, series: Series, start: float, last: float, most: int = MOST_TICKS) -> None:
    """Puts ticks on round times: whole years, or whole months or days where there are few, or plain numbers."""
    first, end = series.time_at(np.array([start, last]))
    if series.times is None:
        round_times = MaxNLocator(most).tick_values(first, end)
        inside = round_times[(round_times >= first) & (round_times <= end)]
        axis.set_xticks(series.clock.position_of(inside), [f"{time:.6g}" for time in inside])
        return
    first, end = first.astype("datetime64[s]"), end.astype("datetime64[s]")
    for letter, steps in (
        ("Y", (1, 2, 5, 10, 20, 50, 100)),
        ("M", (1, 2, 3, 6)),
        ("D", (1, 2, 5, 10)),
        ("h", (1, 3, 6, 12)),
    ):
        for step in steps:
            marks = _marks(first, end, letter, step)
            if 2 <= len(marks) <= most:
                where = series.clock.position_of(marks.astype("datetime64[s]"))
                words = [str(m).replace("T", " ") for m in marks.astype(f"datetime64[{letter}]")]
                axis.set_xticks(where, words)
                return


def _marks(first: np.datetime64, end: np.datetime64, letter: str, step: int) -> np.ndarray:
    """Returns the beginnings of calendar units between two times that are whole multiples of a step."""
    numbers = np.arange(
        first.astype(f"datetime64[{letter}]").astype(int), end.astype(f"datetime64[{letter}]").astype(int) + 1
    )
    epoch = 1970 if letter == "Y" else 0
    marks = numbers[(numbers + epoch) % step == 0].astype(f"datetime64[{letter}]")
    return marks[(marks >= first) & (marks <= end)]
