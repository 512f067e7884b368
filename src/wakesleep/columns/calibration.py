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
OTHERS = 57
"""Other columns, a value of each of which is held against a column: no more than fit in one block with its own."""
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


def calibrate(
    knowledge: Knowledge, some: list[Concept], seed: int = 0
) -> tuple[Float[np.ndarray, "n q"], Float[np.ndarray, "n q"]]:
    """Quantiles of the evidence for held-out members, and for values of others: a row for each of `EXAMPLES`."""
    draw = random.Random(seed)
    members, strangers = [], []
    for count in EXAMPLES:
        inside: list[float] = []
        outside: list[float] = []
        for concept in some:
            strings = draw.sample(concept.train + concept.test, 10)
            others = draw.sample([c for c in some if c is not concept], min(OTHERS, len(some) - 1))
            values = [v for v in (draw.choice(c.train + c.test) for c in others) if v not in strings]
            evidence = explain(strings[:count], knowledge).evidence(strings[count:] + values).tolist()
            inside += evidence[: len(strings) - count]
            outside += evidence[len(strings) - count :]
        members.append(_quantiles(inside))
        strangers.append(_quantiles(outside))
    return np.array(members), np.array(strangers)


def _quantiles(evidence: list[float]) -> Float[np.ndarray, "q"]:
    return np.quantile(np.maximum(evidence, -50.0), np.linspace(0, 1, LEVELS)).astype(np.float32)


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
    start = gather(state.model, jnp.asarray(known), jnp.asarray(log_weight), nothing, nothing, notes)
    members, strangers = calibrate(start, concepts("calibration"))
    return start._replace(calibration=jnp.asarray(members), strangers=jnp.asarray(strangers))


def main(run_path: Path, output: Path) -> None:
    """Reads the run, and writes the file."""
    run = runs.open_run(run_path)
    job = prepare(run.config)
    if not isinstance(job.settings, Settings) or job.settings.concepts in ("large", "calibration"):
        raise Refusal(f"{run_path} is not a run of strings that left the concepts for calibration out.")
    save(output, make(job, runs.restore(run, job.start())))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
