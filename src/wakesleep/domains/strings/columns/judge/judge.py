"""The judge of a column: log-odds that a value is legitimate, verdicts at a share, reasons, JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wakesleep.domains.strings.columns.judge.column import Column
from wakesleep.domains.strings.columns.judge.net import Weights, shipped
from wakesleep.domains.strings.columns.judge.reasons import reason
from wakesleep.errors import Refusal, require_share

KNOWN_EVIDENCE = 12.0
"""The evidence of a value that was fitted on and is no oddity."""
ODD = 5.0
"""Log-odds of an error, beside the other values, from which a value fitted on once is an oddity.

Chosen on tables out of fold: one row in 2,000 of their own is one, two thirds of planted errors are."""
LEAST_ROWS = 20
"""Rows from which values fitted on may be oddities."""
MOST_CACHED = 200_000
VERSION = 1
MOST_BACKTESTED = 150
"""Distinct values of the second half of the rows that set the offset of a column."""
BACKTEST_SHARE = 0.95
FARTHEST_OFFSET = 1.0
HALF_TRUSTED_ROWS = 30
"""Rows with which a column's own offset counts half."""


def offset_of(log_odds: np.ndarray, weights: np.ndarray, rows: int) -> float:
    """How far a column's threshold is moved: the log-odds that its own later rows reach, bounded and shrunk.

    `log_odds` are those of values new in the second half, `weights` the shares of its rows that they stand for.
    """
    order = np.argsort(-log_odds)
    above = np.cumsum(weights[order]) >= 1 - BACKTEST_SHARE
    reached = float(log_odds[order][np.argmax(above)]) if above.any() else -FARTHEST_OFFSET
    return float(np.clip(reached, -FARTHEST_OFFSET, FARTHEST_OFFSET)) * rows / (rows + HALF_TRUSTED_ROWS)


class Judge:
    """Judges values by what is news in them beside the column they belong to."""

    def __init__(self, column: Column, weights: Weights, offset: float, oddities: Mapping[str, float]) -> None:
        self.column, self.weights, self.offset, self.oddities = column, weights, offset, dict(oddities)
        self._cache: dict[str, tuple[float, float]] = {}

    def evidence(self, values: Sequence[Any]) -> np.ndarray:
        """The log-odds that each value is a legitimate later value rather than a damaged or a foreign one."""
        return self._evidence(values)[:, 0]

    def accepts(self, values: Sequence[Any], share: float | None = 0.97) -> np.ndarray:
        """Whether each value is accepted, so that about `share` of the later legitimate rows of columns are.

        With None, so that the fewest errors are made between members and values of other columns.
        """
        if share is None:
            return self._evidence(values)[:, 1] > 0
        require_share("share", share)
        return self.evidence(values) >= self.threshold(share)

    def threshold(self, share: float) -> float:
        """The evidence from which a value is accepted."""
        return -self.offset - self.weights.threshold(share)

    def why(self, value: Any) -> str:
        """One short phrase: what is news in the value, or where it was seen."""
        _require_texts([value])
        return reason(self.column, value)

    def _evidence(self, values: Sequence[Any]) -> np.ndarray:
        """The evidence against each of the heads, from the cache where the value was judged before."""
        _require_texts(values)
        cache = self._cache
        new = [v for v in dict.fromkeys(values) if v not in cache]
        if len(cache) + len(new) > MOST_CACHED:
            cache.clear()
            new = list(dict.fromkeys(values))
        known = [v for v in new if self.column.knows(v)]
        cache.update((v, (-self.oddities[v],) * 2 if v in self.oddities else (KNOWN_EVIDENCE,) * 2) for v in known)
        if unknown := [v for v in new if not self.column.knows(v)]:
            found = -self.weights.net(self.column.features(unknown))
            cache.update(zip(unknown, map(tuple, np.minimum(found, KNOWN_EVIDENCE).tolist()), strict=True))
        return np.array([cache[v] for v in values], float).reshape(len(values), 2)

    def as_dict(self) -> dict[str, Any]:
        """The judge as JSON; `restore` gives one that judges alike."""
        return {"version": VERSION, "column": self.column.as_dict(), "offset": self.offset, "oddities": self.oddities}


def fit(values: Sequence[Any], posterior: Any = None, weights: Weights | None = None) -> Judge:
    """The judge of a column, from its values in row order."""
    _require_texts(values)
    if not len(values):
        raise Refusal("A judge needs at least one value of the column, but none was given.")
    column, weights = Column.fit(values), weights or shipped()
    features, shares = column.backtest(MOST_BACKTESTED)
    offset = offset_of(weights.net(features)[:, 0], shares, column.total)
    return Judge(column, weights, offset, find_oddities(column, weights))


def find_oddities(column: Column, weights: Weights) -> dict[str, float]:
    """The values seen once that would be called errors beside the others, with their log-odds."""
    rows = column.rows
    once = rows.counts == 1
    if rows.total < LEAST_ROWS or not once.any():
        return {}
    found = weights.net(column.inside()[once])[:, 0].tolist()
    values = [v for v, o in zip(rows.values, once.tolist(), strict=True) if o]
    return {v: z for v, z in zip(values, found, strict=True) if z > ODD}


def restore(given: Mapping[str, Any], weights: Weights | None = None) -> Judge:
    """The judge that `as_dict` described; refuses what is not such a description."""
    try:
        if given["version"] != VERSION:
            raise Refusal(f"This judge is of version {given['version']}, but version {VERSION} is expected: fit it again.")
        oddities = {str(v): float(z) for v, z in given["oddities"].items()}
        return Judge(Column.restore(given["column"]), weights or shipped(), float(given["offset"]), oddities)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, Refusal):
            raise
        raise Refusal(f"This is not the description of a judge ({error!r}): fit it again.") from error


def _require_texts(values: Sequence[Any]) -> None:
    """Refuses anything but a sequence of texts."""
    if isinstance(values, str):
        raise Refusal("A sequence of texts was expected, but one text was given: put it in a list.")
    for value in values:
        if not isinstance(value, str):
            raise Refusal(f"Every value must be a text, but {value!r} was given: convert it with str.")
