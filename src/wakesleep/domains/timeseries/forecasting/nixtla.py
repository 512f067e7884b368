"""Nixtla's conventions: a long table of unique_id, ds and y, and a model for the class StatsForecast.

forecast_frame(table, h=18, level=(80, 90))      # unique_id, ds, wakesleep, wakesleep-lo-90, ...
StatsForecast(models=[WakeSleep(season_length=12)], freq="MS").forecast(df=table, h=18, level=[90])
"""

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import polars as pl

from wakesleep.domains.timeseries.reading.series import Series
from wakesleep.domains.timeseries.reading.tables import read_series
from wakesleep.errors import Refusal

MODEL_NAME = "wakesleep"


def forecast_frame(
    table: Any,
    h: int,
    level: Sequence[int] = (90,),
    id_col: str = "unique_id",
    time_col: str = "ds",
    target_col: str = "y",
    season: Any = None,
) -> Any:
    """Returns the forecasts of a long table's series, of the same library (pandas, else Polars) as the table.

    The times are of the type that they have in the table: dates, whole numbers or texts.
    """
    from wakesleep.domains.timeseries.explain import explain_series

    every = read_series(table, column=target_col, time=time_col, id=id_col, season=season)
    example = table[time_col].to_list()[-1]
    names = {str(name): name for name in table[id_col].unique()}
    parts = []
    for series in every:
        ahead = explain_series(series).forecast(horizon=h, levels=tuple(sorted(level)))
        columns: dict[str, Any] = {id_col: [names[series.name]] * h, time_col: future_times(series, h, example)}
        columns |= {MODEL_NAME: ahead["mean"]} | {f"{MODEL_NAME}-{name}": ahead[name] for name in bands(level)}
        parts.append(pl.DataFrame(columns))
    made = pl.concat(parts)
    return made if isinstance(table, pl.DataFrame) else _as_pandas(made, type(table))


def bands(level: Sequence[int]) -> list[str]:
    """Returns the names of the ends of bands in Nixtla's order, from the lowest to the highest."""
    rising = sorted(level)
    return [f"lo-{one}" for one in reversed(rising)] + [f"hi-{one}" for one in rising]


def future_times(series: Series, h: int, example: Any) -> list[Any]:
    """Returns the next times as the table has them: dates, whole numbers, or words."""
    positions = series.future(h)
    if series.times is None:
        numbers = series.time_at(positions).tolist()
        whole = isinstance(example, int | np.integer)
        return [round(n) for n in numbers] if whole else numbers
    if isinstance(example, int | np.integer):
        return [int(series.label(p).replace("-", "")) for p in positions]
    if isinstance(example, str):
        return [series.label(p) for p in positions]
    return series.time_at(positions).tolist()


def _as_pandas(made: pl.DataFrame, kind: type) -> Any:
    """Returns a Polars table as a pandas one, without Arrow."""
    if not kind.__module__.startswith("pandas"):
        raise Refusal(f"A pandas or Polars data frame was expected, but {kind.__name__} was given.")
    import pandas as pd

    return pd.DataFrame({name: made[name].to_numpy() for name in made.columns})


class WakeSleep:
    """A model as the class StatsForecast calls it; it sees values alone, so the season is given by its length."""

    uses_exog = False
    prediction_intervals = None
    only_conformal_intervals = False

    def __init__(self, season_length: int = 1, alias: str = "WakeSleep") -> None:
        self.season_length, self.alias = season_length, alias
        self._explained: Any = None

    def __repr__(self) -> str:
        return self.alias

    def new(self) -> "WakeSleep":
        """Returns a copy that can be fitted on its own."""
        return copy(self)

    def fit(self, y: np.ndarray, X: np.ndarray | None = None) -> "WakeSleep":  # noqa: N803, Nixtla's word
        """Explains a series."""
        from wakesleep.domains.timeseries.explain import explain_series

        self._explained = explain_series(np.asarray(y, float), season=self.season_length)
        return self

    def predict(
        self,
        h: int,
        X: np.ndarray | None = None,  # noqa: N803
        level: Sequence[int] | None = None,
    ) -> dict[str, np.ndarray]:
        """Returns the point forecast as `mean`, and the ends of the bands as `lo-90`, `hi-90`."""
        if self._explained is None:
            raise Refusal("The model has seen no series: call fit first.")
        ahead = self._explained.forecast(horizon=h, levels=tuple(level or ()))
        return {name: ahead[name].to_numpy() for name in ("mean", *bands(level or ()))}

    def predict_in_sample(self, level: Sequence[int] | None = None) -> dict[str, np.ndarray]:
        """Returns the fitted values."""
        if level:
            raise Refusal("WakeSleep has no bands of fitted values: ask without level.")
        if self._explained is None:
            raise Refusal("The model has seen no series: call fit first.")
        return {"fitted": self._explained.fitted()["mean"].to_numpy()}

    def forecast(
        self,
        y: np.ndarray,
        h: int,
        X: np.ndarray | None = None,  # noqa: N803
        X_future: np.ndarray | None = None,  # noqa: N803
        level: Sequence[int] | None = None,
        fitted: bool = False,
    ) -> dict[str, np.ndarray]:
        """Returns the forecast of a series, and its fitted values where these are asked for; nothing is kept."""
        model = self.new().fit(y)
        return model.predict(h, level=level) | (model.predict_in_sample() if fitted else {})
