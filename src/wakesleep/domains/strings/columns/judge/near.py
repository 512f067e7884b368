"""Near duplicates: values and words that differ from a known one by one edit, and those that are cut off."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from wakesleep.domains.strings.columns.judge.keys import Bag, Keys
from wakesleep.domains.strings.columns.judge.texts import BASE_INVERSE, Flat, Table, distinct, without_long

SHORTEST, LONGEST = 3, 30
"""Characters of values and words whose neighbours are looked for."""
MOST_CUT = 3
"""Characters that may be missing at the end of a word for it to be a cut of a known one."""


def deletions(flat: Flat) -> Bag:
    """Returns the texts with each of their characters left out in turn; none of texts that are too short or too long.

    Leaving out any character of a run of one character gives the same text, which is returned once.
    """
    fits = (flat.sizes >= SHORTEST) & (flat.sizes <= LONGEST)
    some = flat if fits.all() else flat.some(fits)
    at = np.flatnonzero(some.is_change)
    owner, shifted = some.owner[at], some.prefix * np.uint64(BASE_INVERSE)
    whole = shifted[some.ends] - some.prefix[some.starts]
    return Bag(some.prefix[at] - shifted[at + 1] + whole[owner], np.flatnonzero(fits)[owner])


def any_of(owner: np.ndarray, hits: np.ndarray, count: int) -> np.ndarray:
    """Returns for each of `count` texts whether any of its parts is a hit."""
    found = np.zeros(count, bool)
    found[owner[hits]] = True
    return found


def short_hashes(flat: Flat) -> np.ndarray:
    """Returns the hash of each text of at most `LONGEST` characters; of longer ones the hash of no text."""
    fits = flat.sizes <= LONGEST
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
        return beside & (flat.sizes >= SHORTEST)


class Beginnings:
    """Known texts in order: finds those of which a text is the beginning, and those that begin a text."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = sorted({t for t in texts if t})

    def around(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Returns whether each text begins a longer known one, and whether it continues the known one before it."""
        known = ["", *self.texts, "", ""]
        places = [bisect_left(self.texts, text) for text in texts]
        begins = np.array([known[i + 1].startswith(text) for text, i in zip(texts, places, strict=True)], bool)
        for k in np.flatnonzero(begins).tolist():
            text, i = texts[k], places[k]
            begins[k] = text != "" and (known[i + 1] != text or known[i + 2].startswith(text))
        continues = [text.startswith(known[i]) for text, i in zip(texts, places, strict=True)]
        return begins, np.array(continues, bool) & (np.array(places) > 0)


EVENTS = ("near value", "near word", "cut value", "longer value", "cut word")


class Near:
    """The near duplicates of a column: its values, its words, and how often they are near each other."""

    def __init__(self, values: Sequence[str], forms: Keys, known: Table) -> None:
        """Takes the distinct values, their keys by form (a form for each value), and the known folded words."""
        flat = short_texts(values)
        self.values, self.order, self.known = Neighbours(flat), Beginnings(values), known
        words, _ = distinct_words(forms, np.ones(len(forms.words.sizes), bool))
        self.words = Neighbours(words.some(words.sizes > SHORTEST))
        self.cuts = Table.counting(_cuts(words))
        alone = known.find(forms.bags["folded word"].hashes) == 1
        near, cut = self._of_words(forms, alone, self.words.near_another)
        self.inside = self._events(values, self.values.near_another(flat), near, cut)

    def events(self, values: Sequence[str], forms: Keys, group: np.ndarray) -> np.ndarray:
        """Returns the events of new values beside those of the column; `group` is the number of each value's form."""
        new = ~self.known.holds(forms.bags["folded word"].hashes)
        near, cut = self._of_words(forms, new, self.words.near)
        return self._events(values, self.values.near(short_texts(values)), near[group], cut[group])

    def _events(self, values: Sequence[str], near_value: np.ndarray, near: np.ndarray, cut: np.ndarray) -> np.ndarray:
        return np.stack([near_value, near, *self.order.around(values), cut], axis=1)

    def _of_words(
        self, forms: Keys, chosen: np.ndarray, is_near: Callable[[Flat], np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns whether any chosen word of each form is near a known one, and whether any is a cut of one."""
        words, place = distinct_words(forms, chosen)
        owner, hashes = forms.bags["folded word"].owner[chosen], words.hashes()
        near, cut = is_near(words) & (words.sizes > SHORTEST), self.cuts.holds(hashes)
        return any_of(owner, near[place], forms.count), any_of(owner, cut[place], forms.count)


def short_texts(values: Sequence[str]) -> Flat:
    """Returns the texts, those that are too long to have neighbours as empty ones."""
    return Flat.of(without_long(values, LONGEST))


def distinct_words(forms: Keys, chosen: np.ndarray) -> tuple[Flat, np.ndarray]:
    """Returns the different ones of some folded words, and for each of these its place among them."""
    words = forms.words.some(chosen)
    _, first, place = np.unique(forms.bags["folded word"].hashes[chosen], return_index=True, return_inverse=True)
    kept = np.zeros(len(words.sizes), bool)
    kept[first] = True
    return words.some(kept), (np.cumsum(kept) - 1)[first][place]


def _cuts(words: Flat) -> np.ndarray:
    """Returns the hashes of the words without their last one, two or three characters."""
    found = []
    for lost in range(1, MOST_CUT + 1):
        long = words.sizes - lost >= SHORTEST
        found.append(words.parts(words.starts[long], words.ends[long] - lost))
    return np.concatenate(found)
