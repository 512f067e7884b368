"""Series of numbers explained by state-space programs, with the library that ships with the package."""

from typing import TYPE_CHECKING, Any

from wakesleep.domains.timeseries.explain.explainer import EXPLAINER

if TYPE_CHECKING:
    from wakesleep.domains.timeseries.explain.explained import Explained

__all__ = ["EXPLAINER", "explain_series"]


def explain_series(y: Any, times: Any = None, season: Any = None, transform: str = "auto") -> "Explained":
    """Explains a series; it needs no training.

    `y` is a list, an array or a pandas or Polars column, NaN where a value is missing; `times` are dates or numbers.
    `season` is a number of steps or several, 1 for none; by default it is the calendar's. The result has
    `forecast(horizon)`, `components()`, `fitted()`, `outliers()` and `sentences()`.
    """
    from wakesleep.domains.timeseries.explain.explained import explain, is_yearly
    from wakesleep.domains.timeseries.explain.explainer import TRANSFORM_NAMES
    from wakesleep.domains.timeseries.reading.series import series_of
    from wakesleep.errors import require_one_of

    require_one_of("transform", transform, TRANSFORM_NAMES)
    series = series_of(y, times, season)
    return explain(series, transform, is_yearly(series, season), cycles=season is None)
