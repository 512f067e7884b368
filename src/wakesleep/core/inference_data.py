"""A posterior over programs as ArviZ reads it."""

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from wakesleep.core.memory import Weighted
from wakesleep.errors import Refusal, require_at_least

if TYPE_CHECKING:
    import arviz


def inference_data(posterior: Weighted, draws: int = 250, chains: int = 4, seed: int = 0) -> "arviz.InferenceData":
    """Returns independent draws of programs from weighted ones, as ArviZ's `InferenceData`; needs `wakesleep[arviz]`.

    `posterior` has programs [b, k, ...] and log-weights [b, k], as `Algorithm.posterior` returns
    them. The group `posterior` has a variable for each leaf of a program, `program` where it is one array, with
    the dimensions chain, draw, observation and those of the leaf; `sample_stats` has `log_weight`.
    """
    try:
        import arviz
    except ModuleNotFoundError:
        raise Refusal("InferenceData needs ArviZ: pip install 'wakesleep[arviz]'.") from None
    require_at_least("draws", draws, 1)
    require_at_least("chains", chains, 1)
    slots = _drawn(np.asarray(posterior.log_weight, np.float64), chains, draws, np.random.default_rng(seed))
    every = np.arange(slots.shape[-1])
    variables = {name: np.asarray(leaf)[every, slots] for name, leaf in _leaves(posterior.programs).items()}
    dims = {name: ["observation", *(f"{name}_{i}" for i in range(a.ndim - 3))] for name, a in variables.items()}
    weight = np.asarray(posterior.log_weight, np.float64)[every, slots]
    return arviz.from_dict(
        posterior=variables, sample_stats={"log_weight": weight}, dims=dims | {"log_weight": ["observation"]}
    )


def _drawn(log_weight: np.ndarray, chains: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Returns slots [chains, draws, b] drawn by the weights of each observation."""
    empty = np.flatnonzero(~np.isfinite(log_weight).any(axis=1))
    if empty.size:
        raise Refusal(f"Observation {empty[0]} has no possible program, so that none can be drawn: leave it out.")
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    picked = [rng.choice(weight.shape[1], (chains, draws), p=row) for row in weight]
    return np.stack(picked, axis=-1)


def _leaves(programs: Any) -> dict[str, Any]:
    """Returns the arrays of programs by name."""
    found = jax.tree_util.tree_flatten_with_path(programs)[0]
    if len(found) == 1:
        return {"program": found[0][1]}
    return {jax.tree_util.keystr(path, simple=True, separator="_"): leaf for path, leaf in found}
