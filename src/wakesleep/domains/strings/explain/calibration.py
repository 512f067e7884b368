"""The knowledge file from a trained run: its model, what it remembers, and a calibration on concepts it never saw.

python -m wakesleep.domains.strings.explain.calibration RUN FILE.safetensors
python -m wakesleep.domains.strings.explain.calibration OLD.safetensors FILE.safetensors  # calibration alone
"""

import random
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from wakesleep.core.algorithms import State
from wakesleep.core.memory import posterior
from wakesleep.domains.strings.data import Concept, Settings, concepts
from wakesleep.domains.strings.explain.explanation import explain
from wakesleep.domains.strings.explain.knowledge import Knowledge, gather, load, save
from wakesleep.domains.strings.explain.membership import Traits, fit, weigh
from wakesleep.domains.strings.language import GENERAL, program
from wakesleep.errors import Refusal
from wakesleep.running import run as runs
from wakesleep.running.train import Job, prepare

EXAMPLES = (2, 3, 5, 8)
"""Numbers of examples that are calibrated; the concepts have ten strings each."""
LEVELS = 201
OTHERS = 57
"""Other columns, a value of each of which is held against a column: no more than fit in one block with its own."""
KNOWN, ANYTHING = 512, 0.05
"""How many programs are known, and how much of their mixture is of the general ones."""


def remembered(state: State, most: int = KNOWN) -> tuple[Int[np.ndarray, "p t"], Float[np.ndarray, "p"]]:
    """The programs with the greatest total weight over all observations, and log of their shares.

    Those of the memory are narrow: for strings unlike all that was seen there are the general ones.
    """
    assert state.memory is not None
    q = posterior(state.memory)
    weights: Counter[tuple[int, ...]] = Counter()
    rows = np.asarray(q.programs).reshape(-1, q.programs.shape[-1])
    for z, w in zip(rows.tolist(), np.exp(np.asarray(q.log_weight)).reshape(-1).tolist(), strict=True):
        weights[tuple(z)] += w
    each = weights.total() * ANYTHING / (1 - ANYTHING) / len(GENERAL)
    weights.update({tuple(program(text, rows.shape[1]).tolist()): each for text in GENERAL})
    best = weights.most_common(most)
    share = np.array([w for _, w in best])
    return np.array([z for z, _ in best], np.int32), np.log(share / share.sum()).astype(np.float32)


class Calibration(NamedTuple):
    """A row for each of `EXAMPLES`: the weights of traits, and quantiles of the evidence."""

    weights: Float[np.ndarray, "n f"]
    members: Float[np.ndarray, "n q"]
    strangers: Float[np.ndarray, "n q"]


class Tried(NamedTuple):
    """A concept explained by some of its strings: its others, and values of other columns."""

    traits: Traits
    member: Bool[np.ndarray, "s"]
    allowed: Bool[np.ndarray, "s"]


def calibrate(knowledge: Knowledge, some: list[Concept], seed: int = 0) -> Calibration:
    """What traits count, and what evidence held-out members and values of other columns then have.

    The evidence of each half of the columns is by weights that were learned on the other half.
    """
    draw = random.Random(seed)
    rows = []
    for count in EXAMPLES:
        tried = [_try(knowledge, concept, some, count, draw) for concept in some]
        halves = tried[::2], tried[1::2]
        weights = _learned(halves[1]), _learned(halves[0])
        evidence = [_evidence(t, w) for half, w in zip(halves, weights, strict=True) for t in half]
        inside, outside = (np.concatenate([e[side] for e in evidence]) for side in (0, 1))
        rows.append((_learned(tried), _quantiles(inside), _quantiles(outside)))
    return Calibration(*(np.array(column, np.float32) for column in zip(*rows, strict=True)))


def _try(knowledge: Knowledge, concept: Concept, some: list[Concept], count: int, draw: random.Random) -> Tried:
    strings = draw.sample(concept.train + concept.test, 10)
    others = draw.sample([c for c in some if c is not concept], min(OTHERS, len(some) - 1))
    values = [v for v in (draw.choice(c.train + c.test) for c in others) if v not in strings]
    seen, allowed = explain(strings[:count], knowledge).traits(strings[count:] + values)
    return Tried(seen, np.arange(len(seen)) < len(strings) - count, allowed)


def _learned(tried: list[Tried]) -> Float[np.ndarray, "f"]:
    return fit([(t.traits, t.member) for t in tried])


def _evidence(t: Tried, weights: Float[np.ndarray, "f"]) -> tuple[Float[np.ndarray, "m"], Float[np.ndarray, "s"]]:
    """The evidence for the members and for the strangers."""
    evidence = weigh(t.traits, t.allowed, weights)
    return evidence[t.member], evidence[~t.member]


def _quantiles(evidence: Float[np.ndarray, "s"]) -> Float[np.ndarray, "q"]:
    return np.quantile(np.maximum(evidence, -50.0), np.linspace(0, 1, LEVELS))


def make(job: Job, state: State) -> Knowledge:
    """The knowledge that a run has gathered, not yet calibrated."""
    settings: Settings = job.settings
    known, log_weight = remembered(state)
    notes = {
        "settings": {"length": settings.length, "hidden": settings.hidden, "longest": 64},
        "trained": {"concepts": settings.concepts, "steps": int(state.step), "seed": job.config.seed},
        "examples": list(EXAMPLES),
    }
    nothing = jnp.zeros((len(EXAMPLES), 0))
    return gather(state.model, jnp.asarray(known), jnp.asarray(log_weight), nothing, nothing, nothing, notes)


def calibrated(knowledge: Knowledge) -> Knowledge:
    """The same knowledge, with a calibration on the concepts that are kept for it."""
    weights, members, strangers = map(jnp.asarray, calibrate(knowledge, concepts("calibration")))
    return knowledge._replace(weights=weights, calibration=members, strangers=strangers)


def main(source: Path, output: Path) -> None:
    """Reads a run or a knowledge file, and writes the file."""
    if source.is_file():
        save(output, calibrated(load(source)))
        return
    run = runs.open_run(source)
    job = prepare(run.config)
    if not isinstance(job.settings, Settings) or job.settings.concepts in ("large", "calibration"):
        raise Refusal(f"{source} is not a run of strings that left the concepts for calibration out.")
    save(output, calibrated(make(job, runs.restore(run, job.shape()))))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
