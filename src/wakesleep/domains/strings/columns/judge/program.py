"""What the programs found for a column say of a value: whether one can write it, and how much likelier than chance."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wakesleep.domains.strings.columns.background import background
from wakesleep.domains.strings.columns.judge.alike import Alike
from wakesleep.domains.strings.columns.nodes import Node
from wakesleep.domains.strings.columns.records import as_record, from_record

FEATURE_NAMES = (
    "given", "impossible", "rarely impossible", "impossible for the first", "gain a character", "gain", "rank",
    "first weight", "closed",
)  # fmt: skip
"""The features; all are zero where no posterior was given."""
MOST_OWN = 100
"""Values of the column whose gains others are ranked by."""
LEAST_LOG_ODDS, MOST_LOG_ODDS = -20.0, 60.0
"""Bounds of the log-odds of the programs against the characters of columns in general."""

TIED_GAIN = 1e-4
"""Difference of gains up to which they count as equal: sums over many values, and stored gains, are rounded."""


def no_program(count: int) -> np.ndarray:
    """Returns the features of values where no posterior was given."""
    return np.zeros((count, len(FEATURE_NAMES)), np.float32)


class Program:
    """The programs of a posterior with their weights, and the gains of the column's own values in order."""

    def __init__(
        self, nodes: Sequence[Node], weights: Sequence[float], closed: bool, own: Sequence[float] = ()
    ) -> None:
        self.nodes, self.weights, self.closed, self.own = tuple(nodes), tuple(weights), closed, np.array(own, float)
        self._alike = Alike(self.nodes)

    @classmethod
    def fit(cls, posterior: Any, values: Sequence[str]) -> "Program":
        """Returns the programs of a posterior, with gains from the distinct values of its column."""
        kept = [(e, w) for e, w in zip(posterior.entries, posterior.weights, strict=True) if w > 0]
        found = cls([e.program for e, _ in kept], [w for _, w in kept], bool(kept[0][0].closed))
        found.own = np.sort(found._gains(list(values[:: 1 + len(values) // MOST_OWN]))[0])
        return found

    def _gains(self, values: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Returns the bounded gain of each value, and whether the first program cannot write it."""
        some, group = self._alike.groups(values)
        each = np.array([node.log_probs(some) for node in self.nodes], float).reshape(len(self.nodes), len(some))
        mixed = np.logaddexp.reduce(each + np.log(self.weights)[:, None], axis=0)[group]
        gain = np.clip(mixed - background(values), LEAST_LOG_ODDS, MOST_LOG_ODDS)
        return np.where(np.isneginf(mixed), LEAST_LOG_ODDS, gain), np.isneginf(each[0])[group]

    def features(self, values: Sequence[str]) -> np.ndarray:
        """Returns one row of `NAMES` for each value."""
        gain, not_first = self._gains(values)
        impossible = gain <= LEAST_LOG_ODDS
        own_rate = ((self.own <= LEAST_LOG_ODDS).sum() + 0.5) / (len(self.own) + 1)
        rank = np.log((np.searchsorted(self.own, gain - TIED_GAIN) + 0.5) / (len(self.own) + 1))
        size = np.fromiter(map(len, values), np.int64, len(values)) + 1
        same = np.ones(len(values))
        parts = [
            same, impossible, impossible * -math.log(own_rate), not_first, np.clip(gain / size, -5, 5), gain / 10, rank,
            self.weights[0] * same, self.closed * same,
        ]  # fmt: skip
        return np.stack(parts, axis=1).astype(np.float32)

    def as_dict(self) -> dict[str, Any]:
        """Returns the programs as JSON."""
        nodes = [as_record(node) for node in self.nodes]
        return {"nodes": nodes, "weights": list(self.weights), "closed": self.closed, "own": self.own.round(4).tolist()}

    @classmethod
    def restore(cls, given: Mapping[str, Any]) -> "Program":
        """Returns the programs that `as_dict` described."""
        weights, own = [float(w) for w in given["weights"]], [float(g) for g in given["own"]]
        if not 0 < len(weights) == len(given["nodes"]) or not all(0 < w <= 1 for w in weights):
            raise ValueError("weights of programs are not probabilities")
        return cls([from_record(n) for n in given["nodes"]], weights, bool(given["closed"]), sorted(own))
