"""Series whose continuous variables are integrated out: hybrid memoised wake-sleep beside its rivals.

Every algorithm has the same hybrid model, the same number of evaluations of p(x | variables) for a series and step,
and the same steps. A model is judged by importance samples of its own recognition, ever more of them, on the series
that it was trained on and on others drawn alike.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import jax

from wakesleep.core.importance import importance
from wakesleep.core.keys import fused
from wakesleep.core.model import Model, Observations
from wakesleep.domains.timeseries.data import Settings, draw
from wakesleep.domains.timeseries.language import PAPER_KERNELS
from wakesleep.paper.cells import every_cell, train_cell
from wakesleep.paper.results import Row, complete


@dataclass(frozen=True)
class Plan:
    """The size of an experiment."""

    steps: int = 2000
    seeds: int = 3
    series: int = 60
    points: int = 48
    batch_size: int = 20
    learning_rate: float = 3e-3
    ks: tuple[int, ...] = (100,)
    """Evaluations of p(x | variables) for a series in a step."""
    algorithms: tuple[str, ...] = ("HMWS", "RWS", "HMWS-logsumexp", "MWS")
    samples: tuple[int, ...] = (100, 1000)
    """Importance samples by which a model is judged."""


HYBRID = "timeseries-hybrid"
"""The name of the experiment and of its results file."""
FULL = {HYBRID: Plan()}
QUICK = {HYBRID: Plan(steps=20, seeds=1, series=6, points=16, algorithms=("HMWS", "RWS"), samples=(10, 20))}


def reproduce(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills timeseries-hybrid.json: a row for each algorithm and seed; returns its rows."""
    shared = {k: v for k, v in asdict(plan).items() if k not in ("steps", "seeds", "ks", "algorithms")}
    shared |= {"samples": list(plan.samples)}
    return complete(output / f"{HYBRID}.json", shared, every_cell(plan), lambda cell: _cell(cell, plan), report)


def _cell(cell: Row, plan: Plan) -> Row:
    """Trains one seed and returns its bounds on both sets of series."""
    settings = Settings(
        observations=plan.series, points=plan.points, kernels=PAPER_KERNELS, scaled=False, length=7, hybrid=True
    )
    job, state, curve = train_cell("timeseries", settings, cell, plan)
    unseen = draw(jax.random.key(settings.data_seed + 1), plan.series, plan.points)[1]
    row: Row = {"curve": [[step, round(bound, 2)] for step, bound in curve]}
    for split, data in (("trained", job.dataset.train), ("new", unseen)):
        row |= {f"{split}_{count}": bound_of(state.model, data, count) for count in plan.samples}
    return row


def bound_of(model: Model, data: Observations, count: int) -> float:
    """Returns the mean log p(x) of the series, by that many importance samples for each."""
    key = fused(jax.random.key(11))
    return round(importance(key, model, data, count, chunk=min(count, 100), known=False).mean, 3)


EXPERIMENTS = {HYBRID: reproduce}
