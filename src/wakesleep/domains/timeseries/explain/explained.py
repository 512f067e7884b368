"""A series explained: what comes next, its parts, its outliers, and all of it in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float

from wakesleep.domains.timeseries.explain.decomposition import Decomposition, decompose
from wakesleep.domains.timeseries.reading.series import Series
from wakesleep.domains.timeseries.statespace import inference
from wakesleep.domains.timeseries.statespace.changes import Change
from wakesleep.domains.timeseries.statespace.cycles import candidates
from wakesleep.domains.timeseries.statespace.filtering import Observed
from wakesleep.domains.timeseries.statespace.inference import Inferred
from wakesleep.domains.timeseries.statespace.library import library_for, shipped
from wakesleep.domains.timeseries.statespace.mixture import Mixture
from wakesleep.domains.timeseries.statespace.posterior import Posterior, Wanted, forms
from wakesleep.domains.timeseries.statespace.seasons import cycle_of
from wakesleep.errors import Refusal

FEWEST_SEEN = 8
MOST_STEPS_AHEAD = 100_000
LEAST_RELATIVE_SPREAD = 1e-12
"""A spread that double precision cannot tell from none."""
LONGEST_YEARLY = 60
"""A series of at most this many values that is said to have no season is taken as yearly."""
BAND_PERCENT = 90


@dataclass(frozen=True)
class Explained:
    """A series with the posterior over its programs and the changes that were found."""

    series: Series
    inferred: Inferred

    @property
    def posterior(self) -> Posterior:
        """Returns the posterior over programs under the most probable reading of the series."""
        return self.inferred.posterior

    @property
    def changes(self) -> tuple[Change, ...]:
        """Returns the changes of that reading."""
        return self.inferred.changes

    @cached_property
    def parts(self) -> Decomposition:
        """Returns the parts at every position of the series from the first value on."""
        positions = self.series.positions
        return decompose(self.posterior, positions[positions >= self.posterior.observed.positions[0]])

    def predict(self, positions: Float[np.ndarray, "h"]) -> Mixture:
        """Returns the distribution of a new value at increasing positions, in steps, after the last value."""
        positions = np.asarray(positions, float)
        last = self.posterior.observed.positions[-1]
        if not len(positions) or positions[0] <= last or (np.diff(positions) <= 0).any():
            raise Refusal(f"Positions to predict must rise and lie after the last value, at {last:g} steps.")
        return self.inferred.predict(positions)

    def forecast(
        self,
        horizon: int | None = None,
        until: str | None = None,
        levels: Sequence[float | int] = (80, 90),
        paths: int = 0,
        combine: Sequence[str] = (),
    ) -> pl.DataFrame:
        """Returns a row for each further step: `time`, `mean`, and `lo-90`, `hi-90` for each level of 90 %.

        `mean` is the point forecast: the median of the mixture over programs. With `paths`, `path-1` and on are draws
        of the whole future. `combine` names models of statsforecast that are pooled with the programs, such as AutoETS;
        draws and words stay those of the programs.
        """
        if (horizon is None) == (until is None):
            raise Refusal("Give horizon, a number of steps, or until, the last time, and not both.")
        steps = self.series.steps_until(until) if until is not None else _whole("horizon", horizon, 1)
        positions = self.series.future(steps)
        ahead = self.ahead(positions, combine)
        columns: dict[str, Any] = {"time": self._times(positions), "mean": ahead.quantile(0.5)}
        for level in levels:
            if not 0 < level < 100:
                raise Refusal(f"levels must lie between 0 and 100 %, but {level!r} was given.")
            columns[f"lo-{level:g}"] = ahead.quantile(0.5 - level / 200)
            columns[f"hi-{level:g}"] = ahead.quantile(0.5 + level / 200)
        drawn = self.inferred.simulate(positions, _whole("paths", paths, 0), np.random.default_rng(0))
        return pl.DataFrame(columns | {f"path-{i + 1}": path for i, path in enumerate(drawn)})

    def ahead(self, positions: Float[np.ndarray, "h"], names: Sequence[str] = ()) -> Mixture:
        """Returns the distribution of new values, pooled with the named models of statsforecast."""
        from wakesleep.domains.timeseries.forecasting.combination import combine

        if isinstance(names, str):
            raise Refusal(f"combine must be a list of names, such as ['AutoETS'], but {names!r} was given.")
        return combine(self.predict(positions), self.series, positions, names) if names else self.predict(positions)

    def components(self) -> pl.DataFrame:
        """Returns a row for each time: `observed`, the parts with their 90 % bands, and `residual`.

        The parts and the residual add up to what was observed, whether they were found in values or in logarithms.
        """
        mean, low, high = self.parts.in_values()
        observed = self.observed_values()
        columns: dict[str, Any] = {"time": self._times(self.parts.positions), "observed": observed}
        for i, name in enumerate(self.parts.parts.names):
            if name == "echo" and not np.abs(mean[i]).max():
                continue
            columns |= {name: mean[i], f"{name}-lo-{BAND_PERCENT}": low[i], f"{name}-hi-{BAND_PERCENT}": high[i]}
        return pl.DataFrame(columns | {"residual": observed - mean.sum(axis=0)})

    def observed_values(self) -> Float[np.ndarray, "n"]:
        """Returns the values from the first one on, NaN where one is missing."""
        return self.series.values[len(self.series.values) - len(self.parts.positions) :]

    def fitted(self) -> pl.DataFrame:
        """Returns a row for each time of the series: `time` and `mean`, the sum of the parts; NaN before any value."""
        ahead = np.full(len(self.series.positions) - len(self.parts.positions), np.nan)
        fit = np.concatenate([ahead, self.parts.fit])
        return pl.DataFrame({"time": self._times(self.series.positions), "mean": fit})

    def outliers(self) -> pl.DataFrame:
        """Returns a row for each outlier: `time`, `value` and `expected`."""
        positions = np.array(self.changed("outlier"))
        where = np.searchsorted(self.parts.positions, positions)
        columns = {"value": self.observed_values()[where], "expected": self.parts.fit[where]}
        return pl.DataFrame({"time": self._times(positions)} | columns)

    def changed(self, kind: str) -> tuple[float, ...]:
        """Returns the positions of changes of a kind: outlier, shift or bend."""
        return tuple(float(self.posterior.observed.positions[c.place]) for c in self.changes if c.kind == kind)

    def _times(self, positions: Float[np.ndarray, "k"]) -> np.ndarray:
        """Returns times as a Polars column takes them: numbers, or dates in milliseconds."""
        times = self.series.time_at(positions)
        return times.astype("datetime64[ms]") if times.dtype.kind == "M" else times

    def sentences(self) -> list[str]:
        """Returns what the mixture says of the series in plain English, each thing once."""
        from wakesleep.domains.timeseries.explain.wording import sentences

        return sentences(self)


def _whole(name: str, value: Any, least: int) -> int:
    """Returns a whole number of at least `least`, or refuses what was given."""
    if isinstance(value, bool | str) or value is None or value != int(value) or not least <= value <= MOST_STEPS_AHEAD:
        raise Refusal(f"{name} must be a whole number from {least} to {MOST_STEPS_AHEAD:,}, but {value!r} was given.")
    return int(value)


def explain(series: Series, transform: str = "auto", yearly: bool = False, cycles: bool = True) -> Explained:
    """Returns a series explained.

    `yearly` says that a series without dates and seasons is one of years; `cycles`, that one without a season may have
    a cycle of any period.
    """
    *_, last = stages(series, transform, yearly, cycles)
    return last


def stages(series: Series, transform: str = "auto", yearly: bool = False, cycles: bool = True) -> Iterator[Explained]:
    """Yields a series explained by the library without changes, and then as `explain` returns it; same arguments."""
    there = np.isfinite(series.values)
    positions, values = series.positions[there], series.values[there]
    _check(series, values)
    seen, logs = _forms(values, transform, series.name)
    least = 0.0 if values.min() >= 0 else -np.inf
    seasons: tuple[float | int, ...] = series.seasons
    if cycles and not seasons:
        seasons = candidates(positions, seen[-1])
    unit = "step" if seasons and not series.seasons else series.unit
    known = shipped("year") if yearly else library_for(unit, seasons)
    beside = [] if series.seasons else with_cycles(seasons)
    for inferred in inference.stages(Observed(positions, seen), logs, known, seasons, least, beside):
        yield Explained(series, inferred)


def is_yearly(series: Series, season: Any) -> bool:
    """Returns whether a series that is said to have no season is short enough to be one of years."""
    return season == 1 and series.unit == "step" and int(np.isfinite(series.values).sum()) <= LONGEST_YEARLY


def with_cycles(periods: Sequence[float | int]) -> list[Wanted]:
    """Returns, for each period that was found, a cycle of it with its library; all are as probable as one library."""
    made: list[Wanted] = []
    for period in periods:
        library = shipped("cycle").stretched(period)
        made.append(((cycle_of(period),), replace(library, log_prior=library.log_prior - np.log(len(periods)))))
    return made


def _check(series: Series, values: Float[np.ndarray, "n"]) -> None:
    """Refuses a series with too few values or with one value all along."""
    if len(values) < FEWEST_SEEN:
        raise Refusal(
            f"{series.name} has {len(values)} value{'s' * (len(values) != 1)}, but at least {FEWEST_SEEN} are needed "
            "to explain a series."
        )
    if np.std(values) <= LEAST_RELATIVE_SPREAD * max(1e-300, float(np.abs(values).max())):
        raise Refusal(f"{series.name} is constant: every value is {values[0]:g}, so there is nothing to explain.")


def _forms(values: Float[np.ndarray, "n"], transform: str, name: str) -> tuple[np.ndarray, tuple[bool, ...]]:
    """Returns the forms of the values that the transform asks for, and which are logarithms."""
    if transform == "none":
        return values[None], (False,)
    if transform == "log":
        if values.min() <= 0:
            raise Refusal(f"{name} has values that are not positive, so it has no logarithm: ask for transform none.")
        return np.log(values)[None], (True,)
    return forms(values)
