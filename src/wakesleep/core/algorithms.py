"""Memoised wake-sleep and its rivals, each a loss that `algorithm` turns into `init`, `step` and `posterior`."""

from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Key

from wakesleep.core import memory as mem
from wakesleep.core import objectives
from wakesleep.core.hybrid import hmws
from wakesleep.core.memory import Memory
from wakesleep.core.model import Batch, Model, Program, Scalar, dream, frozen, recognise, score, vary
from wakesleep.core.step import Algorithm, Info, Loss, State, algorithm, importance_posterior, report
from wakesleep.core.tail import wake_with_tail
from wakesleep.core.wake import Shares, wake, weigh
from wakesleep.errors import Refusal, require_at_least, require_one_of, require_share

__all__ = ["Algorithm", "Info", "State", "algorithm", "dreamed", "hmws", "mws", "report", "rws", "vimco"]

EXPLORE_OF_ONE_SLOT = 0.1
"""The share of proposals from the prior where a memory holds one program."""
THINNING = 3
"""Folded into the key of a step for what thins the prior, so that other draws are the same with and without it."""
VARYING = 5
"""Folded likewise for what varies the observations that recognition learns from."""


def mws(
    optimiser: optax.GradientTransformation,
    memory_size: int = 5,
    proposals: int = 5,
    recognition: str | None = None,
    replay: str = "draw",
    explore: float | None = None,
    revise: float = 0.0,
    tail: bool | None = None,
    phases: bool = False,
    paper: bool = False,
) -> Algorithm:
    """Memoised wake-sleep: M = `memory_size`, R = `proposals`. `paper=True` is Algorithm 1 of the paper, unchanged.

    It raises the bound log sum_{z in memory} p(z, x) <= log p(x), and with `tail` an unbiased sum over all programs.
    `tail` also trains on proposals of r outside of the memory, weighted so that all terms sum to p(x) on average; it
    is on unless r proposes nothing. `recognition="replay"` trains r on remembered programs, `"fantasy"` on pairs drawn
    from p, `"both"` on half of each, `"sparing"` too, but with replay weighted by 1 - r(z | x); the default is fantasy
    with the tail, both without.
    `replay="expected"` trains on all M remembered programs weighted by Q, where the paper draws one. `explore` is the
    share of proposals drawn from the prior, `revise` the share that are remembered programs with a small change.
    Without the tail, recognition proposes little beyond a small memory, so where that holds one program `explore` is
    `EXPLORE_OF_ONE_SLOT` by default. `phases` records proposers.

    The paper's has `recognition="replay"`, no tail, and draws all proposals from r.
    """
    if paper:
        _require_plain(recognition, replay, explore, revise, tail)
        recognition, explore, tail = "replay", 0.0, False
    tail = (explore != 1 and revise != 1) if tail is None else tail
    recognition = ("fantasy" if tail else "both") if recognition is None else recognition
    require_at_least("proposals", proposals, 1)
    require_one_of("recognition", recognition, ("replay", "fantasy", "both", "sparing"))
    require_one_of("replay", replay, ("draw", "expected"))
    share = _exploring(memory_size, explore, revise, tail)
    loss = _memoised(proposals, recognition, replay, tail, Shares(share, revise))
    return algorithm(loss, optimiser, memory_size, phases=phases)


def _memoised(proposals: int, recognition: str, replay: str, tail: bool, shares: Shares) -> Loss:
    """The loss of memoised wake-sleep."""
    half = 0.5 if recognition in ("both", "sparing") else 1.0

    def loss(model: Model, key: Key[Array, ""], remembered: Memory, batch: Batch) -> tuple[Scalar, tuple[Any, Info]]:
        key_wake, key_replay, key_dream = jax.random.split(key, 3)
        h = jax.vmap(model.recognition.encode)(batch.x, batch.c)
        given = (frozen(model), key_wake, remembered, frozen(h), batch, proposals)
        updated, novel, terms = (wake_with_tail if tail else _woken)(*given, shares)
        z, weight = _replayed(key_replay, terms, replay)
        total = _weighted(weight, score(model, z, batch.x, batch.c, jax.random.fold_in(key, THINNING)))
        if recognition != "fantasy":
            log_r = recognise(model.recognition, z, _seen(model, jax.random.fold_in(key, VARYING), batch, h))
            total += half * _weighted(weight * _unlearned(log_r) if recognition == "sparing" else weight, log_r)
        if recognition != "replay":
            total += half * jnp.mean(dreamed(model, key_dream, batch))
        return total, (updated, _memory_report(terms, novel))

    return loss


def _woken(*given: Any) -> tuple[Memory, Array, Memory]:
    """The wake phase: the updated rows, how many programs entered each, and again the rows, as terms to train on."""
    updated, novel = wake(*given)
    return updated, novel, updated


def _require_plain(
    recognition: str | None, replay: str, explore: float | None, revise: float, tail: bool | None
) -> None:
    """Refuses what the paper's algorithm does not have."""
    if recognition not in (None, "replay") or replay != "draw" or explore or revise or tail:
        raise Refusal("paper=True is the paper's algorithm: leave out recognition, replay, explore, revise and tail.")


def _exploring(memory_size: int, explore: float | None, revise: float, tail: bool) -> float:
    """The share of proposals from the prior, checked together with the size of the memory and the other shares."""
    require_at_least("memory_size", memory_size, 1)
    alone = EXPLORE_OF_ONE_SLOT if memory_size == 1 and not tail else 0.0
    share = alone if explore is None else explore
    require_share("explore", share)
    require_share("revise", revise)
    if tail and (share == 1 or revise == 1):
        raise Refusal("tail weighs what r proposes, so explore and revise must leave a share of the proposals to r.")
    return share


def rws(
    optimiser: optax.GradientTransformation,
    particles: int = 10,
    recognition: str = "wake",
) -> Algorithm:
    """Reweighted wake-sleep (Bornschein and Bengio, 2015) with K = `particles` programs z_k drawn from r(z | x).

    The prior and the evaluator ascend sum_k w_k log p(z_k, x), with w_k proportional to p(z_k, x) / r(z_k | x).
    `recognition="wake"` trains r on the weighted particles, `"sleep"` on pairs drawn from p, `"both"` on half of
    either loss.
    """
    require_at_least("particles", particles, 1)
    require_one_of("recognition", recognition, ("wake", "sleep", "both"))
    half = 0.5 if recognition == "both" else 1.0

    def loss(model: Model, key: Key[Array, ""], memory: None, batch: Batch) -> tuple[Scalar, tuple[Any, Info]]:
        key_wake, key_dream = jax.random.split(key)
        _, log_p, log_r = weigh(model, key_wake, batch, particles, jax.random.fold_in(key, THINNING))
        total = jnp.mean(jax.vmap(objectives.rws_generative)(log_p, frozen(log_r)))
        if recognition != "sleep":
            total += half * jnp.mean(jax.vmap(objectives.rws_recognition)(frozen(log_p), log_r))
        if recognition != "wake":
            total += half * jnp.mean(dreamed(model, key_dream, batch))
        return total, (None, _importance_report(log_p, log_r))

    return algorithm(loss, optimiser, None, importance_posterior(particles))


def vimco(optimiser: optax.GradientTransformation, particles: int = 10) -> Algorithm:
    """VIMCO (Mnih and Rezende, 2016) with K = `particles` programs z_k drawn from r(z | x).

    All parts ascend E log (1/K sum_k p(z_k, x) / r(z_k | x)); what the other particles say is the baseline of each.
    """
    require_at_least("particles", particles, 2)

    def loss(model: Model, key: Key[Array, ""], memory: None, batch: Batch) -> tuple[Scalar, tuple[Any, Info]]:
        _, log_p, log_r = weigh(model, key, batch, particles, jax.random.fold_in(key, THINNING))
        total = jnp.mean(jax.vmap(objectives.vimco)(log_p, log_r))
        return total, (None, _importance_report(log_p, log_r))

    return algorithm(loss, optimiser, None, importance_posterior(particles))


def dreamed(model: Model, key: Key[Array, ""], batch: Batch) -> Float[Array, "b"]:
    """Sleep, fantasy: - log r(z | x) of one pair drawn from p for each observation of the batch.

    It is zero, with a zero gradient, where r cannot propose z.
    """
    z, x = dream(frozen(model), key, batch.c, batch.rows.shape[0])
    x = vary(model.recognition, jax.random.fold_in(key, VARYING), x)
    h = jax.vmap(model.recognition.encode)(x, batch.c)
    log_r = recognise(model.recognition, jax.tree.map(lambda a: a[:, None], z), h)[:, 0]
    weight = (~jnp.isneginf(log_r)).astype(log_r.dtype)  # NaN is not silenced
    return jax.vmap(objectives.weighted)(weight[:, None], log_r[:, None])


def _seen(model: Model, key: Key[Array, ""], batch: Batch, h: Any) -> Any:
    """What recognition sees of a batch when it learns from replay: h, where it does not vary observations."""
    x = vary(model.recognition, key, batch.x)
    return h if x is batch.x else jax.vmap(model.recognition.encode)(x, batch.c)


def _replayed(key: Key[Array, ""], rows: Memory, replay: str) -> tuple[Program, Float[Array, "b k"]]:
    """Programs to train on and their weights; an empty row's weigh nothing."""
    if replay == "expected":
        return rows.programs, jnp.exp(mem.posterior(rows).log_weight)
    z = jax.vmap(mem.draw)(jax.random.uniform(key, rows.log_joint.shape[:1]), rows)
    filled = jnp.isfinite(rows.log_joint[:, :1])
    return jax.tree.map(lambda a: a[:, None], z), filled.astype(rows.log_joint.dtype)


def _unlearned(log_r: Float[Array, "b k"]) -> Float[Array, "b k"]:
    """1 - r(z | x), through which no gradient flows: what r proposes already need not be replayed."""
    return jax.lax.stop_gradient(-jnp.expm1(jnp.minimum(log_r, 0.0)))


def _weighted(weight: Float[Array, "b k"], log_prob: Float[Array, "b k"]) -> Scalar:
    """The mean over a batch of the weighted loss."""
    return jnp.mean(jax.vmap(objectives.weighted)(weight, log_prob))


def _memory_report(terms: Memory, novel: Array) -> Info:
    """The report of an algorithm with a memory: the sum of the terms, and the effective number of them."""
    return report(mem.bound(terms.log_joint), novel, jax.vmap(objectives.effective)(terms.log_joint))


def _importance_report(log_p: Float[Array, "b k"], log_r: Float[Array, "b k"]) -> Info:
    """The report of an algorithm without a memory: the importance-weighted bounds and effective sample sizes."""
    log_w = log_p - log_r
    return report(jax.vmap(objectives.iwae)(log_w), effective=jax.vmap(objectives.effective)(log_w))
