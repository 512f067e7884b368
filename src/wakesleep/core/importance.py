"""log p(x) by importance sampling, with the diagnostics that say when its error cannot be trusted."""

import math
import warnings
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from wakesleep.core import memory as mem
from wakesleep.core.keys import fused
from wakesleep.core.memory import Memory
from wakesleep.core.model import Batch, Model, Observations, Program, fills, same_program
from wakesleep.core.remember import parts, remember, rescore
from wakesleep.core.wake import weigh
from wakesleep.errors import Refusal, require_at_least

SEARCH: dict[str, Any] = {"memory_size": 10, "proposals": 100, "wakes": 3, "explore": 0.5}
"""The search for known programs where none are given."""
LEAST_EFFECTIVE, MOST_PARETO_K = 10.0, 0.7
"""Beyond these the standard error of an estimate means little (Vehtari et al., 2024)."""
NEGLIGIBLE_SHARE = 0.01
"""Diagnostics count only where more than this share of an estimate comes from samples."""
LEAST_TAIL = 5
SAMPLING = 2**31
"""Folded into the key, so that nothing is sampled as in a search with the same key: what it found would be drawn
again and left out, and the estimate would be too low."""


class Bound(NamedTuple):
    """A lower bound on log p(x) for each of n observations, with its Monte Carlo standard error and diagnostics."""

    log_p: Float[np.ndarray, "n"]
    error: Float[np.ndarray, "n"]
    effective: Float[np.ndarray, "n"]
    """The effective sample size of the sampled part, (sum w)^2 / sum w^2; zero where no sample has a weight."""
    pareto_k: Float[np.ndarray, "n"]
    """The shape of the weights' tail: above 0.7 the error is too small; NaN where there are too few weights to tell."""
    sampled: Float[np.ndarray, "n"]
    """The share of the estimate that comes from samples; the rest is the sum over known programs."""

    @property
    def mean(self) -> float:
        """The mean over the observations."""
        return float(np.mean(self.log_p))

    @property
    def standard_error(self) -> float:
        """The Monte Carlo standard error of that mean."""
        return float(np.sqrt(np.sum(self.error**2)) / self.error.size)

    @property
    def doubtful(self) -> Bool[np.ndarray, "n"]:
        """Where the sampled part matters and its error is not to be trusted."""
        return (self.sampled > NEGLIGIBLE_SHARE) & (
            (self.effective < LEAST_EFFECTIVE) | (self.pareto_k > MOST_PARETO_K)
        )


def importance(
    key: Key[Array, ""],
    model: Model,
    data: Observations,
    samples: int = 1000,
    chunk: int = 100,
    known: Memory | bool = True,
) -> Bound:
    """sum_known p(z, x) + 1/S sum_s w_s [z_s not known], in logs, for S = `samples` proposals of recognition.

    Known programs are summed exactly, so that recognition has to find only the rest: those of a memory, such as
    `state.memory`, whose scores are computed anew; with `known=True` those of a short search (see `SEARCH`), half of
    whose proposals come from the prior; with `known=False` none, which leaves log (1/S sum_s w_s). The expectation
    grows to log p(x) with S. The error is that of the mean weight carried through the log. It is far too small where
    recognition misses mass: `effective` and `pareto_k` show most such cases, and a warning is given. `chunk`
    proposals are held at once. Where the floats of programs are random variables, all of log p(x) is sampled.
    """
    require_at_least("samples", samples, 1)
    require_at_least("chunk", chunk, 1)
    memory = _known(key, model, data, known)
    tail = min(samples // 5, math.ceil(3 * math.sqrt(samples)))
    key = jax.random.fold_in(key, SAMPLING)
    found = [
        _sums(jax.random.fold_in(key, i), model, batch, _rows(memory, batch), samples, min(chunk, samples), tail)
        for i, batch in enumerate(parts(data))
    ]
    first, second, greatest = (
        np.concatenate([np.asarray(a, np.float64) for a in column]) for column in zip(*found, strict=True)
    )
    total = np.full(len(data), -np.inf) if memory is None else np.asarray(mem.bound(memory.log_joint), np.float64)
    bound = _bound(total, first, second, greatest, samples)
    if np.any(bound.doubtful):
        warnings.warn(
            f"{int(bound.doubtful.sum())} of {len(data)} estimates of log p(x) have heavy-tailed weights (effective "
            f"sample size below {LEAST_EFFECTIVE:.0f} or Pareto k above {MOST_PARETO_K}): recognition misses mass, so "
            "they may be too low by more than their errors; give known programs, or refine recognition.",
            stacklevel=2,
        )
    return bound


def _known(key: Key[Array, ""], model: Model, data: Observations, known: Memory | bool) -> Memory | None:
    """The known programs with their scores under the model."""
    if fills(model.recognition):  # the floats of a known program are one draw, and its score a density
        if isinstance(known, Memory):
            raise Refusal("Programs whose floats are random variables cannot be summed: leave out known.")
        return None
    if isinstance(known, bool):
        return remember(jax.random.fold_in(key, len(data)), model, data, **SEARCH) if known else None
    if known.log_joint.shape[0] != len(data):
        raise Refusal(f"known has {known.log_joint.shape[0]} rows, but there are {len(data)} observations.")
    return rescore(model, known, data)


def _rows(memory: Memory | None, batch: Batch) -> Memory | None:
    """The memory rows of a batch."""
    return None if memory is None else mem.read(memory, batch.rows)


@eqx.filter_jit
def _sums(
    key: Key[Array, ""], model: Model, batch: Batch, known: Memory | None, samples: int, chunk: int, tail: int
) -> tuple[Float[Array, "b"], Float[Array, "b"], Float[Array, "b tail"]]:
    """log sum w, log sum w^2 and the greatest log-weights, one more than `tail`; compiled once for equal shapes."""
    whole, rest = divmod(samples, chunk)

    def one(key: Key[Array, ""], count: int) -> Float[Array, "b count"]:
        z, log_p, log_r = weigh(model, key, batch, count)
        return log_p - log_r if known is None else jnp.where(among(z, known), -jnp.inf, log_p - log_r)

    def more(sums: tuple, log_w: Float[Array, "b count"]) -> tuple:
        first, second, greatest = sums
        first = jnp.logaddexp(first, jax.nn.logsumexp(log_w, axis=1))
        second = jnp.logaddexp(second, jax.nn.logsumexp(2 * log_w, axis=1))
        return first, second, jax.lax.top_k(jnp.concatenate([greatest, log_w], axis=1), tail + 1)[0]

    keys = jax.random.split(fused(key), whole + 1)
    nothing = jnp.full(len(batch.rows), -jnp.inf)
    start = (nothing, nothing, jnp.full((len(batch.rows), tail + 1), -jnp.inf))
    start = more(start, one(keys[-1], rest)) if rest else start
    return jax.lax.scan(lambda sums, key: (more(sums, one(key, chunk)), None), start, keys[:-1])[0]


def among(z: Program, known: Memory) -> Bool[Array, "b k"]:
    """Which of the k programs of each observation are among the possible ones that are known for it."""

    def one(z: Program, row: Memory) -> Bool[Array, "k"]:
        same = jax.vmap(jax.vmap(same_program, (None, 0)), (0, None))(z, row.programs)
        return jnp.any(same & jnp.isfinite(row.log_joint)[None, :], axis=1)

    return jax.vmap(one)(z, known)


def _bound(
    total: Float[np.ndarray, "n"],
    first: Float[np.ndarray, "n"],
    second: Float[np.ndarray, "n"],
    greatest: Float[np.ndarray, "n tail"],
    samples: int,
) -> Bound:
    """The bound from the sum over known programs and the sums of the weights of the rest."""
    log_p = np.logaddexp(first - np.log(samples), total)
    possible = np.isfinite(log_p)
    level = np.where(possible, log_p, 0.0)
    # The standard error of the mean weight, over p(x).
    square = np.exp(np.where(possible, second - 2 * np.log(samples) - 2 * level, 0.0))
    mean = np.exp(np.where(possible, first - np.log(samples) - level, 0.0))
    error = np.sqrt(np.maximum(square - mean**2 / samples, 0.0))
    seen = np.isfinite(first)
    effective = np.where(seen, np.exp(2 * np.where(seen, first, 0.0) - np.where(seen, second, 0.0)), 0.0)
    sampled = np.where(possible & seen, mean, 0.0)
    return Bound(log_p, error, effective, np.array([pareto_shape(row) for row in greatest]), sampled)


def pareto_shape(log_w: Float[np.ndarray, "t"]) -> float:
    """The shape k of a generalised Pareto distribution fitted to the greatest weights, given in descending order.

    The last of them is the threshold. By the estimator of Zhang and Stephens (2009) with the prior of Vehtari et al.
    (2024); NaN where fewer than five weights exceed the threshold.
    """
    w = np.exp(log_w - log_w[0]) if np.isfinite(log_w[0]) else np.zeros_like(log_w)
    x = np.sort(w[:-1][w[:-1] > w[-1]] - w[-1])
    n = x.size
    if n < LEAST_TAIL:
        return float("nan")
    points = 30 + int(np.sqrt(n))
    b = 1 / x[-1] + (1 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))) / (3 * x[int(n / 4 + 0.5) - 1])
    k = np.mean(np.log1p(-b[:, None] * x[None]), axis=1)
    log_likelihood = n * (np.log(-b / k) - k - 1)
    weight = np.exp(log_likelihood - np.logaddexp.reduce(log_likelihood))
    shape = float(np.mean(np.log1p(-np.sum(b * weight) * x)))
    return (n * shape + 5.0) / (n + 10.0)
