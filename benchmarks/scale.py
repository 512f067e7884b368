"""How the cost of a step and the memory in use grow: with observations, memory, program length and devices.

    python benchmarks/scale.py [--output results]

A curve is one process: everything on it is prepared, and then measured in turns, so that a busy moment spoils no place
of the curve alone. A step's cost is CPU time, the least of several calls. Memory is measured in a process for each
number of observations, made twice, of which the second finds everything compiled.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BATCH, SMALL, IMAGE, PIECE, CALLS = 48, 100, 16, 1000, 9
USUAL = {"algorithm": "mws", "m": 5, "r": 5}
CURVES: dict[str, list[dict[str, Any]]] = {
    "observations": [{"n": 10**e} | USUAL for e in range(2, 7)],
    "programs": [
        *({"n": 10_000, "algorithm": "mws", "m": k // 2, "r": k // 2} for k in (2, 10, 20, 50)),
        *({"n": 10_000, "algorithm": "rws", "k": k} for k in (2, 10, 20, 50)),
    ],
    "length": [{"n": 1000, "neighbours": size} | USUAL for size in (3, 5, 7)],
    "devices": [{"n": 10_000, "devices": count} | USUAL for count in (1, 2, 4)],
}
CELLS = [
    *({"what": what} for what in CURVES),
    *({"what": "memory", "n": cell["n"]} for cell in CURVES["observations"]),
    *({"what": "network", "domain": name} for name in ("clusters", "automata", "strings")),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results"))
    parser.add_argument("--cell", type=json.loads, help="measure this alone and print it")
    options = parser.parse_args()
    if options.cell is not None:
        print(json.dumps(memory(options.cell["n"]) if "n" in options.cell else costs(CURVES[options.cell["what"]])))
        return
    from wakesleep.paper.figures.scale import draw_scale
    from wakesleep.paper.results import complete

    path = options.output / "benchmark-scale.json"
    settings = {"domain": "automata", "recognition": "counts", "batch_size": BATCH, "height": IMAGE, "width": IMAGE}
    complete(path, settings, CELLS, apart, lambda line: print(line, flush=True))
    print(f"wrote {draw_scale(options.output)}")


def apart(cell: dict[str, Any]) -> Any:
    """The measurement in a process of its own, which finds everything compiled where memory is measured."""
    if cell["what"] == "network":
        return {"gradient_bytes": gradient_bytes(usual_model(cell["domain"]))}
    most = max(place.get("devices", 1) for place in CURVES.get(cell["what"], [{}]))
    environment = os.environ | {"XLA_FLAGS": f"--xla_force_host_platform_device_count={most}"}
    command = [sys.executable, __file__, "--cell", json.dumps(cell)]
    for _ in range(2 if cell["what"] == "memory" else 1):
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)


def keep_compiled() -> None:
    import jax

    from wakesleep.core.compilation import keep_compiled

    keep_compiled()
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


def costs(curve: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """CPU and wall time of a step at each place of a curve, all measured in turns."""
    from wakesleep.core.fit import data_mesh

    keep_compiled()
    held = [list(prepare(place, place["n"], data_mesh(place.get("devices", 1)))) for place in curve]
    counts = [settle(one) for one in held]
    found: list[list[tuple[float, float]]] = [[] for _ in curve]
    for _ in range(CALLS):
        for one, count, times in zip(held, counts, found, strict=True):
            one[2], cpu, wall = run(one[0], one[1], one[2], count)
            times.append((1e3 * cpu / count, 1e3 * wall / count))
    least = [[round(min(column), 4) for column in zip(*times, strict=True)] for times in found]
    return [place | {"step_ms": cpu, "step_wall_ms": wall} for place, (cpu, wall) in zip(curve, least, strict=True)]


def settle(one: list[Any], seconds: float = 0.2) -> int:
    """How many steps take about so long, once the compiled loop is warm."""
    count, took = 8, 0.0
    while took < seconds:
        count *= 2
        one[2], took, _ = run(one[0], one[1], one[2], count)
    return count


def memory(n: int) -> dict[str, Any]:
    """Memory in use over what there was before, the size of the arrays, and the time of a checkpoint."""
    import jax

    from wakesleep.core.fit import data_mesh
    from wakesleep.running.checkpoints import Saver

    keep_compiled()
    mesh = data_mesh(1)
    with tempfile.TemporaryDirectory() as folder:
        # Everything once: what a process needs to compile and to hold compiled code, it has from then on.
        before = status("VmRSS")
        advance, data, state = prepare(USUAL, n, mesh)
        with Saver(Path(folder)) as saver:
            saver.save(run(advance, data, state, 3)[0])
        del data, state
        settled = reset_peak()
        _, data, state = prepare(USUAL, n, mesh)
        arrays = sum(a.nbytes for a in jax.tree.leaves((data, state)) if isinstance(a, jax.Array))
        state, _, _ = run(advance, data, state, 1000)
        trained = peak() - settled
        with Saver(Path(folder)) as saver:
            begun = time.monotonic()
            saver.save(state)
            waited = time.monotonic() - begun
            saver.wait()
            written = time.monotonic() - begun
        return {
            "compiled_mb": round((settled - before) / 1e6, 1),
            "arrays_mb": round(arrays / 1e6, 2),
            "peak_mb": round(trained / 1e6, 1),
            "peak_with_checkpoint_mb": round((peak() - settled) / 1e6, 1),
            "checkpoint_waits_ms": round(1e3 * waited),
            "checkpoint_takes_ms": round(1e3 * written),
        }


def prepare(cell: dict[str, Any], n: int, mesh: Any) -> tuple[Any, Any, Any]:
    """Compiled steps, observations and a first state, all in their places."""
    import jax
    import optax

    from wakesleep.core.algorithms import mws, rws
    from wakesleep.core.fit import begin, compile_steps, place, shard
    from wakesleep.domains.automata.data import Settings, build

    settings = Settings(
        observations=min(n, PIECE),
        neighbours=cell.get("neighbours", 3),
        height=IMAGE,
        width=IMAGE,
        recognition="counts",
    )
    optimiser = optax.adam(1e-3)
    algorithm = rws(optimiser, cell["k"]) if "k" in cell else mws(optimiser, cell["m"], cell["r"], paper=True)
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


def run(advance: Any, data: Any, state: Any, count: int) -> tuple[Any, float, float]:
    """The state some steps later, and the CPU and wall seconds that they took."""
    import jax
    import jax.numpy as jnp

    from wakesleep.core.step import no_reports

    cpu, wall = time.process_time(), time.monotonic()
    state, _, info = advance(data, state, jax.random.key(1), jnp.asarray(count), no_reports())
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
    from wakesleep.running.config import Config
    from wakesleep.running.train import prepare as prepare_job

    return prepare_job(Config(name)).model()


def gradient_bytes(model: Any) -> int:
    """What each device sends to, and has back from, the others for a step: gradients and three reports."""
    import equinox as eqx
    import jax

    return 4 * (sum(a.size for a in jax.tree.leaves(eqx.filter(model, eqx.is_inexact_array))) + 3)


if __name__ == "__main__":
    main()
