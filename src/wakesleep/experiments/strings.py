"""Section 4.3: string concepts, by the marginal likelihood of held-out strings."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from wakesleep.algorithms import Algorithm, State, weigh
from wakesleep.domains.strings.data import Settings, build, concepts, load, observe
from wakesleep.domains.strings.evaluator import as_text
from wakesleep.domains.strings.language import BAR, OPEN, program
from wakesleep.domains.strings.show import show, words
from wakesleep.evaluate import among, importance
from wakesleep.experiments import ngrams
from wakesleep.experiments.cells import every_cell, train_cell
from wakesleep.experiments.results import Row, complete
from wakesleep.keys import fused
from wakesleep.memory import Weighted
from wakesleep.model import Batch, Model, Observations, dream, over_programs, score

# The paper's table and its appendix: NLL in nats of five held-out strings of the background concepts.
PAPER = {
    "RWS": {2: 87.1, 3: 86.5, 5: 85.2, 10: 85.0},
    "RWS-sleep": {2: 88.9, 3: 87.5, 5: 86.7, 10: 85.5},
    "VIMCO": {2: 97.5, 3: 89.1, 5: 84.8, 10: 83.5},
    "MWS": {2: 84.1, 3: 83.1, 5: 82.8, 10: 82.5},
    "MWS-fantasy": {2: 82.5, 3: 82.7, 5: 82.8, 10: 82.8},
}
GENERAL = (".+", ".*", r"\w+")
"""Regexes whose probability is summed exactly, so that no concept is without one that explains it."""
LONGEST = 24
"""The longest string of the novel concepts."""
SHOWN = tuple(range(3, 1000, 83))
"""A dozen concepts whose regexes are kept."""


@dataclass(frozen=True)
class Plan:
    """The size of an experiment."""

    steps: int = 12_000
    seeds: int = 1
    batch_size: int = 20
    learning_rate: float = 1e-3
    hidden: int = 64
    length: int = 20
    samples: int = 200
    """Proposals for each concept by which the likelihood of every concept is estimated."""
    flatness: tuple[int, ...] = (100, 1000, 10_000)
    """Numbers of proposals at which the estimate is compared on `few` concepts."""
    few: int = 10
    conditional: int = 200
    """Proposals by which the posterior given five strings is estimated."""
    ks: tuple[int, ...] = (2, 3, 5, 10)
    algorithms: tuple[str, ...] = ("MWS", "MWS-revise", "RWS", "VIMCO", "MWS-fantasy", "RWS-sleep")


FULL = {"strings": Plan()}
SMALL = {"samples": 50, "flatness": (50, 100), "few": 5, "conditional": 50}
QUICK = {"strings": Plan(steps=300, ks=(2, 5), algorithms=("MWS", "RWS", "VIMCO"), **SMALL)}  # type: ignore[arg-type]


def reproduce(output: Path, plan: Plan, report: Callable = print) -> list[Row]:
    """The tables of section 4.3, kept in strings.json: two rows for each algorithm, K and seed; and a baseline."""
    shared = {k: v for k, v in asdict(plan).items() if k not in ("steps", "seeds", "ks", "algorithms")}
    shared["flatness"] = list(plan.flatness)
    ngrams.reproduce(output, report)
    return complete(
        output / "strings.json", shared | {"concepts": "paper"}, every_cell(plan), lambda c: _cell(c, plan), report
    )


def _cell(cell: Row, plan: Plan) -> list[Row]:
    """Trains one seed and evaluates it on both splits."""
    settings = Settings(concepts="paper", hidden=plan.hidden, length=plan.length)
    data = load(settings).train
    algorithm, state, curve = train_cell(cell, plan, build, settings, data)
    rows = [evaluate(state.model, split, plan) | {"split": split} for split in ("background", "novel")]
    paper = PAPER.get(cell["algorithm"], {}).get(cell["K"])
    rows[0] |= ({"paper": paper} if paper is not None else {}) | _found(algorithm, state, data)
    rows[0]["curve"] = [[step, round(bound, 3)] for step, bound in curve]
    rows[0]["prior"] = prior_samples(jax.random.key(4), state.model, 12)
    return rows


def evaluate(model: Model, split: str, plan: Plan) -> Row:
    """The likelihoods of held-out strings, alone and given five others of their concept."""
    found = concepts("paper" if split == "background" else "novel")
    wide = Settings(length=plan.length, longest=LONGEST)
    train, test = (observe((getattr(c, part) for c in found), wide) for part in ("train", "test"))
    key = fused(jax.random.key(3))
    listed = jnp.asarray(np.stack([program(text, plan.length) for text in GENERAL]))
    bound = importance(key, model, test, plan.samples, chunk=10, listed=listed)
    some = test[jnp.arange(0, len(test), len(test) // plan.few)]
    flat = {str(s): round(-importance(key, model, some, s, chunk=50, listed=listed).mean, 3) for s in plan.flatness}
    conditional = predictive(key, model, train, test, listed, plan.conditional)
    return {
        "nll": round(-bound.mean, 3),
        "nll_error": round(bound.standard_error, 3),
        "nll_spread": round(float(np.std(bound.log_p) / np.sqrt(len(test))), 3),
        "nll_conditional": round(-float(np.mean(conditional)), 3),
        "flatness": flat,
    }


def predictive(
    key: Key[Array, ""],
    model: Model,
    given: Observations,
    wanted: Observations,
    listed: Int[Array, "p t"],
    samples: int,
    chunk: int = 10,
) -> Float[np.ndarray, "n"]:
    """log p(wanted | given) for each concept: the mean of p(wanted | z) under the importance-weighted posterior.

    As in `importance`, the `listed` programs are summed exactly.
    """
    batch = Batch(jnp.arange(len(given)), given.x, given.c)

    @eqx.filter_jit
    def total(key: Key[Array, ""], model: Model, batch: Batch, x: Any) -> tuple[Array, Array]:
        def more(sums: tuple[Array, Array], key: Key[Array, ""]) -> tuple[tuple[Array, Array], None]:
            z, log_p, log_r = weigh(model, key, batch, chunk)
            log_w = jnp.where(among(z, listed), -jnp.inf, log_p - log_r) - jnp.log(samples)
            new = (jax.nn.logsumexp(log_w + over_programs(said, z, x), axis=1), jax.nn.logsumexp(log_w, axis=1))
            return jax.tree.map(jnp.logaddexp, sums, new), None

        said = lambda z, x: model.evaluator.log_prob(x, z)  # noqa: E731
        every = jnp.broadcast_to(listed[None], (len(given), *listed.shape))
        log_p = score(model, every, batch.x, None)
        start = (jax.nn.logsumexp(log_p + over_programs(said, every, x), axis=1), jax.nn.logsumexp(log_p, axis=1))
        return jax.lax.scan(more, start, jax.random.split(key, samples // chunk))[0]

    joint, alone = total(key, model, batch, wanted.x)
    return np.asarray(joint - alone, np.float64)


def _found(algorithm: Algorithm, state: State, data: Observations) -> Row:
    """The best regexes of the training concepts: how many use alternation and brackets, and a dozen of them."""
    q = _posterior(algorithm, state, data)
    best = np.asarray(jax.vmap(lambda z, w: z[jnp.argmax(w)])(q.programs, q.log_weight))
    found = np.isfinite(np.asarray(q.log_weight)).any(axis=1)
    shown = [_inferred(state.model, best[i], data, i) for i in SHOWN if i < len(data) and found[i]]
    return {
        "explained": int(found.sum()),
        "alternation": int(((best == BAR).any(axis=1) & found).sum()),
        "bracketed": int(((best == OPEN).any(axis=1) & found).sum()),
        "inferred": shown,
    }


def _posterior(algorithm: Algorithm, state: State, data: Observations, size: int = 100) -> Weighted:
    """Q of every training concept, some at a time."""
    one = eqx.filter_jit(algorithm.posterior)
    parts = []
    for start in range(0, len(data), size):
        rows = jnp.arange(start, min(start + size, len(data)))
        parts.append(one(jax.random.key(5), state, Batch(rows, data[rows].x)))
    return jax.tree.map(lambda *a: jnp.concatenate(a), *parts)


def _inferred(model: Model, z: np.ndarray, data: Observations, row: int) -> dict[str, Any]:
    """A concept, its best regex, and strings drawn from it."""
    drawn = model.evaluator.sample(jax.random.key(row), jnp.asarray(z))
    return {"strings": words(jax.tree.map(lambda a: a[row], data.x)), "regex": show(z), "samples": as_text(drawn)[:3]}


def prior_samples(key: Key[Array, ""], model: Model, count: int) -> list[dict[str, Any]]:
    """New concepts: regexes from the prior, with strings drawn from each."""
    z, x = eqx.filter_jit(dream)(model, key, None, count)
    rows = [(np.asarray(z[i]), jax.tree.map(lambda a, i=i: a[i], x)) for i in range(count)]
    return [{"regex": show(z), "samples": as_text(x)[:3]} for z, x in rows]


EXPERIMENTS = {"strings": reproduce}
