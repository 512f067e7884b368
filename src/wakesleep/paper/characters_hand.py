"""Beyond section 4.2: drawings by a hand, in bits a pixel and in overlap on drawings by people not trained on."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wakesleep.domains.characters import omniglot
from wakesleep.domains.characters.explain import HAND
from wakesleep.domains.characters.hand import files
from wakesleep.domains.characters.hand.compare import overlap, shaded
from wakesleep.domains.characters.hand.explanation import explain_image
from wakesleep.domains.characters.hand.fit import Hand
from wakesleep.domains.characters.hand.train import train
from wakesleep.paper.characters_baselines import BASELINES
from wakesleep.paper.paired import pack
from wakesleep.paper.results import Row, complete

BACKGROUND_ALPHABETS = 30
TRAINED_PER_ALPHABET = 10
PER_ALPHABET = 10
MOST_PIECES = 48
NATS_TO_BITS_PER_PIXEL = 1 / (28 * 28 * np.log(2))


@dataclass(frozen=True)
class Plan:
    """The size of an experiment."""

    steps: int = 1
    seeds: int = 1
    images: int = 500
    """Held-out drawings that are scored."""
    per_alphabet: int = TRAINED_PER_ALPHABET
    """Training drawings of each background alphabet."""


FULL = {"characters-hand": Plan(), "characters-shipped": Plan()}
QUICK = {"characters-hand": Plan(per_alphabet=1), "characters-shipped": Plan(images=4)}


def rows_of(whole: omniglot.Omniglot, per_alphabet: int) -> list[int]:
    """Returns the training drawings: characters of background alphabets, by people who drew none of those held out.

    Of each background alphabet the first training characters are taken, each as drawn by another of these people.
    """
    split, found = omniglot.split(whole, PER_ALPHABET, 0), []
    held = {(int(whole.alphabet[r]), int(whole.drawer[r])) for r in split.drawers}
    for i, row in enumerate(split.train):
        alphabet, place = int(whole.alphabet[row]), i % PER_ALPHABET
        if alphabet < BACKGROUND_ALPHABETS and place < per_alphabet:
            same = np.nonzero((whole.alphabet == alphabet) & (whole.character == whole.character[row]))[0]
            free = [int(r) for r in same if (alphabet, int(whole.drawer[r])) not in held]
            found.append(free[place % len(free)])
    return found


def train_hand(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Trains a hand on drawings of the background alphabets; fills characters-hand.json and writes the hand."""

    def compute(cell: Row) -> Row:
        whole = omniglot.load()
        rows = rows_of(whole, plan.per_alphabet)
        images = whole.images(rows)[np.random.default_rng(0).permutation(len(rows))]
        said: list[str] = []
        hand, _ = train(images, MOST_PIECES, report=said.append)
        found = {"images": len(rows), "strokes": MOST_PIECES, "curve": said, "nib": [round(v, 3) for v in hand.nib]}
        found |= {"digest": files.digest(hand)}
        files.save(output / "characters-hand.safetensors", hand, found | CARD)
        return found

    return complete(output / "characters-hand.json", asdict(plan), [{"model": "hand", "steps": 1}], compute, report)


CARD = {
    "data": "Omniglot (Lake et al., 2015), MIT licence: one drawing each of 10 characters of 30 background "
    "alphabets, by people who drew none of the held-out drawings; no strokes, no labels",
    "licence": "MIT",
    "command": "wakesleep reproduce characters-hand",
}


def shipped(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Scores the hand that ships, and the baselines, on held-out drawings; fills characters-shipped.json."""
    whole = omniglot.load()
    split = omniglot.split(whole, PER_ALPHABET, 0)
    some = np.linspace(0, len(split.drawers) - 1, plan.images).astype(int)
    test = whole.images([split.drawers[i] for i in some])

    def compute(cell: Row) -> Row:
        if cell["model"] == "hand":
            new = whole.alphabet[[split.drawers[i] for i in some]] >= BACKGROUND_ALPHABETS
            return _scored(files.load(HAND), test, new)
        train_images, tuning = whole.images(split.train), whole.images(split.tuning[::5])
        nats = BASELINES[cell["model"]](train_images, tuning, test)
        bits = round(float(nats.mean()) * NATS_TO_BITS_PER_PIXEL, 4)
        return {"bits_per_pixel": bits} | _spread(nats) | {"items": {"nll": pack(nats)}}

    cells = [{"model": name, "split": "heldout", "steps": 1} for name in ("hand", *BASELINES)]
    return complete(output / "characters-shipped.json", {"images": plan.images}, cells, compute, report)


def _spread(nats: np.ndarray) -> Row:
    """Returns the standard error over images of the bits a pixel."""
    return {"error": round(float(nats.std() / np.sqrt(len(nats))) * NATS_TO_BITS_PER_PIXEL, 4), "images": len(nats)}


def _scored(hand: Hand, images: np.ndarray, new: np.ndarray) -> Row:
    """Returns bits a pixel by the importance bound and both overlaps of the best program, with their deciles.

    `new` are the drawings of alphabets that the hand was not trained on.
    """
    nats, exact, tolerant, arcs = [], [], [], []
    for x in images:
        one = explain_image(hand, x)
        nats.append(one.bits_per_pixel / NATS_TO_BITS_PER_PIXEL)
        drawn = shaded(hand.nib, one.programs[0]) > 0.5
        exact.append(overlap(drawn, x))
        tolerant.append(overlap(drawn, x, 1))
        arcs.append(sum(len(p.bends) for p in one.programs[0]))
    found: dict[str, Any] = {"bits_per_pixel": round(float(np.mean(nats)) * NATS_TO_BITS_PER_PIXEL, 4)}
    found |= _spread(np.array(nats)) | {"overlap": round(float(np.mean(tolerant)), 4)}
    found |= {"overlap_exact": round(float(np.mean(exact)), 4), "arcs": round(float(np.mean(arcs)), 2)}
    shares = np.linspace(0.1, 0.9, 9)
    bits = np.array(nats) * NATS_TO_BITS_PER_PIXEL
    found |= {"bits_new_alphabets": round(float(bits[new].mean()), 4), "digest": files.card(HAND).get("digest", "")}
    found |= {"items": {"nll": pack(np.array(nats))}}
    for name, values in (("bits", bits), ("overlap", tolerant), ("overlap_exact", exact)):
        found[f"{name}_deciles"] = [round(float(v), 3) for v in np.quantile(values, shares)]
    return found


EXPERIMENTS = {"characters-hand": train_hand, "characters-shipped": shipped}
