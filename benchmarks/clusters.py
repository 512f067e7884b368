"""CPU time of a step of clusters for each algorithm and K, and how much of it is work that must be done.

Run it: python benchmarks/clusters.py [--output results/benchmark-clusters.json]
One core, batch 20. Each figure is the median of several repeats in one process, with their range.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import equinox as eqx
import jax
import jax.numpy as jnp

from wakesleep.core.algorithms import State
from wakesleep.core.fit import compile_steps, data_mesh, place
from wakesleep.core.keys import fused
from wakesleep.core.model import propose, recognise, score
from wakesleep.core.step import no_reports
from wakesleep.domains.clusters.data import Settings, build, load
from wakesleep.paper.cells import VARIANTS, split
from wakesleep.running.config import Config
from wakesleep.running.train import prepare

SETTINGS = Settings()
BATCH = 20
KS = (2, 5, 10, 20, 50)
ALGORITHMS = ("MWS", "MWS-expected", "MWS-fantasy", "RWS", "RWS-sleep", "VIMCO")
REPEATS = 5


def milliseconds(call: Callable[[int], Any], steps: int) -> list[float]:
    """CPU milliseconds a step, once for each repeat; the first call, which compiles, is not counted."""
    call(2)
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        call(steps)
        times.append(1000 * (time.process_time() - start) / steps)
    return times


def step_times(name: str, k: int, seeds: int, steps: int) -> list[float]:
    """Of the whole step, for that many seeds side by side."""
    job = prepare(Config("clusters", settings=asdict(SETTINGS), batch_size=BATCH, **VARIANTS[name].choices(k)))
    data, algorithm = job.dataset.train, job.algorithm
    states, keys = job.start_seeds(seeds)
    many = seeds > 1
    state: State = states if many else jax.tree.map(lambda a: a[0] if eqx.is_array(a) else a, states)
    mesh = data_mesh(1)
    advance = compile_steps(algorithm, BATCH, mesh, many)
    held = [place(state, mesh, many)]

    def call(count: int) -> None:
        chosen = keys if many else keys[0]
        held[0], _, _ = advance(data, held[0], chosen, jnp.asarray(count), no_reports(chosen.shape))
        jax.block_until_ready(held[0].step)

    return milliseconds(call, steps)


def irreducible_times(k: int, steps: int) -> list[float]:
    """Of what no MWS can do without: R proposals, K joint scores, and one program's gradient for p and r."""
    _, r = split(k)
    data = load(SETTINGS).train[jnp.arange(BATCH)]
    model = build(fused(jax.random.key(0)), SETTINGS, data)
    h = jax.vmap(model.recognition.encode)(data.x, data.c)
    pool: Any = propose(model.recognition, jax.random.key(1), h, k)

    @jax.jit
    def work(count: jax.Array, x: jax.Array) -> jax.Array:
        def body(i: jax.Array, total: jax.Array) -> jax.Array:
            here = x + 1e-20 * total

            def loss(m: Any) -> jax.Array:
                h = jax.vmap(m.recognition.encode)(here, data.c)
                return -(score(m, pool[:, :1], here, data.c) + recognise(m.recognition, pool[:, :1], h)).mean()

            h = jax.vmap(model.recognition.encode)(here, data.c)
            z = propose(model.recognition, jax.random.fold_in(fused(jax.random.key(2)), i), h, r)
            parts = (z, score(model, pool, here, data.c), eqx.filter_grad(loss)(model))
            return sum((jnp.sum(a).astype(jnp.float32) for a in jax.tree.leaves(parts)), jnp.zeros(()))

        return jax.lax.fori_loop(0, count, body, jnp.zeros(()))

    return milliseconds(lambda count: work(jnp.asarray(count), data.x).block_until_ready(), steps)


def summary(times: list[float]) -> dict[str, float]:
    return {"ms": round(median(times), 4), "least": round(min(times), 4), "most": round(max(times), 4)}


def main(output: Path, steps: int, ks: tuple[int, ...], algorithms: tuple[str, ...]) -> None:
    rows = []
    for k in ks:
        needed = summary(irreducible_times(k, steps))
        rows.append({"algorithm": "irreducible work of MWS", "K": k, "seeds": 1, **needed})
        for name in algorithms:
            for seeds in (1, 10):
                found = summary(step_times(name, k, seeds, max(steps // seeds, 10)))
                found = {key: round(value / seeds, 4) for key, value in found.items()}
                row: dict[str, Any] = {"algorithm": name, "K": k, "seeds": seeds, **found}
                if name == "MWS" and seeds == 1:
                    row["irreducible_share"] = round(needed["ms"] / found["ms"], 2)
                rows.append(row)
                print(f"{name:14} K = {k:3} seeds {seeds:3}: {found['ms']:.4f} ms a step and seed", flush=True)
        print(f"{'irreducible':14} K = {k:3}: {needed['ms']:.4f} ms", flush=True)
    settings = {"batch_size": BATCH, "repeats": REPEATS, "steps": steps, "unit": "CPU ms a step and seed"}
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text('{"rows": [\n' + lines + '\n],\n"settings": ' + json.dumps(settings) + "}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results/benchmark-clusters.json"))
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--ks", type=int, nargs="+", default=KS)
    parser.add_argument("--algorithms", nargs="+", default=ALGORITHMS)
    given = parser.parse_args()
    main(given.output, given.steps, tuple(given.ks), tuple(given.algorithms))
