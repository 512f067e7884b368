"""Training on data that do not fit on the devices: one chunk of rows and their memory at a time, from the host.

A chunk consists of many small blocks of neighbouring rows, so that reading is fast and the chunk resembles the whole.
It stays for as many steps as give each of its rows one visit on average. Which rows are on the devices depends on the
step alone, so a run that was stopped goes on as if never stopped.
"""

from collections.abc import Iterator
from typing import NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Key

from wakesleep.core.algorithms import Algorithm, Info, State
from wakesleep.core.collapse import Watch
from wakesleep.core.fit import Tally, check_batch, compile_steps, copied, data_mesh, go_on, place, shard
from wakesleep.core.model import Observations
from wakesleep.errors import Refusal
from wakesleep.running import host_memory as hosted

BLOCKS_IN_CHUNK = 64


class Plan(NamedTuple):
    """Decides which rows are on the devices at each step."""

    n: int
    """Number of observations."""
    block: int
    """Number of neighbouring rows that are read together."""
    blocks: int
    """Number of blocks in a chunk."""
    steps: int
    """Number of steps for which a chunk stays."""
    seed: tuple[int, ...]
    """Seed of the order of the blocks."""

    @property
    def chunk(self) -> int:
        """Returns the number of rows in a chunk."""
        return self.block * self.blocks

    def rows(self, index: int) -> list[slice]:
        """Returns the rows of a chunk, as slices.

        Each pass over the data draws an order of the blocks and an offset by which all blocks are rotated. Rows that
        do not fill a chunk are left out of that pass.
        """
        count, a_pass = self.n // self.block, self.n // self.chunk
        rng = np.random.default_rng([*self.seed, index // a_pass])
        offset = int(rng.integers(self.n))
        start = index % a_pass * self.blocks
        found = []
        for b in rng.permutation(count)[start : start + self.blocks]:
            first = (offset + int(b) * self.block) % self.n
            last = min(first + self.block, self.n)
            found.append(slice(first, last))
            if last - first < self.block:
                found.append(slice(0, self.block - (last - first)))
        return found


def plan(n: int, rows: int, batch_size: int, key: Key[Array, ""], devices: int) -> Plan:
    """Returns a plan whose chunks have at most `rows` rows."""
    if not batch_size <= rows <= n:
        raise Refusal(
            f"rows_at_once must lie between the batch_size ({batch_size}) and the {n} observations, but {rows} was "
            "given."
        )
    blocks = min(BLOCKS_IN_CHUNK, rows)
    made = Plan(n, rows // blocks, blocks, 0, tuple(np.asarray(jax.random.key_data(key)).tolist()))
    check_batch(made.chunk, batch_size, devices)
    return made._replace(steps=max(made.chunk // batch_size, 1))


def fit_chunks(
    algorithm: Algorithm,
    state: State,
    data: Observations,
    *,
    key: Key[Array, ""],
    steps: int,
    batch_size: int,
    rows_at_once: int,
    every: int = 1000,
    mesh: Mesh | None = None,
) -> Iterator[tuple[State, Info]]:
    """Trains as `fit` does, with data and memory on the host and at most `rows_at_once` rows on the devices.

    The memory is a NumPy array, in memory or mapped from a file, and is updated in place; a yielded state has all of
    it. Only one process is supported: with several, each has a share of the rows anyway.
    """
    mesh = mesh or data_mesh(1)
    chosen = plan(len(data), rows_at_once, batch_size, key, mesh.size)
    advance = compile_steps(algorithm, batch_size, mesh)
    memory, done = state.memory, int(state.step)
    watch, seen, tally = Watch(len(data), batch_size), done, Tally(every, mesh)
    state = copied(state._replace(memory=None))
    while done < steps:
        index = done // chosen.steps
        rows = chosen.rows(index)
        last = min((index + 1) * chosen.steps, steps)
        here = place(state._replace(memory=jax.device_put(hosted.take(memory, rows))), mesh)
        some = shard(hosted.take(data, rows), mesh)
        for here, info in go_on(advance, here, some, key, last, every, tally):
            hosted.give(memory, rows, here.memory)
            watch.see(here, info, int(here.step) - seen, some)
            seen = int(here.step)
            yield here._replace(memory=memory), info
        state, done = here._replace(memory=None), last
