"""How good a model is: log p(x) by importance sampling, by enumeration, and with refined recognition."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Key

from wakesleep.core import memory as mem
from wakesleep.core.algorithms import rws, vimco
from wakesleep.core.fit import fit
from wakesleep.core.importance import Bound, among, importance
from wakesleep.core.keys import fused
from wakesleep.core.memory import Memory, Weighted
from wakesleep.core.model import Batch, Model, Observations, Program, frozen, same_program, score
from wakesleep.core.pretrain import recognition_only, sleep
from wakesleep.core.remember import AT_ONCE, remember
from wakesleep.core.wake import weigh
from wakesleep.errors import Refusal

__all__ = [
    "AT_ONCE",
    "Bound",
    "among",
    "divergence",
    "exact",
    "exact_joint",
    "gather_twins",
    "importance",
    "posterior",
    "refined",
    "remember",
    "require_enumerable",
]


def exact(model: Model, programs: Program, data: Observations) -> Float[Array, "n"]:
    """Returns log p(x) = log sum_z p(z, x) of each observation, summed over every program."""
    return jax.nn.logsumexp(exact_joint(model, programs, data), axis=1)


@eqx.filter_jit
def exact_joint(model: Model, programs: Program, data: Observations) -> Float[Array, "n p"]:
    """Returns log p(z, x) of every program for every observation, one observation at a time."""

    def row(one: Observations) -> Float[Array, "p"]:
        return jax.vmap(model.log_joint, (0, None, None))(programs, one.x, one.c)

    return jax.lax.map(row, data)


REFINERS: dict[str, Callable] = {
    "rws": lambda optimiser, k: rws(recognition_only(optimiser), k),
    "vimco": lambda optimiser, k: vimco(recognition_only(optimiser), k),
    "sleep": lambda optimiser, k: sleep(optimiser),
}


def refined(
    key: Key[Array, ""],
    model: Model,
    data: Observations,
    samples: int = 5000,
    steps: int = 20_000,
    particles: int = 200,
    batch_size: int = 50,
    learning_rate: float = 1e-3,
) -> dict[str, Bound]:
    """Returns the importance bound after training recognition further on the data, the model fixed.

    One entry for each way of training it, and `best`, the highest of them (the paper's appendix).
    """
    bounds: dict[str, Bound] = {}
    for name, refiner in REFINERS.items():
        keys = jax.random.split(jax.random.fold_in(key, len(bounds)))
        better = model
        algorithm = refiner(optax.adam(learning_rate), particles)
        size = min(batch_size, len(data))
        for state, _ in fit(algorithm, algorithm.init(model, data), data, key=keys[0], steps=steps, batch_size=size):
            better = state.model
        bounds[name] = importance(keys[1], better, data, samples, known=False)
    return bounds | {"best": max(bounds.values(), key=lambda b: b.mean)}


def posterior(
    key: Key[Array, ""],
    model: Model,
    data: Observations,
    memory_size: int = 10,
    proposals: int = 100,
    wakes: int = 10,
    revise: float = 0.0,
) -> Weighted:
    """Returns weighted programs for new observations, the best first.

    A fresh memory is filled by `wakes` wake phases (see `remember`); with none, `proposals` proposals are weighted by
    importance instead.
    """
    if wakes > 0:
        return mem.posterior(remember(key, model, data, memory_size, proposals, wakes, revise))
    return _weighed(fused(key), model, Batch(jnp.arange(len(data)), data.x, data.c), proposals)


@eqx.filter_jit
def _weighed(key: Key[Array, ""], model: Model, batch: Batch, proposals: int) -> Weighted:
    z, log_p, log_r = weigh(model, key, batch, proposals)
    return mem.posterior(jax.vmap(gather_twins)(Memory(z, log_p - log_r)))


def gather_twins(weighted: Memory) -> Memory:
    """Returns each program once, the best first, with the summed weight of its twins."""
    z, log_w = weighted.programs, weighted.log_joint
    same = jax.vmap(jax.vmap(same_program, (None, 0)), (0, None))(z, z)
    summed = jax.nn.logsumexp(jnp.where(same, log_w, -jnp.inf), axis=1)
    again = jnp.any(jnp.tril(same, -1), axis=1)
    best, order = jax.lax.top_k(jnp.where(again, -jnp.inf, summed), log_w.shape[0])
    return Memory(jax.tree.map(lambda a: a[order], z), best)


def divergence(
    posterior: Weighted, model: Model, data: Observations, log_marginal: Float[Array, "n"]
) -> Float[Array, "n"]:
    """Returns KL(Q || p(z | x)) for each observation, where log p(x) is known; twins in Q are one program."""
    log_q = jax.vmap(gather_twins)(Memory(*posterior))
    log_true = score(frozen(model), log_q.programs, data.x, data.c) - log_marginal[:, None]
    q = jnp.exp(log_q.log_joint)
    return jnp.sum(jnp.where(q > 0, q * (log_q.log_joint - log_true), 0.0), axis=1)


def require_enumerable(programs: Program | None, domain: str) -> Program:
    """Refuses exact evaluation where there are too many programs to list."""
    if programs is None:
        raise Refusal(f"The programs of {domain} cannot all be listed: evaluate by importance sampling instead.")
    return programs
