"""Columns of text explained by programs that read as regexes; nothing is compiled and no network is run."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from wakesleep.domains.strings.explain.explainer import EXPLAINER

if TYPE_CHECKING:
    from wakesleep.domains.strings.columns.explanation import Explanation

__all__ = ["EXPLAINER", "explain_strings"]


def explain_strings(
    values: Iterable[Any],
    effort: str = "usual",
    generality: str = "usual",
    reject: Iterable[str] = (),
    seed: int = 0,
) -> "Explanation":
    """Explains the values of one column, in the order of their rows; None and NaN are nulls.

    The result has `patterns`, `outliers`, `accepts(values)`, `matches(values)`, `sample(n)` and `log_prob(values)`.
    `generality` is narrow, usual or wide. The patterns avoid the values to `reject`.
    """
    from wakesleep.domains.strings.columns.explanation import explain

    return explain(values, effort=effort, generality=generality, reject=reject, seed=seed)
