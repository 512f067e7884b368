"""Section 4.1 and the supplement's sparsity table: the Gaussian mixture, evaluated exactly."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from wakesleep.core import memory as mem
from wakesleep.core.algorithms import Algorithm, State
from wakesleep.core.evaluate import divergence, exact, exact_joint
from wakesleep.core.keys import fused
from wakesleep.core.memory import Weighted
from wakesleep.core.model import Batch, Model, Observations, same_program, score
from wakesleep.core.step import program_shape
from wakesleep.core.wake import wake
from wakesleep.domains.clusters.data import Settings, programs, true_model
from wakesleep.paper.cells import prepare_cell
from wakesleep.paper.results import Row, complete
from wakesleep.running.train import Job
from wakesleep.running.train import steps as train_steps

# The supplement's table: improvement in KL by MWS, for each cluster variance and K.
PAPER_SPARSITY = {
    0.03: {2: 10.26, 5: 10.21, 10: 6.62, 20: 5.42},
    0.1: {2: 3.35, 5: 3.57, 10: 3.13, 20: 3.25},
    0.3: {2: 0.99, 5: 0.73, 10: 1.35, 20: 2.24},
    1.0: {2: 0.07, 5: -0.06, 10: 0.77, 20: 2.13},
}


@dataclass(frozen=True)
class Plan:
    """The size of an experiment; the paper's is the default."""

    steps: int = 50_000
    seeds: int = 10
    batch_size: int = 20
    learning_rate: float = 1e-3
    data_seed: int = 0
    checks: int = 20
    """The number of points of a curve, at equal distances."""
    ks: tuple[int, ...] = (2, 5, 10, 20, 50)
    algorithms: tuple[str, ...] = ("MWS", "RWS", "VIMCO")


ALL_ALGORITHMS = (
    "MWS",
    "RWS",
    "VIMCO",
    "MWS-tail+fantasy",
    "MWS-tail+both",
    "MWS-tail+sparing",
    "RWS+fantasy",
    "MWS-explore",
    "MWS-fantasy",
    "MWS-expected",
    "MWS (M = K, R = 1)",
)
FULL = {
    "clusters": Plan(algorithms=ALL_ALGORITHMS),
    "sparsity": Plan(steps=10_000, seeds=5, ks=(2, 5, 10, 20)),
}
QUICK = {
    "clusters": Plan(steps=5000, seeds=3, ks=(2, 5, 10)),
    "sparsity": Plan(steps=2000, seeds=2, ks=(2, 5)),
}


class Scores(NamedTuple):
    """What is read off the seeds of one cell; leaves [seeds]."""

    nll: Float[Array, "s"]
    nll_test: Float[Array, "s"]
    kl: Float[Array, "s"]
    kl_test: Float[Array, "s"]
    """On groups held out, with Q made of K fresh proposals for each."""
    kl_published: Float[Array, "s"]


def reproduce(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills clusters.json, the table and curves of section 4.1, and returns its rows."""
    cells = [
        {"algorithm": a, "K": k, "seeds": plan.seeds, "steps": plan.steps} for k in plan.ks for a in plan.algorithms
    ]
    settings = _settings(plan) | {"variance": 0.03}
    return complete(output / "clusters.json", settings, cells, lambda c: _cell(c, plan, 0.03), report)


def reproduce_sparsity(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills sparsity.json, the supplement's table, and returns its rows."""
    cells = [
        {"variance": v, "K": k, "algorithm": a, "seeds": plan.seeds, "steps": plan.steps}
        for k in plan.ks
        for a in plan.algorithms
        for v in PAPER_SPARSITY
    ]
    path = output / "sparsity.json"
    return complete(path, _settings(plan), cells, lambda c: _without_curve(_cell(c, plan, c["variance"])), report)


def _settings(plan: Plan) -> dict[str, Any]:
    """Returns the settings that all cells of a table share."""
    shared = {k: v for k, v in asdict(plan).items() if k not in ("steps", "seeds", "ks", "algorithms")}
    return shared | {"observations": 100, "points": 7, "alpha": 1.0}


def _without_curve(row: Row) -> Row:
    return {k: v for k, v in row.items() if k not in ("curve", "example")}


class Trained(NamedTuple):
    """All seeds of a cell, trained, and their scores along the way."""

    job: Job
    truth: Model
    state: State
    steps: list[int]
    scores: list[Scores]


def train_seeds(cell: Row, plan: Plan, settings: Settings) -> Trained:
    """Trains all seeds of one cell side by side and reads their scores off along the way."""
    every, steps = max(plan.steps // plan.checks, 1), [0]
    job, truth = prepare_cell("clusters", settings, cell, plan, every), true_model(settings)
    assert job.dataset.test is not None
    state, keys = job.start_seeds(plan.seeds)
    read = _reader(job.algorithm, settings, job.dataset.train, job.dataset.test, truth, cell["K"])
    scores = [read(state)]
    for state, _ in train_steps(job, state, keys=keys):
        step = int(state.step[0])
        if step % every == 0:
            steps.append(step)
            scores.append(read(state))
    return Trained(job, truth, state, steps, scores)


def _cell(cell: Row, plan: Plan, variance: float) -> Row:
    """Returns medians, quartiles and curves of a cell, and an example of what was learned."""
    settings = Settings(variance=variance, data_seed=plan.data_seed)
    job, truth, state, steps, scores = train_seeds(cell, plan, settings)
    dataset = job.dataset
    table = programs(settings, dataset.train)
    assert table is not None
    assert dataset.test is not None
    true_nll = [-float(jnp.mean(exact(truth, table, d))) for d in (dataset.train, dataset.test)]
    example = _example(job.algorithm, state, dataset.train, _telling(truth, table, dataset.train))
    truths = {"true_nll": round(true_nll[0], 4), "true_nll_test": round(true_nll[1], 4)}
    return summaries(steps, scores) | truths | {"example": example}


def summaries(steps: list[int], scores: list[Scores]) -> Row:
    """Returns medians and quartiles of the last scores, and the curves that led there."""
    last = {name: _summary(getattr(scores[-1], name)) for name in Scores._fields}
    medians = {name: values[1] for name, values in last.items()}
    spread = {f"{name}_quartiles": [values[0], values[2]] for name, values in last.items()}
    curve = {name: [_summary(getattr(s, name)) for s in scores] for name in ("nll", "kl")}
    return medians | spread | {"curve": {"steps": steps, **curve}}


def _reader(
    algorithm: Algorithm, settings: Settings, train: Observations, test: Observations, truth: Model, k: int
) -> Callable[[State], Scores]:
    """Returns a compiled function from the states of many seeds to their scores."""
    table = programs(settings, train)
    log_marginals = exact(truth, table, train), exact(truth, table, test)

    def one(state: State, truth: Model, train: Observations, test: Observations, log_marginals: tuple) -> Scores:
        log_marginal, log_marginal_test = log_marginals
        key = jax.random.fold_in(fused(jax.random.key(1)), state.step)
        q = algorithm.posterior(key, state, _whole(train))
        unseen = held_out_posterior(algorithm, jax.random.fold_in(key, 1), state, test, k)
        # The published error concerns the rivals alone: a memory holds no twins to gather.
        published = divergence if state.memory is not None else divergence_as_published
        return Scores(
            -jnp.mean(exact(state.model, table, train)),
            -jnp.mean(exact(state.model, table, test)),
            jnp.mean(divergence(q, truth, train, log_marginal)),
            jnp.mean(divergence(unseen, truth, test, log_marginal_test)),
            jnp.mean(published(q, truth, train, log_marginal)),
        )

    # The data are arguments, so that what was compiled for other data serves again.
    read = eqx.filter_jit(eqx.filter_vmap(one, in_axes=(eqx.if_array(0), None, None, None, None)))
    return lambda state: read(state, truth, train, test, log_marginals)


def held_out_posterior(algorithm: Algorithm, key: Key[Array, ""], state: State, data: Observations, k: int) -> Weighted:
    """Returns Q of groups that were not trained on, from k proposals of recognition for each.

    With a memory it is the one that a wake phase fills from nothing, else what the algorithm does for any group.
    """
    if state.memory is None:
        return algorithm.posterior(key, state, _whole(data))
    h = jax.vmap(state.model.recognition.encode)(data.x, data.c)
    empty = mem.empty(program_shape(state.model, data), len(data), k)
    return mem.posterior(wake(state.model, key, empty, h, _whole(data), k)[0])


def _whole(data: Observations) -> Batch:
    return Batch(jnp.arange(len(data)), data.x, data.c)


def divergence_as_published(
    q: Weighted, model: Model, data: Observations, log_marginal: Float[Array, "n"]
) -> Float[Array, "n"]:
    """Returns KL(Q || p(z | x)) with the error of the published figures, to compare with them.

    Where twins are gathered there, the log-weights of all other programs are multiplied by zero
    rather than set to minus infinity, so that each adds one to the gathered weight.
    """

    def gathered(programs: Array, log_weight: Float[Array, "k"]) -> Float[Array, "k"]:
        same = jax.vmap(jax.vmap(same_program, (None, 0)), (0, None))(programs, programs)
        return jax.nn.logsumexp(jnp.where(same, log_weight, 0.0), axis=1)

    log_q = jax.vmap(gathered)(q.programs, q.log_weight)
    log_true = score(model, q.programs, data.x, data.c) - log_marginal[:, None]
    weight = jnp.exp(q.log_weight)
    return jnp.sum(jnp.where(weight > 0, weight * (log_q - log_true), 0.0), axis=1)


def _summary(values: Float[Array, "s"]) -> list[float]:
    """Returns the first quartile, the median and the third quartile."""
    return [round(float(v), 4) for v in np.quantile(np.asarray(values), [0.25, 0.5, 0.75])]


def _example(algorithm: Algorithm, state: State, data: Observations, rows: list[int]) -> dict[str, Any]:
    """Returns the first seed's best clustering of some groups, and its Sigma, for the figure."""
    first = jax.tree.map(lambda a: a[0] if eqx.is_array(a) else a, state)
    some = data[jnp.asarray(rows)]
    q = algorithm.posterior(jax.random.key(2), first, Batch(jnp.asarray(rows), some.x, some.c))
    best = jnp.argmax(q.log_weight, axis=1)
    z = jax.vmap(lambda p, k: p[k])(q.programs, best)
    sigma = np.asarray(first.model.evaluator.sigma).round(5).tolist()
    return {"sigma": sigma, "rows": rows, "z": z.tolist()}


def _telling(truth: Model, table: Array, data: Observations, count: int = 4) -> list[int]:
    """Returns the groups whose true posterior has the most clusters: those that are hard to get right."""
    best = table[jnp.argmax(exact_joint(truth, table, data), axis=1)]
    return np.argsort(-np.asarray(best).max(axis=1), kind="stable")[:count].tolist()


EXPERIMENTS = {"clusters": reproduce, "sparsity": reproduce_sparsity}
