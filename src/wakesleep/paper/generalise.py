"""Strings again, for new concepts: a prior with dropout, stray strings, and steps chosen on concepts left out.

Every algorithm has the same sleep, dropout, strays and rule for stopping. Of the 1,000 background concepts one in ten
is left out of training; at each tenth of the way the NLL of their strings is measured, and the state at which it was
least is kept. What is reported are the other 900 concepts, by strings that were held out, and the novel concepts.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Key

from wakesleep.core import memory as mem
from wakesleep.core.algorithms import State
from wakesleep.core.fit import copied, fit
from wakesleep.core.keys import fused
from wakesleep.core.model import Model, Observations
from wakesleep.core.pretrain import pretrain
from wakesleep.domains.strings.data import Concept, Settings, build, concepts, observe
from wakesleep.paper import strings
from wakesleep.paper.cells import every_cell, make, own_sizes
from wakesleep.paper.controls import with_templates
from wakesleep.paper.paired import pack
from wakesleep.paper.results import Row, complete

LEFT_OUT_EVERY = 10
"""One in so many background concepts is left out of training, to choose the number of steps on."""
CHOOSING_WAKES = 10
"""Wake phases, at most, of the search by which the number of steps is chosen: it is made ten times in a cell."""
FLATNESS_CELL = (0, 5)
"""Seed and K of the cells in which ever more proposals are compared."""
ASLEEP = "without learning"
"""The control that is not trained: recognition has slept, and the search revises as for all others."""
MEASURES = ("nll", "nll_given", "nll_given_first")
"""NLL of five held-out strings: alone; given five, over all programs found; given five, over those found for them."""


@dataclass(frozen=True)
class Plan(strings.Plan):
    """The size of an experiment."""

    dropout: float = 0.5
    stray: float = 0.02
    stray_learned: bool = False
    """Learned, the rate of RWS runs to its bound of .2, to its own harm: see strings-ablations."""
    seeds: int = 3
    wakes: int = 40
    """Chosen on the concepts left out: after 10, their strings given five still gain 1.5 nats and more by 40."""
    flatness: tuple[int, ...] = (200, 1000)
    """Compared in one seed and K alone: it costs as much as the rest of an evaluation."""
    few: int = 100
    ks: tuple[int, ...] = (5, 2, 3, 10)
    algorithms: tuple[str, ...] = (
        "RWS",
        "MWS-revise+both",
        "MWS-tail+fantasy",
        "RWS+fantasy",
        "VIMCO",
        "MWS-tail+both",
        "MWS",
    )


FULL = {
    "strings-generalise": Plan(),
    "strings-ablations": Plan(seeds=1, ks=(5,), algorithms=("MWS-revise+both", "RWS"), wakes=10),
    "strings-controls": Plan(seeds=1, ks=(5,), algorithms=(ASLEEP, "RWS-templates")),
}
QUICK_PLAN = Plan(steps=100, pretrain=20, seeds=1, ks=(5,), algorithms=("MWS", "RWS"), **strings.SMALL_EVALUATION)  # type: ignore[arg-type]
QUICK = {
    "strings-generalise": QUICK_PLAN,
    "strings-ablations": replace(QUICK_PLAN, algorithms=("MWS",)),
    "strings-controls": replace(QUICK_PLAN, algorithms=(ASLEEP, "RWS-templates")),
}
ABLATIONS = ((0.5, 0.02, True), (0.0, 0.0, False), (0.5, 0.0, False), (0.0, 0.02, False))
"""Dropout, stray rate at the start, and whether it is learned: what the main table has, in part."""


class Parts(NamedTuple):
    """The concepts by their use."""

    trained: list[Concept]
    left_out: list[Concept]
    novel: list[Concept]


def parts() -> Parts:
    """The background concepts that are trained on, those left out, and the novel ones."""
    background = concepts("paper")
    out = [c for i, c in enumerate(background) if i % LEFT_OUT_EVERY == LEFT_OUT_EVERY - 1]
    kept = [c for i, c in enumerate(background) if i % LEFT_OUT_EVERY != LEFT_OUT_EVERY - 1]
    return Parts(kept, out, concepts("novel"))


def reproduce(output: Path, plan: Plan, report: Callable = print, name: str = "strings-generalise") -> list[Row]:
    """Two rows for each algorithm, K and seed, kept in strings-generalise.json."""
    shared = strings.shared_settings(plan)
    return complete(output / f"{name}.json", shared, every_cell(plan), lambda c: _cell(c, plan), report)


def reproduce_controls(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """The same without learning, and for RWS with templates among its proposals, kept in strings-controls.json."""
    return reproduce(output, plan, report, "strings-controls")


def reproduce_ablations(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """The same with a learned stray rate, without strays and without dropout, kept in strings-ablations.json."""
    settings = ("dropout", "stray", "stray_learned")
    shared = {k: v for k, v in strings.shared_settings(plan).items() if k not in settings}
    cells = [cell | dict(zip(settings, one, strict=True)) for one in ABLATIONS for cell in every_cell(plan)]
    compute = lambda c: _cell(c, replace(plan, **{k: c[k] for k in settings}))  # noqa: E731
    return complete(output / "strings-ablations.json", shared, cells, compute, report)


def _cell(cell: Row, plan: Plan) -> list[Row]:
    """Trains one seed, keeps the best state by the concepts left out, and evaluates it on both splits."""
    found = parts()
    trained = train(cell, plan, found)
    plan = plan if (cell["seed"], cell["K"]) == FLATNESS_CELL else replace(plan, flatness=())
    first = scores(trained.model, found.trained, plan) | {"split": "background"} | trained.notes
    return [first, scores(trained.model, found.novel, plan) | {"split": "novel"}]


class Trained(NamedTuple):
    """The model that was kept, and how it came about."""

    model: Model
    notes: Row


def train(cell: Row, plan: Plan, found: Parts) -> Trained:
    """The model at the tenth of the way at which the NLL of the concepts left out was least."""
    settings = _settings(plan)
    data = observe((c.train for c in found.trained), settings)
    unseen = observe((c.train for c in found.left_out), replace(settings, longest=strings.LONGEST_NOVEL_STRING))
    slept = _slept(replace(plan, steps=0, seeds=1, ks=(), algorithms=()), cell["seed"])
    if cell["algorithm"] == ASLEEP:
        return Trained(slept, {"kept": 0, "left_out": [], "curve": [], "train_cpu_seconds": 0.0})
    algorithm = make(cell["algorithm"], optax.adam(plan.learning_rate), cell["K"], own_sizes(cell))
    _, key = jax.random.split(fused(jax.random.key(cell["seed"])))
    state = algorithm.init(with_templates(slept) if cell["algorithm"] == "RWS-templates" else slept, data)
    every = max(cell["steps"] // 10, 1)
    choice, curve, seconds, start = _Choice(), [], 0.0, time.process_time()
    steps = fit(algorithm, state, data, key=key, steps=cell["steps"], batch_size=plan.batch_size, every=every)
    for state, info in steps:
        if int(state.step) % every == 0:
            seconds += time.process_time() - start
            curve.append([int(state.step), round(float(info.bound), 3), round(seconds, 1)])
            choice.see(state, left_out_nll(state.model, unseen, plan))
            start = time.process_time()
    assert choice.model is not None
    notes = {"kept": choice.step, "left_out": choice.seen, "curve": curve, "train_cpu_seconds": round(seconds, 1)}
    strays = choice.model.evaluator.strays  # type: ignore[attr-defined]
    return Trained(choice.model, notes | ({} if strays is None else {"stray_rate": round(float(strays.rate), 4)}))


class _Choice:
    """The model with the least NLL of the concepts left out, among those seen."""

    def __init__(self) -> None:
        self.model: Model | None = None
        self.step = 0
        self.seen: list[list[float]] = []

    def see(self, state: State, nll: float) -> None:
        """Keeps a copy of the model if it is the best so far."""
        if all(nll < other for _, other in self.seen):
            self.model, self.step = copied(state).model, int(state.step)
        self.seen.append([int(state.step), round(nll, 3)])


def left_out_nll(model: Model, unseen: Observations, plan: Plan) -> float:
    """The mean NLL of the strings of the concepts left out, by the programs that a search finds for them."""
    known = strings.search(
        fused(jax.random.key(6)), model, unseen, replace(plan, wakes=min(plan.wakes, CHOOSING_WAKES))
    )
    return -float(jnp.mean(mem.bound(known.log_joint)))


def _settings(plan: Plan) -> Settings:
    return Settings(
        "paper",
        hidden=plan.hidden,
        length=plan.length,
        dropout=plan.dropout,
        stray=plan.stray,
        stray_learned=plan.stray_learned,
    )


@lru_cache(maxsize=4)
def _slept(plan: Plan, seed: int) -> Model:
    """The model of a seed with recognition that has slept: the same for all algorithms, so made once."""
    settings = _settings(plan)
    data = observe((c.train for c in parts().trained), settings)
    key: Key[Array, ""] = jax.random.split(fused(jax.random.key(seed)))[0]
    model = build(key, settings, data)
    if not plan.pretrain:
        return model
    sizes = (plan.pretrain, plan.batch_size, plan.learning_rate)
    slept = pretrain(jax.random.fold_in(key, 1), model, data, *sizes)
    return jax.tree.map(lambda a: jnp.asarray(np.asarray(a)) if eqx.is_array(a) else a, slept)


def scores(model: Model, found: list[Concept], plan: Plan) -> Row:
    """The means of what is measured, and the numbers of each concept."""
    made, flat = strings.likelihoods(model, found, plan)
    items: dict[str, Any] = {"nll": -made.alone.log_p, "nll_given": -made.given, "nll_given_first": -made.given_first}
    means = {name: round(float(np.mean(values)), 3) for name, values in items.items()}
    checks = {
        "nll_error": round(made.alone.standard_error, 3),
        "nll_memory": round(-float(np.mean(made.memory)), 3),
        "effective": round(float(np.mean(made.alone.effective)), 1),
        "doubtful": int(np.sum(made.alone.doubtful)),
    }
    return means | checks | {"flatness": flat, "items": {name: pack(values) for name, values in items.items()}}


EXPERIMENTS = {
    "strings-generalise": reproduce,
    "strings-ablations": reproduce_ablations,
    "strings-controls": reproduce_controls,
}
