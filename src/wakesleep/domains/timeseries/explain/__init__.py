"""Series of numbers explained by kernel expressions, with the model that ships with the package."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from wakesleep.domains.timeseries.explain.explainer import EXPLAINER

if TYPE_CHECKING:
    from wakesleep.domains.timeseries.explain.explanation import Explanation

__all__ = ["EXPLAINER", "explain_series"]


def explain_series(
    values: Iterable[float],
    times: Iterable[float] | None = None,
    unit: str = "steps",
    effort: str = "usual",
    transform: str = "auto",
    seed: int = 0,
) -> "Explanation":
    """Explains a series of numbers by kernel expressions; it needs no training.

    The result has `programs`, `extrapolate()`, `decompose(times)` and `predict(times)`. NaN marks a missing value.
    """
    import numpy as np

    from wakesleep.domains.timeseries.explain.explanation import explain
    from wakesleep.domains.timeseries.explain.knowledge import shipped
    from wakesleep.domains.timeseries.explain.search import EFFORTS
    from wakesleep.domains.timeseries.records import Record, tidy
    from wakesleep.errors import require_one_of

    chosen: Any = EFFORTS.get(effort) if isinstance(effort, str) else effort
    if chosen is None:
        require_one_of("effort", effort, tuple(EFFORTS))
    v = np.asarray(list(values), float)
    t = np.arange(1.0, len(v) + 1) if times is None else np.asarray(list(times), float)
    return explain(tidy(Record("the series", t, v, unit)), shipped(), chosen, transform=transform, seed=seed)
