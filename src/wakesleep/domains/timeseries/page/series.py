"""The page of a series: parts that can be taken out, a forecast of any length, outliers and shifts, sentences."""

import math
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wakesleep.domains.pages import Asked, Page
from wakesleep.errors import Refusal

if TYPE_CHECKING:
    import polars as pl

    from wakesleep.domains.timeseries.reading.series import Series

FOLDER = Path(__file__).parent
EXAMPLE = FOLDER.parent / "co2.csv"
PASTED_NAME = "the series"
MOST_POINTS = 5_000
LONGEST_HORIZON = 500
LEVEL_PERCENT = 90
CHANGES_SAID = {"jump": "shift of level", "bend": "change of slope"}


def context(asked: Asked) -> dict[str, Any]:
    """Returns what the page shows at first: a file that was opened, or an example."""
    file = asked.word("file")
    return {
        "file": file,
        "name": asked.upload().name if file else "",
        "values": "" if file else EXAMPLE.read_text(encoding="utf-8").strip(),
        "longest": LONGEST_HORIZON,
    }


def explain(asked: Asked) -> dict[str, Any]:
    """Answers the parts, the fit, the changes, the sentences and the forecast of a series."""
    from wakesleep.domains.timeseries.explain import explain_series

    season = int(asked.number("season", 0, 0, 100_000)) or None
    given, names = _given(asked, season)
    if len(given.values) > MOST_POINTS:
        raise Refusal(f"{given.name} has {len(given.values):,} values, but the page takes at most {MOST_POINTS:,}.")
    found: Any = explain_series(given.values, given.times if given.times is not None else given.positions, season)
    kept = asked.shelf.keep(found)
    parts = found.components()
    bands = ("-lo-", "-hi-")
    names_of_parts = [n for n in parts.columns if n not in ("time", "observed", "residual") and not _has(n, bands)]
    outliers = found.outliers()
    return {
        "explained": kept,
        "name": given.name,
        "series": names,
        "times": _times(parts),
        "labels": [given.label(float(p)) for p in given.positions[-len(parts) :]],
        "observed": _numbers(parts["observed"]),
        "parts": {n: _numbers(parts[n]) for n in names_of_parts},
        "outliers": [
            {"time": str(row["time"]), "value": row["value"], "expected": row["expected"]}
            for row in outliers.iter_rows(named=True)
        ],
        "changes": _changes(found),
        "sentences": found.sentences(),
        **_ahead(found, asked),
    }


def forecast(asked: Asked) -> dict[str, Any]:
    """Answers the forecast of another length, of a series that is explained already."""
    found = asked.shelf.kept(asked.word("explained"))
    if not hasattr(found, "forecast"):
        raise Refusal("No series is explained yet: give some values first.")
    return _ahead(found, asked)


def _ahead(found: Any, asked: Asked) -> dict[str, Any]:
    """Returns the forecast: medians and the ends of the band."""
    horizon = int(asked.number("horizon", 12, 1, LONGEST_HORIZON))
    ahead = found.forecast(horizon, levels=(LEVEL_PERCENT,))
    columns = {"mean": "mean", "low": f"lo-{LEVEL_PERCENT}", "high": f"hi-{LEVEL_PERCENT}"}
    positions = found.series.future(horizon)
    labels = [found.series.label(float(p)) for p in positions]
    return {"ahead": {"times": _times(ahead), "labels": labels} | {k: _numbers(ahead[c]) for k, c in columns.items()}}


def _given(asked: Asked, season: int | None) -> tuple["Series", list[str]]:
    """Returns the series that was asked for, and the names of all that the file has."""
    from wakesleep.domains.timeseries.reading.series import series_of
    from wakesleep.domains.timeseries.reading.tables import read_series

    if asked.word("file"):
        found = read_series(asked.upload().path, season=season)
    else:
        lines = [line.strip() for line in asked.word("values").splitlines() if line.strip()]
        if not lines:
            raise Refusal("There are no values yet: paste some, one a line, or draw them.")
        numbers = [_number(line) for line in lines]
        if all(n is not None for n in numbers):
            return replace(series_of(numbers, None, season), name=PASTED_NAME), [PASTED_NAME]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pasted.csv"
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            found = read_series(path, season=season)
    names = [one.name for one in found]
    wanted = asked.word("series") or names[0]
    for one in found:
        if one.name == wanted:
            return one, names
    raise Refusal(f"There is no series {wanted[:40]!r}; there are {', '.join(names)[:200]}.")


def _number(text: str) -> float | None:
    """Returns a number, NaN for a missing one, or None for another text."""
    try:
        return float(text.replace("_", "?"))
    except ValueError:
        return math.nan if text.lower() in ("", "na", "null", "-") else None


def _times(frame: "pl.DataFrame") -> list[float]:
    """Returns the times as numbers: seconds since 1970 of dates, else the positions."""
    import polars as pl

    time = frame["time"]
    seconds = time.dt.epoch("s") if time.dtype.is_temporal() else time
    return [float(t) for t in seconds.cast(pl.Float64)]


def _numbers(column: "pl.Series") -> list[float | None]:
    return [None if v is None or not math.isfinite(v) else float(v) for v in column]


def _changes(found: Any) -> list[dict[str, str]]:
    """Returns shifts of level and changes of slope, with their times in words."""
    positions = found.posterior.observed.positions
    return [
        {"what": CHANGES_SAID.get(c.kind, c.kind), "label": found.series.label(float(positions[c.index]))}
        for c in found.changes
        if c.kind != "outlier"
    ]


def _has(name: str, marks: tuple[str, ...]) -> bool:
    return any(mark in name for mark in marks)


SERIES_PAGE = Page(
    name="Series",
    idea="Paste, drop or draw a series: see its trend, its season, what comes next and what does not fit.",
    folder=FOLDER,
    scripts=("series.js",),
    context=context,
    answers={"explain": explain, "forecast": forecast},
    opens=True,
)
