"""The figure of explained series: what was observed, how it goes on, and the parts that it is made of."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from wakesleep.domains.figures import plain, save
from wakesleep.domains.timeseries.explain.explanation import Explanation, Outlook
from wakesleep.domains.timeseries.explain.findings import Finished
from wakesleep.domains.timeseries.explain.neighbours import Part, parts_of
from wakesleep.domains.timeseries.explain.prediction import BAND_PROBABILITY
from wakesleep.domains.timeseries.explain.wording import say
from wakesleep.domains.timeseries.language import WN, flatten, text_of

OBSERVED_COLOUR, AHEAD_COLOUR, PART_COLOUR = "#1b6ca8", "#dc6a12", "#495057"
MOST_SERIES_DRAWN, SENTENCE_CHARACTERS = 6, 120


def draw_series(found: Sequence[Finished], path: Path) -> Path:
    """Draws each series and its future, with the parts of its best expression below."""
    shown = found[:MOST_SERIES_DRAWN]
    figure = Figure(figsize=(9.5, 4.6 * len(shown)))
    for part, finished in zip(figure.subfigures(len(shown), 1, squeeze=False)[:, 0], shown, strict=True):
        _draw(part, finished)
    return save(figure, path)


def _draw(figure: SubFigure, finished: Finished) -> None:
    e = finished.explained
    z = e.found[0].z
    tokens = np.asarray(z.tokens).tolist()
    parts = [p for p in parts_of(z, e.scaled) if p.term != (WN,)]
    grid = figure.add_gridspec(2, max(len(parts), 1), height_ratios=(1.7, 1), hspace=0.6, wspace=0.3, top=0.84)
    extrapolation(figure.add_subplot(grid[0, :]), e, finished.outlook)
    title = f"{e.record.name}: {text_of(tokens)}" + " (of the logarithm)" * e.log
    figure.text(0.06, 0.985, title, fontsize=10, family="monospace", weight="bold", va="top")
    figure.text(0.06, 0.93, textwrap.fill(e.sentence(z), SENTENCE_CHARACTERS), fontsize=8.5, va="top")
    _parts(figure, grid, finished, parts)


def extrapolation(axis: Axes, e: Explanation, outlook: Outlook, legend: bool = True) -> None:
    """Draws the series, and its median and credible band beyond the last time."""
    back = np.exp if e.log else (lambda a: a)
    times, middle, low, high = outlook
    axis.plot(e.record.times, back(e.record.values), color=OBSERVED_COLOUR, lw=1, label="observed")
    axis.fill_between(
        times, low, high, color=AHEAD_COLOUR, alpha=0.25, lw=0, label=f"{100 * BAND_PROBABILITY:.0f} % credible"
    )
    axis.plot(times, middle, color=AHEAD_COLOUR, lw=1.2, label="median")
    axis.set_xlim(e.record.times[0], times[-1])
    plain(axis)
    _ticks(axis, e)
    if legend:
        axis.legend(fontsize=7, frameon=False, loc="upper left", ncols=3)


def _ticks(axis: Axes, e: Explanation) -> None:
    if e.record.origin:
        marks = np.linspace(e.record.times[0], axis.get_xlim()[1], 7)[:-1]
        axis.set_xticks(marks, [e.label(t) for t in marks])
    else:
        axis.locator_params(axis="x", nbins=7)


def _parts(figure: SubFigure, grid: Any, finished: Finished, shown: list[Part]) -> None:
    """Draws each term's own part with twice its deviation, over the series and beyond."""
    e, times = finished.explained, finished.times
    terms, means, deviations = finished.parts
    units = e.units(e.found[0].z)
    every = parts_of(e.found[0].z, e.scaled)
    assert [p.term for p in every] == terms
    for column, part in enumerate(shown):
        axis = figure.add_subplot(grid[1, column])
        i = every.index(part)
        spread = 2 * deviations[i]
        axis.fill_between(times, means[i] - spread, means[i] + spread, color=PART_COLOUR, alpha=0.15, lw=0)
        axis.plot(times, means[i], color=PART_COLOUR, lw=0.9)
        axis.axvline(e.record.times[-1], color=AHEAD_COLOUR, lw=0.7, ls=":")
        said = textwrap.fill(say(part, units, e.scaled), max(24, 110 // len(shown)))
        axis.set_title(f"{text_of(flatten((part.term,)))}: {said}", fontsize=7, loc="left")
        plain(axis)
        axis.tick_params(labelsize=6)
        if e.record.origin:
            axis.set_xticks([times[0], e.record.times[-1]], [e.label(times[0]), e.label(e.record.times[-1])])
        else:
            axis.locator_params(axis="x", nbins=4)
