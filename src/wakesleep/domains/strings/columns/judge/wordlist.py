"""Words that there are in general: a list by hashes, learned from files of words.

    python -m wakesleep.domains.strings.columns.judge.wordlist WORDS.txt ...

writes the list that the package carries; every run of letters in a UTF-8 file is a word. A new word of a column that
is in no list may be a typo; one that is listed is rather a new member.
"""

import argparse
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from wakesleep.domains.strings.columns.judge.texts import hash_texts
from wakesleep.errors import Refusal

SHIPPED = Path(__file__).with_name("wordlist.npz")
HASH_BITS = 24
"""Binary digits of the hash by which a word is known: of words that are not listed, one in 58 is taken for listed."""
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class WordList:
    """One bit for each hash of a folded word."""

    bits: np.ndarray

    def holds(self, hashes: np.ndarray) -> np.ndarray:
        """Returns whether each word, given by its 64-bit hash, is listed."""
        place = _places(hashes)
        return (self.bits[place >> 3] >> (place & 7).astype(np.uint8) & 1).astype(bool)

    def write(self, path: Path) -> None:
        """Writes the distances between the bits that are set, compressed."""
        places = np.flatnonzero(np.unpackbits(self.bits, bitorder="little"))
        np.savez_compressed(path, allow_pickle=False, gaps=np.diff(places, prepend=0).astype(np.uint32))


def _places(hashes: np.ndarray) -> np.ndarray:
    return (hashes >> np.uint64(64 - HASH_BITS)).astype(np.int64)


def _with_bits(places: np.ndarray) -> WordList:
    """Returns the list with bits at different places."""
    bits = np.zeros(1 << (HASH_BITS - 3), np.uint8)
    np.add.at(bits, places >> 3, np.left_shift(1, places & 7).astype(np.uint8))
    return WordList(bits)


def learn(words: Iterable[str]) -> WordList:
    """Returns the list of some words, in whatever case."""
    return _with_bits(np.unique(_places(hash_texts(sorted({w.casefold() for w in words})))))


def read_wordlist(path: Path) -> WordList:
    """Returns what `WordList.write` wrote; refuses a file that is not such."""
    try:
        with np.load(path, allow_pickle=False) as given:
            gaps = given["gaps"].astype(np.int64)
        if gaps.ndim != 1 or (gaps[1:] < 1).any() or gaps.sum() >= 1 << HASH_BITS:
            raise ValueError("the distances do not rise within the hashes")
    except (OSError, ValueError, KeyError) as error:
        raise Refusal(f"{path} does not hold a list of words ({error}); learn it again, or install again.") from error
    return _with_bits(np.cumsum(gaps))


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
