"""Models that come with the package, where a domain's settings alone determine their shape.

`python -m wakesleep.running.weights RUN FILE` makes such a file from a run.
"""

import sys
from pathlib import Path
from typing import Any

import equinox as eqx
import jax

from wakesleep.core import weights as models
from wakesleep.core.model import Model, Observations
from wakesleep.domains.contract import Domain
from wakesleep.errors import Refusal
from wakesleep.running import run as runs
from wakesleep.running.train import prepare


def load(domain: Domain) -> tuple[dict[str, Any], Model]:
    """The settings of a domain's shipped model, and the model."""
    if domain.shipped is None:
        raise Refusal(
            f"No trained model of {domain.name} comes with the package: train one (wakesleep train {domain.name})."
        )
    return load_model(domain, domain.shipped)


def load_model(domain: Domain, file: Path) -> tuple[dict[str, Any], Model]:
    """The settings of the model in a file, and the model."""
    settings = models.read_notes(file)["settings"]
    like = eqx.filter_eval_shape(domain.build, jax.random.key(0), domain.configure(settings), Observations(None))
    return settings, models.load(file, like)


def ship(path: Path, file: Path) -> None:
    """Writes the model of a run with what it was trained on."""
    run = runs.open_run(path)
    job = prepare(run.config)
    state = runs.restore(run, job.shape())
    notes = {"settings": run.config.settings, "trained": job.dataset.note, "steps": int(state.step)}
    models.save(file, state.model, notes | {"algorithm": run.config.algorithm, "seed": run.config.seed})


if __name__ == "__main__":
    ship(Path(sys.argv[1]), Path(sys.argv[2]))
