"""A slot: the texts that stand at one place of the values of a column."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

(
    AFTER_COLON, BEFORE_COLON, BETWEEN_COLONS, AFTER_W, AFTER_DOT, AFTER_Q, BEFORE_DEGREE, AFTER_HOURS,
) = PLACES = (
    "after a colon", "before a colon", "between colons", "after W", "after a dot", "after Q", "before a degree sign",
    "after hours",
)  # fmt: skip


@dataclass(frozen=True)
class Slot:
    """Texts that stand at one place of the values, with what is counted of them."""

    texts: tuple[str, ...]
    number: bool = False
    """Whether the texts are numbers rather than codes, so that those with fewer digits are to be expected."""
    place: str = ""
    """What stands beside the texts, if it tells of clocks and calendars: a name of `PLACES`."""

    @cached_property
    def table(self) -> Counter[str]:
        """How often each text occurs."""
        return Counter(self.texts)

    @cached_property
    def lengths(self) -> Counter[int]:
        """How often each length occurs."""
        found: Counter[int] = Counter()
        for text, k in self.table.items():
            found[len(text)] += k
        return found

    @cached_property
    def seen(self) -> frozenset[str]:
        """The characters that occur."""
        return frozenset("".join(self.table))

    @cached_property
    def characters(self) -> int:
        """The number of characters in all texts."""
        return sum(length * k for length, k in self.lengths.items())

    @cached_property
    def shared(self) -> str:
        """The beginning that all texts share."""
        low, high = min(self.table), max(self.table)
        k = 0
        while k < len(low) and k < len(high) and low[k] == high[k]:
            k += 1
        return low[:k]


LETTER_PLACES = {"W": AFTER_W, "w": AFTER_W, "Q": AFTER_Q, "q": AFTER_Q, "h": AFTER_HOURS}
"""Letters before a number that tell what it counts."""


def place_of(before: str, after: str, texts: Sequence[str]) -> str:
    """Returns what the kinds and texts of the tokens beside a slot tell of it; empty for nothing."""
    if before in (":", "'", "°"):
        return BETWEEN_COLONS if after == ":" else AFTER_COLON
    if after == ":":
        return BEFORE_COLON
    if after == "°":
        return BEFORE_DEGREE
    if before in (".", ","):
        return AFTER_DOT
    return LETTER_PLACES.get(texts[0][-1:], "") if texts and len(set(texts)) == 1 else ""


def places_among(kinds: Sequence[str], columns: Sequence[Sequence[str]]) -> list[str]:
    """Returns the place of each slot; signs, which may be empty, do not count as what stands beside it."""
    found: list[str] = []
    for i in range(len(kinds)):
        j = i - 1 - (i > 0 and kinds[i - 1] in ("sign", " "))
        before, texts = (kinds[j], columns[j]) if j >= 0 else ("", ())
        found.append(place_of(before, kinds[i + 1] if i + 1 < len(kinds) else "", texts))
    return found
