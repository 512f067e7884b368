"""A character model of a column: how likely each character follows the two before it, for typos and cuts."""

import math

import numpy as np

from wakesleep.domains.strings.columns.judge.keys import Keys
from wakesleep.domains.strings.columns.judge.texts import Table

SCORES = ("mean", "least", "end")
"""The mean log-probability of a step, the least one, and that of ending where the value ends."""
_NEW, _SEEN = 0.05, 0.5
TIED_NATS = 1e-9
"""Difference of log-probabilities up to which scores count as equal."""


class Steps:
    """Triples and pairs of characters with the number of distinct values that hold them."""

    def __init__(self, triples: Table, pairs: Table) -> None:
        self.triples, self.pairs = triples, pairs
        self.inside: np.ndarray = np.zeros((len(SCORES), 0))
        self._log_share: np.ndarray = np.zeros(1)

    def fit(self, forms: Keys) -> np.ndarray:
        """Notes the scores of the column's own values, each beside the others; returns their log ranks."""
        counts = self.pairs.find(forms.bags["pair"].hashes), self.triples.find(forms.bags["triple"].hashes)
        scores = self.scores(forms, *counts, less=1)
        self.inside = np.sort(scores, axis=0).T.copy()
        count = len(scores)
        self._log_share = np.array([math.log((k + 0.5) / (count + 1)) for k in range(count + 1)])
        return self.ranked(scores)

    def scores(self, forms: Keys, pair_counts: np.ndarray, triple_counts: np.ndarray, less: int = 0) -> np.ndarray:
        """Returns the `SCORES` of each form from the counts of its pairs and triples; `less` leaves one value out.

        Digits are masked and ends marked. A form has one pair more than triples: the one that ends it, after which
        nothing follows.
        """
        sizes = np.bincount(forms.bags["triple"].owner, minlength=forms.count)
        ends = np.cumsum(sizes)
        leading = np.ones(len(pair_counts), bool)
        leading[np.cumsum(sizes + 1) - 1] = False
        both = np.maximum(triple_counts - less, 0) + _NEW
        step = np.log(both / (np.maximum(pair_counts[leading] - less, 0) + _SEEN))
        found, some = np.zeros((forms.count, len(SCORES))), sizes > 0
        if some.any():
            starts = (ends - sizes)[some]
            found[some, 0] = np.add.reduceat(step, starts) / sizes[some]
            found[some, 1], found[some, 2] = np.minimum.reduceat(step, starts), step[ends[some] - 1]
        return found

    def ranked(self, scores: np.ndarray) -> np.ndarray:
        """Returns the log share of the column's values that score as low, for each score."""
        ranks = [np.searchsorted(known, score + TIED_NATS) for known, score in zip(self.inside, scores.T, strict=True)]
        return self._log_share[np.stack(ranks, axis=1)]
