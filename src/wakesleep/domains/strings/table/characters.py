"""Sets of characters as ranges of code points, and the sets of Unicode that regexes name."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

LAST = 0x10FFFF
SURROGATES = (0xD800, 0xDFFF)
Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Characters:
    """A set of characters: ranges of code points, both ends included, and sets of Unicode by name."""

    ranges: Ranges
    names: tuple[str, ...] = ()

    @property
    def all_ranges(self) -> Ranges:
        """Returns the ranges with those of the named sets, by the Unicode tables of this Python."""
        return merged([*self.ranges, *(r for name in self.names for r in named_ranges(name))])

    @property
    def complement(self) -> "Characters":
        """Returns the characters that are not in the set."""
        found, next_one = [], 0
        for first, last in merged([*self.all_ranges, SURROGATES]):
            if next_one < first:
                found.append((next_one, first - 1))
            next_one = last + 1
        return Characters(tuple(found) + (((next_one, LAST),) if next_one <= LAST else ()))

    @property
    def everything(self) -> bool:
        """Whether no character is missing."""
        return not self.complement.ranges

    def holds(self, c: str) -> bool:
        """Whether a character is in the set."""
        return any(first <= ord(c) <= last for first, last in self.all_ranges)


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Returns ranges in order, those that touch as one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return tuple(found)


def single(text: str) -> Characters:
    """Returns the set of the characters of a text."""
    return Characters(merged((ord(c), ord(c)) for c in text))


def union(sets: Iterable[Characters]) -> Characters:
    """Returns the union of sets."""
    given = list(sets)
    names = dict.fromkeys(name for each in given for name in each.names)
    return Characters(merged(r for each in given for r in each.ranges), tuple(names))


UNICODE = {"word": re.compile(r"\w+"), "letter": re.compile(r"[^\W\d_]+")}
"""The sets that the Unicode tables decide, as Python reads them."""
SPACE_CHARACTERS = Characters(
    ((0x9, 0xD), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
     (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000))
)  # fmt: skip
"""What Python's `\\s` holds."""
DIGIT_CHARACTERS = Characters(((0x30, 0x39),))


@cache
def named_ranges(name: str) -> Ranges:
    """Returns the code points of a set of Unicode."""
    everything = "".join(map(chr, range(LAST + 1)))
    return tuple((m.start(), m.end() - 1) for m in UNICODE[name].finditer(everything))
