"""Times in a table: numbers or dates, and dates as numbers of months, days or seconds."""

from datetime import datetime, timedelta

import numpy as np
import polars as pl
from jaxtyping import Float

FORMATS = (
    "%Y-%m-%d",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M",
    "%Y/%m/%d",
    "%Y%m%d",
    "%d %b %Y",
    "%b %d, %Y",
)
MONTHS = ("%Y-%m-%d", "%b %Y %d", "%B %Y %d", "%Y/%m/%d", "%YM%m-%d")
"""Months without a day, once a first is put behind them."""
SECONDS = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86400.0}


def dates(texts: pl.Series) -> pl.Series | None:
    """The texts as dates, missing ones as nothing; None where they are not all dates of one form.

    Where day and month could be either way round, that is taken which makes the times more even.
    """
    given = texts.is_not_null().sum()
    texts = _without_zone(texts)
    tries = [texts.str.to_datetime(f, strict=False, time_unit="us") for f in FORMATS]
    for form in MONTHS:
        joined = texts + {"-": "-01", "/": "/01", " ": " 01"}.get(form[-3], "-01")
        tries.append(joined.str.to_datetime(form, strict=False, time_unit="us"))
    whole = [d for d in tries if d.is_not_null().sum() == given]
    return min(whole, key=_unevenness) if whole and given else None


def _without_zone(texts: pl.Series) -> pl.Series:
    """The texts without their offset from Greenwich, where there are times and all have the same."""
    zones = texts.drop_nulls().str.extract(r":\d\d(?:\.\d+)?\s?(Z|[+-]\d\d:?\d\d)$", 1).unique()
    if len(zones) != 1 or zones[0] is None:
        return texts
    return texts.str.strip_suffix(zones[0]).str.strip_chars()


def _unevenness(found: pl.Series) -> float:
    steps = np.abs(np.diff(np.sort(found.drop_nulls().dt.epoch("s").to_numpy()).astype(float)))
    return float(np.std(steps)) / max(float(np.mean(steps)), 1e-9) if len(steps) else 0.0


def count(found: pl.Series) -> tuple[Float[np.ndarray, "n"], str, str]:
    """Dates as numbers from the first of them, what one is called, and the first.

    Dates that all fall on the same day of a month, or on its last, are counted in months or years, whatever the
    lengths of the months.
    """
    there = found.drop_nulls()
    first: datetime = there.min()  # type: ignore[assignment]
    same_day = there.dt.day().n_unique() == 1 or bool((there == there.dt.month_end()).all())
    midnight = bool((there.dt.truncate("1d") == there).all())
    if midnight and same_day and there.n_unique() > 1:
        months = 12 * (found.dt.year() - first.year) + found.dt.month().cast(pl.Int32) - first.month
        t = months.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        if np.all(t[np.isfinite(t)] % 12 == 0):
            return t / 12, "years", first.isoformat()
        return t, "months", first.isoformat()
    seconds = (found - first).dt.total_microseconds().cast(pl.Float64).fill_null(float("nan")).to_numpy() / 1e6
    steps = np.diff(np.unique(seconds[np.isfinite(seconds)]))
    usual = float(np.median(steps)) if len(steps) else 1.0
    unit = [name for name, size in SECONDS.items() if usual >= size or name == "seconds"][-1]
    return seconds / SECONDS[unit], unit, first.isoformat()


def label(t: float, unit: str, origin: str) -> str:
    """A time as it is printed: a date where there is an origin, else a number."""
    if not origin:
        return f"{t:.6g}"
    first = datetime.fromisoformat(origin)
    if unit in ("months", "years"):
        month = first.month - 1 + round(t * (12 if unit == "years" else 1))
        year, month = first.year + month // 12, month % 12 + 1
        return f"{year}" if unit == "years" else f"{year}-{month:02}"
    when = first + timedelta(seconds=round(t * SECONDS[unit]))
    return when.strftime("%Y-%m-%d" if unit == "days" else "%Y-%m-%d %H:%M:%S")
