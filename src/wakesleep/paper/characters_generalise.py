"""Section 4.2 again, for drawings not trained on: the same sleep for all, and steps chosen on drawers left out.

Every algorithm starts from the same model, whose recognition has slept. At each tenth of the way the NLL of some
drawings by yet other people is measured, which no table reports, and the model at which it was least is kept. It is
scored on the training characters as drawn by others and on other characters, by a search plus a weighted tail.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Int, Key

from wakesleep.core import memory as mem
from wakesleep.core.algorithms import State
from wakesleep.core.evaluate import importance, remember
from wakesleep.core.fit import copied, fit
from wakesleep.core.keys import fused
from wakesleep.core.model import Model, Observations
from wakesleep.core.pretrain import pretrain
from wakesleep.domains.characters.data import Settings, build, splits
from wakesleep.paper.cells import every_cell, make
from wakesleep.paper.characters import PAPER, bits
from wakesleep.paper.paired import pack
from wakesleep.paper.results import Row, complete

LEARNED_FROM = ("vary", "drawings")
"""Settings of the domain by which the cells of characters-vary differ."""
SPLITS = ("drawers", "characters")
"""What is scored: training characters as drawn by others, and other characters."""
MOST_K_WITH_SEEDS = 10
"""Greater K have one seed."""
REVISED = 0.5
"""The share of the search's proposals that change a program found."""
CHOICES = 10
"""The points on the way at which the drawers left out are scored."""


@dataclass(frozen=True)
class Plan:
    """The size of an experiment."""

    steps: int = 3000
    seeds: int = 3
    batch_size: int = 50
    learning_rate: float = 2e-3
    pretrain: int = 1000
    images: int = 500
    """Images scored of each split, where it has as many."""
    left_out: int = 100
    """Drawings on which the steps are chosen."""
    memory: int = 10
    proposals: int = 50
    wakes: int = 8
    """The search for programs of an image: wake phases of so many proposals."""
    samples: int = 100
    """Proposals of the weighted tail."""
    maps: int = 0
    ks: tuple[int, ...] = (3, 5, 10, 20, 40)
    algorithms: tuple[str, ...] = ("MWS-tail+fantasy", "RWS", "VIMCO", "MWS")


NAME = "characters-generalise"
VARIED_NAME = "characters-vary"
SPREADS_COMPARED, DRAWINGS_COMPARED = (0.0, 1.0), (1, 4)
FULL = {NAME: Plan(), VARIED_NAME: Plan(seeds=2, ks=(5,), algorithms=("MWS-tail+fantasy", "MWS-tail+both"))}
QUICK_UNSEEN = Plan(
    steps=20, seeds=1, batch_size=10, pretrain=5, images=4, left_out=4, memory=4, proposals=10, wakes=2, samples=20,
    ks=(3,), algorithms=("MWS-tail+fantasy", "RWS"),
)  # fmt: skip
QUICK = {NAME: QUICK_UNSEEN, VARIED_NAME: replace(QUICK_UNSEEN, algorithms=("MWS-tail+fantasy",))}


def reproduce(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills characters-generalise.json: a row of each split for each algorithm, K and seed; returns its rows."""
    shared = {k: v for k, v in asdict(plan).items() if k not in ("steps", "seeds", "ks", "algorithms")}
    cells = [c for c in every_cell(plan) if c["seed"] == 0 or c["K"] <= MOST_K_WITH_SEEDS]
    return complete(output / f"{NAME}.json", shared, cells, lambda cell: _cell(cell, plan), report)


def reproduce_vary(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills characters-vary.json: bits a pixel by what recognition learns from, on drawings that no other table has."""
    shared = {k: v for k, v in asdict(plan).items() if k not in ("steps", "seeds", "ks", "algorithms")}
    learned_from = [{"vary": v, "drawings": d} for d in DRAWINGS_COMPARED for v in SPREADS_COMPARED]
    cells = [cell | more for cell in every_cell(plan) for more in learned_from]
    return complete(output / f"{VARIED_NAME}.json", shared, cells, lambda cell: _varied_cell(cell, plan), report)


def _varied_cell(cell: Row, plan: Plan) -> Row:
    """Trains one seed, keeps the best model by the drawers left out, and scores it on more of these."""
    parts, _ = splits(_settings(plan, cell))
    model, notes = train(cell, plan, parts)
    chosen = set(_places(parts["tuning"], plan.left_out).tolist())
    others = parts["tuning"][jnp.asarray([i for i in range(len(parts["tuning"])) if i not in chosen])]
    return _score(model, "tuning", _some(others, plan.images), plan) | notes


def _cell(cell: Row, plan: Plan) -> list[Row]:
    """Trains one seed, keeps the best model by the drawers left out, and scores it on both splits."""
    parts, _ = splits(_settings(plan, cell))
    model, notes = train(cell, plan, parts)
    rows = [_score(model, name, _some(parts[name], plan.images), plan) for name in SPLITS]
    rows[0] |= notes
    paper = PAPER.get(cell["algorithm"], {}).get(cell["K"])
    return [row | ({} if paper is None else {"paper": paper}) for row in rows]


def train(cell: Row, plan: Plan, parts: dict[str, Observations]) -> tuple[Model, Row]:
    """Returns the model at the tenth of the way at which drawers left out had the least NLL, and how it came about."""
    data, unseen = parts["train"], _some(parts["tuning"], plan.left_out)
    algorithm = make(cell["algorithm"], optax.adam(plan.learning_rate), cell["K"])
    _, key = jax.random.split(fused(jax.random.key(cell["seed"])))
    state = algorithm.init(_slept(plan, cell), data)
    every = max(cell["steps"] // CHOICES, 1)
    seen, curve, best, seconds, start = [], [], (np.inf, 0, state.model), 0.0, time.process_time()
    for state, info in fit(
        algorithm, state, data, key=key, steps=cell["steps"], batch_size=plan.batch_size, every=every
    ):
        if int(state.step) % every == 0:
            seconds += time.process_time() - start
            curve.append([int(state.step), round(bits(float(info.bound)), 4), round(seconds, 1)])
            now = left_out_bits(state, unseen, plan)
            seen.append([int(state.step), round(now, 4)])
            best = (now, int(state.step), copied(state).model) if now < best[0] else best
            start = time.process_time()
    notes = {"kept": best[1], "left_out": seen, "curve": curve, "train_cpu_seconds": round(seconds, 1)}
    return best[2], notes


def left_out_bits(state: State, unseen: Observations, plan: Plan) -> float:
    """Returns bits a pixel of the drawings left out, by the programs that a short search finds for them."""
    found = remember(fused(jax.random.key(6)), state.model, unseen, plan.memory, plan.proposals, 2, REVISED)
    return bits(float(jnp.mean(mem.bound(found.log_joint))))


def _score(model: Model, split: str, data: Observations, plan: Plan) -> Row:
    """Returns bits a pixel by the programs of a search plus the weighted tail, with the NLL of each image."""
    key = fused(jax.random.key(7))
    known = remember(key, model, data, plan.memory, plan.proposals, plan.wakes, REVISED)
    bound = importance(key, model, data, plan.samples, chunk=plan.proposals, known=known)
    return {
        "split": split,
        "images": len(data),
        "bits_per_pixel": round(bits(bound.mean), 4),
        "spread": round(-bits(float(np.std(bound.log_p) / np.sqrt(len(data)))), 4),
        "bits_search": round(bits(float(jnp.mean(mem.bound(known.log_joint)))), 4),
        "doubtful": int(np.sum(bound.doubtful)),
        "items": {"nll": pack(-bound.log_p)},
    }


def _settings(plan: Plan, cell: Row) -> Settings:
    """Returns the settings of a cell, which may tell what recognition learns from."""
    return Settings(images="omniglot", maps=plan.maps, **{name: cell[name] for name in LEARNED_FROM if name in cell})


def _some(data: Observations, count: int) -> Observations:
    """Returns that many observations, or all where there are fewer, evenly from the alphabets."""
    return data[jnp.asarray(_places(data, count))]


def _places(data: Observations, count: int) -> Int[np.ndarray, "_"]:
    return np.linspace(0, len(data) - 1, min(count, len(data))).astype(int)


def _slept(plan: Plan, cell: Row) -> Model:
    """Returns the model of a seed with recognition that has slept."""
    sizes = (plan.pretrain, plan.batch_size, plan.learning_rate)
    arrays, rest = _sleep(_settings(plan, cell), cell["seed"], *sizes)
    return eqx.combine(jax.tree.map(jnp.asarray, arrays), rest)


@lru_cache(maxsize=4)
def _sleep(settings: Settings, seed: int, steps: int, batch_size: int, rate: float) -> tuple[Any, Any]:
    """Returns the arrays and the rest of that model: the same for all algorithms, so made once."""
    data = splits(settings)[0]["train"]
    key: Key[Array, ""] = jax.random.split(fused(jax.random.key(seed)))[0]
    model = build(key, settings, data)
    if steps:
        model = pretrain(jax.random.fold_in(key, 1), model, data, steps, batch_size, rate)
    arrays, rest = eqx.partition(model, eqx.is_array)
    return jax.tree.map(np.asarray, arrays), rest


EXPERIMENTS = {NAME: reproduce, VARIED_NAME: reproduce_vary}
