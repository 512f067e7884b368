"""Section 4.4 and the supplement's table: noisy cellular automata, and a variant whose neighbourhood is unknown."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from wakesleep.core.algorithms import Algorithm, State
from wakesleep.core.memory import Weighted
from wakesleep.core.model import Batch
from wakesleep.domains.automata.data import Settings, load, true_rules
from wakesleep.domains.automata.evaluator import Picture, narrow
from wakesleep.domains.automata.language import Rule, widen
from wakesleep.paper.cells import prepare_cell
from wakesleep.paper.results import Row, complete
from wakesleep.running.train import steps as train_steps

BEST = "MWS-tail+revise+fantasy"
"""The default with a share of the proposals that turn one outcome of a remembered rule over."""
AUTOMATA_BASELINES = ("counting", "Beta-Bernoulli")
HOLD = 0.7
"""The share of the steps for which the learning rate is held; it then falls, so that phi settles."""

# The paper's distances, in percentage points, by task, algorithm and K.
PAPER = {
    "easy": {
        "RWS": {2: 0.74, 3: 0.51, 5: 0.17, 10: 0.09},
        "RWS-sleep": {2: 3.39, 3: 3.64, 5: 2.84, 10: 3.12},
        "VIMCO": {2: 1.31, 3: 1.05, 5: 0.66, 10: 0.37},
        "MWS": {2: 0.01, 3: 0.01, 5: 0.02, 10: 0.02},
        "MWS-fantasy": {2: 0.01, 3: 0.01, 5: 0.01, 10: 0.01},
    },
    "hard": {
        "RWS": {2: 10.27, 3: 5.55, 5: 3.44, 10: 2.43},
        "RWS-sleep": {2: 23.07, 3: 20.54, 5: 18.05, 10: 15.53},
        "VIMCO": {2: 5.98, 3: 3.39, 5: 2.15, 10: 1.26},
        "MWS": {2: 1.24, 3: 1.15, 5: 0.90, 10: 0.75},
        "MWS-fantasy": {2: 5.98, 3: 5.12, 5: 4.80, 10: 4.24},
    },
}


@dataclass(frozen=True)
class Plan:
    """The size of an experiment."""

    steps: int = 16_000
    seeds: int = 3
    tasks: tuple[str, ...] = ("easy", "hard")
    easy: float = 3 / 8
    """The easy task's share of the steps, since it is learned sooner."""
    observations: int = 2000
    batch_size: int = 50
    learning_rate: float = 5e-3
    """One for all algorithms: constant for 70 % of the steps, then falling to a hundredth in a straight line."""
    data_seed: int = 0
    ks: tuple[int, ...] = (2, 3, 5, 10)
    algorithms: tuple[str, ...] = ("MWS", "RWS", "VIMCO", "MWS-expected", "MWS-fantasy", "RWS-sleep", BEST)


MAIN_ALGORITHMS = ("MWS", "RWS", "VIMCO")
FULL = {
    "automata": Plan(),
    "automata-counts": Plan(4000, easy=1.0, ks=(2, 10), algorithms=MAIN_ALGORITHMS),
    "automata-unknown": Plan(4000, tasks=("unknown",), ks=(2, 10), algorithms=MAIN_ALGORITHMS, observations=1000),
}
QUICK = {
    "automata": Plan(4000, seeds=2, ks=(2, 10), algorithms=MAIN_ALGORITHMS),
    "automata-counts": Plan(500, seeds=2, easy=1.0, ks=(2,), algorithms=MAIN_ALGORITHMS, observations=500),
    "automata-unknown": Plan(500, seeds=1, tasks=("unknown",), ks=(10,), algorithms=("MWS",), observations=200),
}


def reproduce(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills automata.json, the tables of section 4.4, and returns its rows."""
    return _reproduce(output / "automata.json", plan, "image", report)


def reproduce_counts(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills automata-counts.json, with recognition from counts instead of images, and returns its rows."""
    return _reproduce(output / "automata-counts.json", plan, "counts", report)


def reproduce_unknown(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills automata-unknown.json, where the neighbourhood is part of the program, and returns its rows."""
    return _reproduce(output / "automata-unknown.json", plan, "counts", report)


def _reproduce(path: Path, plan: Plan, recognition: str, report: Callable) -> list[Row]:
    cells: list[Row] = [
        {"task": t, "algorithm": a, "K": k, "seeds": plan.seeds, "steps": steps_of(t, plan)}
        for a in plan.algorithms
        for t in plan.tasks
        for k in plan.ks
    ]
    baselines: list[Row] = [{"task": task, "algorithm": a} for task in plan.tasks for a in AUTOMATA_BASELINES]
    names = ("observations", "batch_size", "learning_rate", "data_seed")
    shared = {name: getattr(plan, name) for name in names}
    shared |= {"noise": 0.02, "height": 64, "width": 64, "recognition": recognition, "prior": "uniform"}

    def compute(cell: Row) -> Row:
        settings = settings_of(cell["task"], plan, recognition)
        return _baseline(cell, settings) if "K" not in cell else _cell(cell, plan, settings)

    return complete(path, shared, [*baselines, *cells], compute, report)


def steps_of(task: str, plan: Plan) -> int:
    """Returns the number of steps of a task."""
    return round(plan.easy * plan.steps) if task == "easy" else plan.steps


def settings_of(task: str, plan: Plan, recognition: str = "image") -> Settings:
    """Returns the domain's settings for a task."""
    return Settings(
        observations=plan.observations,
        neighbours=5 if task == "hard" else 3,
        unknown=task == "unknown",
        data_seed=plan.data_seed,
        recognition=recognition,
    )


def _cell(cell: Row, plan: Plan, settings: Settings) -> Row:
    """Trains all seeds of one cell side by side, and reads them off at the end."""
    job = prepare_cell("automata", settings, cell, plan, every=cell["steps"], hold=HOLD)
    data = job.dataset.train
    state, keys = job.start_seeds(plan.seeds)
    for state, _ in train_steps(job, state, keys=keys):
        pass
    best = found(job.algorithm, state, Batch(jnp.arange(len(data)), data.x))
    paper = PAPER.get(cell["task"], {}).get(cell["algorithm"], {}).get(cell["K"])
    row = summarise(learned_noise(state), best, data.x, settings)
    example = {"noise": row["noise"][0], "rules": best.table[0, :8].tolist()}
    return row | ({"paper": paper} if paper is not None else {}) | {"example": example}


@eqx.filter_jit
def found(algorithm: Algorithm, state: State, batch: Batch) -> Rule:
    """Returns the most probable rule of each image, for each seed."""
    q = eqx.filter_vmap(lambda s: algorithm.posterior(jax.random.key(1), s, batch))(state)
    best: Rule = jax.vmap(jax.vmap(most_probable))(q)
    return best


def learned_noise(state: State) -> Float[np.ndarray, "s"]:
    """Returns phi of each seed."""
    evaluator: Any = state.model.evaluator
    return np.asarray(jax.nn.sigmoid(evaluator.logit))


def most_probable(q: Weighted) -> Rule:
    """Returns the program of greatest weight."""
    rule: Rule = jax.tree.map(lambda a: a[jnp.argmax(q.log_weight)], q.programs)
    return rule


def summarise(noise: Float[np.ndarray, "s"], best: Rule, x: Picture, settings: Settings) -> Row:
    """Returns means and standard deviations over the seeds; `best` is the rule found for each image."""
    distance = 100 * np.abs(noise - settings.noise)
    share = recovered(best, true_rules(settings), x, settings.sizes)
    row = {
        "distance": round(float(distance.mean()), 4),
        "distance_spread": round(float(distance.std(ddof=1)) if distance.size > 1 else 0.0, 4),
        "rules_recovered": round(float(share.mean()), 4),
        "rules_recovered_spread": round(float(share.std(ddof=1)) if share.size > 1 else 0.0, 4),
        "noise": [round(100 * float(v), 4) for v in noise],
    }
    if settings.unknown:
        sizes = np.asarray(best.size == true_rules(settings).size)
        row["sizes_recovered"] = round(float(sizes.mean()), 4)
    return row


def recovered(best: Rule, true: Rule, x: Picture, sizes: tuple[int, ...]) -> Float[np.ndarray, "s"]:
    """Returns the share of images whose rule is right for every pattern that occurs in them."""
    wide = jax.vmap(lambda z: widen(z, sizes))
    found, truth = np.asarray(jax.vmap(wide)(best)), np.asarray(wide(true))
    occurs = np.asarray(x.counts).sum(axis=-1) > 0
    return ((found == truth) | ~occurs).all(axis=-1).mean(axis=-1)


class Solution(NamedTuple):
    """The noise and a rule for each image."""

    noise: float
    rules: Rule


def _baseline(cell: Row, settings: Settings) -> Row:
    x = load(settings).train.x
    found = counting(x, settings.sizes) if cell["algorithm"] == "counting" else exact(x, settings.sizes)
    best = jax.tree.map(lambda a: a[None], found.rules)
    return summarise(np.asarray([found.noise]), best, x, settings)


def counting(x: Picture, sizes: tuple[int, ...]) -> Solution:
    """Returns the majority outcome of each pattern of the widest neighbourhood, and the minority's share as the noise.

    It cannot tell how many neighbours matter: more never fit worse.
    """
    counts = np.asarray(x.counts, np.float64)
    noise = counts.min(axis=-1).sum() / counts.sum()
    table = jnp.asarray(counts[..., 1] > counts[..., 0], jnp.int32)
    return Solution(float(noise), Rule(jnp.full(table.shape[0], sizes[-1]), table))


def exact(x: Picture, sizes: tuple[int, ...], rounds: int = 200) -> Solution:
    """Returns the rules of the exact posterior of size and bits, and the mean of phi's Beta posterior.

    Each is computed given the other, the flat Beta updated with the expected number of flipped cells,
    until they agree.
    """
    parts = [np.asarray(jax.vmap(lambda c, s=s: narrow(c, sizes[-1], s))(x.counts), np.float64) for s in sizes]
    cells, noise = float(parts[0].sum()), 0.2
    for _ in range(rounds):
        flips, evidence = zip(*(expected(c, noise) for c in parts), strict=True)
        log_size = np.stack(evidence, axis=1)
        weight = np.exp(log_size - log_size.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        noise = (1 + (weight * np.stack(flips, axis=1)).sum()) / (2 + cells)
    chosen = weight.argmax(axis=1)
    tables = [np.pad(c[..., 1] > c[..., 0], ((0, 0), (0, 2 ** sizes[-1] - c.shape[1]))) for c in parts]
    table = np.stack(tables, axis=1)[np.arange(len(chosen)), chosen]
    return Solution(float(noise), Rule(jnp.asarray(np.asarray(sizes)[chosen]), jnp.asarray(table, jnp.int32)))


def expected(counts: Float[np.ndarray, "n p 2"], noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Returns for each image the expected number of flipped cells, and log p(x | size) up to a constant."""
    log_odds = np.log1p(-noise) - np.log(noise)
    gain = log_odds * counts  # what each outcome's cells add when they are kept rather than flipped
    total = np.logaddexp(gain[..., 0], gain[..., 1])
    one = np.exp(gain[..., 1] - total)
    flips = one * counts[..., 0] + (1 - one) * counts[..., 1]
    return flips.sum(axis=1), (total - np.log(2.0)).sum(axis=1)


EXPERIMENTS: dict[str, Callable[..., Any]] = {
    "automata": reproduce,
    "automata-counts": reproduce_counts,
    "automata-unknown": reproduce_unknown,
}
