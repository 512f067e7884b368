"""Words that there are in general: a list by hashes, learned from files of words.

    python -m wakesleep.domains.strings.columns.judge.wordlist WORDS.txt ...

writes the list that the package carries; every run of letters in a UTF-8 file is a word. A new word of a column that
is in no list may be a typo, the more so if it is a misprint or a cut of a listed one; one that is listed is rather a
new member.
"""

import argparse
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from wakesleep.domains.strings.columns.judge.near import deletions, swaps
from wakesleep.domains.strings.columns.judge.texts import Flat, distinct
from wakesleep.errors import Refusal

SHIPPED = Path(__file__).with_name("wordlist.npz")
HASH_BITS = {"words": 27, "cuts": 24}
"""Binary digits of the hash by which a word, and one that lacks its end, is known: of other words, one in 400 is taken
for listed, and one in 25 for a cut."""
COARSE_BITS = 22
"""Binary digits of a hash by which most words are ruled out at once: five fewer than words have."""
SHORTEST_MISPRINT = 5
"""Letters of the shortest word that may be a misprint of a listed one."""
SHORTEST_CUT, MOST_LOST = 4, 3
"""Letters that are left of a word that lacks its end, and letters that may be missing."""
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class WordList:
    """One bit for each hash of a folded word, and one for each hash of a word without its last letters."""

    words: np.ndarray
    cuts: np.ndarray

    def holds(self, hashes: np.ndarray) -> np.ndarray:
        """Returns whether each word, given by its 64-bit hash, is listed."""
        return _holds(self.words, hashes)

    def is_cut(self, flat: Flat) -> np.ndarray:
        """Returns whether each word is a listed one without its last letters."""
        return _holds(self.cuts, flat.hashes()) & (flat.sizes >= SHORTEST_CUT)

    def is_misprint(self, flat: Flat) -> np.ndarray:
        """Returns whether each word is listed once a letter is left out or two neighbours are swapped."""
        long = flat.sizes >= SHORTEST_MISPRINT
        some, found = flat.some(long), np.zeros(len(flat.sizes), bool)
        number = np.flatnonzero(long)
        for bag in (deletions(some), swaps(some)):
            maybe = self._coarse[(bag.hashes >> np.uint64(64 - COARSE_BITS)).astype(np.int64)]
            found[number[bag.owner[maybe][self.holds(bag.hashes[maybe])]]] = True
        return found

    @cached_property
    def _coarse(self) -> np.ndarray:
        """Whether any word has each beginning of a hash: a small table that rules most out at once."""
        return self.words.view(np.uint32) != 0

    def write(self, path: Path) -> None:
        """Writes the distances between the bits that are set, their low and high bytes apart, compressed."""
        gaps = {name: np.diff(_set(getattr(self, name)), prepend=0).astype("<u4") for name in HASH_BITS}
        planes = {name: np.ascontiguousarray(g.view(np.uint8).reshape(-1, 4).T) for name, g in gaps.items()}
        np.savez_compressed(path, allow_pickle=False, **planes)


def _set(bits: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.unpackbits(bits, bitorder="little"))


def _holds(bits: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """Returns whether the bit of each hash, told by its leading binary digits, is set."""
    place = (hashes >> np.uint64(64 - (8 * len(bits)).bit_length() + 1)).astype(np.int64)
    return (bits[place >> 3] >> (place & 7).astype(np.uint8) & 1).astype(bool)


def _with_bits(places: np.ndarray, digits: int) -> np.ndarray:
    """Returns bits that are set at different places."""
    bits = np.zeros(1 << (digits - 3), np.uint8)
    np.add.at(bits, places >> 3, np.left_shift(1, places & 7).astype(np.uint8))
    return bits


def learn(words: Iterable[str]) -> WordList:
    """Returns the list of some words, in whatever case."""
    flat = Flat.of(sorted({w.casefold() for w in words}))
    left = [flat.sizes - lost >= SHORTEST_CUT for lost in range(1, MOST_LOST + 1)]
    cuts = [flat.parts(flat.starts[x], flat.ends[x] - lost) for lost, x in enumerate(left, 1)]
    hashes = {"words": flat.hashes(), "cuts": np.concatenate(cuts)}
    places = {k: distinct((h >> np.uint64(64 - HASH_BITS[k])).astype(np.int64)) for k, h in hashes.items()}
    return WordList(*(_with_bits(places[k], digits) for k, digits in HASH_BITS.items()))


def read_wordlist(path: Path) -> WordList:
    """Returns what `WordList.write` wrote; refuses a file that is not such."""
    try:
        with np.load(path, allow_pickle=False) as given:
            planes = {name: given[name] for name in HASH_BITS}
        return WordList(*(_with_bits(_places(planes[name], digits), digits) for name, digits in HASH_BITS.items()))
    except (OSError, ValueError, KeyError) as error:
        raise Refusal(f"{path} does not hold a list of words ({error}); learn it again, or install again.") from error


def _places(planes: np.ndarray, digits: int) -> np.ndarray:
    """Returns the places of bits from the bytes of their distances."""
    if planes.ndim != 2 or planes.shape[0] != 4 or planes.dtype != np.uint8:
        raise ValueError("the distances are not of four bytes")
    gaps = np.ascontiguousarray(planes.T).view("<u4").ravel().astype(np.int64)
    if (gaps[1:] < 1).any() or gaps.sum() >= 1 << digits:
        raise ValueError("the distances do not rise within the hashes")
    return np.cumsum(gaps)


@cache
def shipped() -> WordList:
    """Returns the list that the package carries, read once."""
    return read_wordlist(SHIPPED)


def main() -> None:
    """Learns the words of some files and writes the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="WORDS.txt")
    parser.add_argument("--output", type=Path, default=SHIPPED)
    options = parser.parse_args()
    words = {w for path in options.files for w in _WORD.findall(path.read_text(encoding="utf-8").casefold())}
    learn(words).write(options.output)
    print(f"{len(words):,} words, {options.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
