"""Clusters beyond the paper: M and R apart, memories that are stale, and sparsity from several starts."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from wakesleep.core.evaluate import exact_joint
from wakesleep.core.memory import Memory
from wakesleep.core.model import Model, Observations
from wakesleep.domains.clusters.data import Settings, load, programs, true_model
from wakesleep.paper import clusters
from wakesleep.paper.clusters import PAPER_SPARSITY
from wakesleep.paper.results import Row, complete

FLOOR_DRAWS = 200
"""Draws of K programs by which the divergence of an exact sampler is estimated."""


@dataclass(frozen=True)
class Plan(clusters.Plan):
    """The size of an experiment."""

    steps: int = 10_000
    seeds: int = 3
    checks: int = 5
    sizes: tuple[int, ...] = (1, 2, 5, 10, 20)
    """M and R."""
    starts: tuple[float, ...] = (0.1, 1.0, 10.0)
    """The cluster variance that learning begins with, times the true one."""
    ks: tuple[int, ...] = (5,)
    algorithms: tuple[str, ...] = ("MWS", "MWS-tail+both")


FULL = {
    "clusters-sizes": Plan(),
    "sparsity-floor": Plan(ks=(2, 5, 10, 20)),
    "sparsity-starts": Plan(algorithms=("MWS", "MWS-tail+both", "RWS", "VIMCO")),
}
SMALL_PLAN = Plan(steps=500, seeds=2, sizes=(1, 5), starts=(0.1, 1.0), algorithms=("MWS",))
QUICK = dict.fromkeys(FULL, SMALL_PLAN)


def reproduce_sizes(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills clusters-sizes.json: a row for each algorithm, M and R; returns its rows."""
    cells = [
        {"algorithm": a, "M": m, "R": r, "K": m + r, "seeds": plan.seeds, "steps": plan.steps}
        for a, m, r in product(plan.algorithms, plan.sizes, plan.sizes)
    ]
    return complete(output / "clusters-sizes.json", _settings(plan), cells, lambda c: _sized(c, plan), report)


def reproduce_starts(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills sparsity-starts.json: a row for each variance, algorithm, K and start of Sigma; returns its rows."""
    cells = [
        {"variance": v, "start": s, "algorithm": a, "K": k, "seeds": plan.seeds, "steps": plan.steps}
        for k, a, v, s in product(plan.ks, plan.algorithms, PAPER_SPARSITY, plan.starts)
    ]
    return complete(output / "sparsity-starts.json", _settings(plan), cells, lambda c: _started(c, plan), report)


def reproduce_floor(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills sparsity-floor.json: for each variance and K the least KL that any algorithm can have; returns its rows."""
    cells = [{"variance": v, "K": k} for k, v in product(plan.ks, PAPER_SPARSITY)]
    shared = {"data_seed": plan.data_seed, "draws": FLOOR_DRAWS}
    return complete(output / "sparsity-floor.json", shared, cells, lambda c: _floor(c, plan), report)


def _settings(plan: Plan) -> dict[str, Any]:
    """Returns the settings that all cells of a table share."""
    return {k: v for k, v in asdict(plan).items() if k in ("batch_size", "learning_rate", "data_seed", "checks")}


def _sized(cell: Row, plan: Plan) -> Row:
    """Returns the scores of M and R, and the share of remembered programs that are not among the best M."""
    settings = Settings(data_seed=plan.data_seed)
    trained = clusters.train_seeds(cell, plan, settings)
    train = trained.job.dataset.train
    table = programs(settings, train)
    assert table is not None
    found = _without_curve(clusters.summaries(trained.steps, trained.scores))
    stale = [stale_share(_of_seed(trained.state, s), table, train) for s in range(plan.seeds)]
    return found | {"stale": round(float(np.median(stale)), 4)}


def _started(cell: Row, plan: Plan) -> Row:
    settings = Settings(variance=cell["variance"], start=cell["start"] * cell["variance"], data_seed=plan.data_seed)
    trained = clusters.train_seeds(cell, plan, settings)
    return _without_curve(clusters.summaries(trained.steps, trained.scores))


def _without_curve(row: Row) -> Row:
    return {k: v for k, v in row.items() if k != "curve"}


def _of_seed(state: Any, seed: int) -> Any:
    return jax.tree.map(lambda a: a[seed] if eqx.is_array(a) else a, state)


def stale_share(state: Any, table: Array, data: Observations) -> float:
    """Returns the share of a memory that is not among the best M of all programs, the model as it is now.

    The best not yet found and the remembered whose scores have fallen behind count alike; empty slots count.
    """
    every = exact_joint(state.model, table, data)
    held = jax.vmap(lambda row, scores: _scored(row, table, scores).log_joint)(state.memory, every)
    least = jax.lax.top_k(every, held.shape[1])[0][:, -1:]
    return float(jnp.mean(held < least))


def _scored(row: Memory, table: Array, scores: Float[Array, "p"]) -> Memory:
    """Returns a row of a memory with the scores that its programs have in the table."""
    at = jax.vmap(lambda z: jnp.argmax(jnp.all(table == z[None], axis=1)))(row.programs)
    return Memory(row.programs, jnp.where(jnp.isneginf(row.log_joint), -jnp.inf, scores[at]))


def _floor(cell: Row, plan: Plan) -> Row:
    """Returns the least KL of a memory of M programs, and the mean KL of K exact draws, over the training groups."""
    settings = Settings(variance=cell["variance"], data_seed=plan.data_seed)
    train, truth = load(settings).train, true_model(settings)
    table = programs(settings, train)
    assert table is not None
    m = cell["K"] - cell["K"] // 2
    return floors(truth, table, train, m, cell["K"])


def floors(model: Model, table: Array, data: Observations, m: int, k: int) -> Row:
    """Returns KL(Q || p(z | x)) of the best m programs, and of k draws from the exact posterior, gathered."""
    log_posterior = jax.nn.log_softmax(exact_joint(model, table, data), axis=1)
    best = -jax.nn.logsumexp(jax.lax.top_k(log_posterior, m)[0], axis=1)
    drawn = jax.random.categorical(jax.random.key(0), log_posterior, axis=1, shape=(FLOOR_DRAWS, k, len(data)))

    def gap(places: Array, log_p: Array) -> Array:
        share = jnp.mean(places[:, None] == places[None], axis=1)
        return jnp.mean(jnp.log(share) - log_p[places])

    gaps = jax.vmap(jax.vmap(gap, (1, 0)), (0, None))(drawn, log_posterior)
    return {"memory": round(float(jnp.mean(best)), 4), "draws": round(float(jnp.mean(gaps)), 4)}


EXPERIMENTS = {
    "clusters-sizes": reproduce_sizes,
    "sparsity-starts": reproduce_starts,
    "sparsity-floor": reproduce_floor,
}
