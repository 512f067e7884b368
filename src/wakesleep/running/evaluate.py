"""What `evaluate` does: log p(x) under a trained model."""

from pathlib import Path
from typing import Any

import jax

from wakesleep.core import evaluate as ev
from wakesleep.core.algorithms import State
from wakesleep.core.compilation import keep_compiled
from wakesleep.core.keys import fused
from wakesleep.errors import require_at_least
from wakesleep.running import run as runs
from wakesleep.running.train import Job, prepare

Rows = list[dict[str, Any]]


def load_run(path: Path) -> tuple[Job, State]:
    """Returns the job of a run directory and its last state."""
    keep_compiled()
    run = runs.open_run(path)
    job = prepare(run.config)
    return job, runs.restore(run, job.shape(), change=False) if runs.steps_saved(run) else job.start()


def evaluate(path: Path, samples: int, refine: int, exact: bool, seed: int) -> Rows:
    """Returns a row for each split and method: the mean log p(x) of its observations and the mean's error."""
    require_at_least("samples", samples, 1)
    job, state = load_run(path)
    splits = {"train": job.dataset.train, "test": job.dataset.test}
    key = fused(jax.random.key(seed))
    rows: Rows = []
    for split, data in splits.items():
        if data is None:
            continue
        bounds = {"importance": ev.importance(key, state.model, data, samples)}
        if refine:
            more = ev.refined(key, state.model, data, samples, refine)
            bounds |= {f"refined by {name}" if name != "best" else "best refined": b for name, b in more.items()}
        rows += [_row(split, method, b.mean, b.standard_error, samples) for method, b in bounds.items()]
        if exact:
            programs = ev.require_enumerable(job.domain.programs(job.settings, data), job.domain.name)
            rows.append(_row(split, "exact", float(ev.exact(state.model, programs, data).mean()), 0.0, 0))
    return rows


def _row(split: str, method: str, log_p: float, error: float, samples: int) -> dict[str, Any]:
    return {"split": split, "method": method, "log_p": log_p, "error": error, "samples": samples}
