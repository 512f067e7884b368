"""What is known before a series is seen: the model that was trained on other series and ships with the package."""

from functools import cache
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

SHIPPED_NAME = "timeseries.safetensors"
UNSEEN_TOKEN_SHARE = 0.5
"""The share of tokens that the prior spreads over all: the training archive has few trends and seasons."""


class Knowledge(NamedTuple):
    """A trained model, and the settings and the training that it comes from."""

    model: Model
    notes: dict[str, Any]


def save(path: Path, knowledge: Knowledge) -> None:
    """Writes a knowledge file."""
    models.save(path, knowledge.model, knowledge.notes)


def load(path: Path | None = None) -> Knowledge:
    """Reads the knowledge in a file; by default the one that comes with the package."""
    path = path or Path(str(files(__package__) / SHIPPED_NAME))
    notes = models.read_notes(path)
    like = eqx.filter_eval_shape(build, jax.random.key(0), Settings(**notes["settings"]), _example())
    model = models.load(path, like)
    writer = model.prior.tokens.writer.smoothed(UNSEEN_TOKEN_SHARE)
    return Knowledge(eqx.tree_at(lambda m: m.prior.tokens.writer, model, writer), notes)


def fitted_to(model: Model, regular: bool, steps: int) -> Model:
    """Returns the model for series on a regular grid or not, with `steps` iterations to a fit."""
    return eqx.tree_at(lambda m: (m.evaluator.regular, m.evaluator.steps), model, (regular, steps))


def _example() -> Observations:
    return Observations(Series(jnp.linspace(-0.5, 0.5, 8)[None], jnp.zeros((1, 8)), jnp.ones((1, 8), bool)))


@cache
def shipped() -> Knowledge:
    """Returns the knowledge that ships with the package, read once."""
    return load()
