"""How good a model is: log p(x) by importance sampling, by enumeration, and with refined recognition."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Key

from wakesleep.core import memory as mem
from wakesleep.core.algorithms import rws, vimco
from wakesleep.core.fit import fit
from wakesleep.core.keys import fused
from wakesleep.core.memory import Memory, Weighted
from wakesleep.core.model import Batch, Model, Observations, Program, frozen, same_program, score
from wakesleep.core.pretrain import recognition_only, sleep
from wakesleep.core.wake import wake, weigh
from wakesleep.errors import Refusal, require_at_least

AT_ONCE = 50
"""Observations for which programs are proposed at the same time."""


class Bound(NamedTuple):
    """A lower bound on log p(x) for each of n observations, with its Monte Carlo standard error."""

    log_p: Float[np.ndarray, "n"]
    error: Float[np.ndarray, "n"]

    @property
    def mean(self) -> float:
        """The mean over the observations."""
        return float(np.mean(self.log_p))

    @property
    def standard_error(self) -> float:
        """The Monte Carlo standard error of that mean."""
        return float(np.sqrt(np.sum(self.error**2)) / self.error.size)


def importance(
    key: Key[Array, ""],
    model: Model,
    data: Observations,
    samples: int = 1000,
    chunk: int = 100,
    known: Memory | None = None,
) -> Bound:
    """log (1/S sum_s w_s) for S = `samples` proposals; its expectation grows to log p(x) with S.

    The error is that of the mean weight carried through the log. `chunk` proposals are held at once. The joint
    probability of the programs that are `known` for each observation (see `remember`) is summed exactly instead, and
    recognition has to find only the rest.
    """
    require_at_least("samples", samples, 1)
    chunk = min(chunk, samples)
    whole, rest = divmod(samples, chunk)

    @eqx.filter_jit
    def total(key: Key[Array, ""], model: Model, batch: Batch, known: Memory | None) -> tuple[Array, Array]:
        def one(key: Key[Array, ""], count: int) -> tuple[Array, Array]:
            z, log_p, log_r = weigh(model, key, batch, count)
            log_w = log_p - log_r if known is None else jnp.where(among(z, known), -jnp.inf, log_p - log_r)
            return jax.nn.logsumexp(log_w, axis=1), jax.nn.logsumexp(2 * log_w, axis=1)

        def more(sums: tuple, key: Key[Array, ""]) -> tuple[tuple, None]:
            return jax.tree.map(jnp.logaddexp, sums, one(key, chunk)), None

        keys = jax.random.split(fused(key), whole + 1)
        nothing = jnp.full(len(batch.rows), -jnp.inf)
        start = one(keys[-1], rest) if rest else (nothing, nothing)
        return jax.lax.scan(more, start, keys[:-1])[0]

    parts = [
        total(jax.random.fold_in(key, i), model, batch, None if known is None else mem.read(known, batch.rows))
        for i, batch in enumerate(_parts(data))
    ]
    first, second = (np.concatenate(sums).astype(np.float64) for sums in zip(*parts, strict=True))
    summed = -np.inf if known is None else np.asarray(mem.bound(known.log_joint), np.float64)
    log_p = np.logaddexp(first - np.log(samples), summed)
    possible = np.isfinite(log_p)
    # The standard error of the mean weight, over p(x).
    square = np.exp(np.where(possible, second - 2 * np.log(samples) - 2 * np.where(possible, log_p, 0.0), 0.0))
    mean = np.exp(np.where(possible, first - np.log(samples) - np.where(possible, log_p, 0.0), 0.0))
    return Bound(log_p, np.sqrt(np.maximum(square - mean**2 / samples, 0.0)))


def _parts(data: Observations) -> Iterator[Batch]:
    """The observations, so many at a time, so that memory does not grow with their number."""
    for start in range(0, len(data), AT_ONCE):
        rows = jnp.arange(start, min(start + AT_ONCE, len(data)))
        part = data[rows]
        yield Batch(rows, part.x, part.c)


def among(z: Program, known: Memory) -> Bool[Array, "b k"]:
    """Which of the k programs of each observation are among the possible ones that are known for it."""

    def one(z: Program, row: Memory) -> Bool[Array, "k"]:
        same = jax.vmap(jax.vmap(same_program, (None, 0)), (0, None))(z, row.programs)
        return jnp.any(same & jnp.isfinite(row.log_joint)[None, :], axis=1)

    return jax.vmap(one)(z, known)


def exact(model: Model, programs: Program, data: Observations) -> Float[Array, "n"]:
    """log p(x) as the sum over every program."""
    return jax.nn.logsumexp(exact_joint(model, programs, data), axis=1)


@eqx.filter_jit
def exact_joint(model: Model, programs: Program, data: Observations) -> Float[Array, "n p"]:
    """log p(z, x) of every program for every observation, one observation at a time."""

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
    """The importance bound after training recognition further on the data, the model fixed.

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
        bounds[name] = importance(keys[1], better, data, samples)
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
    """Weighted programs for new observations, the best first.

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


def remember(
    key: Key[Array, ""],
    model: Model,
    data: Observations,
    memory_size: int = 10,
    proposals: int = 100,
    wakes: int = 10,
    revise: float = 0.0,
) -> Memory:
    """A fresh memory for new observations, filled by `wakes` wake phases with the model fixed.

    `revise` of the proposals change a remembered program. The sum over a memory is a lower bound on p(x), however its
    programs were found.
    """
    parts = [
        _remember(fused(jax.random.fold_in(key, i)), model, batch, memory_size, proposals, wakes, revise)
        for i, batch in enumerate(_parts(data))
    ]
    return jax.tree.map(lambda *a: jnp.concatenate(a), *parts)


@eqx.filter_jit
def _remember(
    key: Key[Array, ""],
    model: Model,
    batch: Batch,
    memory_size: int,
    proposals: int,
    wakes: int,
    revise: float,
) -> Memory:
    h = jax.vmap(model.recognition.encode)(batch.x, batch.c)
    example = jax.tree.map(lambda a: a[0], h)
    program = jax.eval_shape(model.recognition.sample, key, example)
    empty = mem.empty(program, batch.rows.shape[0], memory_size)

    def more(memory: Memory, key: Key[Array, ""]) -> tuple[Memory, None]:
        return wake(model, key, memory, h, batch, proposals, revise=revise, fixed=True)[0], None

    return jax.lax.scan(more, empty, jax.random.split(key, wakes))[0]


def gather_twins(weighted: Memory) -> Memory:
    """Each program once, the best first, with the summed weight of its twins."""
    z, log_w = weighted
    same = jax.vmap(jax.vmap(same_program, (None, 0)), (0, None))(z, z)
    summed = jax.nn.logsumexp(jnp.where(same, log_w, -jnp.inf), axis=1)
    again = jnp.any(jnp.tril(same, -1), axis=1)
    best, order = jax.lax.top_k(jnp.where(again, -jnp.inf, summed), log_w.shape[0])
    return Memory(jax.tree.map(lambda a: a[order], z), best)


def divergence(
    posterior: Weighted, model: Model, data: Observations, log_marginal: Float[Array, "n"]
) -> Float[Array, "n"]:
    """KL(Q || p(z | x)) for each observation, where log p(x) is known; twins in Q are one program."""
    log_q = jax.vmap(gather_twins)(Memory(*posterior))
    log_true = score(frozen(model), log_q.programs, data.x, data.c) - log_marginal[:, None]
    q = jnp.exp(log_q.log_joint)
    return jnp.sum(jnp.where(q > 0, q * (log_q.log_joint - log_true), 0.0), axis=1)


def require_enumerable(programs: Program | None, domain: str) -> Program:
    """Refuses exact evaluation where there are too many programs to list."""
    if programs is None:
        raise Refusal(f"The programs of {domain} cannot all be listed: evaluate by importance sampling instead.")
    return programs
