"""Methods of forecasting that a backtest sets side by side: this library, the seasonal naive one, statsforecast's."""

import importlib.util
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.reading.series import Series
from wakesleep.errors import Refusal

NORMAL_QUANTILE_95 = 1.6448536269514722
LEAST_DEVIATION_SHARE = 1e-6
"""The deviation of a peer is no less than this share of its mean absolute naive error."""
STATSFORECAST_MODELS = ("AutoETS", "AutoARIMA", "AutoTheta")
MOST_EMPTY_STEPS = 50
"""A grid with more than this many steps for each value is treated as irregular times."""


class Split(NamedTuple):
    """A series up to an origin, and the positions and values that follow."""

    train: Series
    positions: Float[np.ndarray, "h"]
    values: Float[np.ndarray, "h"]


class Said(NamedTuple):
    """What a method says of the values that follow."""

    point: Float[np.ndarray, "h"]
    low: Float[np.ndarray, "h"]
    high: Float[np.ndarray, "h"]
    log_density: Float[np.ndarray, "h"]


Method = Callable[[Split], Said]


def methods() -> dict[str, Method]:
    """Returns the methods that can be called, by name."""
    found: dict[str, Method] = {"wakesleep": ours, "seasonal naive": seasonal_naive}
    if importlib.util.find_spec("statsforecast") is not None:
        found |= {name: _of_statsforecast(name) for name in STATSFORECAST_MODELS}
    return found


def ours(split: Split) -> Said:
    """Returns what the explanation of the series predicts."""
    from wakesleep.domains.timeseries.explain import explain_series

    ahead = explain_series(split.train).predict(split.positions)
    low, point, high = (ahead.quantile(share) for share in (0.05, 0.5, 0.95))
    return Said(point, low, high, ahead.log_density(split.values))


def seasonal_naive(split: Split) -> Said:
    """Returns the latest value of the same place in the season, with the spread of such differences in the past."""
    train, season = split.train, season_of(split.train)
    last = train.positions[np.isfinite(train.values)][-1]
    grid = on_grid(train)
    differences = lagged(train, season)
    spread = float(np.sqrt(np.mean(differences**2)))
    if grid is None:
        point = np.full(len(split.positions), train.values[np.isfinite(train.values)][-1])
        cycles = np.maximum(split.positions - last, 1.0)
        return _normal(point, spread * np.sqrt(cycles), split)
    filled = _repeated(grid, season)
    back = np.ceil((split.positions - (len(grid) - 1)) / season)
    point = filled[(split.positions - back * season).astype(int)]
    return _normal(point, spread * np.sqrt(back), split)


def season_of(series: Series) -> int:
    """Returns the shortest season of a series, or 1."""
    return min(series.seasons, default=1)


def on_grid(series: Series) -> Float[np.ndarray, "t"] | None:
    """Returns the values at every step, NaN where there is none, or None where the times are irregular."""
    whole = np.round(series.positions)
    if np.abs(whole - series.positions).max() > 0 or whole[-1] > MOST_EMPTY_STEPS * len(whole):
        return None
    grid = np.full(int(whole[-1]) + 1, np.nan)
    grid[whole.astype(int)] = series.values
    return grid


def lagged(series: Series, season: int) -> Float[np.ndarray, "k"]:
    """Returns differences between values one season apart; at irregular times, between values that follow another."""
    grid = on_grid(series)
    found = np.diff(series.values) if grid is None else grid[season:] - grid[:-season]
    found = found[np.isfinite(found)]
    if len(found):
        return found
    return np.diff(series.values[np.isfinite(series.values)])


def _repeated(grid: Float[np.ndarray, "t"], season: int) -> Float[np.ndarray, "t"]:
    """Returns the grid with missing values replaced by the one a season before, else by the latest value."""
    filled = grid.copy()
    for i in np.flatnonzero(np.isnan(filled)):
        filled[i] = filled[i - season] if i >= season else np.nan
    there = np.where(np.isnan(filled), 0, np.arange(len(filled)))
    filled = filled[np.maximum.accumulate(there)]
    return np.where(np.isnan(filled), grid[np.isfinite(grid)][0], filled)


def _of_statsforecast(name: str) -> Method:
    """Returns a model of statsforecast as a method; its bands are read as normal."""

    def run(split: Split) -> Said:
        return _normal(*foreseen_by(name, split.train, split.positions), split)

    return run


def foreseen_by(
    name: str, train: Series, positions: Float[np.ndarray, "h"]
) -> tuple[Float[np.ndarray, "h"], Float[np.ndarray, "h"]]:
    """Returns means and deviations of a model of statsforecast; missing steps of the past are interpolated."""
    from statsforecast import models

    steps = np.arange(0.0, np.floor(train.positions[-1]) + 1)
    if len(steps) > MOST_EMPTY_STEPS * len(train.positions):
        raise Refusal(f"{train.name}: the times are too far apart for {name}.")
    there = np.isfinite(train.values)
    values = np.interp(steps, train.positions[there], train.values[there])
    horizon = int(np.ceil(positions[-1] - steps[-1]))
    said = getattr(models, name)(season_length=season_of(train)).forecast(values, h=horizon, level=[90])
    ahead = steps[-1] + np.arange(1, horizon + 1)
    point, low, high = (np.interp(positions, ahead, np.asarray(said[k], float)) for k in ("mean", "lo-90", "hi-90"))
    return point, (high - low) / (2 * NORMAL_QUANTILE_95)


def _normal(point: Float[np.ndarray, "h"], deviation: Float[np.ndarray, "h"], split: Split) -> Said:
    """Returns a normal distribution as a forecast."""
    least = LEAST_DEVIATION_SHARE * float(np.abs(lagged(split.train, season_of(split.train))).mean())
    deviation = np.maximum(deviation, max(least, np.finfo(float).tiny))
    away = (split.values - point) / deviation
    density = -0.5 * away**2 - np.log(deviation) - 0.5 * np.log(2 * np.pi)
    band = NORMAL_QUANTILE_95 * deviation
    return Said(point, point - band, point + band, density)
