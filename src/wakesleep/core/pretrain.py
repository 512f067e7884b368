"""Sleep before the first wake: recognition learns from pairs drawn from p, before anything is learned from the data."""

from collections.abc import Callable

import jax
import optax
from jaxtyping import Array, Key

from wakesleep.core.algorithms import Algorithm, Info, State, rws
from wakesleep.core.fit import data_mesh, fit
from wakesleep.core.model import Model, Observations

ENOUGH = 1000
"""So many observations are looked at for what programs are conditioned on."""


def pretrain(
    key: Key[Array, ""],
    model: Model,
    data: Observations,
    steps: int,
    batch_size: int,
    learning_rate: float = 1e-3,
    report: Callable[[State, Info], None] = lambda state, info: None,
) -> Model:
    """The model with recognition that has dreamt for so many steps; prior and evaluator are as they were.

    Of the data only what programs are conditioned on is used. Before it, recognition proposes at random, and an
    algorithm that trains it on what it proposed itself takes long to come upon anything better.
    """
    algorithm, mesh = sleep(optax.adam(learning_rate)), data_mesh(jax.local_devices()[:1])
    some = data[:: max(len(data) // ENOUGH, 1)]
    start = algorithm.init(model, some)
    size = min(batch_size, len(some))
    for state, info in fit(algorithm, start, some, key=key, steps=steps, batch_size=size, mesh=mesh):
        report(state, info)
        model = state.model
    return model


def sleep(optimiser: optax.GradientTransformation) -> Algorithm:
    """The sleep phase alone (Hinton et al., 1995)."""
    return rws(recognition_only(optimiser), 1, recognition="sleep")


def recognition_only(optimiser: optax.GradientTransformation) -> optax.GradientTransformation:
    """The optimiser for psi alone; theta and phi stay as they are."""

    def label(parameters: Model) -> Model:
        names = {"prior": "fixed", "evaluator": "fixed", "recognition": "trained"}
        parts = {k: jax.tree.map(lambda _, v=v: v, getattr(parameters, k)) for k, v in names.items()}
        return Model(**parts)

    return optax.multi_transform({"trained": optimiser, "fixed": optax.set_to_zero()}, label)
