"""One-shot classification of Omniglot's 20 runs: which of 20 characters, each seen once, is drawn again?

The strokes of a training image are deformed to meet those of a test image, and the other way round.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int, Int8

from wakesleep.data import downloads
from wakesleep.domains.characters import omniglot
from wakesleep.domains.characters.drawings import reduce
from wakesleep.domains.characters.explain import HAND
from wakesleep.domains.characters.hand import files
from wakesleep.domains.characters.hand.fit import Hand
from wakesleep.domains.characters.hand.match import Shape, match, shape
from wakesleep.domains.characters.hand.search import search
from wakesleep.errors import Refusal
from wakesleep.paper.characters_hand import BACKGROUND_ALPHABETS
from wakesleep.paper.results import Row, complete

RUNS_FILE = "omniglot_oneshot/runs.npz"
ORIGINAL_SIDE = 105
WAYS = 20
TRACES, ROUNDS = 3, 0
"""The search for the strokes of an image; strokes need not be the best ones to be matched."""
NO_LETTERS = "Braille"
"""An alphabet of dots, which is left out of practice: there are no strokes to match."""
PUBLISHED = {
    "humans": 0.955,
    "BPL (trained on strokes)": 0.967,
    "GNS (trained on strokes)": 0.943,
    "VHE (labels, augmentation)": 0.813,
    "DooD (no strokes seen)": 0.735,
    "modified Hausdorff distance": 0.612,
}
Run = tuple[Int8[np.ndarray, "c y x"], Int8[np.ndarray, "t y x"], Int[np.ndarray, "t"]]
"""Training images, test images, and the training image of each test image's class."""


@dataclass(frozen=True)
class Plan:
    """The size of an experiment."""

    steps: int = 1
    seeds: int = 1
    runs: int = 20
    practice_runs: int = 6
    """Runs made of background characters, on which settings were chosen."""


FULL = {"characters-oneshot": Plan()}
QUICK = {"characters-oneshot": Plan(runs=1, practice_runs=0)}


def oneshot(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Classifies the official runs and practice runs with the hand that ships; fills characters-oneshot.json."""
    hand = files.load(HAND)
    runs = {"official": official_runs()[: plan.runs], "practice": practice_runs(plan.practice_runs)}
    cells = [{"runs": kind, "run": i, "steps": 1} for kind in runs for i in range(len(runs[kind]))]

    def compute(cell: Row) -> Row:
        right, one_way = classify(hand, runs[cell["runs"]][cell["run"]])
        return {"right": int(right.sum()), "right_one_way": int(one_way.sum()), "of": len(right)}

    rows = complete(output / "characters-oneshot-runs.json", asdict(plan), cells, compute, report)
    return complete(
        output / "characters-oneshot.json",
        asdict(plan),
        [{"runs": kind, "steps": 1} for kind in runs if runs[kind]],
        lambda cell: _total([r for r in rows if r["runs"] == cell["runs"]]) | {"published": PUBLISHED},
        report,
    )


def _total(rows: list[Row]) -> Row:
    """Returns the accuracy over runs, with its standard error over runs."""
    shares = [r["right"] / r["of"] for r in rows]
    one_way = float(np.mean([r["right_one_way"] / r["of"] for r in rows]))
    error = float(np.std(shares) / np.sqrt(len(shares)))
    return {"accuracy": round(float(np.mean(shares)), 4), "error": round(error, 4), "one_way": round(one_way, 4)}


def official_runs() -> list[Run]:
    """Returns the 20 runs of the official task, reduced to 28 x 28."""
    with np.load(downloads.find(RUNS_FILE, _absent), allow_pickle=False) as file:
        training, test = (_reduced(file[name]) for name in ("training", "test"))
        return list(zip(training, test, file["label"].astype(int), strict=True))


def _absent(path: Path) -> None:
    raise Refusal(f"The official one-shot runs are not at hand: put {RUNS_FILE} into the folder WAKESLEEP_DATA.")


def _reduced(packed: np.ndarray) -> Int8[np.ndarray, "r i y x"]:
    bits = np.unpackbits(packed, axis=2, count=ORIGINAL_SIDE**2).reshape(*packed.shape[:2], ORIGINAL_SIDE, -1)
    return np.stack([[reduce(image) for image in run] for run in bits])


def practice_runs(count: int, seed: int = 3) -> list[Run]:
    """Returns runs like the official ones, made of background alphabets: 20 characters of one, by two drawers."""
    whole, rng = omniglot.load(), np.random.default_rng(seed)
    large = [a for a in range(BACKGROUND_ALPHABETS) if whole.character[whole.alphabet == a].max() >= WAYS]
    large = [a for a in large if whole.names[a] != NO_LETTERS]
    found = []
    for _ in range(count):
        alphabet, drawers = rng.choice(large), rng.permutation(20)[:2] + 1
        characters = rng.permutation(np.unique(whole.character[whole.alphabet == alphabet]))[:WAYS]
        here = whole.alphabet == alphabet
        rows = [
            [int(np.nonzero(here & (whole.character == c) & (whole.drawer == d))[0][0]) for c in characters]
            for d in drawers
        ]
        found.append((whole.images(rows[0]), whole.images(rows[1]), np.arange(WAYS)))
    return found


def classify(hand: Hand, run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Returns which test images get the right class, by matches of both ways and of the training strokes alone."""
    training, test, label = run
    known, new = ([strokes(hand, x) for x in images] for images in (training, test))
    forward = np.stack([match(known, one) for one in new])
    backward = np.stack([match(new, one) for one in known], axis=1)
    return np.argmax(forward + backward, axis=1) == label, np.argmax(forward, axis=1) == label


def strokes(hand: Hand, x: Int8[np.ndarray, "y x"]) -> Shape:
    """Returns the strokes of an image, found by a short search."""
    return shape(search(hand, x, 1, traces=TRACES, rounds=ROUNDS)[0].program)


EXPERIMENTS = {"characters-oneshot": oneshot}
