"""Expressions and series in words and pictures."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import FigureBase

from wakesleep.domains.timeseries.kernels import IDLE, VARIABLE_KINDS, layout
from wakesleep.domains.timeseries.language import Kernel, text_of
from wakesleep.domains.timeseries.likelihood import Series

MOST_KERNELS_DRAWN = 5
SERIES_COLOUR, BAR_COLOUR = "#1b6ca8", "#4c6ef5"


def show(z: Kernel) -> str:
    """Returns the expression."""
    return text_of(np.asarray(z.tokens).tolist())


def words(x: Series) -> list[float]:
    """Returns the values, rounded."""
    return [round(float(v), 4) for v in np.asarray(x.values)[np.asarray(x.present)]]


def variables(z: Kernel, scaled: bool) -> list[tuple[str, float, float]]:
    """Returns the kind, median and spread (in log-space) of each continuous variable, in the order of the leaves."""
    kind = np.asarray(layout(jnp.asarray(z.tokens), scaled).kind)
    spread = np.sqrt(np.sum(np.asarray(z.root) ** 2, axis=1))
    found = [(VARIABLE_KINDS[k], i) for i, k in enumerate(kind.tolist()) if k < IDLE]
    return [(name, float(np.exp(z.mean[i])), float(spread[i])) for name, i in found]


def picture(figure: FigureBase, x: Series, programs: Any, evaluator: Any) -> None:
    """Draws the series, and beside it the best expressions, each with a bar for its probability."""
    left, right = figure.subplots(1, 2, width_ratios=(1.4, 1))
    there = np.asarray(x.present)
    left.plot(np.asarray(x.times)[there] + 0.5, np.asarray(x.values)[there], color=SERIES_COLOUR, lw=1)
    left.set(xticks=[], yticks=[])
    left.spines[["top", "right"]].set_visible(False)
    drawn = programs[:MOST_KERNELS_DRAWN]
    places = np.arange(len(drawn))
    right.barh(places, [p for _, p in drawn], height=0.3, color=BAR_COLOUR, align="edge")
    for place, (z, p) in zip(places, drawn, strict=True):
        right.text(0.0, place - 0.08, f"{show(z)}   {100 * p:.0f} %", family="monospace", fontsize=8, va="bottom")
    right.set(xlim=(0, 1), ylim=(MOST_KERNELS_DRAWN - 0.3, -0.6))
    right.axis("off")
