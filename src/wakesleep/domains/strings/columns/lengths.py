"""How many characters the texts of a slot may have, from the lengths that were seen."""

import math
from collections import Counter

from wakesleep.domains.strings.columns.counts import Counts, exactly, fit_counts
from wakesleep.domains.strings.columns.slot import Slot

SHORTEST_WORD = 4
"""Letters of the longest text of a slot from which its texts are words, whose lengths vary."""
LONG_NUMBER = 6
"""Digits from which numbers that all have as many keep them."""
MANY_NUMBERS = 20
"""Numbers after which those more than a digit shorter than any seen are not to be expected."""
LONGEST_CODE = 5
"""Capital letters up to which the texts of a slot are codes, of lengths near those seen."""
NEW_LENGTH = {"narrow": 1.0, "usual": 0.04, "wide": 0.0}
"""Chance of an unseen length above which the range of lengths is widened."""


def counts_of(slot: Slot, generality: str) -> Counts:
    """Returns the counts of a slot: numbers may have fewer digits, letters of several lengths others near them."""
    if generality == "narrow":
        return slot_counts(slot.lengths, generality)
    low, high = min(slot.lengths), max(slot.lengths)
    if slot.number and (low < high or high < LONG_NUMBER):
        counts = slot_counts(slot.lengths, generality)
        least = 1 if len(slot.texts) < MANY_NUMBERS else max(1, min(low - 1, counts.low))
        return fit_counts(slot.lengths.elements(), least, counts.high) if high > 1 else counts
    words = len(slot.lengths) == 2 and high >= SHORTEST_WORD and any(c.islower() for c in slot.seen)
    if (len(slot.lengths) >= 3 or words) and not any(c.isdigit() for c in slot.seen):
        widened = slot_counts(slot.lengths, generality)
        if widened.high is None:
            return widened
        if high <= LONGEST_CODE and all(c.isupper() for c in slot.seen):
            return fit_counts(slot.lengths.elements(), max(1, low - 1), high + 1)
        return fit_counts(
            slot.lengths.elements(), min(widened.low, max(1, low - 2)), max(widened.high, math.ceil(1.5 * high))
        )
    return slot_counts(slot.lengths, generality)


def slot_counts(lengths: Counter[int], generality: str) -> Counts:
    """Returns a distribution of lengths: the range seen, widened where new lengths are to be expected."""
    low, high = min(lengths), max(lengths)
    if low == high:
        return exactly(low)
    total = sum(lengths.values())
    once = sum(k == 1 for k in lengths.values())
    new = (once + 0.5 * (generality == "wide")) / total
    if new <= NEW_LENGTH[generality] or (len(lengths) == 2 and generality != "wide"):
        return fit_counts(lengths.elements(), low, high)
    slack = max(1, math.ceil((high - low + 1) * min(new, 1.0)))
    if generality == "wide" or (len(lengths) >= 4 and new > 0.25):
        return fit_counts(lengths.elements(), max(min(low, 1), low - slack), None)
    return fit_counts(lengths.elements(), max(min(low, 1), low - slack), high + slack)
