"""The tables of what explaining a series costs and of how right its words are, from their results files."""

from collections.abc import Callable
from pathlib import Path

from wakesleep.errors import Refusal
from wakesleep.paper.results import Row, load
from wakesleep.paper.tables import markdown


def table_speed(folder: Path) -> str:
    """Returns the CPU seconds of an answer by length, kind of times, number of series and start."""
    rows = _rows(folder / "benchmark-series.json", "series_speed.py")
    lines = [[f"{r['n']:,} points", f"{r['cpu_s']:.3f}"] for r in rows if r["what"] == "length"]
    lines += [[f"144 points, {r['kind']}", f"{r['cpu_s']:.3f}"] for r in rows if r["what"] == "times"]
    searched = [r for r in rows if r["what"] == "searched"]
    lines += [[f"{r['n']:,} points, no season given", f"{r['cpu_s']:.3f}"] for r in searched]
    lines += [[f"{r['series']} series of {r['n']} points", f"{r['cpu_s']:.1f}"] for r in rows if r["what"] == "many"]
    lines += [[f"the command, {r['state']} process", f"{r['cpu_s']:.1f}"] for r in rows if r["what"] == "cold"]
    return markdown(["explanation, forecast and sentences", "CPU s"], lines)


def table_words(folder: Path) -> str:
    """Returns the share of drawn series of which parts, season and shift are rightly told, by true parts."""
    rows = _rows(folder / "benchmark-series-words.json", "series_words.py")
    kinds = list(dict.fromkeys(tuple(r["true"]) for r in rows))
    lines = [[" + ".join(k), *_shares([r for r in rows if tuple(r["true"]) == k])] for k in kinds]
    return markdown(
        ["drawn with noise and", "parts right", "season", "shift's date"], [*lines, ["all", *_shares(rows)]]
    )


def _shares(rows: list[Row]) -> list[str]:
    counted = [[r[k] for r in rows if k in r] for k in ("parts", "season", "shift")]
    return [f"{sum(c)} of {len(c)}" if c else "" for c in counted]


def _rows(path: Path, script: str) -> list[Row]:
    table = load(path)
    if table is None:
        raise Refusal(f"{path} does not exist: make it with python benchmarks/{script}.")
    return table["rows"]


TABLES: dict[str, Callable[[Path], str]] = {"series-speed": table_speed, "series-words": table_words}
