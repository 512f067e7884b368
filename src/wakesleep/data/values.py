"""Values of typed columns as text: what is missing is None, everything else reads as in a text file."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

MISSING_TYPES = ("NAType", "NaTType")
"""What pandas puts where there is no value; known by name, so that pandas need not be there."""


def text_of(value: Any) -> str | None:
    """A value as text; None, NaN and the empty text are None."""
    if is_missing(value):
        return None
    return (value if type(value) is str else str(value)) or None


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or what pandas puts where there is none."""
    return value is None or type(value).__name__ in MISSING_TYPES or _is_nan(value)


def _is_nan(value: Any) -> bool:
    """Whether a number is NaN, a signalling decimal too."""
    if isinstance(value, float):
        return math.isnan(value)
    test = getattr(value, "is_nan", None)
    return bool(test()) if callable(test) else False


def texts_of(values: Iterable[Any]) -> list[str | None]:
    """Values as texts."""
    return [text_of(value) for value in values]


def without_empty(texts: Sequence[str | None]) -> Sequence[str | None]:
    """The texts, the empty ones as None."""
    return [text or None for text in texts] if "" in texts else texts


def texts_of_series(series: "pl.Series") -> list[str | None]:
    """A Polars column as texts; texts and whole numbers by Polars itself, since these read the same."""
    import polars as pl

    kind = series.dtype
    if kind.is_integer() or isinstance(kind, pl.Categorical | pl.Enum):
        series = series.cast(pl.String)
    if series.dtype == pl.String:
        return list(without_empty(series.to_list()))
    return texts_of(series.to_list())
