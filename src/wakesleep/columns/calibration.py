"""The knowledge file from a trained run: its model, what it remembers, and a calibration on concepts it never saw.

python -m wakesleep.columns.calibration RUN FILE.safetensors
"""

import random
import sys
from collections import Counter
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from wakesleep import runs
from wakesleep.algorithms import State
from wakesleep.columns.explanation import explain
from wakesleep.columns.knowledge import Knowledge, gather, save
from wakesleep.domains.strings.data import Concept, Settings, concepts
from wakesleep.errors import Refusal
from wakesleep.memory import posterior
from wakesleep.train import Job, prepare

EXAMPLES = (2, 3, 5, 8)
"""Numbers of examples that are calibrated; the concepts have ten strings each."""
LEVELS = 201
KNOWN = 512


def remembered(state: State, most: int = KNOWN) -> tuple[Int[np.ndarray, "p t"], Float[np.ndarray, "p"]]:
    """The programs of the memory with the greatest total weight over all observations, and log of their shares."""
    assert state.memory is not None
    q = posterior(state.memory)
    weights: Counter[tuple[int, ...]] = Counter()
    rows = np.asarray(q.programs).reshape(-1, q.programs.shape[-1])
    for z, w in zip(rows.tolist(), np.exp(np.asarray(q.log_weight)).reshape(-1).tolist(), strict=True):
        weights[tuple(z)] += w
    best = weights.most_common(most)
    share = np.array([w for _, w in best])
    return np.array([z for z, _ in best], np.int32), np.log(share / share.sum()).astype(np.float32)


def calibrate(knowledge: Knowledge, some: list[Concept], seed: int = 0) -> Float[np.ndarray, "n q"]:
    """Quantiles of the evidence for held-out members, given so many examples: a row for each of `EXAMPLES`."""
    draw = random.Random(seed)
    rows = []
    for count in EXAMPLES:
        evidence: list[float] = []
        for concept in some:
            strings = draw.sample(concept.train + concept.test, 10)
            evidence += explain(strings[:count], knowledge).evidence(strings[count:]).tolist()
        rows.append(np.quantile(np.maximum(evidence, -50.0), np.linspace(0, 1, LEVELS)))
    return np.array(rows, np.float32)


def make(job: Job, state: State) -> Knowledge:
    """The knowledge that a run has gathered."""
    settings: Settings = job.settings
    known, log_weight = remembered(state)
    notes = {
        "settings": {"length": settings.length, "hidden": settings.hidden, "longest": 64},
        "trained": {"concepts": settings.concepts, "steps": int(state.step), "seed": job.config.seed},
        "examples": list(EXAMPLES),
    }
    nothing = jnp.zeros((len(EXAMPLES), LEVELS))
    start = gather(state.model, jnp.asarray(known), jnp.asarray(log_weight), nothing, notes)
    return start._replace(calibration=jnp.asarray(calibrate(start, concepts("calibration"))))


def main(run_path: Path, output: Path) -> None:
    """Reads the run, and writes the file."""
    run = runs.open_run(run_path)
    job = prepare(run.config)
    if not isinstance(job.settings, Settings) or job.settings.concepts in ("large", "calibration"):
        raise Refusal(f"{run_path} is not a run of strings that left the concepts for calibration out.")
    save(output, make(job, runs.restore(run, job.start())))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
