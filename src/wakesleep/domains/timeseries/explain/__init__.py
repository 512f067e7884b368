"""Series of numbers explained by kernel expressions, with the model that ships with the package."""

from collections.abc import Iterable
from functools import cache

import numpy as np

from wakesleep.domains.timeseries.explain import knowledge as _knowledge
from wakesleep.domains.timeseries.explain.explanation import Explanation, explain
from wakesleep.domains.timeseries.explain.knowledge import Knowledge
from wakesleep.domains.timeseries.explain.search import Effort
from wakesleep.domains.timeseries.records import Record, tidy

__all__ = ["Effort", "Explanation", "Knowledge", "explain_series", "shipped"]


@cache
def shipped() -> Knowledge:
    """The knowledge that ships with the package, read once."""
    return _knowledge.load()


def explain_series(
    values: Iterable[float],
    times: Iterable[float] | None = None,
    unit: str = "steps",
    effort: Effort | None = None,
    transform: str = "auto",
    seed: int = 0,
) -> Explanation:
    """The kernel expressions that explain a series of numbers; it needs no training.

    The result has `programs`, `extrapolate()`, `decompose(times)` and `predict(times)`. NaN marks a missing value.
    """
    v = np.asarray(list(values), float)
    t = np.arange(1.0, len(v) + 1) if times is None else np.asarray(list(times), float)
    return explain(tidy(Record("the series", t, v, unit)), shipped(), effort, transform=transform, seed=seed)
