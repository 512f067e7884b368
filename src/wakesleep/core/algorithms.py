"""Memoised wake-sleep and its rivals, each as the same triple of pure functions.

`init(model, data)` gives a `State`, `step(key, state, batch)` one update and an `Info`, and
`posterior(key, state, batch)` weighted programs for training observations. Nothing but the state
survives a step.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key, PyTree

from wakesleep.core import memory as mem
from wakesleep.core import objectives
from wakesleep.core.memory import Memory, Weighted
from wakesleep.core.model import (
    Batch,
    Model,
    Observations,
    Program,
    Scalar,
    carries,
    dream,
    frozen,
    propose,
    recognise,
    refine,
    score,
)
from wakesleep.errors import require_at_least, require_one_of, require_share

ALONE = 0.1
"""The share of proposals from the prior where a memory holds one program."""


class State(NamedTuple):
    """All that survives a step; the memory is None where the algorithm keeps none."""

    step: Int[Array, ""]
    model: Model
    opt_state: Any
    memory: Memory | None


class Info(NamedTuple):
    """What a step reports: means over the batch."""

    bound: Float[Array, ""]
    """The lower bound on log p(x), over the observations that have a possible program."""
    explained: Float[Array, ""]
    """The share of observations that have one."""
    novel: Float[Array, ""]
    """Proposals that entered memory, for an observation; zero where there is no memory."""


class Algorithm(NamedTuple):
    """The triple; see the module's docstring."""

    init: Callable[[Model, Observations], State]
    step: Callable[..., tuple[State, Info]]
    posterior: Callable[[Key[Array, ""], State, Batch], Weighted]


# The loss of a batch, given the memory rows of its observations; beside it those rows updated, and a report.
Loss = Callable[[Model, Key[Array, ""], Any, Batch], tuple[Scalar, tuple[Any, Info]]]


def mws(
    optimiser: optax.GradientTransformation,
    memory_size: int = 5,
    proposals: int = 5,
    recognition: str = "replay",
    replay: str = "draw",
    explore: float | None = None,
    revise: float = 0.0,
) -> Algorithm:
    """Memoised wake-sleep (Algorithm 1): M = `memory_size`, R = `proposals`.

    `recognition="replay"` trains r on remembered programs, `"fantasy"` on pairs drawn from p.
    `replay="expected"` trains on all M remembered programs weighted by Q, where the paper draws one.
    `explore` is the share of proposals drawn from the prior, where the paper draws all from r: r trained on a small
    memory proposes little but that memory, and any proposal may enter it, whatever its distribution. By default it is
    nothing, except where the memory holds a single program: r then soon proposes that one alone, so it is `ALONE`.
    For the same reason `revise` is the share of proposals that are remembered programs, drawn from Q, with a small
    change.
    """
    require_at_least("memory_size", memory_size, 1)
    require_at_least("proposals", proposals, 1)
    require_one_of("recognition", recognition, ("replay", "fantasy"))
    require_one_of("replay", replay, ("draw", "expected"))
    share = (ALONE if memory_size == 1 else 0.0) if explore is None else explore
    require_share("explore", share)
    require_share("revise", revise)

    def loss(model: Model, key: Key[Array, ""], remembered: Memory, batch: Batch) -> tuple[Scalar, tuple[Any, Info]]:
        key_wake, key_replay, key_dream = jax.random.split(key, 3)
        h = jax.vmap(model.recognition.encode)(batch.x, batch.c)
        updated, novel = wake(frozen(model), key_wake, remembered, frozen(h), batch, proposals, share, revise)
        z, weight = _replayed(key_replay, updated, replay)
        total = _weighted(weight, score(model, z, batch.x, batch.c))
        if recognition == "replay":
            total += _weighted(weight, recognise(model.recognition, z, h))
        else:
            total += _dreamed(model, key_dream, batch)
        return total, (updated, _info(mem.bound(updated.log_joint), novel))

    return _algorithm(loss, optimiser, memory_size, _remembered)


def rws(
    optimiser: optax.GradientTransformation,
    particles: int = 10,
    recognition: str = "wake",
) -> Algorithm:
    """Reweighted wake-sleep (Bornschein and Bengio, 2015) with K = `particles`.

    `recognition="wake"` trains r on the weighted particles, `"sleep"` on pairs drawn from p.
    """
    require_at_least("particles", particles, 1)
    require_one_of("recognition", recognition, ("wake", "sleep"))

    def loss(model: Model, key: Key[Array, ""], memory: None, batch: Batch) -> tuple[Scalar, tuple[Any, Info]]:
        key_wake, key_dream = jax.random.split(key)
        _, log_p, log_r = weigh(model, key_wake, batch, particles)
        total = jnp.mean(jax.vmap(objectives.rws_generative)(log_p, frozen(log_r)))
        if recognition == "wake":
            total += jnp.mean(jax.vmap(objectives.rws_recognition)(frozen(log_p), log_r))
        else:
            total += _dreamed(model, key_dream, batch)
        return total, (None, _importance_info(log_p, log_r))

    return _algorithm(loss, optimiser, None, _importance_posterior(particles))


def vimco(optimiser: optax.GradientTransformation, particles: int = 10) -> Algorithm:
    """VIMCO (Mnih and Rezende, 2016) with K = `particles`."""
    require_at_least("particles", particles, 2)

    def loss(model: Model, key: Key[Array, ""], memory: None, batch: Batch) -> tuple[Scalar, tuple[Any, Info]]:
        _, log_p, log_r = weigh(model, key, batch, particles)
        total = jnp.mean(jax.vmap(objectives.vimco)(log_p, log_r))
        return total, (None, _importance_info(log_p, log_r))

    return _algorithm(loss, optimiser, None, _importance_posterior(particles))


def wake(
    model: Model,
    key: Key[Array, ""],
    remembered: Memory,
    h: Any,
    batch: Batch,
    proposals: int,
    explore: float = 0.0,
    revise: float = 0.0,
    fixed: bool = False,
) -> tuple[Memory, Int[Array, "b"]]:
    """The wake phase for a batch: the merged memory rows and how many proposals entered each.

    p has changed since a program was stored, so the remembered are rescored together with the new; with a `fixed`
    model only where they carry something, which is then refined further.
    """
    proposed = propose(model.recognition, key, h, proposals)
    if explore > 0:
        proposed = _swap(jax.random.fold_in(key, 1), model.prior.sample, batch.c, proposed, explore)
    if revise > 0:
        proposed = _swap(jax.random.fold_in(key, 2), partial(_revised, model), (remembered, h), proposed, revise)
    if fixed and not carries(proposed):
        return jax.vmap(mem.merge)(remembered, Memory(proposed, score(model, proposed, batch.x, batch.c)))
    return jax.vmap(mem.merge)(*_rescored(model, remembered, proposed, batch))


def _rescored(model: Model, remembered: Memory, proposed: Program, batch: Batch) -> tuple[Memory, Memory]:
    """The remembered and the proposed programs, refined and scored in one pass."""
    m = remembered.log_joint.shape[1]
    pool = jax.tree.map(lambda a, b: jnp.concatenate([a, b], axis=1), remembered.programs, proposed)
    pool = refine(model.evaluator, pool, batch.x)
    log_joint = score(model, pool, batch.x, batch.c)
    vacant = jnp.pad(jnp.isneginf(remembered.log_joint), ((0, 0), (0, log_joint.shape[1] - m)))
    scored = Memory(pool, jnp.where(vacant, -jnp.inf, log_joint))
    return jax.tree.map(lambda a: a[:, :m], scored), jax.tree.map(lambda a: a[:, m:], scored)


def _swap(key: Key[Array, ""], draw: Callable, given: Any, proposed: Program, share: float) -> Program:
    """The proposals [b, r, ...] with a share of them, at random, replaced by draws given what is known of each x."""
    shape = jax.tree.leaves(proposed)[0].shape[:2]
    key_draw, key_swap = jax.random.split(key)
    drawn = jax.vmap(jax.vmap(draw, (0, None)))(jax.random.split(key_draw, shape), given)
    swap = jax.random.uniform(key_swap, shape) < share
    return jax.tree.map(lambda a, b: jnp.where(swap.reshape(shape + (1,) * (a.ndim - 2)), b, a), proposed, drawn)


def _revised(model: Model, key: Key[Array, ""], given: tuple[Memory, Any]) -> Program:
    """A remembered program of one observation with a small change."""
    key_draw, key_change = jax.random.split(key)
    remembered, h = given
    return model.recognition.revise(key_change, mem.draw(jax.random.uniform(key_draw), remembered), h)


def _replayed(key: Key[Array, ""], rows: Memory, replay: str) -> tuple[Program, Float[Array, "b k"]]:
    """Programs to train on and their weights; an empty row's weigh nothing."""
    if replay == "expected":
        return rows.programs, jnp.exp(mem.posterior(rows).log_weight)
    z = jax.vmap(mem.draw)(jax.random.uniform(key, rows.log_joint.shape[:1]), rows)
    filled = jnp.isfinite(rows.log_joint[:, :1])
    return jax.tree.map(lambda a: a[:, None], z), filled.astype(rows.log_joint.dtype)


def _weighted(weight: Float[Array, "b k"], log_prob: Float[Array, "b k"]) -> Scalar:
    """The mean over a batch of the weighted loss."""
    return jnp.mean(jax.vmap(objectives.weighted)(weight, log_prob))


def _dreamed(model: Model, key: Key[Array, ""], batch: Batch) -> Scalar:
    """Sleep, fantasy: - log r(z | x) for one pair drawn from p for each observation of the batch."""
    count = batch.rows.shape[0]
    z, x = dream(frozen(model), key, batch.c, count)
    h = jax.vmap(model.recognition.encode)(x, batch.c)
    log_r = jax.vmap(model.recognition.log_prob)(z, h)
    return _weighted(jnp.isfinite(log_r)[:, None].astype(log_r.dtype), log_r[:, None])


def weigh(
    model: Model, key: Key[Array, ""], batch: Batch, count: int
) -> tuple[Program, Float[Array, "b k"], Float[Array, "b k"]]:
    """Proposals for each observation, with their log p and log r."""
    h = jax.vmap(model.recognition.encode)(batch.x, batch.c)
    z = propose(frozen(model.recognition), key, frozen(h), count)
    z = frozen(refine(frozen(model.evaluator), z, batch.x))
    return z, score(model, z, batch.x, batch.c), recognise(model.recognition, z, h)


def _importance_posterior(count: int) -> Callable[[Key[Array, ""], State, Batch], Weighted]:
    """Self-normalised importance sampling with `count` proposals."""

    def posterior(key: Key[Array, ""], state: State, batch: Batch) -> Weighted:
        z, log_p, log_r = weigh(state.model, key, batch, count)
        return mem.posterior(Memory(z, log_p - log_r))

    return posterior


def _remembered(key: Key[Array, ""], state: State, batch: Batch) -> Weighted:
    """Q of those rows, their programs rescored under the model as it now is; nothing is random here."""
    assert state.memory is not None
    rows = mem.read(state.memory, batch.rows)
    log_joint = score(state.model, rows.programs, batch.x, batch.c)
    return mem.posterior(Memory(rows.programs, jnp.where(jnp.isneginf(rows.log_joint), -jnp.inf, log_joint)))


def _importance_info(log_p: Float[Array, "b k"], log_r: Float[Array, "b k"]) -> Info:
    bounds = jax.vmap(objectives.iwae)(log_p - log_r)
    return _info(frozen(bounds), jnp.zeros(bounds.shape))


def _info(bounds: Float[Array, "b"], novel: Array) -> Info:
    """The report of a step from each observation's bound and count of novel programs."""
    possible = ~jnp.isneginf(bounds)  # NaN counts as possible, so that it is seen and not hidden
    mean = jnp.sum(jnp.where(possible, bounds, 0.0)) / jnp.maximum(jnp.sum(possible), 1)
    return Info(mean, jnp.mean(possible.astype(mean.dtype)), jnp.mean(novel.astype(mean.dtype)))


def _strong(model: Model) -> Model:
    """The model with no weakly typed arrays: these turn strong at the first step, and all would be compiled again."""
    return jax.tree.map(lambda a: jnp.asarray(a, a.dtype) if eqx.is_array(a) else a, model)


def _example(model: Model, data: Observations) -> PyTree[jax.ShapeDtypeStruct]:
    """The shape of a program, found without computing one."""

    def propose_one(key: Key[Array, ""], x: Any, c: Any) -> Program:
        return model.recognition.sample(key, model.recognition.encode(x, c))

    x, c = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape[1:], a.dtype), (data.x, data.c))
    return jax.eval_shape(propose_one, jax.random.key(0), x, c)


def _algorithm(
    loss: Loss,
    optimiser: optax.GradientTransformation,
    memory_size: int | None,
    posterior: Callable[[Key[Array, ""], State, Batch], Weighted],
) -> Algorithm:
    """The triple that descends `loss`."""

    def init(model: Model, data: Observations) -> State:
        model = _strong(model)
        memory = None if memory_size is None else mem.empty(_example(model, data), len(data), memory_size)
        opt_state = optimiser.init(eqx.filter(model, eqx.is_inexact_array))
        return State(jnp.zeros((), jnp.int32), model, opt_state, memory)

    def step(key: Key[Array, ""], state: State, batch: Batch, axis: str | None = None) -> tuple[State, Info]:
        rows: Any = None if state.memory is None else mem.read(state.memory, batch.rows)
        differentiate = eqx.filter_value_and_grad(loss, has_aux=True)
        (_, (rows, info)), gradient = differentiate(state.model, key, rows, batch)
        if axis is not None:
            gradient, info = jax.lax.pmean((gradient, info), axis)
        parameters = eqx.filter(state.model, eqx.is_inexact_array)
        updates, opt_state = optimiser.update(gradient, state.opt_state, parameters)
        model = eqx.apply_updates(state.model, updates)
        memory = None if state.memory is None else mem.write(state.memory, batch.rows, rows)
        return State(state.step + 1, model, opt_state, memory), info

    return Algorithm(init, step, posterior)
