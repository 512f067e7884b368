"""The only loop: batches, keys, many steps in one compiled call, observations sharded over a mesh.

Parameters are replicated. Observations and their memory rows are sharded over the mesh axis `data`
and never move: a device draws its part of the batch from its own rows, and only gradients and reports cross.
The devices may belong to several processes.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Key

from wakesleep.core import processes
from wakesleep.core.collapse import Watch
from wakesleep.core.compilation import keep_compiled
from wakesleep.core.keys import draw_rows, fused
from wakesleep.core.model import Batch, Model, Observations
from wakesleep.core.step import PARTS, Algorithm, Info, State, Totals, add_report, mean_report, no_reports
from wakesleep.errors import Refusal

AXIS = "data"
CALL_SECONDS = 1.0
Advance = Callable[[Observations, State, Key[Array, ""], Any, Totals], tuple[State, Totals, Info]]


def fit(
    algorithm: Algorithm,
    state: State,
    data: Observations,
    *,
    key: Key[Array, "*seeds"],
    steps: int,
    batch_size: int,
    every: int = 1000,
    mesh: Mesh | None = None,
    consume: bool = False,
) -> Iterator[tuple[State, Info]]:
    """Trains until the state has made `steps` steps, yielding the state and a mean report now and then.

    It yields at each multiple of `every` and about once a second. A report is the mean over the steps since the last
    multiple of `every`. How the steps are cut into calls does not change a bit of the result or of the reports.

    The randomness of step t is `fold_in(key, t)`, so a state that was saved and loaded goes on as if
    never stopped. Several keys train as many seeds side by side, from states stacked along a leading
    axis. A yielded state is consumed by the next steps: read it at once, or copy what must last. So is the
    given one if `consume` says so, which saves the room of a copy.
    """
    keep_compiled()
    mesh = mesh or data_mesh(1)
    check_batch(len(data), batch_size, mesh.size)
    seeds = key.ndim == 1
    advance = compile_steps(algorithm, batch_size, mesh, seeds)
    state = state if consume else copied(state)
    state, data = place(state, mesh, seeds), shard(data, mesh)
    watch, done = Watch(len(data), batch_size), int(np.max(state.step))
    for state, info in go_on(advance, state, data, key, steps, every, Tally(every, mesh)):
        watch.see(state, info, int(np.max(state.step)) - done, data)
        done = int(np.max(state.step))
        yield state, info


class Tally:
    """The totals of the reports since the last multiple of `every` steps."""

    def __init__(self, every: int, mesh: Mesh):
        self.every, self.mesh, self.totals = every, mesh, no_reports()

    def at(self, step: int, shape: tuple[int, ...]) -> Totals:
        """Returns the totals before the next step, which begin anew at a multiple.

        New ones are on the mesh, as those that a call returns: elsewhere they would have the steps compiled twice.
        """
        if step % self.every == 0 or self.totals.steps.shape != shape:
            whole = NamedSharding(self.mesh, PartitionSpec())
            self.totals = jax.tree.map(lambda a: _put(a, whole), no_reports(shape))
        return self.totals


def go_on(
    advance: Advance,
    state: State,
    data: Observations,
    key: Key[Array, "*seeds"],
    steps: int,
    every: int,
    tally: Tally,
) -> Iterator[tuple[State, Info]]:
    """Makes compiled steps, from a state and data in their places, until the state has made `steps` steps."""
    done, pace = int(np.max(state.step)), 1
    while done < steps:
        count = min(pace, every - done % every, steps - done)
        start = time.monotonic()
        state, tally.totals, info = advance(data, state, key, jnp.asarray(count), tally.at(done, key.shape))
        check_finite(info, done + count)
        if count == pace:
            # All processes must make the same steps in a call, so the slowest of them sets the pace.
            seconds = processes.greatest(time.monotonic() - start)
            pace = pace * 2 if seconds < CALL_SECONDS / 2 else pace
        done += count
        yield state, info


def compile_steps(algorithm: Algorithm, batch_size: int, mesh: Mesh, seeds: bool = False) -> Advance:
    """Returns a compiled function that makes `count` steps and adds their reports to the totals that it is given.

    `count` is an argument of one compiled while loop rather than the length of a scan: any way of
    cutting a run into calls is then the same executable, and gives the same bits.
    """

    def advance(
        data: Observations, state: State, key: Key[Array, "*seeds"], count: Array, totals: Totals
    ) -> tuple[State, Totals, Info]:
        arrays, static = eqx.partition(state, eqx.is_array)

        def local(data: Observations, arrays: Any, key: Key[Array, ""], count: Array, totals: Totals) -> tuple:
            state = eqx.combine(arrays, static)
            state, totals = _steps(algorithm, batch_size // mesh.size, data, state, key, count, totals)
            return eqx.filter(state, eqx.is_array), totals, mean_report(totals)

        many = jax.vmap(local, (None, 0, 0, None, 0)) if seeds else local
        specs = _specs(arrays, seeds)
        rows, whole = PartitionSpec(AXIS), PartitionSpec()
        sharded = jax.shard_map(
            many,
            mesh=mesh,
            in_specs=(rows, specs, whole, whole, whole),
            out_specs=(specs, whole, whole),
            check_vma=False,
        )
        arrays, totals, info = sharded(data, arrays, key, count, totals)
        return eqx.combine(arrays, static), totals, info

    return eqx.filter_jit(advance, donate="all-except-first")


def _steps(
    algorithm: Algorithm,
    b: int,
    data: Observations,
    state: State,
    key: Key[Array, ""],
    count: Array,
    totals: Totals,
) -> tuple[State, Totals]:
    """Makes `count` steps on one device's rows, and adds their reports to the totals."""
    arrays, static = eqx.partition(state, eqx.is_array)
    key = jax.random.fold_in(fused(key), jax.lax.axis_index(AXIS))

    def body(_: Array, carry: tuple[Any, Totals]) -> tuple[Any, Totals]:
        state = eqx.combine(carry[0], static)
        key_rows, key_step = jax.random.split(jax.random.fold_in(key, state.step))
        rows = draw_rows(key_rows, len(data), b)
        some = data[rows]
        state, info = algorithm.step(key_step, state, Batch(rows, some.x, some.c), axis=AXIS)
        return eqx.filter(state, eqx.is_array), add_report(carry[1], info)

    arrays, totals = jax.lax.fori_loop(0, count, body, (arrays, totals))
    return eqx.combine(arrays, static), totals


def data_mesh(devices: int | list[jax.Device] | None = None) -> Mesh:
    """Returns a mesh of those devices, or of that many (all by default), with the one axis `data`."""
    chosen = devices if isinstance(devices, list) else jax.devices()[:devices]
    return Mesh(np.asarray(chosen), (AXIS,))


def begin(algorithm: Algorithm, model: Model, data: Observations, mesh: Mesh | None = None) -> State:
    """Returns the state before the first step; its memory rows are made on the devices where they live."""
    if mesh is None or mesh.size == 1:
        return algorithm.init(model, data)
    if processes.several():
        # Replicas must agree to the last bit, and hosts may differ in how they round.
        arrays, static = eqx.partition(model, eqx.is_array)
        model = eqx.combine(multihost_utils.broadcast_one_to_all(arrays), static)
    shapes = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), data)
    arrays, static = eqx.partition(eqx.filter_eval_shape(algorithm.init, model, shapes), is_shaped)
    given, rest = eqx.partition(model, eqx.is_array)

    def init(given: Model) -> State:
        return eqx.filter(algorithm.init(eqx.combine(given, rest), shapes), eqx.is_array)

    made = jax.jit(init, out_shardings=shardings(arrays, mesh))(jax.tree.map(np.asarray, given))
    return eqx.combine(made, static)


def copied(state: State) -> State:
    """Returns the same state in arrays of its own."""
    return jax.tree.map(lambda a: jnp.copy(a) if eqx.is_array(a) else a, state)


def place(state: State, mesh: Mesh, seeds: bool = False) -> State:
    """Returns the state on the mesh: memory rows sharded, everything else replicated."""
    arrays, static = eqx.partition(state, eqx.is_array)
    return eqx.combine(jax.tree.map(_put, arrays, shardings(arrays, mesh, seeds)), static)


def shard(data: Observations, mesh: Mesh) -> Observations:
    """Returns the observations on the mesh, each device with its own rows; a process reads no others."""
    return jax.tree.map(lambda a: _put(a, NamedSharding(mesh, PartitionSpec(AXIS))), data)


def _put(a: Any, sharding: NamedSharding) -> Array:
    """Returns the array where it is to live; only the part for this process's devices moves there."""
    if sharding.is_fully_addressable or (isinstance(a, jax.Array) and not a.is_fully_addressable):
        return jax.device_put(a, sharding)
    host = np.asarray(a)
    return jax.make_array_from_callback(host.shape, sharding, lambda index: host[index])


def shardings(arrays: State, mesh: Mesh, seeds: bool = False) -> State:
    """Returns the sharding of each array of a state."""
    return jax.tree.map(lambda spec: NamedSharding(mesh, spec), _specs(arrays, seeds))


def is_shaped(leaf: Any) -> bool:
    """Whether a leaf is an array, or the shape of one."""
    return eqx.is_array(leaf) or isinstance(leaf, jax.ShapeDtypeStruct | np.ndarray)


def _specs(arrays: State, seeds: bool) -> State:
    """Returns the partition of each array of a state: memory over the data axis, behind that of seeds if any."""
    rows = PartitionSpec(None, AXIS) if seeds else PartitionSpec(AXIS)
    specs = jax.tree.map(lambda _: PartitionSpec(), arrays)
    return specs._replace(memory=jax.tree.map(lambda _: rows, arrays.memory))


def check_batch(n: int, batch_size: int, devices: int) -> None:
    """Refuses a batch that the data or the devices cannot serve."""
    if not 1 <= batch_size <= n:
        raise Refusal(f"batch_size must lie between 1 and the {n} observations, but {batch_size} was given.")
    if n % devices or batch_size % devices:
        raise Refusal(
            f"{n} observations in batches of {batch_size} cannot be shared equally by {devices} devices: "
            "choose multiples of the number of devices."
        )


def check_finite(info: Info, step: int) -> None:
    """Stops a run that has met NaN, and names the part."""
    broken = np.asarray(info.broken).reshape(-1, len(PARTS))
    parts = [name for i, name in enumerate(PARTS) if broken[:, i].any()]
    if parts:
        raise Refusal(
            f"The gradient of {' and '.join(parts)} was NaN or infinite by step {step}: look there for a log_prob that "
            "gives NaN, or that has no finite gradient where it is minus infinity (guard such a case with `where` both "
            "inside and outside), or take a smaller learning rate."
        )
    if np.any(np.isnan(info.bound)):
        raise Refusal(f"The bound became NaN by step {step}: a log_prob of prior, evaluator or recognition gave NaN.")
