"""The tables and the figure of the time series experiments, from their results files."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wakesleep.domains.figures import plain, save
from wakesleep.domains.timeseries.data import Settings, ucr
from wakesleep.domains.timeseries.expressions.explanation import Explanation, Outlook
from wakesleep.domains.timeseries.expressions.knowledge import Knowledge
from wakesleep.domains.timeseries.expressions.search import Found
from wakesleep.domains.timeseries.language import Kernel, program
from wakesleep.domains.timeseries.records import scale_of, shorten
from wakesleep.errors import Refusal
from wakesleep.paper.results import Row, load
from wakesleep.paper.tables import markdown

MEASURE_FORMATS = {"log_density": "{:.2f}", "rmse": "{:.4g}", "mase": "{:.2f}", "coverage": "{:.0%}"}
OBSERVED_COLOUR, AHEAD_COLOUR = "#1b6ca8", "#dc6a12"
MAIN_ALGORITHMS = ("MWS", "RWS", "VIMCO")


def table_measure(folder: Path, measure: str = "log_density") -> str:
    """Returns the table of one measure by series and method, with its mean; the best of a line is bold."""
    rows = _rows(folder, "extrapolation")
    methods = _methods(rows)
    by = {(r["series"], r["method"]): r[measure] for r in rows}
    names = list(dict.fromkeys(r["series"] for r in rows))
    lines = [[name, *_line([by.get((name, m)) for m in methods], measure)] for name in names]
    whole = [n for n in names if all((n, m) in by for m in methods)]
    means = [float(np.mean([by[n, m] for n in whole])) if whole else None for m in methods]
    if measure != "rmse":
        lines.append([f"mean of {len(whole)}", *_line(means, measure)])
    return markdown([measure.replace("_", " "), *methods], lines)


def _methods(rows: list[Row]) -> list[str]:
    """Returns the methods that have rows, ours first."""
    return sorted(dict.fromkeys(r["method"] for r in rows), key=lambda method: method != "wakesleep")


def _line(values: list[float | None], measure: str) -> list[str]:
    known = [v for v in values if v is not None]
    worth = {"log_density": lambda v: v, "coverage": lambda v: -abs(v - 0.9)}.get(measure, lambda v: -v)
    best = max(known, key=worth)
    said = ["" if v is None else MEASURE_FORMATS[measure].format(v) for v in values]
    return [f"**{text}**" if v == best else text for v, text in zip(values, said, strict=True)]


def table_timeseries(folder: Path) -> str:
    """Returns the table of means over all series by every method."""
    rows = _rows(folder, "extrapolation")
    methods = _methods(rows)
    names = {r["series"] for r in rows}
    whole = [n for n in names if {r["method"] for r in rows if r["series"] == n} == set(methods)]
    lines = []
    for m in methods:
        mine = [r for r in rows if r["method"] == m and r["series"] in whole]
        density, mase, coverage = (float(np.mean([r[k] for r in mine])) for k in ("log_density", "mase", "coverage"))
        ranks = [1 + sum(o["log_density"] > r["log_density"] for o in rows if o["series"] == r["series"]) for r in mine]
        lines.append([m, f"{density:.3f}", f"{np.mean(ranks):.2f}", f"{mase:.2f}", f"{coverage:.0%}"])
    head = [f"{len(whole)} classic series", "log density", "mean rank", "MASE", "coverage of the 90 % band"]
    return markdown(head, lines)


def table_bound(folder: Path) -> str:
    """Returns the table of each algorithm's bound over the last visit to each series, and with more proposals."""
    rows = _rows(folder, "bound")
    lines = []
    for name in (a for a in MAIN_ALGORITHMS if any(r["algorithm"] == a for r in rows)):
        mine = [r for r in rows if r["algorithm"] == name]
        after = [f"{np.mean([r[k] for r in mine]):.1f}" if k in mine[0] else "" for k in ("bound", "bound_5k")]
        last = float(np.mean([last_visits(r) for r in mine]))
        lines.append(
            [name, f"{last:.1f}", f"{mine[0]['likelihoods']:,}", *(after if "bound_5k" in mine[0] else ("", ""))]
        )
    head = ["K = 10", "bound at the last visit", "likelihoods a series by then", "10 more proposals", "50 more"]
    return markdown(head, lines)


def table_archive(folder: Path) -> str:
    """Returns the table of the appendix's experiment at its size: the longest run of each algorithm, over its seeds."""
    table = load(folder / "timeseries-ucr.json")
    if table is None:
        raise Refusal(f"{folder} has no results yet: make them with wakesleep reproduce timeseries-ucr.")
    lines = []
    for name in (a for a in MAIN_ALGORITHMS if any(r["algorithm"] == a for r in table["rows"])):
        mine = [r for r in table["rows"] if r["algorithm"] == name]
        mine = [r for r in mine if r["steps"] == max(r["steps"] for r in mine)]
        each = [last_visits(r) for r in mine]
        spread = f" ({min(each):.1f} to {max(each):.1f})" if len(each) > 1 else ""
        visits = mine[0]["steps"] * mine[0]["batch_size"] / mine[0]["series"]
        first = f"{np.mean([first_visits(r) for r in mine]):.1f}"
        after = [_mean_of(mine, key, ".1f") for key in ("bound", "bound_5k")]
        counts = [_mean_of(mine, key, ".0f") for key in ("unexplained", "without_program", "cpu_seconds")]
        lines.append([name, str(len(mine)), f"{visits:g}", first, f"{np.mean(each):.1f}{spread}", *after, *counts])
    row = table["rows"][0]
    size, k = f"{row['series']:,} series of {row['points']} points, K = {row['K']}", row["K"]
    bounds = ["bound, first visit", "bound, last visit", f"{k} more proposals", f"{5 * k} more"]
    return markdown([size, "seeds", "visits", *bounds, "unexplained", "never visited", "CPU s a seed"], lines)


def _mean_of(rows: list[Row], key: str, form: str) -> str:
    """Returns the mean of a number over the seeds that have it, as text."""
    there = [r[key] for r in rows if r.get(key) is not None]
    return f"{np.mean(there):{form}}" if there else ""


def first_visits(row: Row) -> float:
    """Returns the mean bound of the steps in which every series was visited for the first time."""
    steps = row["series"] // row["batch_size"]
    total, counted, before = 0.0, 0, 0
    for step, value in row["curve"]:
        count = max(0, min(step, steps) - before)
        total, counted, before = total + count * value, counted + count, step
    return total / counted


def last_visits(row: Row) -> float:
    """Returns the mean bound of the steps in which every series was visited for the last time."""
    steps = row["series"] // row["batch_size"]
    total, counted, before = 0.0, 0, 0
    for step, value in row["curve"]:
        count = max(0, step - max(before, row["steps"] - steps))
        total, counted, before = total + count * value, counted + count, step
    return total / counted


def table_recovery(folder: Path) -> str:
    """Returns the table of how often each true expression, or a better one, was found."""
    rows = _rows(folder, "recovery")
    lines = []
    for truth in dict.fromkeys(r["truth"] for r in rows):
        mine = [r for r in rows if r["truth"] == truth]
        best, inside = sum(r["best"] == truth for r in mine), sum(r["rank"] is not None for r in mine)
        lines.append([truth, *(f"{n} of {len(mine)}" for n in (sum(r["recovered"] for r in mine), inside, best))])
    total = [sum(r["recovered"] for r in rows), sum(r["rank"] is not None for r in rows)]
    lines.append(["all", *(f"{n} of {len(rows)}" for n in (*total, sum(r["best"] == r["truth"] for r in rows)))])
    return markdown(["drawn from", "found, or a better one", "in memory", "the most probable"], lines)


def table_speed(folder: Path) -> str:
    """Returns the table of milliseconds for a likelihood evaluation, alone and with its gradient."""
    rows = [r for r in _benchmark(folder) if r["what"] == "likelihood"]
    keys = ("toeplitz_ms", "dense_ms", "toeplitz_gradient_ms", "dense_gradient_ms")
    lines = [[f"n = {r['n']}", *(f"{r[k]:.3f}" for k in keys), f"{r['gradient_ratio']:.1f}"] for r in rows]
    return markdown(["CPU ms", "Toeplitz", "dense", "Toeplitz, gradient", "dense, gradient", "ratio"], lines)


def table_memory(folder: Path) -> str:
    """Returns the table of bounds after each visit, a program's fit remembered or begun anew."""
    rows = [r for r in _benchmark(folder) if r["what"] == "memory"]
    visits = [str(v) for v in rows[0]["visits"]] if rows else []
    lines = [
        [f"{r['expression']}, {kind}", *(f"{v:.1f}" for v in r[kind])] for r in rows for kind in ("remembered", "anew")
    ]
    return markdown(["median bound after visit", *visits], lines)


def table_explain(folder: Path) -> str:
    """Returns the table of seconds to explain a new series of 144 points."""
    rows = [r for r in _benchmark(folder) if r["what"] == "explain"]
    lines = [[r["state"], f"{r['wall_s']:.1f}", f"{r['cpu_s']:.1f}", str(r["programs"])] for r in rows]
    return markdown(["144 points", "wall seconds", "CPU seconds", "programs fitted"], lines)


def draw_timeseries(folder: Path) -> list[Path]:
    """Draws the paper's figure: a dozen series of the archive with expression and extrapolation."""
    row = next((r for r in _rows(folder, "bound") if r["algorithm"] == "MWS"), None)
    if row is None:
        return []
    figure = Figure(figsize=(13, 12.5))
    axes = figure.subplots(4, 3)
    figure.subplots_adjust(hspace=0.5, wspace=0.15)
    for axis, i, shown in zip(axes.flat, range(len(row["shown"])), row["shown"], strict=False):
        e = _restore(i, shown, row["points"])
        _extrapolation(axis, e, e.outlook(0.3))
        axis.set(yticks=[])
        axis.tick_params(labelsize=6)
        axis.set_title(f"{e.record.name}\n{shown['expression']}", fontsize=8, loc="left", family="monospace")
    return [save(figure, folder / "timeseries.png")]


def _extrapolation(axis: Axes, e: Explanation, outlook: Outlook) -> None:
    """Draws a series, and its median and credible band beyond the last time."""
    times, middle, low, high = outlook
    axis.plot(e.record.times, e.record.values, color=OBSERVED_COLOUR, lw=1)
    axis.fill_between(times, low, high, color=AHEAD_COLOUR, alpha=0.25, lw=0)
    axis.plot(times, middle, color=AHEAD_COLOUR, lw=1.2)
    axis.set_xlim(e.record.times[0], times[-1])
    plain(axis)


def _restore(number: int, shown: dict[str, Any], points: int) -> Explanation:
    """Returns an explanation from what the results keep of it."""
    record = shorten(ucr()[number], points)
    tokens = program(shown["expression"], Settings().length, scaled=False)
    z = Kernel(*(jnp.asarray(a) for a in (tokens, np.float32(shown["mean"]), np.float32(shown["root"]))))
    knowledge = Knowledge(None, {"settings": {"scaled": False}})  # type: ignore[arg-type]
    return Explanation(record, False, scale_of(record), [Found(z, 0.0)], knowledge, 0.0)


def _rows(folder: Path, what: str) -> list[Row]:
    table = load(folder / "timeseries.json")
    if table is None:
        raise Refusal(f"{folder} has no results yet: make them with wakesleep reproduce timeseries.")
    return [r for r in table["rows"] if r["what"] == what]


def _benchmark(folder: Path) -> list[Row]:
    table = load(folder / "benchmark-timeseries.json")
    return table["rows"] if table else []


DRAW: dict[str, Callable[[Path], list[Path]]] = {"timeseries": draw_timeseries}
TABLES: dict[str, Callable[[Path], str]] = {
    "timeseries": table_timeseries,
    "timeseries-density": table_measure,
    "timeseries-rmse": partial(table_measure, measure="rmse"),
    "timeseries-mase": partial(table_measure, measure="mase"),
    "timeseries-coverage": partial(table_measure, measure="coverage"),
    "timeseries-bound": table_bound,
    "timeseries-ucr": table_archive,
    "timeseries-recovery": table_recovery,
    "timeseries-speed": table_speed,
    "timeseries-memory": table_memory,
    "timeseries-explain": table_explain,
}
