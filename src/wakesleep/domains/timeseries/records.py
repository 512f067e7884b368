"""A series as kernels are trained on it: normalised, and of no more points than asked for."""

from collections.abc import Iterable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.likelihood import Series
from wakesleep.domains.timeseries.reading import series as reading
from wakesleep.errors import Refusal

FEW_POINTS = 8
EVEN = 0.15
"""Times that are within this share of a step of a regular grid are on it: months, in years, are."""


class Record(NamedTuple):
    """A series in its own units."""

    name: str
    times: Float[np.ndarray, "n"]
    values: Float[np.ndarray, "n"]
    unit: str = "steps"
    """What a difference of one in time is called."""
    notes: tuple[str, ...] = ()
    """What was done to the series, a clause each."""


class Scale(NamedTuple):
    """How a record becomes a series: u = (t - middle) / span, y = (v - mean) / deviation."""

    middle: float
    span: float
    mean: float
    deviation: float

    def time(self, t: Float[np.ndarray, "k"]) -> Float[np.ndarray, "k"]:
        """Times as the model counts them."""
        return (t - self.middle) / self.span

    def value(self, y: Float[np.ndarray, "*k"]) -> Float[np.ndarray, "*k"]:
        """Values in their own units."""
        return self.mean + self.deviation * y


def record_of(series: reading.Series) -> Record:
    """Returns a series as a record: numbers as times, or dates as units of the calendar from the first."""
    dated = series.times is not None
    times = series.positions * series.clock.every if dated else series.time_at(series.positions)
    return Record(series.name, times, series.values, f"{series.unit}s", series.notes)


def tidy(record: Record) -> Record:
    """The record in the order of time, without missing values, every time once; or a refusal in one sentence."""
    name, t, v = record.name, np.asarray(record.times, float), np.asarray(record.values, float)
    notes = list(record.notes)
    for what, a in (("value", v), ("time", t)):
        if np.isinf(a).any():
            row = int(np.flatnonzero(np.isinf(a))[0]) + 1
            raise Refusal(f"{name} has an infinite {what} in row {row}: remove it, or leave the cell empty.")
    there = np.isfinite(t) & np.isfinite(v)
    if not there.all():
        notes.append(f"{(~there).sum():,} rows without a value left out")
    order = np.argsort(t[there], kind="stable")
    if (np.diff(order) < 0).any():
        notes.append("sorted by time")
    t, v = t[there][order], v[there][order]
    distinct, place = np.unique(t, return_inverse=True)
    if len(distinct) < len(t):
        notes.append(f"{len(t) - len(distinct):,} repeated times averaged")
        v = np.bincount(place, weights=v) / np.bincount(place)
    if len(distinct) < FEW_POINTS:
        raise Refusal(
            f"{name} has {len(distinct)} point{'s' * (len(distinct) != 1)} with a value, but at least {FEW_POINTS} are "
            "needed to explain a series."
        )
    # A spread that double precision cannot tell from none.
    if np.std(v) <= 1e-12 * max(1.0, np.abs(v).max()):
        raise Refusal(f"{name} is constant: every value is {v[0]:g}, so there is nothing to explain.")
    return record._replace(times=distinct, values=v, notes=tuple(notes))


def is_even(times: Float[np.ndarray, "n"]) -> bool:
    """Whether the times are equally spaced."""
    grid = np.linspace(times[0], times[-1], len(times))
    return bool(np.abs(times - grid).max() <= EVEN * (grid[1] - grid[0]))


def shorten(record: Record, points: int) -> Record:
    """The record with at most that many points, each the mean of a stretch: of equal numbers, or of equal times."""
    n = len(record.times)
    if n <= points:
        return record
    if is_even(record.times):
        block = -(-n // points)
        rest = n % block
        t, v = (a[rest:].reshape(-1, block).mean(axis=1) for a in (record.times, record.values))
        done = f"{n:,} points resampled to {len(t)} means of {block:,}" + f", the first {rest:,} left out" * (rest > 0)
    else:
        edges = np.linspace(record.times[0], record.times[-1], points + 1)[1:-1]
        stretch = np.searchsorted(edges, record.times, side="right")
        count = np.bincount(stretch, minlength=points)
        kept = count > 0
        sums = (np.bincount(stretch, weights=a, minlength=points) for a in (record.times, record.values))
        t, v = (s[kept] / count[kept] for s in sums)
        done = f"{n:,} points resampled to {len(t)} means over equal stretches of time"
    if np.std(v) <= 1e-12 * max(1.0, np.abs(v).max()):
        raise Refusal(f"{record.name} is constant once it is resampled to {len(t)} points: ask for more (points).")
    return record._replace(times=t, values=v, notes=(*record.notes, done))


def scale_of(record: Record) -> Scale:
    """The scale that gives a record a span of one, zero mean and unit variance."""
    t, v = record.times, record.values
    return Scale(float(t[0] + t[-1]) / 2, float(t[-1] - t[0]), float(v.mean()), float(v.std()))


def observe(records: Iterable[Record], points: int) -> Series:
    """Records as one batch of series, shorter ones filled up at the end."""
    found = [_observe(r, points) for r in records]
    return jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(a) for a in leaves]), *found)


def _observe(record: Record, points: int) -> Series:
    n, scale = len(record.times), scale_of(record)
    u = scale.time(record.times)
    if is_even(record.times):
        u = np.linspace(-0.5, 0.5, n)
    beyond = 0.5 + np.arange(1, points - n + 1) / (n - 1)
    y = (record.values - scale.mean) / scale.deviation
    present = np.arange(points) < n
    times, values = np.concatenate([u, beyond]), np.concatenate([y, np.zeros(points - n)])
    return Series(times.astype(np.float32), values.astype(np.float32), present)  # type: ignore[arg-type]
