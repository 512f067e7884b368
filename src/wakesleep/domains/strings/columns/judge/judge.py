"""The judge of a column: log-odds that a value is legitimate, verdicts at a share, reasons, JSON."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np

from wakesleep.domains.strings.columns.judge.column import Column
from wakesleep.domains.strings.columns.judge.net import Weights, shipped
from wakesleep.domains.strings.columns.judge.program import Program, no_program
from wakesleep.domains.strings.columns.judge.reasons import reason
from wakesleep.errors import Refusal, require_share

KNOWN_EVIDENCE = 12.0
"""The evidence of a value that was fitted on and is no oddity."""
ODD = 4.0
"""Log-odds of an error, beside the other values, from which a value fitted on once is an oddity.

Chosen on tables out of fold: one row in 1,000 to 2,000 is one, and 7 in 10 planted errors are."""
MOST_LEFT_OUT, MOST_LEFT_OUT_OF = 5, 60
"""Values that are judged by a column fitted without them, and the most distinct values of such a column."""
LEAST_ROWS = 20
"""Rows from which values fitted on may be oddities."""
MOST_CACHED, MOST_NEW_CACHED = 200_000, 10_000
"""Verdicts that are kept, and the most values, all different and new, at once of which they are."""
MOST_AT_A_TIME = 8192
"""Values that are judged at a time."""
VERSION = 2
AS_USUAL: Final = "usual"
"""The share that is not asked for: many errors are found, and after few rows more legitimate values are refused."""
Share = float | Literal["usual"] | None
Alarm = tuple[np.ndarray, np.ndarray]
"""Log-odds of values, and the shares of rows that they stand for."""
MOST_BACKTESTED = 150
"""Distinct values of the second half of the rows that set the offset of a column."""
OWN_SHARE = 0.98
"""Share of a column's own rows, each judged by others, that should stay below its threshold."""
FARTHEST_OFFSET, FARTHEST_DRIFT = 1.0, 2.0
DRIFT_SLOPE = 1.2
"""Offset for each unit by which rows in order are stranger than rows at random."""
USUAL_OFFSET, USUAL_ROWS = 0.4, 100
"""The offset of a column in general, and the rows with which its own counts as much."""


def reached(log_odds: np.ndarray, weights: np.ndarray) -> float:
    """Returns the log-odds that `OWN_SHARE` of the rows stay below, between -1 and 3; -1 where all do."""
    order = np.argsort(-log_odds)
    above = np.cumsum(weights[order]) > 1 - OWN_SHARE
    return float(np.clip(log_odds[order][np.argmax(above)], -1, 3)) if above.any() else -1.0


def offset_of(late: Alarm, once: Alarm, rows: int) -> float:
    """Returns how far a column's threshold is raised, by what its own rows reach and by how far they drift.

    `late` are values new in the second half beside the first, `once` those seen once beside all others.
    """
    in_order, at_random = reached(*late), reached(*once)
    drift = min(max(in_order - at_random, 0.0), FARTHEST_DRIFT)
    own = min(max(in_order, at_random, 0.0), FARTHEST_OFFSET) + DRIFT_SLOPE * drift
    return (rows * own + USUAL_ROWS * USUAL_OFFSET) / (rows + USUAL_ROWS)


class Judge:
    """Judges values by what is news in them beside the column they belong to."""

    def __init__(
        self, column: Column, program: Program | None, weights: Weights, offset: float, oddities: Mapping[str, float]
    ) -> None:
        self.column, self.program, self.weights = column, program, weights
        self.offset, self.oddities = offset, dict(oddities)
        self._cache: dict[str, tuple[float, float]] = {}

    def evidence(self, values: Sequence[Any]) -> np.ndarray:
        """Returns the log-odds that each value is a legitimate later value rather than a damaged or a foreign one."""
        return self._evidence(values)[:, 0]

    def accepts(self, values: Sequence[Any], share: Share = AS_USUAL) -> np.ndarray:
        """Returns whether each value is accepted, so that about `share` of the later legitimate rows of columns are.

        The usual threshold keeps 97 % after many rows. After few rows it refuses more (`expected_alarms`), for one that
        kept 97 % then would miss many errors. With None the fewest errors are made between members and values of
        other columns.
        """
        if share is None:
            return self._evidence(values)[:, 1] > 0
        return self.evidence(values) >= self.threshold(share)

    def threshold(self, share: float | Literal["usual"] = AS_USUAL) -> float:
        """Returns the evidence from which a value is accepted."""
        if share == AS_USUAL:
            return -self.offset - self.weights.usual_threshold(self.column.total)
        require_share("share", share)
        return -self.offset - self.weights.threshold(share, self.column.total)

    @property
    def expected_alarms(self) -> float:
        """The share of legitimate later rows that the usual threshold refuses, in columns of as many rows.

        Of rows that come at random; where a table drifts there are more.
        """
        return self.weights.expected_alarms(self.column.total)

    def why(self, value: Any) -> str:
        """Returns one short phrase: what is news in the value, or where it was seen."""
        _require_texts([value])
        return reason(self.column, value)

    def _evidence(self, values: Sequence[Any]) -> np.ndarray:
        """Returns the evidence against each of the heads, from the cache where the value was judged before."""
        _require_texts(values)
        cache = self._cache
        new = [v for v in dict.fromkeys(values) if v not in cache]
        if len(cache) + len(new) > MOST_CACHED:
            cache.clear()
            new = list(dict.fromkeys(values))
        found, all_new = self._judge(new), len(new) == len(values)
        if not all_new or len(new) <= MOST_NEW_CACHED:
            cache.update(zip(new, zip(*found.T.tolist(), strict=True), strict=True))
        return found if all_new else np.array([cache[v] for v in values], float).reshape(-1, 2)

    def _judge(self, values: list[str]) -> np.ndarray:
        """Returns the evidence of different values against each of the heads."""
        found = np.full((len(values), 2), KNOWN_EVIDENCE)
        known = np.array(self.column.know(values), bool)
        if self.oddities:
            for i in np.flatnonzero(known).tolist():
                found[i] = -self.oddities.get(values[i], -KNOWN_EVIDENCE)
        unknown = np.flatnonzero(~known)
        for start in range(0, len(unknown), MOST_AT_A_TIME):
            some = unknown[start : start + MOST_AT_A_TIME]
            features = features_of(self.column, self.program, [values[i] for i in some.tolist()])
            found[some] = np.minimum(-self.weights.net(features), KNOWN_EVIDENCE)
        return found

    def as_dict(self) -> dict[str, Any]:
        """Returns the judge as JSON; `restore` gives one that judges alike."""
        program = None if self.program is None else self.program.as_dict()
        whole = {"version": VERSION, "column": self.column.as_dict(), "program": program}
        return whole | {"offset": self.offset, "oddities": self.oddities}


def fit(values: Sequence[Any], posterior: Any = None, weights: Weights | None = None) -> Judge:
    """Fits the judge of a column to its values in row order and, if there is one, the posterior over its programs."""
    _require_texts(values)
    if not len(values):
        raise Refusal("A judge needs at least one value of the column, but none was given.")
    column, weights = Column.fit(values), weights or shipped()
    later, weight = column.backtest(MOST_BACKTESTED)
    once, alone = column.seen_once()
    log_odds = own_log_odds(weights.net, once)
    late = own_log_odds(weights.net, later)
    offset = offset_of((late, weight), (log_odds, np.full(len(once), 1 / column.rows.total)), column.total)
    odd = find_oddities(column, weights, dict(zip(alone, log_odds.tolist(), strict=True)), values)
    program = None if posterior is None else Program.fit(posterior, column.rows.values)
    return Judge(column, program, weights, offset, odd)


def find_oddities(
    column: Column, weights: Weights, alone: Mapping[str, float], values: Sequence[str]
) -> dict[str, float]:
    """Returns the values seen once that would be called errors beside the others, with their log-odds.

    In a column of few distinct values a value weighs in its own rates: the strangest are judged without themselves.
    """
    if column.total < LEAST_ROWS:
        return {}
    found = dict(alone)
    if column.distinct <= MOST_LEFT_OUT_OF:
        for value in sorted(alone, key=lambda v: -alone[v])[:MOST_LEFT_OUT]:
            rest = Column.fit([v for v in values if v != value])
            found[value] = float(own_log_odds(weights.net, rest.features([value], no_program(1)))[0])
    return {v: z for v, z in found.items() if z > ODD}


def features_of(column: Column, program: Program | None, values: Sequence[str]) -> np.ndarray:
    """Returns all features of values that are not known."""
    said = no_program(len(values)) if program is None else program.features(values)
    return column.features(values, said)


def own_log_odds(net: Callable[[np.ndarray], np.ndarray], features: np.ndarray) -> np.ndarray:
    """Returns the log-odds of a column's own values; their features lack the programs, which were fitted to them."""
    return net(features)[:, 0]


def restore(given: Mapping[str, Any], weights: Weights | None = None) -> Judge:
    """Returns the judge that `as_dict` described; refuses what is not such a description."""
    try:
        if given["version"] != VERSION:
            raise Refusal(
                f"This judge is of version {given['version']}, but version {VERSION} is expected: fit it again."
            )
        oddities = {str(v): float(z) for v, z in given["oddities"].items()}
        program = None if given["program"] is None else Program.restore(given["program"])
        return Judge(Column.restore(given["column"]), program, weights or shipped(), float(given["offset"]), oddities)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, Refusal):
            raise
        raise Refusal(f"This is not the description of a judge ({error!r}): fit it again.") from error


def _require_texts(values: Sequence[Any]) -> None:
    """Refuses anything but a sequence of texts."""
    if isinstance(values, str):
        raise Refusal("A sequence of texts was expected, but one text was given: put it in a list.")
    if set(map(type, values)) == {str}:
        return
    for value in values:
        if not isinstance(value, str):
            raise Refusal(f"Every value must be a text, but {value!r} was given: convert it with str.")
