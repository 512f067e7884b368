"""The page of a series: parts that can be taken out, a forecast of any length, outliers and shifts, sentences."""

import math
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wakesleep.domains.pages import Asked, Page
from wakesleep.errors import Refusal

if TYPE_CHECKING:
    import polars as pl

    from wakesleep.domains.timeseries.explain.explained import Explained
    from wakesleep.domains.timeseries.reading.series import Series

FOLDER = Path(__file__).parent
EXAMPLE_FILE = FOLDER.parent / "co2.csv"
PASTED_NAME = "the series"
MOST_SERIES_POINTS = 5_000
LONGEST_HORIZON = 500
LEVEL_PERCENT = 90
LONGEST_AT_ONCE, LOOKED_AT_FIRST = 600, 300
"""A series with more values is first looked at by its latest ones alone, so that the first answer comes soon."""
CHANGES_SAID = {"outlier": "outlier", "shift": "shift of level", "bend": "change of slope"}


def context(asked: Asked) -> dict[str, Any]:
    """Returns what the page shows at first: a file that was opened, or an example."""
    file = asked.word("file")
    return {
        "file": file,
        "name": asked.upload().name if file else "",
        "values": "" if file else EXAMPLE_FILE.read_text(encoding="utf-8").strip(),
        "longest": LONGEST_HORIZON,
    }


def explain(asked: Asked) -> Iterator[dict[str, Any]]:
    """Streams what is found of a series: of a long one a first look at its end, then of all of it, then its changes."""
    from wakesleep.domains.timeseries.explain.explained import is_yearly, stages
    from wakesleep.domains.timeseries.reading.series import series_of

    season = int(asked.number("season", 0, 0, 100_000)) or None
    read, names = _given(asked, season)
    given = series_of(read, None, season)
    count = len(given.values)
    if count > MOST_SERIES_POINTS:
        raise Refusal(f"{given.name} has {count:,} values, but the page takes at most {MOST_SERIES_POINTS:,}.")
    if count > LONGEST_AT_ONCE:
        first = next(stages(_latest(given, LOOKED_AT_FIRST), cycles=season is None))
        said = f"a first look at the latest {LOOKED_AT_FIRST:,} of {count:,} values"
        yield {"said": said, "series": names, **described(first, asked)}
    for i, found in enumerate(stages(given, yearly=is_yearly(given, season), cycles=season is None)):
        if asked.stopped():
            return
        said = "shifts and outliers included" if i else "shifts and outliers not yet sought"
        yield {"said": said, "series": names, **described(found, asked)}


def _latest(given: "Series", count: int) -> "Series":
    """Returns the last values of a series, with the seasons that these hold at least twice."""
    positions = given.positions[-count:]
    span = float(positions[-1] - positions[0])
    return replace(
        given,
        values=given.values[-count:],
        positions=positions,
        times=None if given.times is None else given.times[-count:],
        seasons=tuple(s for s in given.seasons if 2 * s <= span + 1),
    )


def described(found: "Explained", asked: Asked) -> dict[str, Any]:
    """Returns the parts, the fit, the changes, the sentences and the forecast of an explained series."""
    parts = found.components()
    bands = ("-lo-", "-hi-")
    names = [n for n in parts.columns if n not in ("time", "observed", "residual") and not _has(n, bands)]
    positions = found.parts.positions
    return {
        "explained": asked.shelf.keep(found),
        "name": found.series.name,
        "times": _times(parts),
        "labels": [found.series.label(float(p)) for p in positions],
        "observed": _numbers(parts["observed"]),
        "parts": {n: _numbers(parts[n]) for n in names},
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


def _changes(found: "Explained") -> list[dict[str, Any]]:
    """Returns outliers, shifts of level and changes of slope, each with the place among the times and in words."""
    positions, fit, values = found.parts.positions, found.parts.fit, found.observed_values()
    rows = []
    for change in found.changes:
        at = int(np.searchsorted(positions, found.posterior.observed.positions[change.place]))
        row: dict[str, Any] = {"what": CHANGES_SAID[change.kind], "at": at}
        row["label"] = found.series.label(float(positions[at]))
        row["value"], row["expected"] = (
            (float(values[at]), float(fit[at])) if change.kind == "outlier" else (None, None)
        )
        rows.append(row)
    return rows


def _has(name: str, marks: tuple[str, ...]) -> bool:
    return any(mark in name for mark in marks)


SERIES_PAGE = Page(
    name="Series",
    idea="Paste, drop or draw a series: see its trend, its season, what comes next and what does not fit.",
    folder=FOLDER,
    scripts=("series.js",),
    context=context,
    answers={"forecast": forecast},
    streams={"explain": explain},
    opens=True,
)
