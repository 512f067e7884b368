"""Section 4.3: string concepts, by the marginal likelihood of held-out strings."""

import itertools
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from wakesleep.core import memory as mem
from wakesleep.core.algorithms import Algorithm, State
from wakesleep.core.evaluate import AT_ONCE, Bound, importance, remember
from wakesleep.core.keys import fused
from wakesleep.core.memory import Memory, Weighted
from wakesleep.core.model import Batch, Model, Observations, dream, over_programs
from wakesleep.domains.strings.data import Concept, Settings, concepts, observe
from wakesleep.domains.strings.evaluator import Strings, as_text
from wakesleep.domains.strings.language import BAR, GENERAL, OPEN, program
from wakesleep.domains.strings.show import show, words
from wakesleep.domains.strings.structure import branches, without_brackets
from wakesleep.paper import ngrams
from wakesleep.paper.cells import every_cell, train_cell
from wakesleep.paper.results import Row, complete

# The paper's table and its appendix: NLL in nats of five held-out strings of the background concepts.
PAPER = {
    "RWS": {2: 87.1, 3: 86.5, 5: 85.2, 10: 85.0},
    "RWS-sleep": {2: 88.9, 3: 87.5, 5: 86.7, 10: 85.5},
    "VIMCO": {2: 97.5, 3: 89.1, 5: 84.8, 10: 83.5},
    "MWS": {2: 84.1, 3: 83.1, 5: 82.8, 10: 82.5},
    "MWS-fantasy": {2: 82.5, 3: 82.7, 5: 82.8, 10: 82.8},
}
LONGEST_NOVEL_STRING = 24
"""The longest string of the novel concepts."""
SHOWN_CONCEPTS = tuple(range(3, 1000, 83))
"""A dozen concepts whose regexes are kept."""
REVISED = 0.5
"""The share of proposals that change a program found before, when a model is evaluated."""


@dataclass(frozen=True)
class Plan:
    """The size of an experiment."""

    steps: int = 8000
    pretrain: int = 3000
    """Steps of sleep before the first, for all algorithms alike, as in the authors' code for characters."""
    seeds: int = 1
    batch_size: int = 20
    learning_rate: float = 1e-3
    hidden: int = 64
    length: int = 20
    memory: int = 50
    """Programs that are searched for each concept when a model is evaluated: their probability is summed exactly."""
    wakes: int = 10
    proposals: int = 20
    samples: int = 200
    """Further proposals, by which what those programs leave out is estimated."""
    flatness: tuple[int, ...] = (100, 1000, 10_000)
    """Numbers of proposals at which the estimate is compared on `few` concepts."""
    few: int = 5
    ks: tuple[int, ...] = (2, 3, 5, 10)
    algorithms: tuple[str, ...] = ("MWS", "MWS-revise", "RWS", "VIMCO", "MWS-fantasy", "RWS-sleep")


HIDDEN_SIZES = (32, 64, 128)
"""Hidden sizes of the networks that are compared."""
FULL = {
    "strings": Plan(),
    "strings-awake": Plan(pretrain=0),
    "strings-sizes": Plan(steps=2000, pretrain=0, ks=(5,), algorithms=("MWS-revise",), flatness=()),
}
SMALL_EVALUATION = {"memory": 10, "wakes": 5, "samples": 50, "flatness": (50, 100), "few": 5}
QUICK_STRINGS_PLAN = Plan(steps=300, pretrain=100, ks=(2, 5), algorithms=("MWS", "RWS", "VIMCO"), **SMALL_EVALUATION)  # type: ignore[arg-type]
QUICK = {
    "strings": QUICK_STRINGS_PLAN,
    "strings-awake": replace(QUICK_STRINGS_PLAN, pretrain=0),
    "strings-sizes": replace(QUICK_STRINGS_PLAN, steps=100, pretrain=0, ks=(2,), algorithms=("MWS-revise",)),
}


def reproduce(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Makes the tables of section 4.3: two rows for each algorithm, K and seed; and a baseline.

    They are kept in strings.json, or without pre-training in strings-awake.json.
    """
    shared = shared_settings(plan) | {"concepts": "paper"}
    ngrams.reproduce(output, report)
    file = output / ("strings.json" if plan.pretrain else "strings-awake.json")
    return complete(file, shared, every_cell(plan), lambda c: _cell(c, plan), report)


def shared_settings(plan: Plan) -> dict[str, Any]:
    """Returns the settings that all cells of a table have in common."""
    kept = {k: v for k, v in asdict(plan).items() if k not in ("steps", "seeds", "ks", "algorithms")}
    return kept | {"flatness": list(plan.flatness)}


def _cell(cell: Row, plan: Plan) -> list[Row]:
    """Trains one seed and evaluates it on both splits."""
    settings = Settings(concepts="paper", hidden=plan.hidden, length=plan.length)
    job, state, curve = train_cell("strings", settings, cell, plan, pretrain=plan.pretrain)
    rows = [evaluate(state.model, split, plan) | {"split": split} for split in ("background", "novel")]
    paper = PAPER.get(cell["algorithm"], {}).get(cell["K"])
    rows[0] |= ({"paper": paper} if paper is not None else {}) | _found(job.algorithm, state, job.dataset.train)
    rows[0]["curve"] = [[step, round(bound, 3)] for step, bound in curve]
    rows[0]["prior"] = prior_samples(jax.random.key(4), state.model, 12)
    return rows


def reproduce_sizes(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """Makes strings-sizes.json, the cost and worth of larger networks: a row for each hidden size."""
    shared = {k: v for k, v in shared_settings(plan).items() if k != "hidden"}
    cells = [cell | {"hidden": hidden} for cell in every_cell(plan) for hidden in HIDDEN_SIZES]
    return complete(output / "strings-sizes.json", shared, cells, lambda c: _sized(c, plan), report)


def _sized(cell: Row, plan: Plan) -> Row:
    """Trains a model of one size: CPU milliseconds a step, once compiled, and the NLL on both splits."""
    settings = Settings(concepts="paper", hidden=cell["hidden"], length=plan.length)
    marks: list[tuple[int, float]] = []
    mark = lambda step: marks.append((step, time.process_time()))  # noqa: E731
    _, state, _ = train_cell("strings", settings, cell, plan, mark, pretrain=plan.pretrain)
    paces = [(later - sooner) / (b - a) for (a, sooner), (b, later) in itertools.pairwise(marks)]
    found = {split: evaluate(state.model, split, plan) for split in ("background", "novel")}
    return {
        "cpu_ms": round(1e3 * float(np.median(paces)), 1),
        "parameters": sum(a.size for a in jax.tree.leaves(eqx.filter(state.model, eqx.is_inexact_array))),
        "nll": found["background"]["nll"],
        "nll_novel": found["novel"]["nll"],
    }


class Likelihoods(NamedTuple):
    """What a model says of the held-out strings of some concepts, in nats for each concept."""

    alone: Bound
    """log p of the five strings."""
    memory: Float[np.ndarray, "n"]
    """The part of it that the programs found sum to."""
    given: Float[np.ndarray, "n"]
    """log p of the five given five others, over the programs found for either."""
    given_first: Float[np.ndarray, "n"]
    """The same over the programs found for those five others alone: a prediction made before the strings are seen."""


def likelihoods(model: Model, found: list[Concept], plan: Plan) -> tuple[Likelihoods, dict[str, float]]:
    """Returns the likelihoods of held-out strings, and their mean on a few concepts with ever more proposals.

    The posterior given the others is over the programs found for either: those that explain them all are often not
    among the best for five alone. Which programs are summed decides how tight an estimate is, not what is estimated.
    """
    wide = Settings(length=plan.length, longest=LONGEST_NOVEL_STRING)
    train, test = (observe((getattr(c, part) for c in found), wide) for part in ("train", "test"))
    key = fused(jax.random.key(3))
    known, first = (search(key, model, data, plan) for data in (test, train))
    given = with_more(model, first, known.programs, train)
    bound = importance(key, model, test, plan.samples, chunk=10, known=known)
    rows = jnp.arange(0, len(test), len(test) // plan.few)
    some, few = test[rows], mem.read(known, rows)
    flat = {str(s): round(-importance(key, model, some, s, chunk=50, known=few).mean, 3) for s in plan.flatness}
    predicted = (np.asarray(predictive(model, memory, test)) for memory in (given, first))
    return Likelihoods(bound, np.asarray(mem.bound(known.log_joint)), *predicted), flat


def evaluate(model: Model, split: str, plan: Plan) -> Row:
    """Returns the means of the likelihoods of held-out strings, alone and given five others of their concept."""
    found, flat = likelihoods(model, concepts("paper" if split == "background" else "novel"), plan)
    return {
        "nll": round(-found.alone.mean, 3),
        "nll_error": round(found.alone.standard_error, 3),
        "nll_spread": round(float(np.std(found.alone.log_p) / np.sqrt(len(found.memory))), 3),
        "nll_memory": round(-float(jnp.mean(found.memory)), 3),
        "nll_conditional": round(-float(jnp.mean(found.given)), 3),
        "flatness": flat,
    }


def search(key: Key[Array, ""], model: Model, data: Observations, plan: Plan) -> Memory:
    """Returns the best programs for each concept and the general ones, the model fixed; no concept has none."""
    found = remember(key, model, data, plan.memory, plan.proposals, plan.wakes, REVISED)
    general = jnp.asarray(np.stack([program(text, plan.length) for text in GENERAL]))
    return with_more(model, found, jnp.broadcast_to(general, (len(data), *general.shape)), data)


@eqx.filter_jit
def with_more(model: Model, found: Memory, more: Int[Array, "n k t"], data: Observations) -> Memory:
    """Returns the memory with room for more programs, and these in it."""
    room = ((0, more.shape[1]), (0, 0))

    def one(given: tuple[Memory, Int[Array, "k t"], Observations]) -> Memory:
        row, more, x = given
        wide = Memory(jnp.pad(row.programs, room), jnp.pad(row.log_joint, room[0], constant_values=-jnp.inf))
        log_joint = jax.vmap(model.log_joint, (0, None, None))(more, x.x, x.c)
        return mem.merge(wide, Memory(more, log_joint))[0]

    return jax.lax.map(one, (found, more, data), batch_size=AT_ONCE)


@eqx.filter_jit
def predictive(model: Model, given: Memory, wanted: Observations) -> Float[Array, "n"]:
    """Returns log p(wanted | given) of each concept: the mean of p(wanted | z) over the posterior found."""
    log_p = over_programs(lambda z, x: model.evaluator.log_prob(x, z), given.programs, wanted.x)
    return jax.nn.logsumexp(mem.posterior(given).log_weight + log_p, axis=1)


def _found(algorithm: Algorithm, state: State, data: Observations) -> Row:
    """Returns a dozen of the best regexes of training concepts, and how many use alternation and brackets.

    Those counted as divided and as grouped use them for their strings, and not for a last part that allows anything.
    """
    q = _posterior(algorithm, state, data)
    best = np.asarray(jax.vmap(lambda z, w: z[jnp.argmax(w)])(q.programs, q.log_weight))
    found = np.isfinite(np.asarray(q.log_weight)).any(axis=1)
    shown = [_inferred(state.model, best[i], data, i) for i in SHOWN_CONCEPTS if i < len(data) and found[i]]
    return {
        "explained": int(found.sum()),
        "alternation": int(((best == BAR).any(axis=1) & found).sum()),
        "divided": sum(divides(state.model, best[i], data[i]) for i in np.flatnonzero(found)),
        "bracketed": int(((best == OPEN).any(axis=1) & found).sum()),
        "grouped": sum(groups(state.model, best[i], data[i]) for i in np.flatnonzero(found)),
        "inferred": shown,
    }


def _posterior(algorithm: Algorithm, state: State, data: Observations, size: int = 100) -> Weighted:
    """Returns Q of every training concept, some at a time."""
    one = eqx.filter_jit(algorithm.posterior)
    parts = []
    for start in range(0, len(data), size):
        rows = jnp.arange(start, min(start + size, len(data)))
        parts.append(one(jax.random.key(5), state, Batch(rows, data[rows].x)))
    return jax.tree.map(lambda *a: jnp.concatenate(a), *parts)


def divides(model: Model, z: np.ndarray, one: Observations) -> bool:
    """Whether the regex is an alternation that its strings call for: no branch alone allows them all."""
    parts = branches(z.tolist())
    return len(parts) > 1 and not _any_allows(model, parts, one)


def groups(model: Model, z: np.ndarray, one: Observations) -> bool:
    """Whether the regex has brackets that its strings call for: with any one of them left out it allows not all."""
    parts = without_brackets(z.tolist())
    return len(parts) > 0 and not _any_allows(model, parts, one)


def _any_allows(model: Model, parts: list[list[int]], one: Observations) -> bool:
    some = np.zeros((len(parts[0]), len(parts[0])), np.int32)  # no regex has more parts than tokens
    some[: len(parts)] = parts
    return bool(_allowed(model, jnp.asarray(some), one.x)[: len(parts)].any())


@eqx.filter_jit
def _allowed(model: Model, programs: Int[Array, "k t"], x: Strings) -> Bool[Array, "k"]:
    return jax.vmap(lambda z: model.evaluator.allows(x, z))(programs)  # type: ignore[attr-defined]


def _inferred(model: Model, z: np.ndarray, data: Observations, row: int) -> dict[str, Any]:
    """Returns a concept, its best regex, and strings drawn from it."""
    drawn = model.evaluator.sample(jax.random.key(row), jnp.asarray(z))
    return {"strings": words(jax.tree.map(lambda a: a[row], data.x)), "regex": show(z), "samples": as_text(drawn)[:3]}


def prior_samples(key: Key[Array, ""], model: Model, count: int) -> list[dict[str, Any]]:
    """Returns new concepts: regexes from the prior, with strings drawn from each."""
    z, x = eqx.filter_jit(dream)(model, key, None, count)
    rows = [(np.asarray(z[i]), jax.tree.map(lambda a, i=i: a[i], x)) for i in range(count)]
    return [{"regex": show(z), "samples": as_text(x)[:3]} for z, x in rows]


EXPERIMENTS = {"strings": reproduce, "strings-awake": reproduce, "strings-sizes": reproduce_sizes}
