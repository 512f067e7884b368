"""Trained models in a file that can be sent or shipped: safetensors with a card that says where the model comes from.

The notes of a file are `domain` (its reference), `name`, `settings` (those of the domain, without the user's own file),
`observation` (shape and type of each array of an observation) and `card`.
"""

from pathlib import Path
from typing import Any

from wakesleep.core import weights as models
from wakesleep.data.atomic import beside, sync
from wakesleep.domains.arrays import arrays_of
from wakesleep.errors import Refusal
from wakesleep.running import run as runs
from wakesleep.running.evaluate import load_run
from wakesleep.running.train import Job

UNKNOWN = "unknown"


def ship(path: Path, file: Path, licence: str = "") -> dict[str, Any]:
    """Writes the model of a run's last checkpoint to a new file, and returns its card."""
    if file.exists():
        raise Refusal(f"{file} exists already: choose another name.")
    job, state = load_run(path)
    step = int(state.step)
    if step == 0:
        raise Refusal(f"{path} has no checkpoint yet: train it first (wakesleep resume {path}).")
    card = make_card(job, path, step, licence)
    kept = {k: v for k, v in job.config.settings.items() if k != job.domain.data_setting}
    notes = {
        "domain": job.config.domain,
        "name": job.domain.name,
        "settings": kept,
        "observation": _shapes(job),
        "card": card,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = beside(file)
    models.save(unfinished, state.model, notes)
    sync(unfinished)
    unfinished.replace(file)
    return card


def make_card(job: Job, path: Path, step: int, licence: str = "") -> dict[str, Any]:
    """Returns where a model comes from: data, licence, algorithm, steps, seed, last metrics and the source."""
    config = job.config
    metrics = [line for line in runs.history(runs.open_run(path)) if line["step"] == step]
    return {
        "data": job.dataset.note,
        "data_digest": config.data_digest,
        "observations": len(job.dataset.train),
        "licence": licence or UNKNOWN,
        "algorithm": config.algorithm,
        "steps": step,
        "seed": config.seed,
        "metrics": {k: v for k, v in metrics[-1].items() if k != "step"} if metrics else {},
        "version": config.version or UNKNOWN,
        "commit": config.commit or UNKNOWN,
    }


def _shapes(job: Job) -> dict[str, Any]:
    """Returns shape and type of each array of one observation, by name."""
    arrays = arrays_of(job.dataset.train[:1], job.domain)
    return {name: [list(a.shape[1:]), a.dtype.str] for name, a in arrays.items()}
