"""A character model of a column: how likely each character follows the two before it, for typos and cuts."""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence

import numpy as np

SCORES = ("mean", "least", "end")
"""The mean log-probability of a step, the least one, and that of ending where the value ends."""
_NEW, _SEEN = 0.05, 0.5


class Steps:
    """Triples and pairs of characters with the number of distinct values that hold them."""

    def __init__(self, triples: Mapping[str, int], pairs: Mapping[str, int]) -> None:
        self.triples, self.pairs = triples, pairs
        self.inside: list[list[float]] = []

    def fit(self, masked: Sequence[str]) -> np.ndarray:
        """Notes the scores of the column's own values, each beside the others; returns their log ranks."""
        scores = np.array([self.scores(text, 1) for text in masked])
        self.inside = np.sort(scores, axis=0).T.tolist()
        return np.array([self.ranked(row) for row in scores.tolist()])

    def scores(self, masked: str, less: int = 0) -> tuple[float, float, float]:
        """The `SCORES` of a value with its digits masked and its ends marked; `less` leaves one value out."""
        triples, pairs = self.triples, self.pairs
        steps = [
            (triples.get(masked[i : i + 3], less) - less + _NEW) / (pairs.get(masked[i : i + 2], less) - less + _SEEN)
            for i in range(len(masked) - 2)
        ]
        if not steps:
            return 0.0, 0.0, 0.0
        return sum(map(math.log, steps)) / len(steps), math.log(min(steps)), math.log(steps[-1])

    def ranked(self, scores: Sequence[float]) -> list[float]:
        """The log share of the column's values that score as low, for each score."""
        return [
            math.log((bisect_left(known, score + 1e-9) + 0.5) / (len(known) + 1))
            for known, score in zip(self.inside, scores, strict=True)
        ]
