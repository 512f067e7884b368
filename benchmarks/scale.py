"""How the cost of a step and the memory in use grow: with observations, memory, program length and devices.

    python benchmarks/scale.py [--output results]

Each measurement is a process of its own; where memory is measured, it is made twice, and the second finds everything
compiled. The order is shuffled, so that a busy hour spoils no curve alone. A step's cost is CPU time, the least of
several calls.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BATCH, SMALL, IMAGE, PIECE, CALLS = 48, 100, 16, 10_000, 7
CELLS: list[dict[str, Any]] = [
    *({"what": "observations", "n": 10**e, "algorithm": "mws", "m": 5, "r": 5} for e in range(2, 7)),
    *({"what": "programs", "n": 10_000, "algorithm": "mws", "m": k // 2, "r": k // 2} for k in (2, 10, 20, 50)),
    *({"what": "programs", "n": 10_000, "algorithm": "rws", "k": k} for k in (2, 10, 20, 50)),
    *({"what": "length", "n": 1000, "algorithm": "mws", "m": 5, "r": 5, "neighbours": s} for s in (3, 5, 7)),
    *({"what": "devices", "n": 10_000, "algorithm": "mws", "m": 5, "r": 5, "devices": d} for d in (1, 2, 4)),
    *({"what": "network", "domain": name} for name in ("clusters", "automata", "strings")),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results"))
    parser.add_argument("--cell", type=json.loads, help="measure this alone and print it")
    options = parser.parse_args()
    if options.cell is not None:
        print(json.dumps(measure(options.cell)))
        return
    from wakesleep.experiments.results import complete
    from wakesleep.report.scale import draw_scale

    path = options.output / "benchmark-scale.json"
    settings = {"domain": "automata", "recognition": "counts", "batch_size": BATCH, "height": IMAGE, "width": IMAGE}
    cells = CELLS[:-3]
    random.Random(0).shuffle(cells)
    cells += CELLS[-3:]
    complete(path, settings, cells, apart, lambda line: print(line, flush=True))
    print(f"wrote {draw_scale(options.output)}")


def apart(cell: dict[str, Any]) -> dict[str, Any]:
    """The measurement in a process of its own, which finds everything compiled where memory is measured."""
    if cell["what"] == "network":
        return {"gradient_bytes": gradient_bytes(usual_model(cell["domain"]))}
    flags = f"--xla_force_host_platform_device_count={cell.get('devices', 1)}"
    command = [sys.executable, __file__, "--cell", json.dumps(cell)]
    for _ in range(2 if cell["what"] == "observations" else 1):
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env=os.environ | {"XLA_FLAGS": flags}
        )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measure(cell: dict[str, Any]) -> dict[str, Any]:
    """Cost of a step, memory in use over what there was before, and the size of the arrays."""
    import jax

    from wakesleep.checkpoints import Saver
    from wakesleep.commands import cache_compilation
    from wakesleep.fit import data_mesh

    cache_compilation()
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    mesh = data_mesh(cell.get("devices", 1))
    with tempfile.TemporaryDirectory() as folder:
        # Everything once on little data: what a process needs whatever the data, it has from then on.
        if cell["what"] == "observations":
            advance, data, state = prepare(cell, SMALL, mesh)
            with Saver(Path(folder)) as saver:
                saver.save(run(advance, data, state, 3)[0])
            del data, state
        settled = reset_peak()
        advance, data, state = prepare(cell, cell["n"], mesh)
        arrays = sum(a.nbytes for a in jax.tree.leaves((data, state)) if isinstance(a, jax.Array))
        state, seconds, elapsed = time_steps(advance, data, state)
        trained = peak() - settled
        with Saver(Path(folder)) as saver:
            begun = time.monotonic()
            saver.save(state)
            waited = time.monotonic() - begun
            saver.wait()
            written = time.monotonic() - begun
        return {
            "arrays_mb": round(arrays / 1e6, 2),
            "peak_mb": round(trained / 1e6, 1),
            "peak_with_checkpoint_mb": round((peak() - settled) / 1e6, 1),
            "step_ms": round(1e3 * seconds, 4),
            "step_wall_ms": round(1e3 * elapsed, 4),
            "checkpoint_waits_ms": round(1e3 * waited),
            "checkpoint_takes_ms": round(1e3 * written),
            "gradient_bytes": gradient_bytes(state.model),
        }


def prepare(cell: dict[str, Any], n: int, mesh: Any) -> tuple[Any, Any, Any]:
    """Compiled steps, observations and a first state, all in their places."""
    import jax
    import optax

    from wakesleep.algorithms import mws, rws
    from wakesleep.domains.automata.data import Settings, build
    from wakesleep.fit import begin, compile_steps, place, shard

    settings = Settings(
        observations=min(n, PIECE),
        neighbours=cell.get("neighbours", 3),
        height=IMAGE,
        width=IMAGE,
        recognition="counts",
    )
    optimiser = optax.adam(1e-3)
    algorithm = rws(optimiser, cell["k"]) if "k" in cell else mws(optimiser, cell["m"], cell["r"])
    data = shard(repeat(settings, n), mesh)
    state = begin(algorithm, build(jax.random.key(0), settings, data), data, mesh)
    return compile_steps(algorithm, BATCH, mesh), data, place(state, mesh)


def repeat(settings: Any, n: int) -> Any:
    """n observations: some images, again and again, written into arrays that are made once."""
    import jax
    import jax.numpy as jnp

    from wakesleep.domains.automata.data import synthesise

    piece = synthesise(jax.random.key(0), settings)[1]
    whole = jax.tree.map(lambda a: jnp.zeros((n, *a.shape[1:]), a.dtype), piece)
    fill = jax.jit(
        lambda w, p, at: jax.tree.map(lambda a, b: jax.lax.dynamic_update_slice_in_dim(a, b, at, 0), w, p),
        donate_argnums=0,
    )
    for at in range(0, n, settings.observations):
        whole = fill(whole, piece, at)
    return whole


def time_steps(advance: Any, data: Any, state: Any, seconds: float = 0.3) -> tuple[Any, float, float]:
    """The last state, and CPU and wall seconds of a step: the least of several calls of a fraction of a second each."""
    count, took = 8, 0.0
    while took < seconds:
        count *= 2
        state, took, _ = run(advance, data, state, count)
    found = []
    for _ in range(CALLS):
        state, cpu, wall = run(advance, data, state, count)
        found.append((cpu / count, wall / count))
    return state, min(c for c, _ in found), min(w for _, w in found)


def run(advance: Any, data: Any, state: Any, count: int) -> tuple[Any, float, float]:
    """The state some steps later, and the CPU and wall seconds that they took."""
    import jax
    import jax.numpy as jnp

    cpu, wall = time.process_time(), time.monotonic()
    state, info = advance(data, state, jax.random.key(1), jnp.asarray(count))
    jax.block_until_ready(info)
    return state, time.process_time() - cpu, time.monotonic() - wall


def reset_peak() -> int:
    """Forgets the most memory that was in use, and says how much is now."""
    Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


def peak() -> int:
    """The most bytes that were in use since."""
    return status("VmHWM")


def status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


def usual_model(name: str) -> Any:
    """The untrained model of a domain with its usual settings."""
    from wakesleep.runs import Config
    from wakesleep.train import prepare as prepare_job

    return prepare_job(Config(name)).model()


def gradient_bytes(model: Any) -> int:
    """What each device sends to, and has back from, the others for a step: gradients and three reports."""
    import equinox as eqx
    import jax

    return 4 * (sum(a.size for a in jax.tree.leaves(eqx.filter(model, eqx.is_inexact_array))) + 3)


if __name__ == "__main__":
    main()
