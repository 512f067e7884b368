"""What the tables of all domains share: the algorithms by the names they have there, and the training of a cell."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

import optax

from wakesleep.core.algorithms import Algorithm, State
from wakesleep.running.config import Config, make_algorithm
from wakesleep.running.train import Job, Progress, prepare, train

CURVE_POINTS = 10
"""How often the bound of a cell is kept, at equal distances."""


def split(k: int) -> tuple[int, int]:
    """Returns M and R of K = M + R with M = R, the odd one to the memory."""
    return k - k // 2, k // 2


def halves(k: int) -> dict[str, int]:
    """Returns the sizes of MWS: M and R of `split`."""
    return dict(zip(("memory_size", "proposals"), split(k), strict=True))


def drawn(k: int) -> dict[str, int]:
    """Returns the size of an algorithm without memory."""
    return {"particles": k}


def filled(k: int) -> dict[str, int]:
    """Returns the sizes of hybrid MWS for K evaluations: M = R = 5, and K / 10 draws of the floats of each."""
    return {"memory_size": 5, "proposals": 5, "fillings": k // 10}


class Variant(NamedTuple):
    """A row of a table: an algorithm of `running.config`, its sizes for K, and options that differ from defaults."""

    algorithm: str
    sizes: Callable[[int], dict[str, int]]
    options: dict[str, Any]

    def choices(self, k: int) -> dict[str, Any]:
        """Returns the fields of `Config` that make it, with K joint evaluations for an observation and step."""
        return {"algorithm": self.algorithm} | self.sizes(k) | self.options


VARIANTS = {
    "MWS": Variant("mws-paper", halves, {}),
    "MWS+both": Variant("mws-both", halves, {"tail": False}),
    "MWS-tail": Variant("mws-replay", halves, {"tail": True}),
    "MWS-tail+both": Variant("mws-both", halves, {"tail": True}),
    "MWS-tail+fantasy": Variant("mws-fantasy", halves, {"tail": True}),  # the default of `mws`
    "MWS-tail+sparing": Variant("mws-sparing", halves, {"tail": True}),
    "MWS-revise+both": Variant("mws-both", halves, {"revise": 0.5, "tail": False}),
    "MWS-tail+revise+both": Variant("mws-both", halves, {"revise": 0.5, "tail": True}),
    "MWS-tail+revise+fantasy": Variant("mws-fantasy", halves, {"revise": 0.5, "tail": True}),
    "MWS-expected": Variant("mws-replay", halves, {"replay": "expected", "tail": False}),
    "MWS-explore": Variant("mws-replay", halves, {"explore": 0.1, "tail": False}),
    "MWS-revise": Variant("mws-replay", halves, {"revise": 0.5, "tail": False}),
    "MWS-fantasy": Variant("mws-fantasy", halves, {"tail": False}),
    "MWS (M = K, R = 1)": Variant("mws-replay", lambda k: {"memory_size": k, "proposals": 1}, {"tail": False}),
    "RWS": Variant("rws", drawn, {}),
    "RWS-sleep": Variant("rws-sleep", drawn, {}),
    "RWS+fantasy": Variant("rws-both", drawn, {}),
    "RWS-templates": Variant("rws", drawn, {}),  # strings alone: half of its proposals are templates
    "VIMCO": Variant("vimco", drawn, {}),
    "HMWS": Variant("hmws", filled, {}),
    "HMWS-logsumexp": Variant("hmws-logsumexp", filled, {}),
}


def make(name: str, optimiser: optax.GradientTransformation, k: int, sizes: dict[str, int] | None = None) -> Algorithm:
    """Returns an algorithm by its name in tables, for K joint evaluations, with an optimiser of one's own."""
    return make_algorithm(Config("", **(VARIANTS[name].choices(k) | (sizes or {}))), optimiser)


def every_cell(plan: Any) -> list[dict[str, Any]]:
    """Returns a cell for each seed, K and algorithm of a plan."""
    return [
        {"algorithm": a, "K": k, "seed": s, "steps": plan.steps}
        for s in range(plan.seeds)
        for k in plan.ks
        for a in plan.algorithms
    ]


def own_sizes(cell: dict[str, Any]) -> dict[str, int]:
    """Returns M and R where a cell has them; else they follow from its K."""
    return {name: cell[letter] for letter, name in (("M", "memory_size"), ("R", "proposals")) if letter in cell}


def prepare_cell(domain: str, settings: Any, cell: dict[str, Any], plan: Any, every: int, **more: Any) -> Job:
    """Returns the job of a cell: the plan's batch size and learning rate, the cell's algorithm, K, steps, seed."""
    sizes = {name: getattr(plan, name) for name in ("batch_size", "learning_rate")}
    config = Config(
        domain,
        steps=cell["steps"],
        seed=cell.get("seed", 0),
        checkpoint_every=max(every, 1),
        settings=asdict(settings),
        **(VARIANTS[cell["algorithm"]].choices(cell["K"]) | own_sizes(cell)),
        **sizes,
        **more,
    )
    return prepare(config)


def train_cell(
    domain: str,
    settings: Any,
    cell: dict[str, Any],
    plan: Any,
    watch: Callable[[int], Any] = lambda step: None,
    **more: Any,
) -> tuple[Job, State, list[tuple[int, float]]]:
    """Returns the job of one seed, its last state, and its bound at each tenth; `watch` gets the steps done."""
    every = max(cell["steps"] // CURVE_POINTS, 1)
    job, curve = prepare_cell(domain, settings, cell, plan, every, **more), []

    def report(now: Progress) -> None:
        watch(now.step)
        if now.step % every == 0:
            curve.append((now.step, now.bound))

    return job, train(job, None, job.start(), report), curve
