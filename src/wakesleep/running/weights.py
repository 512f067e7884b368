"""Trained models in a file that can be sent or shipped: safetensors with a card that says where the model comes from.

The notes of a file are `domain` (its name), `settings` (those of the domain, without the user's own file),
`observation` (shape and type of each array of an observation) and `card`.
"""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from wakesleep.core import weights as models
from wakesleep.core.model import Model, Observations
from wakesleep.data.atomic import beside, sync
from wakesleep.domains.contract import Domain
from wakesleep.errors import Refusal
from wakesleep.running import run as runs
from wakesleep.running.evaluate import load_run
from wakesleep.running.store import arrays_of, assemble
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
    notes = {"domain": job.domain.name, "settings": kept, "observation": _shapes(job), "card": card}
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = beside(file)
    models.save(unfinished, state.model, notes)
    sync(unfinished)
    unfinished.replace(file)
    return card


def make_card(job: Job, path: Path, step: int, licence: str = "") -> dict[str, Any]:
    """Where a model comes from: data, licence, algorithm, steps, seed, metrics at the last step, and the source."""
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


def load(domain: Domain, file: Path | None = None, data: Observations | None = None) -> tuple[dict[str, Any], Model]:
    """The settings of the model in a file, by default of the domain's shipped one, and the model.

    What a domain decides by looking at observations, such as whether they lie on a grid, is decided for `data`, or
    else for observations of the shape trained on.
    """
    if file is None:
        if domain.shipped is None:
            raise Refusal(
                f"No trained model of {domain.name} comes with the package: train one (wakesleep train {domain.name})."
            )
        file = domain.shipped
    notes = read_notes(file)
    if notes.get("domain", domain.name) != domain.name:
        raise Refusal(f"{file} is a model of {notes['domain']}, not of {domain.name}.")
    settings = domain.configure(notes["settings"])
    if data is None:
        like = eqx.filter_eval_shape(domain.build, jax.random.key(0), settings, _example(file, domain, notes))
    else:
        like = domain.build(jax.random.key(0), settings, data)
    return notes["settings"], models.load(file, like)


def read_notes(file: Path) -> dict[str, Any]:
    """The notes of a model's file."""
    try:
        notes = models.read_notes(file)
    except ValueError as error:
        raise Refusal(f"{file} cannot be read as a model ({error}).") from None
    if not isinstance(notes, dict) or not isinstance(notes.get("settings"), dict):
        raise Refusal(f"{file} is not a model that `wakesleep ship` made: it does not name its settings.")
    return notes


def _shapes(job: Job) -> dict[str, Any]:
    """Shape and type of each array of one observation, by name."""
    arrays = arrays_of(job.dataset.train[:1], job.domain)
    return {name: [list(a.shape[1:]), a.dtype.str] for name, a in arrays.items()}


def _example(file: Path, domain: Domain, notes: dict[str, Any]) -> Observations:
    """Shapes of one observation as the notes have them; nothing where a domain needs none."""
    said = notes.get("observation")
    if said is None:
        return Observations(None)
    try:
        shapes = {k: jax.ShapeDtypeStruct((1, *map(int, shape)), np.dtype(kind)) for k, (shape, kind) in said.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise Refusal(f"{file} is damaged: the shape of an observation cannot be read ({error}).") from None
    example = assemble(shapes, domain)
    if example is None:
        raise Refusal(f"{file} is damaged: {', '.join(shapes)} are not the arrays of an observation of {domain.name}.")
    return example
