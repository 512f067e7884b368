"""The paper's appendix: kernels of time series. Joint learning on the UCR archive, recovery, and extrapolation."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from wakesleep.core.algorithms import State
from wakesleep.core.evaluate import importance
from wakesleep.core.memory import Memory, posterior
from wakesleep.core.model import Model, Observations
from wakesleep.domains.timeseries.data import CLASSIC, Settings, draw, true_variables
from wakesleep.domains.timeseries.evaluator import begin
from wakesleep.domains.timeseries.expressions.knowledge import fitted_to, shipped
from wakesleep.domains.timeseries.expressions.search import Effort, search
from wakesleep.domains.timeseries.expressions.search import fit as fit_batch
from wakesleep.domains.timeseries.language import PAPER_KERNELS, Kernel, text_of
from wakesleep.paper.cells import every_cell, train_cell
from wakesleep.paper.forecasts import METHODS, PEERS, measure, peers_installed
from wakesleep.paper.results import Row, complete

SERIES_SHOWN = 12
"""Series whose expressions are kept, with the Gaussian of each, so that the figure can be drawn from the results."""

RECOVERY_TOLERANCE_NATS = 0.5
"""Nats by which the fit in the memory may fall short of one that begins at the truth."""


@dataclass(frozen=True)
class Plan:
    """The size of an experiment."""

    steps: int = 25
    seeds: int = 1
    series: int = 100
    points: int = 64
    batch_size: int = 20
    learning_rate: float = 3e-3
    fit_steps: int = 12
    """Iterations of each fit: with the differences and the ten points, 35 likelihood evaluations for a program."""
    ks: tuple[int, ...] = (10,)
    algorithms: tuple[str, ...] = ("MWS", "RWS", "VIMCO")
    recovered: int = 40
    rounds: int = 8
    """Rounds of search for a series that is explained."""
    classic: tuple[str, ...] = CLASSIC
    tested: int = 100
    """Series on which algorithms without a memory are given five times the proposals after training."""


FULL = {
    "timeseries": Plan(),
    "timeseries-ucr": Plan(steps=1000, seeds=3, series=1000, points=256, recovered=0, classic=()),
}
QUICK = {
    "timeseries": Plan(steps=10, series=20, recovered=3, rounds=3, classic=("airline", "sunspots")),
    "timeseries-ucr": Plan(steps=4, seeds=1, series=20, points=64, recovered=0, classic=(), tested=10),
}


def reproduce(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills timeseries.json: a row for each series and method, each algorithm and each recovery; returns its rows."""
    methods = [*METHODS, *(PEERS if peers_installed() else ())]
    if not peers_installed():
        report("statsforecast is not installed (pip install 'wakesleep[peers]'): its rows are left out")
    cells: list[Row] = [{"what": "extrapolation", "series": s, "method": m} for s in plan.classic for m in methods]
    cells += bound_cells(plan)
    cells += [{"what": "recovery", "series": i, "points": 256} for i in range(plan.recovered)]
    shared = {"rounds": plan.rounds, "learning_rate": plan.learning_rate}
    return complete(output / "timeseries.json", shared, cells, lambda cell: _cell(cell, plan), report)


def reproduce_archive(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills timeseries-ucr.json, the appendix's experiment at its size: a row for each algorithm and seed."""
    shared = {"learning_rate": plan.learning_rate}
    return complete(
        output / "timeseries-ucr.json", shared, bound_cells(plan), lambda cell: bound(cell, plan, shown=False), report
    )


def bound_cells(plan: Plan) -> list[Row]:
    """Returns a cell for each algorithm and seed that learns from the archive."""
    learned = {"series": plan.series, "points": plan.points, "batch_size": plan.batch_size, "fit_steps": plan.fit_steps}
    return [{"what": "bound"} | cell | learned for cell in every_cell(plan)]


def _cell(cell: Row, plan: Plan) -> Row:
    if cell["what"] == "extrapolation":
        return measure(cell["series"], cell["method"], plan.rounds)
    return recovery(cell["series"]) if cell["what"] == "recovery" else bound(cell, plan)


def recovery(number: int, points: int = 256) -> Row:
    """Returns a row: whether the true expression of a drawn series, or a better one, is found with the usual effort."""
    tokens, data = draw(jax.random.key(100 + number), 6, points)
    which = number % 6
    x = jax.tree.map(lambda a: a[which], data.x)
    effort = Effort()
    model = fitted_to(shipped().model, True, effort.steps)
    found = search(jax.random.key(number), model, x, effort)
    names = [tuple(np.asarray(f.z.tokens).tolist()) for f in found]
    truth = tuple(np.asarray(tokens[which]).tolist())
    score = true_score(model, tokens[which], x, number)
    present = truth in names
    fitted = present and found[names.index(truth)].log_joint > score - RECOVERY_TOLERANCE_NATS
    return {
        "truth": text_of(truth),
        "best": text_of(names[0]),
        "rank": names.index(truth) + 1 if present else None,
        "true_log_joint": round(score, 3),
        "best_log_joint": round(found[0].log_joint, 3),
        "recovered": bool(fitted or found[0].log_joint > score),
    }


def true_score(model: Model, tokens: jax.Array, x: object, number: int) -> float:
    """Returns log p(z, x) of the true expression, fitted from the variables that the series was drawn with."""
    theta = true_variables(jax.random.key(100 + number), 6)[number % 6]
    one = jax.tree.map(lambda a: a[None, None], begin(tokens, theta))
    filled = jax.tree.map(lambda a: jnp.repeat(a, Effort().batch, axis=1), one)
    batch = jax.tree.map(lambda a: a[None], x)
    z, _ = fit_batch(model, filled, batch)
    return float(fit_batch(model, z, batch)[1][0, 0])


def bound(cell: Row, plan: Plan, shown: bool = True) -> Row:
    """Trains one algorithm on the archive, in the paper's language, and returns its bounds on the same series."""
    settings = Settings(
        series="ucr",
        observations=plan.series,
        points=plan.points,
        kernels=PAPER_KERNELS,
        scaled=False,
        fit_steps=plan.fit_steps,
    )
    job, state, found = train_cell("timeseries", settings, cell, plan)
    curve = [[step, round(bound, 2)] for step, bound in found]
    final = _final(state, job.dataset.train, cell["K"], plan.tested, SERIES_SHOWN * shown)
    return {"curve": curve, **final, "likelihoods": _likelihoods(cell, plan)}


def _likelihoods(cell: Row, plan: Plan) -> int:
    """Returns the likelihood evaluations for a series: K programs a visit, each fitted, differenced and integrated."""
    visits = cell["steps"] * plan.batch_size / plan.series
    return round(visits * cell["K"] * (plan.fit_steps + 1 + 12 + 10))


def _final(state: State, data: Observations, k: int, tested: int, shown: int) -> Row:
    """Returns bounds on the first `tested` series from K more proposals each and from 5 K, remembered programs summed.

    Rows are drawn at random, so a short run never visits some series and their memories are empty: these are counted,
    and the bound of the memory alone is the mean over the others.
    """
    some = jax.tree.map(lambda a: a[:tested], data)
    memory = None if state.memory is None else jax.tree.map(lambda a: a[:tested], state.memory)
    known: Memory | bool = memory or False
    log_p = importance(jax.random.key(7), state.model, some, k, chunk=k, known=known).log_p
    more = importance(jax.random.key(8), state.model, some, 5 * k, chunk=k, known=known).log_p
    found = _spread(log_p) | {"bound_5k": _spread(more)["bound"]}
    if state.memory is None:
        return found
    summed = np.asarray(jax.nn.logsumexp(state.memory.log_joint, axis=1))
    remembered = _spread(summed)
    every = jax.tree.map(np.asarray, state.memory)
    kept = [_shown(every, row) for row in range(min(shown, len(data)))]
    found |= {"remembered": remembered["bound"], "without_program": remembered["unexplained"]}
    return found | ({"shown": kept} if kept else {})


def _spread(log_p: np.ndarray) -> Row:
    """Returns the mean over the series that some program explains, its standard error, and how many none explains."""
    possible = log_p[~np.isneginf(log_p)]  # NaN counts as possible, so that it is seen and not hidden
    if not len(possible):
        return {"bound": None, "bound_error": None, "unexplained": len(log_p)}
    error = float(np.std(possible) / np.sqrt(len(possible)))
    found = {"bound": round(float(np.mean(possible)), 3), "bound_error": round(error, 3)}
    return found | {"unexplained": len(log_p) - len(possible)}


def _shown(memory: Memory, row: int) -> Row:
    """Returns the best program of a series, with the Gaussian that it carries."""
    z: Kernel = jax.tree.map(lambda a: a[row, 0], memory.programs)
    weight = float(np.exp(posterior(Memory(memory.programs, jnp.asarray(memory.log_joint))).log_weight[row, 0]))
    numbers = {"mean": np.round(z.mean, 4).tolist(), "root": np.round(z.root, 5).tolist()}
    return {"expression": text_of(np.asarray(z.tokens).tolist()), "probability": round(weight, 3), **numbers}


EXPERIMENTS = {"timeseries": reproduce, "timeseries-ucr": reproduce_archive}
