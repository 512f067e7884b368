"""A character model of columns in general: bigrams learned on other columns, for log-odds and for stray values."""

import json
import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files

import numpy as np

FIRST_CODE, LAST_CODE = 32, 126
OTHER = LAST_CODE - FIRST_CODE + 1
"""Any character but printable ASCII."""
EDGE = OTHER + 1
"""Before the first and after the last character."""
CHARACTER_STATES = EDGE + 1
OTHER_CHARACTERS = 0x110000 - OTHER
SMOOTHING = 4.0
"""Pseudo-counts with which a bigram leans on the unigram."""


def encode(values: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the codes of all characters, an edge after each value, and the place of each value's edge."""
    joined = "\U0010ffff".join(values) + "\U0010ffff"
    raw = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    codes = np.where((raw >= FIRST_CODE) & (raw <= LAST_CODE), raw - FIRST_CODE, OTHER).astype(np.int64)
    ends = np.cumsum([len(v) + 1 for v in values]) - 1
    codes[ends] = EDGE
    return codes, ends


def fit_bigrams(values: Iterable[str]) -> np.ndarray:
    """Returns log p(next | previous), each row summing to one; rows lean on the unigram."""
    listed = list(values)
    codes, _ = encode(listed)
    before = np.concatenate(([EDGE], codes[:-1]))
    pairs = np.zeros((CHARACTER_STATES, CHARACTER_STATES))
    np.add.at(pairs, (before, codes), 1.0)
    single = pairs.sum(0) + 0.5
    single /= single.sum()
    return np.log((pairs + SMOOTHING * single) / (pairs.sum(1, keepdims=True) + SMOOTHING))


@lru_cache(maxsize=1)
def bigrams() -> np.ndarray:
    """Returns the shipped model; uniform rows are exact where rounding would leave a row that does not sum to one."""
    stored = json.loads(files(__package__).joinpath("background.json").read_text(encoding="utf-8"))
    table = np.array(stored["millinats"], dtype=np.float64) / -1000.0
    return table - np.log(np.exp(table).sum(1, keepdims=True))


def flat(value: str) -> float:
    """Returns log p of a value whose characters and end are each one of 97 kinds alike: printable ASCII, other, end."""
    others = 0 if value.isascii() and value.isprintable() else sum(not " " <= c <= "~" for c in value)
    return -(len(value) + 1) * math.log(CHARACTER_STATES) - others * math.log(OTHER_CHARACTERS)


def background(values: Sequence[str]) -> np.ndarray:
    """Returns log p of each value under the character model: normalised over all texts."""
    if not len(values):
        return np.zeros(0)
    codes, ends = encode(values)
    before = np.concatenate(([EDGE], codes[:-1]))
    steps = bigrams()[before, codes] - np.where(codes == OTHER, np.log(OTHER_CHARACTERS), 0.0)
    totals = np.concatenate(([0.0], np.cumsum(steps)[ends]))
    return np.diff(totals)
