"""Columns of text explained by regexes, with the model that ships with the package."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from wakesleep.domains.strings.explain.explainer import EXPLAINER

if TYPE_CHECKING:
    from wakesleep.domains.strings.explain.explanation import Explanation

__all__ = ["EXPLAINER", "explain_strings"]


def explain_strings(values: Iterable[Any], effort: str = "usual", seed: int = 0) -> "Explanation":
    """Explains some strings of one kind by regexes; it needs no training.

    The result has `patterns`, `log_prob(strings)`, `accepts(strings)`, `sample(n)` and `outliers(strings)`.
    """
    from wakesleep.domains.strings.explain.explanation import explain
    from wakesleep.domains.strings.explain.knowledge import shipped
    from wakesleep.domains.strings.explain.search import EFFORTS
    from wakesleep.errors import require_one_of

    chosen: Any = EFFORTS.get(effort) if isinstance(effort, str) else effort
    if chosen is None:
        require_one_of("effort", effort, tuple(EFFORTS))
    return explain(values, shipped(), chosen, seed)
