"""What is known before a column is seen: a trained model, regexes that were found for other columns, a calibration."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from wakesleep.core import weights as models
from wakesleep.core.model import Model, Observations
from wakesleep.domains.strings.data import Settings, build
from wakesleep.domains.strings.evaluator import Regex, as_strings
from wakesleep.domains.strings.language import ANY, CHARACTERS, FIRST_CLASS
from wakesleep.domains.strings.ngrams import END

SHIPPED = "strings.safetensors"
UNSEEN = 0.05
"""The share of a regex's tokens that may be any."""
ENDS = 0.1
"""The share of ends among the symbols of short strings."""


class Knowledge(NamedTuple):
    """A model, and the regexes remembered for its training concepts with their weights over all of them."""

    model: Model
    known: Int[Array, "p t"]
    log_weight: Float[Array, "p"]
    """Their mixture is p0: a string of a column of which nothing is known."""
    log_prior: Float[Array, "p"]
    """log p of each as a program."""
    weights: Float[Array, "n f"]
    """What the traits of a string count for its membership: a row for each of `examples`."""
    calibration: Float[Array, "n q"]
    """The quantiles, at equal distances from 0 to 1, of the evidence for true members."""
    strangers: Float[Array, "n q"]
    """The same for values of other columns."""
    frequent: dict[str, float]
    """The share of each character, and of the end, among all symbols of a column of which nothing is known."""
    notes: dict[str, Any]
    """The settings of the model, what it was trained on, and the numbers of examples that were calibrated."""


def save(path: Path, knowledge: Knowledge) -> None:
    """Writes a knowledge file."""
    k = knowledge
    shapes = {"rows": k.known.shape, "traits": k.weights.shape, "levels": k.calibration.shape}
    models.save(path, (k.model, k.known, k.log_weight, k.weights, k.calibration, k.strangers), k.notes | shapes)


def load(path: Path | None = None) -> Knowledge:
    """The knowledge in a file; that which comes with the package by default."""
    path = path or Path(str(files(__package__) / SHIPPED))
    notes = models.read_notes(path)
    settings = Settings(**notes["settings"])
    example = Observations(jax.tree.map(lambda a: a[None], as_strings([""], settings.strings, settings.longest)))
    like = (
        eqx.filter_eval_shape(build, jax.random.key(0), settings, example),
        jnp.zeros(notes["rows"], jnp.int32),
        jnp.zeros(notes["rows"][0]),
        jnp.zeros(notes["traits"]),
        jnp.zeros(notes["levels"]),
        jnp.zeros(notes["levels"]),
    )
    return gather(*models.load(path, like), notes)


def gather(
    model: Model,
    known: Int[Array, "p t"],
    log_weight: Float[Array, "p"],
    weights: Float[Array, "n f"],
    calibration: Float[Array, "n q"],
    strangers: Float[Array, "n q"],
    notes: dict[str, Any],
) -> Knowledge:
    """Knowledge of which all is given but what follows from it."""
    model = smooth(model)
    written, frequent = log_written(model, known), _frequent(regex_of(model))
    return Knowledge(model, known, log_weight, written, weights, calibration, strangers, frequent, notes)


def regex_of(model: Model) -> Regex:
    """The evaluator of a model of strings."""
    assert isinstance(model.evaluator, Regex)
    return model.evaluator


def _frequent(evaluator: Regex) -> dict[str, float]:
    """The characters as the class of all has them, and the end."""
    shares = np.asarray(evaluator.emissions, np.float64)[ANY - FIRST_CLASS]
    return dict(zip(CHARACTERS, ((1 - ENDS) * shares).tolist(), strict=False)) | {END: ENDS}


@eqx.filter_jit
def log_written(model: Model, programs: Int[Array, "k t"]) -> Float[Array, "k"]:
    """log p(z) of each program."""
    return jax.vmap(lambda z: model.prior.log_prob(z, None))(programs)


def smooth(model: Model) -> Model:
    """The model with a prior that is ready for what it never saw."""
    return eqx.tree_at(lambda m: m.prior.writer.share, model, UNSEEN)


@cache
def shipped() -> Knowledge:
    """Returns the knowledge that ships with the package, read once."""
    return load()
