"""Sleep before the first wake: recognition learns from pairs drawn from p, before anything is learned from the data."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Key

from wakesleep.core.algorithms import dreamed
from wakesleep.core.fit import data_mesh, fit
from wakesleep.core.model import Batch, Model, Observations, Scalar
from wakesleep.core.step import Algorithm, Info, State, algorithm, importance_posterior, report

CONDITIONS = 1000
"""The most observations whose conditions c are dreamt with."""


def pretrain(
    key: Key[Array, ""],
    model: Model,
    data: Observations,
    steps: int,
    batch_size: int,
    learning_rate: float = 1e-3,
    follow: Callable[[State, Info], None] = lambda state, info: None,
) -> Model:
    """The model after `steps` steps of sleep: recognition has learned, prior and evaluator are as they were.

    Of the data only the conditions c are used. An untrained recognition proposes at random, and an
    algorithm that trains it on what it proposed itself takes long to come upon anything better.
    """
    algorithm, mesh = sleep(optax.adam(learning_rate)), data_mesh(jax.local_devices()[:1])
    some = data[:: max(len(data) // CONDITIONS, 1)]
    start = algorithm.init(model, some)
    size = min(batch_size, len(some))
    for state, info in fit(algorithm, start, some, key=key, steps=steps, batch_size=size, mesh=mesh):
        follow(state, info)
        model = state.model
    return model


def sleep(optimiser: optax.GradientTransformation) -> Algorithm:
    """The sleep phase alone (Hinton et al., 1995); in place of a bound it reports the mean log r(z | x) of dreams."""

    def loss(model: Model, key: Key[Array, ""], memory: None, batch: Batch) -> tuple[Scalar, tuple[None, Info]]:
        _, key_dream = jax.random.split(key)  # the key that `rws` dreams with
        losses = dreamed(model, key_dream, batch)
        return jnp.mean(losses), (None, report(-losses))

    return algorithm(loss, recognition_only(optimiser), None, importance_posterior(1))


def recognition_only(optimiser: optax.GradientTransformation) -> optax.GradientTransformation:
    """The optimiser for psi alone; theta and phi stay as they are."""

    def label(parameters: Model) -> Model:
        names = {"prior": "fixed", "evaluator": "fixed", "recognition": "trained"}
        parts = {k: jax.tree.map(lambda _, v=v: v, getattr(parameters, k)) for k, v in names.items()}
        return Model(**parts)

    return optax.multi_transform({"trained": optimiser, "fixed": optax.set_to_zero()}, label)
