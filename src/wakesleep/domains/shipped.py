"""Trained models in files of weights, read for a domain."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from wakesleep.core import weights
from wakesleep.core.model import Model, Observations
from wakesleep.domains.arrays import assemble
from wakesleep.domains.contract import Domain
from wakesleep.errors import Refusal


def load(domain: Domain, file: Path | None = None, data: Observations | None = None) -> tuple[dict[str, Any], Model]:
    """Returns the settings of the model in a file, by default of the domain's shipped one, and the model.

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
    if notes.get("name", domain.name) != domain.name:
        raise Refusal(f"{file} is a model of {notes['name']}, not of {domain.name}.")
    settings = domain.configure(notes["settings"])
    if data is None and notes.get("observation") is None:
        like = eqx.filter_eval_shape(domain.build, jax.random.key(0), settings, Observations(None))
    else:
        like = domain.build(jax.random.key(0), settings, _example(file, domain, notes) if data is None else data)
    return notes["settings"], weights.load(file, like)


def read_notes(file: Path) -> dict[str, Any]:
    """Returns the notes of a model's file."""
    try:
        notes = weights.read_notes(file)
    except ValueError as error:
        raise Refusal(f"{file} cannot be read as a model ({error}).") from None
    if not isinstance(notes, dict) or not isinstance(notes.get("settings"), dict):
        raise Refusal(f"{file} is not a model that `wakesleep ship` made: it does not name its settings.")
    return notes


def _example(file: Path, domain: Domain, notes: dict[str, Any]) -> Observations:
    """Returns one observation of the shapes that the notes have, all zeros."""
    said = notes["observation"]
    try:
        shapes = {k: jnp.zeros((1, *map(int, shape)), np.dtype(kind)) for k, (shape, kind) in said.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise Refusal(f"{file} is damaged: the shape of an observation cannot be read ({error}).") from None
    example = assemble(shapes, domain)
    if example is None:
        raise Refusal(f"{file} is damaged: {', '.join(shapes)} are not the arrays of an observation of {domain.name}.")
    return example
