"""What the tables of all domains share: the algorithms by name, and the start of several seeds."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Key

from wakesleep.core.algorithms import Algorithm, State, mws, rws, vimco
from wakesleep.core.fit import fit
from wakesleep.core.keys import fused
from wakesleep.core.model import Model, Observations

# Algorithms by the names they have in tables; K is the number of joint evaluations a step.
MAKE: dict[str, Callable[[optax.GradientTransformation, int], Algorithm]] = {
    "MWS": lambda o, k: mws(o, *split(k)),
    "MWS+both": lambda o, k: mws(o, *split(k), recognition="both"),
    "MWS-tail": lambda o, k: mws(o, *split(k), tail=True),
    "MWS-tail+both": lambda o, k: mws(o, *split(k), recognition="both", tail=True),
    "MWS-tail+fantasy": lambda o, k: mws(o, *split(k), recognition="fantasy", tail=True),
    "MWS-revise+both": lambda o, k: mws(o, *split(k), recognition="both", revise=0.5),
    "MWS-plain": lambda o, k: mws(o, *split(k), explore=0.0),
    "MWS-expected": lambda o, k: mws(o, *split(k), replay="expected"),
    "MWS-explore": lambda o, k: mws(o, *split(k), explore=0.1),
    "MWS-revise": lambda o, k: mws(o, *split(k), revise=0.5),
    "MWS-fantasy": lambda o, k: mws(o, *split(k), recognition="fantasy"),
    "MWS (M = K, R = 1)": lambda o, k: mws(o, k, 1),
    "RWS": rws,
    "RWS-sleep": lambda o, k: rws(o, k, recognition="sleep"),
    "RWS+fantasy": lambda o, k: rws(o, k, recognition="both"),
    "VIMCO": vimco,
}


def split(k: int) -> tuple[int, int]:
    """K = M + R with M = R, the odd one to the memory."""
    return k - k // 2, k // 2


def start_seeds(
    algorithm: Algorithm,
    build: Callable[[Key[Array, ""], Any, Observations], Model],
    settings: Any,
    data: Observations,
    seeds: int,
) -> tuple[State, Array]:
    """States for that many seeds along a leading axis, and their keys."""

    @eqx.filter_jit
    @eqx.filter_vmap
    def start(seed: Array) -> tuple[State, Array]:
        key_model, key_train = jax.random.split(fused(jax.random.key(seed)))
        return algorithm.init(build(key_model, settings, data), data), key_train

    return start(jnp.arange(seeds))


def every_cell(plan: Any) -> list[dict[str, Any]]:
    """A cell for each seed, K and algorithm of a plan."""
    return [
        {"algorithm": a, "K": k, "seed": s, "steps": plan.steps}
        for s in range(plan.seeds)
        for k in plan.ks
        for a in plan.algorithms
    ]


def train_cell(
    cell: dict[str, Any],
    plan: Any,
    build: Callable[[Key[Array, ""], Any, Observations], Model],
    settings: Any,
    data: Observations,
    watch: Callable[[int], Any] = lambda step: None,
) -> tuple[Algorithm, State, list[tuple[int, float]]]:
    """One seed, trained with Adam, and its mean bound at each tenth of the way; `watch` is told of steps done."""
    algorithm = MAKE[cell["algorithm"]](optax.adam(plan.learning_rate), cell["K"])
    key_model, key_train = jax.random.split(fused(jax.random.key(cell["seed"])))
    state = algorithm.init(build(key_model, settings, data), data)
    curve, every = [], max(cell["steps"] // 10, 1)
    steps = fit(algorithm, state, data, key=key_train, steps=cell["steps"], batch_size=plan.batch_size, every=every)
    for state, info in steps:
        watch(int(state.step))
        if int(state.step) % every == 0:
            curve.append((int(state.step), float(info.bound)))
    return algorithm, state, curve
