"""Scoring by sufficient statistics against scoring pixel by pixel, and steps a second of each algorithm.

    python benchmarks/automata.py [--output results]

Both scorers are timed in turn within one process and compared as a ratio of CPU time.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from wakesleep.core.algorithms import Algorithm
from wakesleep.core.fit import fit
from wakesleep.core.keys import fused
from wakesleep.core.model import Observations
from wakesleep.data.atomic import write_whole
from wakesleep.domains.automata.data import Settings, build, load
from wakesleep.domains.automata.evaluator import NoisyAutomaton
from wakesleep.paper.cells import VARIANTS, make
from wakesleep.paper.results import dump

BATCH, PARTICLES, ROUNDS, REPEATS = 50, 10, 20, 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results"))
    parser.add_argument("--steps", type=int, default=600)
    options = parser.parse_args()
    rows = []
    for neighbours in (3, 5):
        settings = Settings(neighbours=neighbours, observations=500)
        data = load(settings).train
        rows.append({"what": "scoring", "neighbours": neighbours, **scoring(settings, data)})
        print(rows[-1], flush=True)
        for name in VARIANTS:
            algorithm = make(name, optax.adam(1e-3), PARTICLES)
            rate = steps_per_second(algorithm, settings, data, options.steps)
            rows.append({"what": "steps", "neighbours": neighbours, "algorithm": name, "K": PARTICLES, **rate})
            print(rows[-1], flush=True)
    settings_used = {"batch_size": BATCH, "particles": PARTICLES, "observations": 500, "height": 64, "width": 64}
    table = {"rows": rows, "settings": settings_used | {"steps": options.steps, "recognition": "image"}}
    options.output.mkdir(parents=True, exist_ok=True)
    write_whole(options.output / "benchmark-automata.json", dump(table))


def scoring(settings: Settings, data: Observations) -> dict[str, Any]:
    """CPU milliseconds to score the particles of a batch by the counts and by the pixels."""
    evaluator = build(jax.random.key(0), settings, data).evaluator
    assert isinstance(evaluator, NoisyAutomaton)
    x = data[jnp.arange(BATCH)].x
    table = jax.random.bernoulli(jax.random.key(1), 0.5, (BATCH, PARTICLES, 2**settings.neighbours))
    z = (jnp.full((BATCH, PARTICLES), settings.neighbours), table.astype(jnp.int32))

    def by_counts(evaluator: NoisyAutomaton, z: Any) -> jax.Array:
        return each(lambda z, x: evaluator.log_prob(x, z))(z, x)

    def by_pixels(evaluator: NoisyAutomaton, z: Any) -> jax.Array:
        return each(lambda z, image: evaluator.log_prob_pixels(image, z))(z, x.image)

    counts, pixels = (repeated(score, evaluator, z) for score in (by_counts, by_pixels))
    times = [(cpu_milliseconds(counts), cpu_milliseconds(pixels)) for _ in range(REPEATS)]
    fast, slow = (sorted(column)[REPEATS // 2] for column in zip(*times, strict=True))
    return {"counts_ms": round(fast, 4), "pixels_ms": round(slow, 3), "ratio": round(slow / fast, 1)}


def each(score: Callable) -> Callable:
    """The score of the particles of each image of a batch."""
    from wakesleep.domains.automata.language import Rule

    return jax.vmap(jax.vmap(lambda z, x: score(Rule(*z), x), (0, None)))


def repeated(score: Callable, evaluator: NoisyAutomaton, z: Any) -> Callable[[], float]:
    """A compiled call that scores many times, phi moving a little each time so that nothing is computed once."""

    @jax.jit
    def run(logit: jax.Array, z: Any) -> jax.Array:
        def once(_: int, logit: jax.Array) -> jax.Array:
            moved = eqx.tree_at(lambda e: e.logit, evaluator, logit)
            # A bit of every rule follows phi too, so that the comparison with the rule is not hoisted out.
            turned = (z[0], z[1] ^ (logit > 1e6).astype(jnp.int32))
            return logit + 1e-9 * jnp.mean(score(moved, turned))

        return jax.lax.fori_loop(0, ROUNDS, once, logit)

    return lambda: float(run(evaluator.logit, z))


def cpu_milliseconds(call: Callable[[], float]) -> float:
    """CPU time of one scoring, compilation apart."""
    call()
    start = time.process_time()
    call()
    return 1e3 * (time.process_time() - start) / ROUNDS


def steps_per_second(algorithm: Algorithm, settings: Settings, data: Observations, steps: int) -> dict[str, Any]:
    """Steps for each second of CPU time after the compiled loop is warm."""
    state = algorithm.init(build(jax.random.key(0), settings, data), data)
    clock, done = 0.0, 0
    for now, _ in fit(algorithm, state, data, key=fused(jax.random.key(1)), steps=steps, batch_size=BATCH):
        if not clock:
            clock, done = time.process_time(), int(now.step)
        last = int(now.step)
    return {"steps_per_second": round((last - done) / (time.process_time() - clock), 1)}


if __name__ == "__main__":
    main()
