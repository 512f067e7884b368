"""A step of learning: the state that it changes, what it reports, and `algorithm`, which makes the steps of a loss.

`init(model, data)` returns a `State`, `step(key, state, batch)` the next state and an `Info`, and
`posterior(key, state, batch)` weighted programs for training observations. Nothing but the state
survives a step.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key, PyTree

from wakesleep.core import memory as mem
from wakesleep.core.check import check_new, is_concrete
from wakesleep.core.compilation import keep_compiled
from wakesleep.core.memory import Memory, Weighted
from wakesleep.core.model import Batch, Model, Observations, Program, Scalar, score
from wakesleep.core.wake import weigh

PARTS = ("prior", "evaluator", "recognition")
POSTERIOR_PARTICLES = 10
"""Proposals from which an algorithm without a memory estimates a posterior, unless it says otherwise."""


class State(NamedTuple):
    """All that survives a step."""

    step: Int[Array, ""]
    """The number of steps made so far."""
    model: Model
    """The prior, the evaluator and the recognition network, as learned so far."""
    opt_state: Any
    """What the optimiser keeps."""
    memory: Memory | None
    """The programs remembered for every observation; None where the algorithm keeps none."""


class Info(NamedTuple):
    """What a step reports, or the mean of what several steps report."""

    bound: Float[Array, ""]
    """The lower bound on log p(x), a mean over the observations that have a possible program; minus infinity where
    none has."""
    explained: Float[Array, ""]
    """The share of observations that have a possible program."""
    novel: Float[Array, ""]
    """The mean number of proposals that entered an observation's memory; zero where there is no memory."""
    broken: Float[Array, "3"]
    """For each of `PARTS`, the share of steps in which its gradient was not finite."""
    effective: Float[Array, ""]
    """The effective number of weighted programs that an observation is learned from; zero where it is not reported."""
    gradient: Float[Array, "3"]
    """For each of `PARTS`, the Euclidean norm of its gradient."""


class Algorithm(NamedTuple):
    """Three pure functions. Nothing but the state survives a step."""

    init: Callable[[Model, Observations], State]
    """`init(model, data)` returns the first `State`."""
    step: Callable[..., tuple[State, Info]]
    """`step(key, state, batch)` returns the next `State` and an `Info`."""
    posterior: Callable[[Key[Array, ""], State, Batch], Weighted]
    """`posterior(key, state, batch)` returns weighted programs for observations of the training data."""


Posterior = Callable[[Key[Array, ""], State, Batch], Weighted]
# The loss of a batch, given the memory rows of its observations; beside it those rows updated, and a report.
Loss = Callable[[Model, Key[Array, ""], Any, Batch], tuple[Scalar, tuple[Any, Info]]]


def algorithm(
    loss: Loss,
    optimiser: optax.GradientTransformation,
    memory_size: int | None = None,
    posterior: Posterior | None = None,
    phases: bool = False,
) -> Algorithm:
    """The algorithm that descends `loss`, with a memory of `memory_size` programs for each observation if given.

    `loss(model, key, remembered, batch)` returns `(loss, (updated, info))`: a scalar whose gradient moves every part
    of the model, the memory rows of the batch after the step (None without a memory; `wake` makes them), and an
    `Info` (`report` makes it). By default the posterior is the memory's Q, or importance sampling without a memory.
    With `phases` the memory records what proposed each of its programs.
    """
    if posterior is None:
        posterior = importance_posterior(POSTERIOR_PARTICLES) if memory_size is None else remembered_posterior

    def init(model: Model, data: Observations) -> State:
        if is_concrete(model, data):
            keep_compiled()
            check_new(model, data)
        model = _strong(model)
        memory = None if memory_size is None else mem.empty(program_shape(model, data), len(data), memory_size, phases)
        opt_state = optimiser.init(eqx.filter(model, eqx.is_inexact_array))
        return State(jnp.zeros((), jnp.int32), model, opt_state, memory)

    def step(key: Key[Array, ""], state: State, batch: Batch, axis: str | None = None) -> tuple[State, Info]:
        rows: Any = None if state.memory is None else mem.read(state.memory, batch.rows)
        differentiate = eqx.filter_value_and_grad(loss, has_aux=True)
        (_, (rows, info)), gradient = differentiate(state.model, key, rows, batch)
        if axis is not None:
            gradient, summed = jax.lax.pmean((gradient, weigh_report(info)), axis)
            info = average(summed, 1.0)
        parameters = eqx.filter(state.model, eqx.is_inexact_array)
        updates, opt_state = optimiser.update(gradient, state.opt_state, parameters)
        model = eqx.apply_updates(state.model, updates)
        memory = None if state.memory is None else mem.write(state.memory, batch.rows, rows)
        return State(state.step + 1, model, opt_state, memory), _with_gradient(info, gradient)

    return Algorithm(init, step, posterior)


def report(bounds: Float[Array, "b"], novel: Array | float = 0.0, effective: Array | float = 0.0) -> Info:
    """The report of a step from each observation's bound, its count of programs that entered memory, and the effective
    number of its weighted programs."""
    possible = ~jnp.isneginf(bounds)  # NaN counts as possible, so that it is seen and not hidden
    mean = jnp.sum(jnp.where(possible, bounds, 0.0)) / jnp.maximum(jnp.sum(possible), 1)
    mean = jnp.where(jnp.any(possible), mean, -jnp.inf)
    entered, weighing = (jnp.mean(jnp.asarray(a, mean.dtype)) for a in (novel, effective))
    none = jnp.zeros(len(PARTS))
    made = Info(mean, jnp.mean(possible.astype(mean.dtype)), entered, none, weighing, none)
    return jax.lax.stop_gradient(made)


def weigh_report(info: Info) -> Info:
    """The report with its bound weighted by the share of observations that have one, so that reports may be added."""
    bound = jnp.where(info.explained > 0, info.bound * info.explained, 0.0)
    return info._replace(bound=bound)


def average(total: Info, count: Any) -> Info:
    """The mean of `count` reports, given the sum of their weighted forms (see `weigh_report`)."""
    seen = total.explained > 0
    bound = jnp.where(seen, total.bound / jnp.where(seen, total.explained, 1.0), -jnp.inf)
    return Info(*(each / count for each in total))._replace(bound=bound)


class Totals(NamedTuple):
    """The sum of the reports of some steps, each number as a float and the rounding errors of its sum.

    A sum is the same to the last bit however the steps are cut into calls, and as precise as of double precision.
    """

    steps: Int[Array, "*seeds"]
    high: Info
    low: Info


def no_reports(shape: tuple[int, ...] = ()) -> Totals:
    """Returns the totals of no steps."""
    zero = lambda *more: jnp.zeros((*shape, *more))  # noqa: E731
    made = [Info(zero(), zero(), zero(), zero(len(PARTS)), zero(), zero(len(PARTS))) for _ in range(2)]
    return Totals(jnp.zeros(shape, jnp.int32), *made)


def add_report(totals: Totals, info: Info) -> Totals:
    """Returns the totals with the report of one more step."""
    high, error = zip(*map(_two_sum, totals.high, weigh_report(info)), strict=True)
    return Totals(totals.steps + 1, Info(*high), jax.tree.map(jnp.add, totals.low, Info(*error)))


def mean_report(totals: Totals) -> Info:
    """Returns the mean report of all steps that the totals count."""
    return average(jax.tree.map(jnp.add, totals.high, totals.low), jnp.maximum(totals.steps, 1))


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Returns a + b as rounded, and what the rounding left out (Knuth, 1969)."""
    total = a + b
    rounded = total - a
    return total, (a - (total - rounded)) + (b - rounded)


def importance_posterior(count: int) -> Posterior:
    """Self-normalised importance sampling with `count` proposals."""

    def posterior(key: Key[Array, ""], state: State, batch: Batch) -> Weighted:
        z, log_p, log_r = weigh(state.model, key, batch, count)
        return mem.posterior(Memory(z, log_p - log_r))

    return posterior


def remembered_posterior(key: Key[Array, ""], state: State, batch: Batch) -> Weighted:
    """Q of the batch's rows, their programs rescored under the model as it now is; nothing is random here."""
    assert state.memory is not None
    rows = mem.read(state.memory, batch.rows)
    log_joint = score(state.model, rows.programs, batch.x, batch.c)
    return mem.posterior(Memory(rows.programs, jnp.where(jnp.isneginf(rows.log_joint), -jnp.inf, log_joint)))


def program_shape(model: Model, data: Observations) -> PyTree[jax.ShapeDtypeStruct]:
    """The shape of a program, found without computing one."""

    def propose_one(key: Key[Array, ""], x: Any, c: Any) -> Program:
        return model.recognition.sample(key, model.recognition.encode(x, c))

    x, c = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape[1:], a.dtype), (data.x, data.c))
    return jax.eval_shape(propose_one, jax.random.key(0), x, c)


def _with_gradient(info: Info, gradient: Model) -> Info:
    """The report with the norm of each part's gradient, and whether it is finite."""
    return info._replace(broken=_by_part(_broken, gradient), gradient=_by_part(_norm, gradient))


def _by_part(measure: Callable[[list[Array]], Array], gradient: Model) -> Float[Array, "3"]:
    """What a function of the arrays of a part's gradient says for each part; zero for a part without parameters."""
    parts = [jax.tree.leaves(getattr(gradient, name)) for name in PARTS]
    return jnp.stack([measure(part) if part else jnp.zeros(()) for part in parts]).astype(jnp.float32)


def _broken(part: list[Array]) -> Array:
    """One where any number is not finite, else zero."""
    return jnp.any(jnp.stack([~jnp.all(jnp.isfinite(a)) for a in part]))


def _norm(part: list[Array]) -> Array:
    """The Euclidean norm, whose squares do not overflow."""
    greatest = jnp.max(jnp.stack([jnp.max(jnp.abs(a), initial=0.0) for a in part]))
    scale = jnp.where(greatest > 0, greatest, 1.0)
    return scale * jnp.sqrt(sum(jnp.sum(jnp.square(a / scale)) for a in part))


def _strong(model: Model) -> Model:
    """The model with no weakly typed arrays: these turn strong at the first step, and all would be compiled again."""
    return jax.tree.map(lambda a: jnp.asarray(a, a.dtype) if eqx.is_array(a) else a, model)
