"""Omniglot: 1,623 handwritten characters of 50 alphabets, each drawn by 20 people (Lake et al., 2015)."""

import re
import zipfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int8, UInt8
from PIL import Image as Files

from wakesleep.data import downloads as datasets
from wakesleep.domains.characters.drawings import reduce
from wakesleep.errors import Refusal

IMAGES_FILE = "omniglot/images.npz"
ARCHIVES_FOLDER = "https://github.com/brendenlake/omniglot/raw/master/python"
ARCHIVES = {
    "images_background.zip": "md5:68d2efa1b9178cc56df9314c21c6e718",
    "images_evaluation.zip": "md5:6b91aef0f799c5bb55b94e3f2daec811",
}
ORIGINAL_SIDE = 105
_MEMBER = re.compile(r"[^/]+/(?P<alphabet>[^/]+)/character(?P<character>\d+)/\d+_(?P<drawer>\d+)\.png")


class Omniglot(NamedTuple):
    """The whole set; images are packed bits, 1 where there is ink."""

    packed: UInt8[np.ndarray, "n bits"]
    alphabet: UInt8[np.ndarray, "n"]
    character: UInt8[np.ndarray, "n"]
    drawer: UInt8[np.ndarray, "n"]
    names: list[str]

    def images(self, rows: list[int]) -> Int8[np.ndarray, "_ y x"]:
        """Returns the images of those rows, reduced."""
        bits = np.unpackbits(self.packed[rows], axis=1, count=ORIGINAL_SIDE * ORIGINAL_SIDE)
        return np.stack([reduce(image) for image in bits.reshape(-1, ORIGINAL_SIDE, ORIGINAL_SIDE)])


@lru_cache
def load() -> Omniglot:
    """Reads the set from the data folder; downloads it first where it is not there."""
    path = datasets.find(IMAGES_FILE, make)
    with np.load(path, allow_pickle=False) as file:
        names = [str(name) for name in file["alphabet_names"]]
        return Omniglot(file["images_packed"], file["alphabet"], file["character"], file["drawer"], names)


def make(path: Path) -> None:
    """Downloads the official archives, checks them, and writes their images to one file."""
    archives = [datasets.download(f"{ARCHIVES_FOLDER}/{name}", known) for name, known in ARCHIVES.items()]
    write(archives, path)


def write(archives: list[Path], path: Path) -> None:
    """Writes the images of the archives to one file, by archive, alphabet, character and drawer."""
    found = []
    for order, archive in enumerate(archives):
        with zipfile.ZipFile(archive) as file:
            for name in file.namelist():
                if match := _MEMBER.fullmatch(name):
                    with file.open(name) as opened, Files.open(opened) as image:
                        ink = np.asarray(image.convert("L")) < 128
                    place = (order, match["alphabet"], int(match["character"]), int(match["drawer"]))
                    found.append((place, np.packbits(ink.reshape(-1))))
    found.sort(key=lambda one: one[0])
    names = list(dict.fromkeys(place[:2] for place, _ in found))
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        images_packed=np.stack([bits for _, bits in found]),
        alphabet=np.array([names.index(place[:2]) for place, _ in found], np.uint8),
        character=np.array([place[2] for place, _ in found], np.uint8),
        drawer=np.array([place[3] for place, _ in found], np.uint8),
        alphabet_names=np.array([name for _, name in names]),
    )


def alphabet(data: Omniglot, word: str) -> int:
    """Returns the number of an alphabet that is named by its number or by a part of its name that only it has."""
    if word.isascii() and word.isdigit() and len(word) < 4 and int(word) < len(data.names):
        return int(word)
    return named(data.names, word)


def named(names: Sequence[str], word: str) -> int:
    """Returns which of the alphabets has a part of its name that no other has."""
    found = [i for i, name in enumerate(names) if word.lower() in name.lower()]
    if len(found) != 1:
        which = ", ".join(names[i] for i in found[:4]) or ", ".join(names[:4]) + ", ..."
        raise Refusal(f"{word!r} names {len(found)} alphabets of Omniglot, not one: {which}")
    return found[0]


class Split(NamedTuple):
    """Rows to train on, two kinds of rows held out, and rows that settings are chosen on."""

    train: list[int]
    drawers: list[int]
    """The training characters as drawn by others."""
    characters: list[int]
    """Other characters of the same alphabets."""
    tuning: list[int]
    """The training characters as drawn by yet others; no table reports them."""


def split(data: Omniglot, per_alphabet: int, seed: int, drawings: int = 1) -> Split:
    """Returns rows of `per_alphabet` characters of each alphabet, some drawings each, and held-out rows of both kinds.

    An alphabet with too few characters has fewer of the other kind. What is held out does not depend on `drawings`.
    """
    rng = np.random.default_rng(seed)
    rows = Split([], [], [], [])
    for a in range(len(data.names)):
        characters = rng.permutation(np.unique(data.character[data.alphabet == a]))
        for i, character in enumerate(characters[: 2 * per_alphabet]):
            people = rng.permutation(np.nonzero((data.alphabet == a) & (data.character == character))[0])
            first, other, chosen_on, *more = (int(row) for row in people)
            if i < per_alphabet:
                rows.train.extend([first, *more[: drawings - 1]])
                rows.drawers.append(other)
                rows.tuning.append(chosen_on)
            else:
                rows.characters.append(first)
    return rows
