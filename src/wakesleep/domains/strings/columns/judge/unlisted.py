"""New words of a value that are in no list of words, as typos are: how many there are, and how rare they are here."""

import numpy as np

from wakesleep.domains.strings.columns.judge.near import Chosen
from wakesleep.domains.strings.columns.judge.wordlist import WordList, shipped

UNLISTED = (
    "listed", "unlisted", "misprint", "cut", "rate unlisted", "rate listed", "rate misprint", "rate cut", "usual",
)  # fmt: skip
"""Numbers of new words of a value by kind, the rates of such values where it is one, and the rate of unlisted words.

A misprint or a cut is an unlisted word near a listed one (`wordlist`)."""
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
        """Returns for each form how many of the chosen words are listed, unlisted, misprints and cuts."""
        listed, long = self.words.holds(chosen.hashes), chosen.words.sizes >= SHORTEST
        unlisted = ~listed & long
        some = chosen.words.some(unlisted)
        near = np.zeros((2, len(listed)), bool)
        near[:, unlisted] = self.words.is_misprint(some), self.words.is_cut(some)
        each = listed & long, unlisted, *near
        return np.stack([np.bincount(chosen.owner[x[chosen.place]], minlength=chosen.count) for x in each], axis=1)

    def _features(self, numbers: np.ndarray) -> np.ndarray:
        listed, unlisted, misprint, cut = numbers.T > 0
        by_kind = zip((unlisted, listed & ~unlisted, misprint, cut), self._rates[[1, 0, 2, 3]], strict=True)
        usual = np.full(len(numbers), self._rates[1])
        return np.concatenate([np.log1p(numbers), np.stack([*(x * r for x, r in by_kind), usual], axis=1)], axis=1)
