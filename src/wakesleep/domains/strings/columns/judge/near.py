"""Near duplicates: values and words that differ from a known one by one edit, and those that are cut off."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

SHORTEST, LONGEST = 3, 30
"""Characters of values and words whose neighbours are looked for."""
MOST_CUT = 3
"""Characters that may be missing at the end of a word for it to be a cut of a known one."""


def deletions(text: str) -> set[str]:
    """The text with each of its characters left out in turn; empty for texts that are too short or too long."""
    if not SHORTEST <= len(text) <= LONGEST:
        return set()
    return {text[:i] + text[i + 1 :] for i in range(len(text))}


class Neighbours:
    """Known texts and their deletions: finds those within one insertion, deletion, substitution or swap."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = set(texts)
        self.deleted: Counter[str] = Counter()
        for text in self.texts:
            self.deleted.update(deletions(text))

    def near(self, text: str) -> bool:
        """Whether a text that is not known has a known neighbour."""
        if len(text) < SHORTEST:
            return False
        if text in self.deleted:
            return True
        found = deletions(text)
        return not self.texts.isdisjoint(found) or not self.deleted.keys().isdisjoint(found)

    def near_another(self, text: str) -> bool:
        """Whether a known text has a neighbour besides itself."""
        if len(text) < SHORTEST:
            return False
        if text in self.deleted:
            return True
        found = deletions(text)
        return not self.texts.isdisjoint(found) or max(map(self.deleted.__getitem__, found), default=0) > 1


class Beginnings:
    """Known texts in order: finds those of which a text is the beginning, and those that begin a text."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = sorted(set(texts))

    def begins(self, text: str) -> bool:
        """Whether a text is the beginning of a longer known one."""
        i = bisect_left(self.texts, text)
        if i < len(self.texts) and self.texts[i] == text:
            i += 1
        return i < len(self.texts) and len(text) > 0 and self.texts[i].startswith(text)

    def continues(self, text: str) -> bool:
        """Whether a text continues the known one before it in order."""
        i = bisect_left(self.texts, text)
        return i > 0 and len(self.texts[i - 1]) > 0 and text.startswith(self.texts[i - 1])


EVENTS = ("near value", "near word", "cut value", "longer value", "cut word")


class Near:
    """The near duplicates of a column: its values, its words, and how often they are near each other."""

    def __init__(self, values: Sequence[str], words: Sequence[set[str]], counts: Mapping[str, int]) -> None:
        self.values = Neighbours(values)
        self.order = Beginnings(values)
        self.counts = counts
        self.words = Neighbours(w for w in counts if len(w) > SHORTEST)
        self.cuts: Counter[str] = Counter()
        for word in counts:
            self.cuts.update(word[:-k] for k in range(1, MOST_CUT + 1) if len(word) - k >= SHORTEST)
        self.inside = np.array([self._inside(v, w) for v, w in zip(values, words, strict=True)], float)

    def _inside(self, value: str, words: set[str]) -> tuple[bool, ...]:
        """The events of a value of the column beside the others."""
        alone = [w for w in words if self.counts[w] == 1]
        return (
            self.values.near_another(value),
            any(self.words.near_another(w) for w in alone if len(w) > SHORTEST),
            self.order.begins(value),
            self.order.continues(value),
            any(w in self.cuts for w in alone),
        )

    def events(self, value: str, words: set[str]) -> tuple[bool, ...]:
        """The events of a new value beside those of the column."""
        new = [w for w in words if w not in self.counts]
        return (
            self.values.near(value),
            any(self.words.near(w) for w in new if len(w) > SHORTEST),
            self.order.begins(value),
            self.order.continues(value),
            any(w in self.cuts for w in new),
        )
