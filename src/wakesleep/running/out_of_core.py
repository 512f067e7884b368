"""Training on data that do not fit on the devices: a chunk of rows at a time, with their memory, from the host.

A chunk is drawn as many small blocks of neighbouring rows, so that reading is quick and a chunk is like the whole.
It stays for as many steps as give each of its rows one visit on average. What is on the devices never depends on
anything but the step, so a run that was stopped goes on as if never stopped.
"""

from collections.abc import Iterator
from typing import NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Key

from wakesleep.core.algorithms import Algorithm, Info, State
from wakesleep.core.fit import check_batch, compile_steps, copied, data_mesh, go_on, place, shard
from wakesleep.core.model import Observations
from wakesleep.errors import Refusal
from wakesleep.running import host_memory as hosted

BLOCKS = 64


class Plan(NamedTuple):
    """Which rows are on the devices at which step."""

    n: int
    """Observations."""
    block: int
    """Neighbouring rows that are read together."""
    blocks: int
    """Blocks in a chunk."""
    steps: int
    """Steps for which a chunk stays."""
    seed: tuple[int, ...]

    @property
    def chunk(self) -> int:
        """Rows in a chunk."""
        return self.block * self.blocks

    def rows(self, index: int) -> list[slice]:
        """The rows of a chunk.

        A pass visits every block in an order of its own, all blocks turned by an offset of its own; what is left over
        by chunks of equal size is left out of that pass.
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
    """A plan for chunks of at most so many rows."""
    if not batch_size <= rows <= n:
        raise Refusal(
            f"rows_at_once must lie between the batch_size ({batch_size}) and the {n} observations, but {rows} was "
            "given."
        )
    blocks = min(BLOCKS, rows)
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
    """`fit`, with observations and memory on the host and so many rows of them on the devices.

    The memory is a NumPy array, or mapped from a file, and changes in place; a yielded state has all of it. It is for
    one process: with several, each has a share of the rows.
    """
    mesh = mesh or data_mesh(1)
    chosen = plan(len(data), rows_at_once, batch_size, key, mesh.size)
    advance = compile_steps(algorithm, batch_size, mesh)
    memory, done = state.memory, int(state.step)
    state = copied(state._replace(memory=None))
    while done < steps:
        index = done // chosen.steps
        rows = chosen.rows(index)
        last = min((index + 1) * chosen.steps, steps)
        here = place(state._replace(memory=jax.device_put(hosted.take(memory, rows))), mesh)
        some = shard(hosted.take(data, rows), mesh)
        for here, info in go_on(advance, here, some, key, last, every):
            hosted.give(memory, rows, here.memory)
            yield here._replace(memory=memory), info
        state, done = here._replace(memory=None), last
