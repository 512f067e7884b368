"""CPU time and peak memory of a training step on characters, and the parts of a score beside plainer ways.

    python benchmarks/characters.py [--output results]

Each configuration is timed in a process of its own, so that its peak memory is its own; finished rows are kept.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import optax

from wakesleep.core.compilation import keep_compiled
from wakesleep.core.fit import fit
from wakesleep.core.keys import fused
from wakesleep.domains.characters.data import Settings, build, load
from wakesleep.domains.characters.evaluator import SIDE, Renderer, closeness, pixels
from wakesleep.paper.cells import make
from wakesleep.paper.results import complete

# CPU milliseconds of the authors' code for an image and program, one core, batch 250.
AUTHORS = {("MWS", 5): 4.24, ("MWS", 10): 7.0, ("RWS", 5): 6.8, ("RWS", 10): 6.56, ("VIMCO", 5): 7.04}
CELLS = [("MWS", 5, 50), ("MWS", 10, 50), ("MWS", 5, 250), ("MWS", 10, 250), ("RWS", 5, 50), ("VIMCO", 5, 50)]
REPEATS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results"))
    parser.add_argument("--one", nargs=3, metavar=("ALGORITHM", "K", "BATCH"))
    options = parser.parse_args()
    keep_compiled()
    if options.one:
        print(json.dumps(step(options.one[0], int(options.one[1]), int(options.one[2]))))
        return
    steps: list[dict[str, Any]] = [{"what": "step", "algorithm": a, "K": k, "batch": b} for a, k, b in CELLS]
    settings = {"images": 500, "strokes": 64, "length": 10, "reach": 4, "hidden": 64, "repeats": REPEATS}
    complete(options.output / "benchmark-characters.json", settings, [{"what": "parts"}, *steps], measure)


def measure(cell: dict[str, Any]) -> dict[str, Any]:
    """One row, made in a process of its own where memory is measured."""
    if cell["what"] == "parts":
        return parts()
    words = [sys.executable, __file__, "--one", cell["algorithm"], str(cell["K"]), str(cell["batch"])]
    row: dict[str, Any] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return row


def step(name: str, k: int, batch: int) -> dict[str, Any]:
    """CPU milliseconds of a step, the median of some stretches with their range, and the peak memory."""
    settings = Settings(observations=500)
    data = load(settings).train
    algorithm = make(name, optax.adam(1e-3), k)
    state = algorithm.init(build(jax.random.key(0), settings, data), data)
    stretch = max(2000 // batch, 8)
    times, start = [], 0.0
    total = (REPEATS + 1) * stretch
    for state, _ in fit(
        algorithm, state, data, key=fused(jax.random.key(1)), steps=total, batch_size=batch, every=stretch
    ):
        if int(state.step) % stretch == 0:
            times.append(1e3 * (time.process_time() - start) / stretch)
            start = time.process_time()
    times = sorted(times[1:])
    middle = statistics.median(times)
    row = {"milliseconds": round(middle, 2), "range": [round(times[0], 2), round(times[-1], 2)]}
    row |= {"pair": round(middle / (batch * k), 4), "mebibytes": peak()}
    return row | ({"authors": AUTHORS[name, k]} if (name, k) in AUTHORS else {})


def peak() -> int:
    """The most memory that this process has had, in MiB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def parts() -> dict[str, Any]:
    """CPU microseconds a program: drawing, shifts by slices and by moved canvases, gradients of one arc and of all."""
    settings = Settings(observations=250)
    data = load(settings).train
    renderer = build(jax.random.key(0), settings, data).evaluator
    assert isinstance(renderer, Renderer)
    z = jax.random.randint(jax.random.key(1), (250, settings.length), 1, 65)
    canvas = jax.vmap(renderer.draw)(z)

    def by_moving(renderer: Renderer, canvas: jax.Array, x: jax.Array) -> jax.Array:
        return jax.vmap(lambda x, c: moved(renderer, x, c))(x, canvas)

    def by_slices(renderer: Renderer, canvas: jax.Array, x: jax.Array) -> jax.Array:
        return jax.vmap(renderer.log_prob_of)(x, canvas)

    def one_arc(renderer: Renderer, z: jax.Array) -> Any:
        return jax.grad(lambda r: jnp.sum(jax.vmap(r.draw)(z) ** 2))(renderer)

    def every_arc(renderer: Renderer, z: jax.Array) -> Any:
        return jax.grad(lambda r: jnp.sum(jax.vmap(lambda z: plainly(r, z))(z) ** 2))(renderer)

    calls: dict[str, tuple[Callable, tuple[jax.Array, ...]]] = {
        "draw": (lambda r, z: jax.vmap(r.draw)(z), (z,)),
        "shifts": (by_slices, (canvas, data.x)),
        "shifts_by_moving": (by_moving, (canvas, data.x)),
        "gradient": (one_arc, (z,)),
        "gradient_of_every_arc": (every_arc, (z,)),
    }
    compiled = {name: jax.jit(call) for name, (call, _) in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(REPEATS + 1):  # the first round compiles
        for name, (_, given) in calls.items():
            start = time.process_time()
            jax.block_until_ready([compiled[name](renderer, *given) for _ in range(4)])
            times[name].append(1e6 * (time.process_time() - start) / (4 * 250))
    return {name: round(statistics.median(found[1:]), 1) for name, found in times.items()}


def moved(renderer: Renderer, x: jax.Array, canvas: jax.Array) -> jax.Array:
    """The likelihood by moving the canvas to every place, as a warp would."""
    reach = renderer.shift.shape[0] // 2
    padded, log_shift = jnp.pad(canvas, reach), jax.nn.log_softmax(renderer.shift.reshape(-1))

    def at(place: jax.Array) -> jax.Array:
        corner = (2 * reach - place // (2 * reach + 1), 2 * reach - place % (2 * reach + 1))
        logits = renderer.paper + renderer.contrast * jax.lax.dynamic_slice(padded, corner, (SIDE, SIDE))
        return jnp.sum(x * logits - jax.nn.softplus(logits))

    return jax.nn.logsumexp(log_shift + jax.vmap(at)(jnp.arange(log_shift.shape[0])))


def plainly(renderer: Renderer, z: jax.Array) -> jax.Array:
    """The canvas by the largest of all arcs' ink, differentiated as it stands."""
    arc, on = renderer.place(z)
    each = jax.vmap(lambda arc: closeness(arc, *pixels()))(arc)
    return jnp.exp(jnp.minimum(jnp.max(jnp.where(on[:, None], each, -1e4), axis=0), 0.0))


if __name__ == "__main__":
    main()
