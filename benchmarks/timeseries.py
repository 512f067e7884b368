"""Likelihoods by Levinson and by Cholesky, and what remembering a fit saves.

    python benchmarks/timeseries.py [--output results]

Both ways of computing a likelihood are timed in turn within one process. The table of extrapolation beside other tools
is made by `wakesleep reproduce timeseries`.
"""

import argparse
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from wakesleep.data.atomic import write_whole
from wakesleep.domains.timeseries.data import Settings, load
from wakesleep.domains.timeseries.evaluator import GaussianProcess
from wakesleep.domains.timeseries.kernels import layout
from wakesleep.domains.timeseries.language import Kernel, program
from wakesleep.domains.timeseries.likelihood import Series
from wakesleep.domains.timeseries.networks import first_guess, periodogram
from wakesleep.paper.results import dump

PROGRAMS, REPEATS, SIZES = 16, 5, (64, 128, 256, 512)
EXPRESSION = "Lin + SE + SE*Per + WN"
REMEMBERED = ("SE + WN", "SE*Per + WN", "SE + SE*Per + WN")
VISITS, SERIES = 5, 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results"))
    options = parser.parse_args()
    start = time.process_time()
    rows: list[dict[str, Any]] = []
    for made in (map(likelihood, SIZES), map(memory, REMEMBERED)):
        for row in made:
            print(row, flush=True)
            rows.append(row)
            keep(rows, start, options.output)


def keep(rows: list[dict[str, Any]], start: float, output: Path) -> None:
    """Writes what there is so far."""
    settings = {"programs": PROGRAMS, "repeats": REPEATS, "expression": EXPRESSION, "series": SERIES, "fit_steps": 12}
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = round(time.process_time() - start + children.ru_utime + children.ru_stime, 1)
    output.mkdir(parents=True, exist_ok=True)
    table = {"rows": rows, "settings": settings, "cpu_seconds": seconds}
    write_whole(output / "benchmark-timeseries.json", dump(table))


def likelihood(n: int) -> dict[str, Any]:
    """CPU milliseconds a program, the median of some repetitions in turn."""
    tokens = jnp.asarray(program(EXPRESSION, 11))
    values = np.random.default_rng(0).normal(size=n)
    thetas = np.random.default_rng(1).normal(size=(PROGRAMS, 12)) * 0.3 - 1.0
    x = Series(jnp.linspace(-0.5, 0.5, n), jnp.asarray(values, jnp.float32), jnp.ones(n, bool))
    runs = {}
    with jax.enable_x64(True):
        for regular, name in ((True, "toeplitz"), (False, "dense")):
            one = _evaluation(GaussianProcess(n, regular=regular), tokens, x)
            runs[f"{name}_ms"] = jax.jit(jax.vmap(lambda theta, one=one: one(theta)[0]))
            runs[f"{name}_gradient_ms"] = jax.jit(jax.vmap(one))
        times = in_turn({k: lambda f=f: jax.block_until_ready(f(jnp.asarray(thetas))) for k, f in runs.items()})
    ratios = {
        "ratio": round(times["dense_ms"] / times["toeplitz_ms"], 2),
        "gradient_ratio": round(times["dense_gradient_ms"] / times["toeplitz_gradient_ms"], 2),
    }
    return {"what": "likelihood", "n": n, **{k: round(v, 4) for k, v in times.items()}, **ratios}


def _evaluation(evaluator: GaussianProcess, tokens: jax.Array, x: Series) -> Callable:
    return lambda theta: evaluator.likelihood(theta, layout(tokens, True), x)


def in_turn(functions: dict[str, Callable]) -> dict[str, float]:
    """The median CPU milliseconds a program of each function, one round of all after another."""
    for function in functions.values():
        function()
    taken: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(REPEATS):
        for name, function in functions.items():
            start = time.process_time()
            function()
            taken[name].append((time.process_time() - start) * 1000 / PROGRAMS)
    return {name: sorted(times)[REPEATS // 2] for name, times in taken.items()}


def memory(expression: str) -> dict[str, Any]:
    """The median bound over series of the archive after each visit of 12 iterations, going on or beginning anew."""
    data = load(Settings(series="ucr", observations=SERIES, points=128)).train
    evaluator = GaussianProcess(128, steps=12)
    tokens = jnp.asarray(program(expression, 11))

    def start(key: jax.Array, x: Series) -> Kernel:
        return first_guess(key, tokens, True, periodogram(x))

    def visit(z: Kernel, x: Series) -> tuple[Kernel, jax.Array]:
        z = evaluator.refine(z, x)
        return z, evaluator.log_prob(x, z)

    begin, go = jax.jit(jax.vmap(start)), jax.jit(jax.vmap(visit))
    keys = [jax.random.split(jax.random.key(v), SERIES) for v in range(VISITS)]
    z, remembered, anew = begin(keys[0], data.x), [], []
    best = np.full(SERIES, -np.inf)
    for key in keys:
        z, score = go(z, data.x)
        remembered.append(float(np.median(score)))
        best = np.maximum(best, np.asarray(go(begin(key, data.x), data.x)[1]))
        anew.append(float(np.median(best)))
    return {
        "what": "memory",
        "expression": expression,
        "visits": list(range(1, VISITS + 1)),
        "remembered": [round(v, 2) for v in remembered],
        "anew": [round(v, 2) for v in anew],
    }


if __name__ == "__main__":
    main()
