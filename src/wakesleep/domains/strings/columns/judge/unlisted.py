"""New words of a value that are in no list of words, as typos are: how many there are, and how rare they are here."""

import numpy as np

from wakesleep.domains.strings.columns.judge.near import Chosen
from wakesleep.domains.strings.columns.judge.wordlist import WordList, shipped

UNLISTED = ("listed", "unlisted", "rate unlisted", "rate listed", "usual")
"""Numbers of new words of a value by kind, the rate of such values where it is one, and the rate of unlisted words."""
SHORTEST = 3
"""Letters of the shortest word that is looked up."""


class Unlisted:
    """How often words that one value of a column has are listed, so that new words may be compared with them."""

    def __init__(self, alone: Chosen, words: WordList | None = None) -> None:
        self.words = words or shipped()
        numbers = self._numbers(alone)
        self._rates = -np.log(((numbers > 0).sum(0) + 0.5) / (alone.count + 1))
        self.inside = self._features(numbers)
        """The features of the column's own values, each beside the others."""

    def features(self, new: Chosen) -> np.ndarray:
        """Returns one row of `UNLISTED` for each form, given its words that the column does not have."""
        return self._features(self._numbers(new))

    def _numbers(self, chosen: Chosen) -> np.ndarray:
        """Returns for each form how many of the chosen words are listed, and how many are not."""
        listed, long = self.words.holds(chosen.hashes), chosen.words.sizes >= SHORTEST
        each = listed & long, ~listed & long
        return np.stack([np.bincount(chosen.owner[x[chosen.place]], minlength=chosen.count) for x in each], axis=1)

    def _features(self, numbers: np.ndarray) -> np.ndarray:
        listed, unlisted = numbers.T > 0
        by_kind = unlisted * self._rates[1], (listed & ~unlisted) * self._rates[0]
        usual = np.full(len(numbers), self._rates[1])
        return np.concatenate([np.log1p(numbers), np.stack([*by_kind, usual], axis=1)], axis=1)
