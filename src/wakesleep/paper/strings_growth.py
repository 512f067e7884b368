"""Strings for new concepts, grown: the size of the memory and of the proposals apart, and the number of concepts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from wakesleep.domains.strings.data import concepts
from wakesleep.paper import generalise, strings
from wakesleep.paper.generalise import Parts
from wakesleep.paper.results import Row, complete


@dataclass(frozen=True)
class Plan(generalise.Plan):
    """The size of an experiment."""

    steps: int = 3000
    seeds: int = 1
    ks: tuple[int, ...] = (10,)
    algorithms: tuple[str, ...] = ("MWS-tail+both",)
    sizes: tuple[int, ...] = (1, 5, 20)
    """M and R."""
    trained: tuple[int, ...] = (100, 300, 900, 2700)
    """The numbers of concepts that are trained on."""


FULL = {"strings-memory": Plan(), "strings-concepts": Plan(algorithms=("MWS-tail+both", "RWS"))}
SMALL_GROWTH_PLAN = Plan(steps=100, pretrain=20, sizes=(1, 5), trained=(100, 300), **strings.SMALL_EVALUATION)  # type: ignore[arg-type]
QUICK = dict.fromkeys(FULL, SMALL_GROWTH_PLAN)


def reproduce_memory(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills strings-memory.json: a row for each algorithm, M and R, of novel concepts; returns its rows."""
    cells = [
        {"algorithm": a, "M": m, "R": r, "K": m + r, "seed": s, "steps": plan.steps}
        for s, a, m, r in product(range(plan.seeds), plan.algorithms, plan.sizes, plan.sizes)
    ]
    compute = lambda cell: _novel(cell, plan, generalise.parts())  # noqa: E731
    return complete(output / "strings-memory.json", _shared(plan), cells, compute, report)


def reproduce_concepts(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills strings-concepts.json: a row for each algorithm and number of concepts, of novel ones; returns its rows."""
    cells = [
        {"algorithm": a, "K": k, "N": n, "seed": s, "steps": plan.steps}
        for s, k, a, n in product(range(plan.seeds), plan.ks, plan.algorithms, plan.trained)
    ]
    compute = lambda cell: _novel(cell, plan, first_concepts(cell["N"]))  # noqa: E731
    return complete(output / "strings-concepts.json", _shared(plan), cells, compute, report)


def _shared(plan: Plan) -> dict[str, Any]:
    """Returns the settings that all cells of a table share."""
    return {k: v for k, v in strings.shared_settings(plan).items() if k not in ("sizes", "trained")}


def _novel(cell: Row, plan: Plan, found: Parts) -> Row:
    """Trains on those concepts and returns the numbers of the novel ones, with those of the concepts left out."""
    trained = generalise.train(cell, plan, found)
    return generalise.scores(trained.model, found.novel, replace(plan, flatness=())) | trained.notes


def first_concepts(count: int) -> Parts:
    """Returns the parts with the first `count` concepts to train on: those of the paper, then the larger collection's.

    The concepts left out, by which steps are chosen, and the novel ones are the same for every count; a concept of the
    larger collection that has a string of one of these is not taken.
    """
    found = generalise.parts()
    apart = {text for c in (*found.left_out, *found.novel) for text in (*c.train, *c.test)}
    paper = {tuple(c.train) for c in found.trained}
    more = [c for c in concepts("large") if tuple(c.train) not in paper and not apart & {*c.train, *c.test}]
    return found._replace(trained=[*found.trained, *more][:count])


EXPERIMENTS = {"strings-memory": reproduce_memory, "strings-concepts": reproduce_concepts}
