"""The integer sequences of examples/integer_sequences.py with every algorithm, several seeds, judged by exact log p(x).

Run it: python benchmarks/sequences.py [--output results] [--seeds 3] [--steps 10000] [--particles K] [--algorithm A]
A cell is an algorithm, K and all its seeds; what the file has already is not made again.
"""

import argparse
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from wakesleep.core.evaluate import exact
from wakesleep.core.fit import fit
from wakesleep.paper.results import Row, complete

EXAMPLE = Path(__file__).parents[1] / "examples" / "integer_sequences.py"
CHECKS = 2
"""The number of points of a curve, at equal distances."""


def example() -> ModuleType:
    """Returns the example as a module."""
    spec = importlib.util.spec_from_file_location("integer_sequences", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def measure(cell: Row, observations: int) -> Row:
    """Trains all seeds side by side and returns the exact NLL of each, on training and new sequences."""
    shown = example()
    train, unseen = shown.make_data(observations), shown.make_data(observations, seed=1)
    programs = jnp.asarray(shown.every_program())
    algorithm = shown.algorithms(cell["K"])[cell["algorithm"]]
    seeds = range(cell["seeds"])
    states = [algorithm.init(shown.make_model(jax.random.key(2 * s + 1)), train) for s in seeds]
    state = jax.tree.map(lambda *a: jnp.stack(a) if eqx.is_array(a[0]) else a[0], *states)
    keys, every = jnp.stack([jax.random.key(2 * s + 2) for s in seeds]), max(cell["steps"] // CHECKS, 1)
    nll = eqx.filter_jit(lambda model, data: -jnp.mean(exact(model, programs, data)))
    one = lambda s: jax.tree.map(lambda a: a[s] if eqx.is_array(a) else a, state.model)  # noqa: E731
    curve: list[list[Any]] = []
    for state, _ in fit(algorithm, state, train, key=keys, steps=cell["steps"], batch_size=20, every=every):
        if int(state.step[0]) % every == 0:
            curve.append([int(state.step[0]), [round(float(nll(one(s), train)), 3) for s in seeds]])
    noise = [round(float(jax.nn.sigmoid(10 * one(s).evaluator.logit)), 4) for s in seeds]
    new = [round(float(nll(one(s), unseen)), 3) for s in seeds]
    return {"nll": curve[-1][1], "nll_new": new, "noise": noise, "curve": curve}


def main() -> None:
    """Fills the results file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results"))
    parser.add_argument("--observations", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--particles", type=int, action="append")
    parser.add_argument("--algorithm", action="append")
    given = parser.parse_args()
    names = given.algorithm or list(example().algorithms(2))
    cells = [
        {"algorithm": name, "K": k, "seeds": given.seeds, "steps": given.steps}
        for k in given.particles or (10, 4)
        for name in names
    ]
    shared = {"observations": given.observations, "batch_size": 20}
    path = given.output / "benchmark-sequences.json"
    complete(path, shared, cells, lambda cell: measure(cell, given.observations))


if __name__ == "__main__":
    main()
