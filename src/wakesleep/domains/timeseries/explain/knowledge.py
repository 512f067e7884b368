"""What is known before a series is seen: the model that was trained on other series and ships with the package.

python -m wakesleep.domains.timeseries.explain.knowledge RUN FILE.safetensors
"""

import sys
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from wakesleep.core import weights as models
from wakesleep.core.model import Model, Observations
from wakesleep.domains.timeseries.data import Settings, build
from wakesleep.domains.timeseries.likelihood import Series
from wakesleep.errors import Refusal
from wakesleep.running import run as runs
from wakesleep.running.train import prepare

SHIPPED = "timeseries.safetensors"
UNSEEN = 0.5
"""The share of tokens that may be any: the archive it was trained on has few of the trends and seasons of others."""


class Knowledge(NamedTuple):
    """A trained model, and the settings and the training that it comes from."""

    model: Model
    notes: dict[str, Any]


def save(path: Path, knowledge: Knowledge) -> None:
    """Writes a knowledge file."""
    models.save(path, knowledge.model, knowledge.notes)


def load(path: Path | None = None) -> Knowledge:
    """The knowledge in a file; that which comes with the package by default."""
    path = path or Path(str(files(__package__) / SHIPPED))
    notes = models.read_notes(path)
    like = eqx.filter_eval_shape(build, jax.random.key(0), Settings(**notes["settings"]), _example())
    model = models.load(path, like)
    return Knowledge(eqx.tree_at(lambda m: m.prior.tokens.writer.share, model, UNSEEN), notes)


def fitted_to(model: Model, regular: bool, steps: int) -> Model:
    """The model for series on a regular grid or not, with so many iterations to a fit."""
    return eqx.tree_at(lambda m: (m.evaluator.regular, m.evaluator.steps), model, (regular, steps))


def _example() -> Observations:
    return Observations(Series(jnp.linspace(-0.5, 0.5, 8)[None], jnp.zeros((1, 8)), jnp.ones((1, 8), bool)))


def main(run_path: Path, output: Path) -> None:
    """Makes a knowledge file from a run."""
    run = runs.open_run(run_path)
    job = prepare(run.config)
    if not isinstance(job.settings, Settings):
        raise Refusal(f"{run_path} is not a run of timeseries.")
    state = runs.restore(run, job.shape())
    settings = {k: getattr(job.settings, k) for k in ("points", "kernels", "scaled", "length", "hidden")}
    trained = {"series": job.settings.series, "observations": len(job.dataset.train), "steps": int(state.step)}
    save(output, Knowledge(state.model, {"settings": settings, "trained": trained | {"seed": job.config.seed}}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
