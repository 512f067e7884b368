"""Near duplicates: values and words that differ from a known one by one edit, and those that are cut off."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wakesleep.domains.strings.columns.judge.keys import Bag, Keys
from wakesleep.domains.strings.columns.judge.texts import BASE, BASE_INVERSE, Flat, Table, distinct, powers

SHORTEST_NEAR, LONGEST_NEAR = 3, 30
"""Characters of values and words whose neighbours are looked for."""
MOST_CUT = 3
"""Characters that may be missing at the end of a word for it to be a cut of a known one."""


def deletions(flat: Flat) -> Bag:
    """Returns the texts with each of their characters left out in turn; none of texts that are too short or too long.

    Leaving out any character of a run of one character gives the same text, which is returned once.
    """
    fits = (flat.sizes >= SHORTEST_NEAR) & (flat.sizes <= LONGEST_NEAR)
    some = flat if fits.all() else flat.some(fits)
    at = np.flatnonzero(some.is_change)
    owner, shifted = some.owner[at], some.prefix * np.uint64(BASE_INVERSE)
    whole = shifted[some.ends] - some.prefix[some.starts]
    return Bag(some.prefix[at] - shifted[at + 1] + whole[owner], np.flatnonzero(fits)[owner])


def swaps(flat: Flat) -> Bag:
    """Returns the texts with each two different neighbouring characters swapped in turn."""
    at = np.flatnonzero((flat.place[1:] > 0) & (flat.codes[1:] != flat.codes[:-1]))
    power, owner = powers()[flat.place[at]], flat.owner[at]
    moved = (flat.mix[at] - flat.mix[at + 1]) * (power * np.uint64(BASE) - power)
    return Bag(flat.hashes()[owner] + moved, owner)


def any_of(owner: np.ndarray, hits: np.ndarray, count: int) -> np.ndarray:
    """Returns for each of `count` texts whether any of its parts is a hit."""
    found = np.zeros(count, bool)
    found[owner[hits]] = True
    return found


def short_hashes(flat: Flat) -> np.ndarray:
    """Returns the hash of each text of at most `LONGEST` characters; of longer ones the hash of no text."""
    fits = flat.sizes <= LONGEST_NEAR
    if fits.all():
        return flat.hashes()
    found = np.zeros(len(fits), np.uint64)
    found[fits] = flat.some(fits).hashes()
    return found


class Neighbours:
    """Known texts and their deletions: finds those within one insertion, deletion, substitution or swap."""

    def __init__(self, flat: Flat) -> None:
        known, deleted = short_hashes(flat), deletions(flat).hashes
        self.deleted = Table.counting(deleted)
        self.around = Table.counting(np.concatenate([deleted, np.repeat(distinct(known[known != 0]), 2)]))
        """How often a text comes by deletion; known texts count twice."""

    def near(self, flat: Flat) -> np.ndarray:
        """Returns whether each text, none of which is known, has a known neighbour."""
        return self._near(flat, 0)

    def near_another(self, flat: Flat) -> np.ndarray:
        """Returns whether each text, all of which are known, has a neighbour besides itself."""
        return self._near(flat, 1)

    def _near(self, flat: Flat, own: int) -> np.ndarray:
        found = deletions(flat)
        hits = self.around.find(found.hashes) > own
        beside = any_of(found.owner, hits, len(flat.sizes)) | self.deleted.holds(short_hashes(flat))
        return beside & (flat.sizes >= SHORTEST_NEAR)


class Beginnings:
    """Known texts and their beginnings: finds the beginnings of known texts, and texts that begin with a known one."""

    def __init__(self, flat: Flat) -> None:
        """Takes different texts; empty ones are left out."""
        some = flat.some(flat.sizes > 0)
        self.sizes = np.bincount(some.sizes, minlength=1) > 0
        """Whether a known text has each number of characters."""
        self.whole = Table.counting(some.hashes())
        at = np.flatnonzero(some.place + 1 < some.size)
        self.begun = Table.counting(_hashes_up_to(some, at))

    def around(self, flat: Flat) -> tuple[np.ndarray, np.ndarray]:
        """Returns whether each text begins a longer known one, and whether it continues a shorter known one."""
        begins = self.begun.holds(flat.hashes()) & (flat.sizes > 0)
        size = flat.place + 1
        likely = self.sizes[np.minimum(size, len(self.sizes) - 1)] & (size < len(self.sizes))
        at = np.flatnonzero(likely & (size < flat.size))
        return begins, any_of(flat.owner[at], self.whole.holds(_hashes_up_to(flat, at)), len(flat.sizes))


def _hashes_up_to(flat: Flat, at: np.ndarray) -> np.ndarray:
    """Returns the hashes of the beginnings of texts up to some places."""
    return flat.prefix[at + 1] - flat.prefix[flat.starts[flat.owner[at]]]


EVENTS = ("near value", "near word", "cut value", "longer value", "cut word")


@dataclass(frozen=True)
class Chosen:
    """Some of the folded words of forms: the different ones with their hashes; the place and the form of each."""

    words: Flat
    hashes: np.ndarray
    place: np.ndarray
    owner: np.ndarray
    count: int
    """The number of forms."""

    def any(self, hits: np.ndarray) -> np.ndarray:
        """Returns whether any word of each form is a hit, given the hits among the different words."""
        return any_of(self.owner, hits[self.place], self.count)


def choose(forms: Keys, chosen: np.ndarray) -> Chosen:
    """Returns the chosen ones of the folded words of forms."""
    words, bag = forms.words.some(chosen), forms.bags["folded word"]
    hashes, first, place = np.unique(bag.hashes[chosen], return_index=True, return_inverse=True)
    order = np.argsort(first)
    kept = np.zeros(len(words.sizes), bool)
    kept[first] = True
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return Chosen(words.some(kept), hashes[order], rank[place], bag.owner[chosen], forms.count)


class Near:
    """The near duplicates of a column: its values, its words, and how often they are near each other."""

    def __init__(self, flat: Flat, words: Chosen, alone: Chosen) -> None:
        """Takes the distinct values, all their words, and the words that one value has."""
        self.values, self.order = Neighbours(flat), Beginnings(flat)
        self.words = Neighbours(words.words.some(words.words.sizes > SHORTEST_NEAR))
        self.cuts = Table.counting(_cuts(words.words))
        near, cut = self._of_words(alone, self.words.near_another)
        self.inside = self._events(flat, self.values.near_another(flat), near, cut)

    def events(self, flat: Flat, new: Chosen, group: np.ndarray) -> np.ndarray:
        """Returns the events of new values beside those of the column.

        `new` are the words of their forms that the column does not have, `group` is the number of each value's form.
        """
        near, cut = self._of_words(new, self.words.near)
        return self._events(flat, self.values.near(flat), near[group], cut[group])

    def _events(self, flat: Flat, near_value: np.ndarray, near: np.ndarray, cut: np.ndarray) -> np.ndarray:
        return np.stack([near_value, near, *self.order.around(flat), cut], axis=1)

    def _of_words(self, chosen: Chosen, is_near: Callable[[Flat], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Returns whether any chosen word of each form is near a known one, and whether any is a cut of one."""
        words = chosen.words
        return chosen.any(is_near(words) & (words.sizes > SHORTEST_NEAR)), chosen.any(self.cuts.holds(chosen.hashes))


def _cuts(words: Flat) -> np.ndarray:
    """Returns the hashes of the words without their last one, two or three characters."""
    found = []
    for lost in range(1, MOST_CUT + 1):
        long = words.sizes - lost >= SHORTEST_NEAR
        found.append(words.parts(words.starts[long], words.ends[long] - lost))
    return np.concatenate(found)
