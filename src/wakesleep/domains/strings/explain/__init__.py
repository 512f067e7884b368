"""Columns of text explained by regexes, with the model that ships with the package."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from wakesleep.domains.strings.explain import knowledge as _knowledge
from wakesleep.domains.strings.explain.explanation import Explanation, explain
from wakesleep.domains.strings.explain.knowledge import Knowledge
from wakesleep.domains.strings.explain.search import Effort

__all__ = ["Effort", "Explanation", "Knowledge", "explain_strings", "shipped"]


@cache
def shipped() -> Knowledge:
    """The knowledge that ships with the package, read once."""
    return _knowledge.load()


def explain_strings(values: Iterable[Any], effort: Effort | None = None, seed: int = 0) -> Explanation:
    """The regexes that explain some strings of one kind; it needs no training.

    The result has `patterns`, `log_prob(strings)`, `accepts(strings)`, `sample(n)` and `outliers(strings)`.
    """
    return explain(values, shipped(), effort, seed)
