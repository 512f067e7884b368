"""The programs that a run has found for its training observations: as arrays, in words, and in programs.jsonl."""

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from wakesleep.core import processes
from wakesleep.core.algorithms import State
from wakesleep.core.keys import fused
from wakesleep.core.memory import Weighted
from wakesleep.core.model import Batch
from wakesleep.data.atomic import write_whole
from wakesleep.domains.programs import Programs
from wakesleep.running.run import Run
from wakesleep.running.train import Job

PROGRAMS_LISTED = 1000


def posterior(job: Job, state: State, rows: list[int] | None = None, seed: int = 0) -> Weighted:
    """Returns weighted programs of the given training rows, by default of all."""
    chosen = np.arange(len(job.dataset.train)) if rows is None else np.asarray(rows)
    some = job.dataset.train[chosen]
    model, memory = processes.whole((state.model, jax.tree.map(lambda a: a[chosen], state.memory)))
    state = State(jnp.zeros((), jnp.int32), model, None, memory)
    batch = Batch(jnp.arange(len(chosen)), some.x, some.c)
    return eqx.filter_jit(job.algorithm.posterior)(fused(jax.random.key(seed)), state, batch)


def list_programs(job: Job, run: Run, state: State) -> None:
    """Writes programs.jsonl: the best programs of the first thousand observations."""
    rows = list(range(min(len(job.dataset.train), PROGRAMS_LISTED)))
    found = posterior(job, state, rows)  # every process has a part in it
    if not processes.primary():
        return
    data, names = job.dataset.train[np.asarray(rows)], [job.dataset.names[i] for i in rows]
    described = Programs(job.domain, state.model.evaluator, data, jax.device_get(found), names).rows()
    write_whole(run.path / "programs.jsonl", "".join(json.dumps(d) + "\n" for d in described))
