"""Texts end to end in one array of code points, so that a level is computed for all values at once, with 64-bit hashes.

The hash of a text is the sum of m(c_k) B^k over its characters, modulo 2^64, with m a fixed mixing of code points and B
odd. So the hash of any part of a text follows from the sums before its ends. Texts of equal hashes are taken for equal.
"""

from collections.abc import Sequence
from functools import cache, cached_property

import numpy as np

LARGEST_HASHED = 2048
"""Characters of the longest text that is hashed."""
BASE = 0x9E3779B97F4A7C15
BASE_INVERSE = pow(BASE, -1, 2**64)
TABLED = 0x10000
"""Code points below this one are mixed by a table."""
SPARE_BITS = 3
"""Binary digits by which a table's index has more slots than the table has keys."""


def mixed(numbers: np.ndarray) -> np.ndarray:
    """Returns pseudo-random 64-bit numbers, one for each number (the finaliser of splitmix64)."""
    z = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(BASE)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@cache
def _mixed_codes() -> np.ndarray:
    return mixed(np.arange(TABLED))


def mixed_codes(codes: np.ndarray) -> np.ndarray:
    """Returns `mixed` of code points."""
    return mixed(codes) if len(codes) and codes.max() >= TABLED else _mixed_codes()[codes]


@cache
def powers(inverse: bool = False) -> np.ndarray:
    """Returns the powers of the base, or of its inverse, from 0 on."""
    base = np.full(LARGEST_HASHED, BASE_INVERSE if inverse else BASE, np.uint64)
    base[0] = 1
    return np.multiply.accumulate(base)


class Flat:
    """Texts end to end: the code points of all, and the number of characters of each."""

    def __init__(self, codes: np.ndarray, sizes: np.ndarray) -> None:
        self.codes, self.sizes = codes, sizes

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Flat":
        """Returns the array of some texts."""
        raw = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
        return cls(raw.astype(np.int64), np.fromiter(map(len, texts), np.int64, len(texts)))

    @cached_property
    def ends(self) -> np.ndarray:
        """The place after the last character of each text."""
        return np.cumsum(self.sizes)

    @cached_property
    def starts(self) -> np.ndarray:
        """The place of the first character of each text."""
        return self.ends - self.sizes

    @cached_property
    def owner(self) -> np.ndarray:
        """The number of the text that each character belongs to."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def place(self) -> np.ndarray:
        """The place of each character in its text."""
        return np.arange(len(self.codes)) - np.repeat(self.starts, self.sizes)

    @cached_property
    def size(self) -> np.ndarray:
        """The number of characters of the text that each character belongs to."""
        return np.repeat(self.sizes, self.sizes)

    @cached_property
    def mix(self) -> np.ndarray:
        """The mixed code points."""
        return mixed_codes(self.codes)

    @cached_property
    def prefix(self) -> np.ndarray:
        """The sums of m(c_k) B^k over all characters before each place, one text after the other."""
        sums = np.zeros(len(self.codes) + 1, np.uint64)
        np.cumsum(self.mix * powers()[self.place], out=sums[1:])
        return sums

    def hashes(self) -> np.ndarray:
        """Returns the hash of each text."""
        return self.prefix[self.ends] - self.prefix[self.starts]

    def parts(self, first: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Returns the hash of each part of a text from a first place to the place after its last one."""
        inside = np.minimum(first, max(len(self.codes) - 1, 0))
        shift = self.place[inside] if len(self.codes) else inside
        return (self.prefix[after] - self.prefix[first]) * powers(inverse=True)[shift]

    def bags(self) -> np.ndarray:
        """Returns a hash of each text that does not depend on the order of its characters."""
        sums = np.zeros(len(self.codes) + 1, np.uint64)
        np.cumsum(self.mix, out=sums[1:])
        return sums[self.ends] - sums[self.starts]

    def mapped(self, codes: np.ndarray) -> "Flat":
        """Returns texts of the same sizes with other characters."""
        found = Flat(codes, self.sizes)
        found.__dict__ |= {name: getattr(self, name) for name in ("ends", "starts", "owner", "place")}
        return found

    def kept(self, keep: np.ndarray) -> "Flat":
        """Returns the texts without the characters that are not kept."""
        return Flat(self.codes[keep], np.bincount(self.owner[keep], minlength=len(self.sizes)))

    def some(self, chosen: np.ndarray) -> "Flat":
        """Returns some of the texts, chosen by a mask."""
        return Flat(self.codes[np.repeat(chosen, self.sizes)], self.sizes[chosen])

    def ordered(self, order: np.ndarray) -> "Flat":
        """Returns the texts in another order."""
        sizes = self.sizes[order]
        shift = self.starts[order] - (np.cumsum(sizes) - sizes)
        return Flat(self.codes[np.arange(len(self.codes)) + np.repeat(shift, sizes)], sizes)

    def collapsed(self) -> "Flat":
        """Returns the texts with each run of one character written once."""
        return self.kept(self.is_change)

    @cached_property
    def is_change(self) -> np.ndarray:
        """Whether each character differs from the one before it in its text."""
        found = self.place == 0
        found[1:] |= self.codes[1:] != self.codes[:-1]
        return found

    def grams(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns the hash and the owner of every part of `size` neighbouring characters, in order."""
        whole, found = self.place + size <= self.size, self.mix.copy()
        for k in range(1, min(size, len(found))):
            found[:-k] += self.mix[k:] * powers()[k]
        return found[whole], self.owner[whole]

    def runs(self, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the first place and the place after the last one of every run of characters of a mask."""
        first, last = inside.copy(), inside.copy()
        if len(inside):
            start = self.place[1:] == 0
            first[1:] &= ~inside[:-1] | start
            last[:-1] &= ~inside[1:] | start
        return np.flatnonzero(first), np.flatnonzero(last) + 1

    def bounded(self, first: int, last: int) -> "Flat":
        """Returns the texts with a code point put before and one after each."""
        codes = np.full(len(self.codes) + 2 * len(self.sizes), first, np.int64)
        inside = np.ones(len(codes), bool)
        offset = 2 * np.arange(len(self.sizes))
        inside[self.starts + offset] = inside[self.ends + offset + 1] = False
        codes[self.ends + offset + 1] = last
        codes[inside] = self.codes
        return Flat(codes, self.sizes + 2)


def without_long(texts: Sequence[str], most: int) -> Sequence[str]:
    """Returns the texts, those of more than `most` characters as empty ones."""
    return texts if max(map(len, texts), default=0) <= most else [t if len(t) <= most else "" for t in texts]


def joined(some: Sequence[Flat]) -> Flat:
    """Returns the texts of several arrays, one after the other."""
    return Flat(np.concatenate([f.codes for f in some]), np.concatenate([f.sizes for f in some]))


def hash_texts(texts: Sequence[str]) -> np.ndarray:
    """Returns the hash of each text."""
    return Flat.of(texts).hashes()


def distinct(numbers: np.ndarray) -> np.ndarray:
    """Returns the different numbers in order."""
    found = np.sort(numbers)
    keep = np.ones(len(found), bool)
    keep[1:] = found[1:] != found[:-1]
    return found[keep]


class Table:
    """Hashes with counts: each in the slot of its leading binary digits, those whose slot is taken in a list."""

    def __init__(self, keys: np.ndarray, counts: np.ndarray) -> None:
        """Takes different keys in rising order, and their counts, all above zero."""
        self._keys, self._all_counts = keys, counts
        self._shift = np.uint64(64 - len(keys).bit_length() - SPARE_BITS)

    @classmethod
    def counting(cls, hashes: np.ndarray) -> "Table":
        """Returns the table of how often each hash occurs."""
        found = np.sort(hashes)
        first = np.ones(len(found), bool)
        first[1:] = found[1:] != found[:-1]
        at = np.flatnonzero(first)
        return cls(found[at], np.diff(at, append=len(found)))

    def __len__(self) -> int:
        return len(self._keys)

    @cached_property
    def _slots(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The key and the count of each slot, whether it has more keys, and the places of those; made when needed."""
        slot = (self._keys >> self._shift).astype(np.int64)
        first = np.ones(len(slot), bool)
        first[1:] = slot[1:] != slot[:-1]
        size = 1 << (64 - int(self._shift))
        keys, counts, more = np.zeros(size, np.uint64), np.zeros(size, np.int32), np.zeros(size, bool)
        keys[slot[first]], counts[slot[first]], more[slot[~first]] = self._keys[first], self._all_counts[first], True
        return keys, counts, more, self._keys[~first], self._all_counts[~first]

    def find(self, hashes: np.ndarray) -> np.ndarray:
        """Returns the count of each hash; 0 for those that are not in the table."""
        keys, counts, more, other_keys, other_counts = self._slots
        slot = (hashes >> self._shift).astype(np.int64)
        hit = keys[slot] == hashes
        found: np.ndarray = counts[slot] * hit
        if len(other_keys):
            rest = np.flatnonzero(more[slot] & ~hit)
            at = np.minimum(np.searchsorted(other_keys, hashes[rest]), len(other_keys) - 1)
            found[rest] = other_counts[at] * (other_keys[at] == hashes[rest])
        return found

    def holds(self, hashes: np.ndarray) -> np.ndarray:
        """Returns whether each hash is in the table."""
        return self.find(hashes) > 0
