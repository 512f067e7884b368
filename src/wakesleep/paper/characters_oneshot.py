"""One-shot classification of Omniglot's 20 runs: which of 20 characters, each seen once, is drawn again?

The strokes of a training image are deformed to meet those of a test image, and the other way round. Strokes are read
off the drawings as they were made, at 105 x 105 pixels; each test image is classified by itself.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int

from wakesleep.data import downloads
from wakesleep.domains.characters import omniglot
from wakesleep.domains.characters.hand.match import Shape, match, shape
from wakesleep.domains.characters.hand.trails import read_off
from wakesleep.errors import Refusal
from wakesleep.paper.characters_hand import BACKGROUND_ALPHABETS
from wakesleep.paper.results import Row, complete

RUNS_FILE = "omniglot_oneshot/runs.npz"
ORIGINAL_SIDE = 105
WAYS = 20
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
Run = tuple[Bool[np.ndarray, "c y x"], Bool[np.ndarray, "t y x"], Int[np.ndarray, "t"]]
"""Training images, test images, and the training image of each test image's class."""


@dataclass(frozen=True)
class Plan:
    """The size of an experiment."""

    steps: int = 1
    seeds: int = 1
    runs: int = 20
    practice_runs: int = 14
    """Runs made of background characters, on which settings were chosen."""


FULL = {"characters-oneshot": Plan()}
QUICK = {"characters-oneshot": Plan(runs=1, practice_runs=0)}


def oneshot(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Classifies the official runs and practice runs; fills characters-oneshot.json."""
    runs = {"official": official_runs()[: plan.runs], "practice": practice_runs(plan.practice_runs)}
    cells = [{"runs": kind, "run": i, "steps": 1} for kind in runs for i in range(len(runs[kind]))]

    def compute(cell: Row) -> Row:
        right, one_way = classify(runs[cell["runs"]][cell["run"]])
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
    """Returns the 20 runs of the official task."""
    with np.load(downloads.find(RUNS_FILE, _absent), allow_pickle=False) as file:
        training, test = (unpacked(file[name]) for name in ("training", "test"))
        return list(zip(training, test, file["label"].astype(int), strict=True))


def _absent(path: Path) -> None:
    raise Refusal(f"The official one-shot runs are not at hand: put {RUNS_FILE} into the folder WAKESLEEP_DATA.")


def unpacked(packed: np.ndarray) -> Bool[np.ndarray, "*i y x"]:
    """Returns drawings of packed bits at their own size."""
    bits = np.unpackbits(packed, axis=-1, count=ORIGINAL_SIDE**2)
    return bits.reshape(*packed.shape[:-1], ORIGINAL_SIDE, ORIGINAL_SIDE).astype(bool)


def practice_runs(count: int, seed: int = 11) -> list[Run]:
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
        found.append((unpacked(whole.packed[rows[0]]), unpacked(whole.packed[rows[1]]), np.arange(WAYS)))
    return found


def classify(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Returns which test images get the right class, by matches of both ways and of the training strokes alone."""
    training, test, label = run
    known, new = ([strokes(ink) for ink in images] for images in (training, test))
    forward = np.stack([match(known, one) for one in new])
    backward = np.stack([match(new, one) for one in known], axis=1)
    return np.argmax(forward + backward, axis=1) == label, np.argmax(forward, axis=1) == label


def strokes(ink: Bool[np.ndarray, "y x"]) -> Shape:
    """Returns the strokes read off a drawing."""
    return shape(read_off(ink))


EXPERIMENTS = {"characters-oneshot": oneshot}
