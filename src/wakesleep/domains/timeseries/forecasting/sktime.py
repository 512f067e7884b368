"""The forecaster for sktime: `WakeSleepForecaster(season=12).fit(y).predict(fh=[1, 2, 3])`; sktime is needed."""

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sktime.forecasting.base import BaseForecaster

from wakesleep.domains.timeseries.explain import explain_series


class WakeSleepForecaster(BaseForecaster):
    """Forecasts by the mixture of programs that explain a series; `season` in steps replaces the calendar's.

    >>> import pandas as pd
    >>> from wakesleep.domains.timeseries.forecasting.sktime import WakeSleepForecaster
    >>> y = pd.Series([float(i + 3 * (i % 4)) for i in range(40)])
    >>> WakeSleepForecaster(season=4).fit(y).predict(fh=[1, 2]).index.tolist()
    [40, 41]
    """

    _tags: ClassVar[dict[str, Any]] = {
        "y_inner_mtype": "pd.Series",
        "X_inner_mtype": "pd.DataFrame",
        "scitype:y": "univariate",
        "capability:exogenous": False,
        "capability:missing_values": True,
        "capability:insample": False,
        "capability:pred_int": True,
        "capability:pred_int:insample": False,
        "requires-fh-in-fit": False,
        "python_dependencies": None,
    }

    def __init__(self, season: int | None = None) -> None:
        self.season = season
        super().__init__()

    def _fit(self, y: pd.Series, X: Any, fh: Any) -> "WakeSleepForecaster":  # noqa: N803, sktime's word
        """Explains a series."""
        self.explained_, self.name_ = explain_series(y, season=self.season), y.name
        return self

    def _predict(self, fh: Any, X: Any) -> pd.Series:  # noqa: N803
        """Returns the point forecast at the steps of the horizon."""
        steps = np.asarray(fh.to_relative(self.cutoff), int)
        ahead = self.explained_.forecast(horizon=int(steps.max()), levels=())
        index = fh.to_absolute_index(self.cutoff)
        return pd.Series(ahead["mean"].to_numpy()[steps - 1], index=index, name=self.name_)

    def _predict_interval(self, fh: Any, X: Any, coverage: list[float]) -> pd.DataFrame:  # noqa: N803
        """Returns the ends of the band of each coverage at the steps of the horizon."""
        steps = np.asarray(fh.to_relative(self.cutoff), int)
        positions = self.explained_.series.positions[-1] + steps
        ahead = self.explained_.predict(positions.astype(float))
        names = self._get_varnames()
        columns = pd.MultiIndex.from_product([names, coverage, ["lower", "upper"]])
        ends = [ahead.quantile((1 + side * share) / 2) for share in coverage for side in (-1, 1)]
        return pd.DataFrame(np.column_stack(ends), index=fh.to_absolute_index(self.cutoff), columns=columns)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Returns the settings with which sktime checks the forecaster."""
        return [{}, {"season": 4}]
