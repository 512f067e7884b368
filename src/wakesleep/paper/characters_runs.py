"""Runs of one-shot classification: the 20 official ones, practice of background alphabets, and official ones changed.

A run has 20 training images, one of each character, by one person, and 20 test images by another.
"""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from wakesleep.data import downloads
from wakesleep.domains.characters import omniglot
from wakesleep.domains.characters.omniglot import ORIGINAL_SIDE, Omniglot
from wakesleep.errors import Refusal
from wakesleep.paper.characters_hand import BACKGROUND_ALPHABETS

RUNS_FILE = "omniglot_oneshot/runs.npz"
WAYS = 20
DRAWERS = 20
NO_LETTERS = "Braille"
"""An alphabet of dots, which is left out of practice: there are no strokes to match."""
PRACTICE_SEED, LEARNING_SEED, CHANGED_SEED = 11, 12, 21


class Run(NamedTuple):
    """Training images, test images, and the training image of each test image's class."""

    training: Bool[np.ndarray, "c y x"]
    test: Bool[np.ndarray, "t y x"]
    label: Int[np.ndarray, "t"]


class Source(NamedTuple):
    """Where the images of a run are in Omniglot."""

    alphabet: int
    characters: tuple[int, ...]
    drawers: tuple[int, int]


@lru_cache
def official_runs() -> tuple[Run, ...]:
    """Returns the 20 runs of the official task."""
    with np.load(downloads.find(RUNS_FILE, _absent), allow_pickle=False) as file:
        training, test = (unpacked(file[name]) for name in ("training", "test"))
        return tuple(Run(*parts) for parts in zip(training, test, file["label"].astype(int), strict=True))


def _absent(path: Path) -> None:
    raise Refusal(f"The official one-shot runs are not at hand: put {RUNS_FILE} into the folder WAKESLEEP_DATA.")


def unpacked(packed: np.ndarray) -> Bool[np.ndarray, "*i y x"]:
    """Returns drawings of packed bits at their own size."""
    bits = np.unpackbits(packed, axis=-1, count=ORIGINAL_SIDE**2)
    return bits.reshape(*packed.shape[:-1], ORIGINAL_SIDE, ORIGINAL_SIDE).astype(bool)


def practice_runs(count: int, seed: int = PRACTICE_SEED) -> list[Run]:
    """Returns runs like the official ones, made of background alphabets: 20 characters of one, by two drawers."""
    whole, rng = omniglot.load(), np.random.default_rng(seed)
    large = [a for a in range(BACKGROUND_ALPHABETS) if whole.character[whole.alphabet == a].max() >= WAYS]
    large = [a for a in large if whole.names[a] != NO_LETTERS]
    found = []
    for _ in range(count):
        alphabet, drawers = int(rng.choice(large)), _two(rng)
        found.append(run_of(whole, Source(alphabet, _some_characters(whole, alphabet, rng), drawers)))
    return found


def changed_runs(count: int, characters: bool, drawers: bool) -> list[Run]:
    """Returns official runs with their characters, their drawers or both drawn at random from the same alphabets."""
    whole, rng, found = omniglot.load(), np.random.default_rng(CHANGED_SEED), []
    for run in official_runs()[:count]:
        source = source_of(whole, run)
        if characters:
            source = source._replace(characters=_some_characters(whole, source.alphabet, rng))
        if drawers:
            source = source._replace(drawers=_two(rng))
        found.append(run_of(whole, source))
    return found


def _two(rng: np.random.Generator) -> tuple[int, int]:
    one, other = rng.permutation(DRAWERS)[:2] + 1
    return int(one), int(other)


def _some_characters(whole: Omniglot, alphabet: int, rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(int(c) for c in rng.permutation(np.unique(whole.character[whole.alphabet == alphabet]))[:WAYS])


def source_of(whole: Omniglot, run: Run) -> Source:
    """Returns where the images of a run come from; each has to be an image of Omniglot, pixel by pixel."""
    known = {bits.tobytes(): row for row, bits in enumerate(whole.packed)}
    rows = [[known[np.packbits(x.reshape(-1)).tobytes()] for x in images] for images in (run.training, run.test)]
    first, second = (int(whole.drawer[r[0]]) for r in rows)
    return Source(int(whole.alphabet[rows[0][0]]), tuple(int(c) for c in whole.character[rows[0]]), (first, second))


def run_of(whole: Omniglot, source: Source) -> Run:
    """Returns the run of these characters by these two people."""
    here = whole.alphabet == source.alphabet
    rows = [
        [int(np.nonzero(here & (whole.character == c) & (whole.drawer == d))[0][0]) for c in source.characters]
        for d in source.drawers
    ]
    return Run(unpacked(whole.packed[rows[0]]), unpacked(whole.packed[rows[1]]), np.arange(len(source.characters)))
