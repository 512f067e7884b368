"""Section 4.2: handwritten characters, by the marginal likelihood of images in bits a pixel."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from wakesleep.core import memory as mem
from wakesleep.core import weights as models
from wakesleep.core.algorithms import State
from wakesleep.core.evaluate import refined
from wakesleep.core.keys import fused
from wakesleep.core.memory import Memory
from wakesleep.core.model import Model, Observations, score
from wakesleep.domains.characters.data import Settings, splits
from wakesleep.domains.characters.evaluator import SIDE
from wakesleep.paper.cells import every_cell, train_cell
from wakesleep.paper.results import Row, complete

NATS_PER_BIT_A_PIXEL = SIDE * SIDE * float(np.log(2))
# The paper's table: bits a pixel, on the authors' own reduction of the images and on the images trained on.
PAPER = {
    "RWS": {3: 0.363, 5: 0.348, 10: 0.333, 20: 0.324, 40: 0.322},
    "VIMCO": {3: 0.361, 5: 0.333, 10: 0.326, 20: 0.318, 40: 0.319},
    "MWS": {3: 0.311, 5: 0.305, 10: 0.321, 20: 0.310, 40: 0.316},
}


@dataclass(frozen=True)
class Plan:
    """The size of an experiment."""

    steps: int = 3000
    seeds: int = 1
    batch_size: int = 50
    learning_rate: float = 2e-3
    images: int = 50
    """Images scored of each split; half of the held-out ones are training characters by other drawers."""
    samples: int = 5000
    refine_steps: int = 100
    refine_particles: int = 20
    ks: tuple[int, ...] = (3, 5, 10, 20, 40)
    algorithms: tuple[str, ...] = ("MWS", "MWS-revise", "RWS", "VIMCO")


QUICK_SETTINGS = {"images": 4, "samples": 100, "refine_steps": 5, "refine_particles": 5, "ks": (3,)}
FULL = {"characters": Plan(), "characters-alphabets": Plan(ks=(5,), algorithms=("MWS-revise",))}
QUICK = {
    "characters": Plan(steps=200, **QUICK_SETTINGS),  # type: ignore[arg-type]
    "characters-alphabets": Plan(steps=200, algorithms=("MWS-revise",), **QUICK_SETTINGS),  # type: ignore[arg-type]
}


def reproduce(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Fills characters.json, the table of section 4.2: two rows for each algorithm, K and seed; returns its rows."""
    shared = {k: v for k, v in asdict(plan).items() if k not in ("steps", "seeds", "ks", "algorithms")}
    return complete(output / "characters.json", shared, every_cell(plan), lambda cell: _cell(cell, plan), report)


def reproduce_alphabets(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Trains a model that is told of alphabets; fills characters-alphabets.json and keeps the model for the figure."""
    names = ("batch_size", "learning_rate")

    def compute(cell: Row) -> Row:
        settings = Settings(images="omniglot", condition="alphabet")
        job, state, curve = train_cell("characters", settings, cell, plan)
        models.save(output / "characters-alphabets.safetensors", state.model, {"settings": asdict(settings)})
        return _remembered(state, job.dataset.train, curve)

    shared = {name: getattr(plan, name) for name in names}
    return complete(output / "characters-alphabets.json", shared, every_cell(plan), compute, report)


def _cell(cell: Row, plan: Plan) -> list[Row]:
    """Trains one seed and scores it on images of the training set and on others."""
    settings = Settings(images="omniglot")
    job, state, curve = train_cell("characters", settings, cell, plan)
    parts, _ = splits(settings)
    rows = [_score(state.model, split, data, plan) for split, data in scored(parts, plan.images).items()]
    rows[0] |= _remembered(state, job.dataset.train, curve)
    paper = PAPER.get(cell["algorithm"], {}).get(cell["K"])
    if paper is not None:
        rows[0]["paper"] = paper
    return rows


def scored(parts: dict[str, Observations], count: int) -> dict[str, Observations]:
    """Returns images of both splits, taken evenly from the alphabets."""

    def some(name: str, count: int) -> Observations:
        return parts[name][jnp.asarray(np.linspace(0, len(parts[name]) - 1, count).astype(int))]

    unseen = [some("drawers", count // 2), some("characters", count - count // 2)]
    return {"train": some("train", count), "heldout": jax.tree.map(lambda *a: jnp.concatenate(a), *unseen)}


def _score(model: Model, split: str, data: Observations, plan: Plan) -> Row:
    """Returns bits a pixel by the best of three refined recognition networks, as the paper's appendix has it."""
    bounds = refined(
        fused(jax.random.key(7)),
        model,
        data,
        plan.samples,
        plan.refine_steps,
        plan.refine_particles,
        batch_size=plan.batch_size // 2,
    )
    best = bounds["best"]
    return {
        "split": split,
        "bits_per_pixel": round(bits(best.mean), 4),
        "error": round(-bits(best.standard_error), 5),
        "spread": round(-bits(float(np.std(best.log_p) / np.sqrt(len(data)))), 4),
        "refined": {name: round(bits(bound.mean), 4) for name, bound in bounds.items() if name != "best"},
    }


@eqx.filter_jit
def _rescore(model: Model, memory: Memory, data: Observations) -> jax.Array:
    log_joint = score(model, memory.programs, data.x, data.c)
    return mem.bound(jnp.where(jnp.isneginf(memory.log_joint), -jnp.inf, log_joint))


def _remembered(state: State, data: Observations, curve: list[tuple[int, float]]) -> Row:
    """Returns the curve in bits a pixel, and the bound by the remembered programs alone on all training images."""
    row: Row = {"curve": [[step, round(bits(bound), 4)] for step, bound in curve]}
    if state.memory is None:
        return row
    strokes = np.asarray(state.memory.programs[:, 0] > 0).sum(axis=1)
    found = float(jnp.mean(_rescore(state.model, state.memory, data)))
    return row | {"memory_bits": round(bits(found), 4), "strokes": round(float(strokes.mean()), 2)}


def bits(log_p: float) -> float:
    """Returns bits a pixel of an image from its log-likelihood in nats."""
    return float(-log_p / NATS_PER_BIT_A_PIXEL)


EXPERIMENTS = {"characters": reproduce, "characters-alphabets": reproduce_alphabets}
