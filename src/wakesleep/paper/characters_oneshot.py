"""One-shot classification of Omniglot's 20 runs: which of 20 characters, each seen once, is drawn again?

Two methods: strokes read off at 105 x 105 pixels and matched; and p(test image | program of a training image), with
adjustments, by the hand. Each goes both ways, from training to test and back; each test image is classified by itself.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int8

from wakesleep.domains.characters.drawings import reduce
from wakesleep.domains.characters.explain import HAND
from wakesleep.domains.characters.hand import files
from wakesleep.domains.characters.hand.again import Variation, draw_again, moved_onto
from wakesleep.domains.characters.hand.fit import Hand, fit
from wakesleep.domains.characters.hand.match import match, shape
from wakesleep.domains.characters.hand.pen import Nib
from wakesleep.domains.characters.hand.search import search
from wakesleep.domains.characters.hand.strokes import Program
from wakesleep.domains.characters.hand.trails import read_off
from wakesleep.domains.characters.hand.variation import Pair, learn_variation
from wakesleep.paper.characters_runs import LEARNING_SEED, Run, changed_runs, official_runs, practice_runs
from wakesleep.paper.results import Row, complete

MATCHING, LIKELIHOOD = "strokes matched", "p(test image | program)"
PUBLISHED = {
    "humans": 0.955,
    "BPL (trained on strokes)": 0.967,
    "GNS (trained on strokes)": 0.943,
    "VHE (labels, augmentation)": 0.813,
    "DooD (no strokes seen)": 0.735,
    "modified Hausdorff distance": 0.612,
}
EVIDENCE_TRACES, EVIDENCE_ROUNDS = 3, 2
"""The effort of the search for p(training image)."""
Scores = Float[np.ndarray, "t c"]
"""Of each test image and each training image."""


@dataclass(frozen=True)
class Plan:
    """The size of an experiment."""

    steps: int = 1
    seeds: int = 1
    runs: int = 20
    practice_runs: int = 14
    """Runs made of background characters, on which settings were chosen."""
    learning_runs: int = 12
    """Other runs made of background characters, whose pairs the adjustments are learned from."""


FULL = {"characters-oneshot": Plan()}
QUICK = {"characters-oneshot": Plan(runs=1, practice_runs=0, learning_runs=1)}


def oneshot(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Classifies the official runs, practice runs and changed ones; fills characters-oneshot.json."""
    runs = {
        "official": list(official_runs()[: plan.runs]),
        "practice": practice_runs(plan.practice_runs),
        "other characters": changed_runs(plan.runs, characters=True, drawers=False),
        "other drawers": changed_runs(plan.runs, characters=False, drawers=True),
        "both other": changed_runs(plan.runs, characters=True, drawers=True),
    }
    kinds = [(kind, MATCHING) for kind in runs] + [(kind, LIKELIHOOD) for kind in ("official", "practice")]
    kinds = [(kind, method) for kind, method in kinds if runs[kind]]
    cells = [{"runs": k, "method": m, "run": i, "steps": 1} for k, m in kinds for i in range(len(runs[k]))]

    def compute(cell: Row) -> Row:
        run = runs[cell["runs"]][cell["run"]]
        both, one_way = matched(run) if cell["method"] == MATCHING else drawn_again(run, *variation(plan.learning_runs))
        right = [int((np.argmax(s, axis=1) == run.label).sum()) for s in (both, one_way)]
        return {"right": right[0], "right_one_way": right[1], "of": len(run.label)}

    rows = complete(output / "characters-oneshot-runs.json", asdict(plan), cells, compute, report)

    def total(cell: Row) -> Row:
        mine = [r for r in rows if (r["runs"], r["method"]) == (cell["runs"], cell["method"])]
        if cell["method"] == MATCHING:
            return _total(mine) | ({"published": PUBLISHED} if cell["runs"] == "official" else {})
        how, nib = variation(plan.learning_runs)
        return _total(mine) | {"variation": [round(v, 3) for v in how], "nib": [round(v, 3) for v in nib]}

    totals = [{"runs": kind, "method": method, "steps": 1} for kind, method in kinds]
    return complete(output / "characters-oneshot.json", asdict(plan), totals, total, report)


def _total(rows: list[Row]) -> Row:
    """Returns the accuracy over runs, with its standard error over runs."""
    shares = [r["right"] / r["of"] for r in rows]
    one_way = float(np.mean([r["right_one_way"] / r["of"] for r in rows]))
    error = float(np.std(shares) / np.sqrt(len(shares)))
    return {"accuracy": round(float(np.mean(shares)), 4), "error": round(error, 4), "one_way": round(one_way, 4)}


def matched(run: Run) -> tuple[Scores, Scores]:
    """Returns the scores of matches both ways, and of those with the training strokes moved alone."""
    known, new = ([shape(read_off(ink)) for ink in images] for images in (run.training, run.test))
    forward = np.stack([match(known, one) for one in new])
    backward = np.stack([match(new, one) for one in known], axis=1)
    return forward + backward, forward


class Parsed(NamedTuple):
    """A drawing at 28 x 28 pixels, and its program: read off at its own size, and fitted by the hand."""

    x: Int8[np.ndarray, "y x"]
    program: Program


def parse(ink: Bool[np.ndarray, "h w"]) -> Parsed:
    """Returns a drawing with its program."""
    x = reduce(ink.astype(np.uint8))
    return Parsed(x, fit(_hand(), x, [read_off(ink)])[0].program)


def drawn_again(run: Run, how: Variation, nib: Nib) -> tuple[Scores, Scores]:
    """Returns log p(test | training) + log p(training | test) - log p(training), and the first alone.

    By Bayes' rule the last two are log p(test | training) too, up to what is the same for every class.
    """
    known, new = ([parse(ink) for ink in images] for images in (run.training, run.test))
    forward, backward = (
        np.stack([log_probabilities(nib, how, one, others) for one in images])
        for images, others in ((new, known), (known, new))
    )
    return forward + backward.T - np.array([log_evidence(one) for one in known]), forward


def log_probabilities(nib: Nib, how: Variation, one: Parsed, others: list[Parsed]) -> Float[np.ndarray, "c"]:
    """Returns log p(image | program) of an image for the programs of others."""
    programs = [other.program for other in others]
    return draw_again(nib, how, one.x, programs, moved_onto(programs, one.program)).log_p


def log_evidence(one: Parsed) -> float:
    """Returns the hand's log p(image): Laplace's estimate of the best program that a short search finds."""
    found = search(_hand(), one.x, 1, known=(one.program,), traces=EVIDENCE_TRACES, rounds=EVIDENCE_ROUNDS)
    return found[0].log_evidence


@lru_cache
def _hand() -> Hand:
    return files.load(HAND)


@lru_cache
def variation(runs: int) -> tuple[Variation, Nib]:
    """Returns adjustments and pen learned from pairs of background characters, one of each character and both ways."""
    pairs = []
    for run in practice_runs(runs, LEARNING_SEED):
        known, new = ([parse(ink) for ink in images] for images in (run.training, run.test))
        for a, b in [*zip(known, new, strict=True), *zip(new, known, strict=True)]:
            pairs.append(Pair(a.program, moved_onto([a.program], b.program)[0], b.x))
    return learn_variation(_hand().nib, pairs)[:2]


EXPERIMENTS = {"characters-oneshot": oneshot}
