"""Hybrid memoised wake-sleep (Le et al., 2022): a memory of tokens, whose continuous variables are integrated out.

A program has integer leaves d and float leaves u, random variables with p(u | d) in the evaluator:
`evaluator.log_prob(x, z)` is log p(x, u | d). For each candidate d, P particles u_j are drawn from r(u | d, x), and

    S(d) = 1/P sum_j p(d, u_j, x) / r(u_j | d, x)

is an unbiased estimate of p(d, x), with which d is ranked, kept and weighted. The sum of S over the distinct programs
kept is at most the sum over all candidates, whose expectation is a part of p(x); so E log sum S is a lower bound on
log p(x), although the same particles choose what is kept. Scores are drawn afresh at every step: an estimate that was
kept because it was large would be no bound.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Key

from wakesleep.core import memory as mem
from wakesleep.core import objectives
from wakesleep.core.memory import Memory, Weighted
from wakesleep.core.model import (
    Batch,
    Model,
    Observations,
    Program,
    Scalar,
    canonical,
    fill,
    fills,
    frozen,
    over_programs,
    propose,
    score,
)
from wakesleep.core.step import Algorithm, Info, State, algorithm, report
from wakesleep.errors import Refusal, require_at_least, require_one_of

THINNING = 3


class Candidate(NamedTuple):
    """A program with its particles: the best of them, all P, and log p(z, x) - log r(u | d, x) of each."""

    best: Program
    particles: Program
    log_weight: Float[Array, "*batch p"]


def integrate(
    model: Model, key: Key[Array, ""], z: Program, h: Any, batch: Batch, count: int
) -> tuple[Candidate, Float[Array, "b k"]]:
    """The k programs of each observation with `count` particles each, and log S of each program."""
    b, k = jax.tree.leaves(z)[0].shape[:2]
    many = jax.tree.map(lambda a: jnp.repeat(a, count, axis=1), z)
    drawn = fill(model.recognition, key, many, h)
    log_r = over_programs(model.recognition.log_fill, drawn, h)
    log_w = (score(model, drawn, batch.x, batch.c) - log_r).reshape(b, k, count)
    particles = jax.tree.map(lambda a: a.reshape(b, k, count, *a.shape[2:]), drawn)
    at = jnp.argmax(log_w, axis=2)
    best = jax.tree.map(lambda a: jax.vmap(jax.vmap(lambda one, i: one[i]))(a, at), particles)
    return Candidate(best, particles, log_w), jax.nn.logsumexp(log_w, axis=2) - jnp.log(count)


def wake_hybrid(
    model: Model, key: Key[Array, ""], remembered: Memory, h: Any, batch: Batch, proposals: int, count: int
) -> tuple[Memory, Array]:
    """The wake phase: a memory row of `Candidate`s for each observation, and how many proposals entered it."""
    key_propose, key_fill = jax.random.split(key)
    m = remembered.log_joint.shape[1]
    proposed = canonical(model.prior, propose(model.recognition, key_propose, h, proposals))
    pool = jax.tree.map(lambda a, b: jnp.concatenate([a, b], axis=1), remembered.programs, proposed)
    candidates, log_s = integrate(model, key_fill, pool, h, batch, count)
    vacant = jnp.pad(jnp.isneginf(remembered.log_joint), ((0, 0), (0, proposals)))
    scored = Memory(candidates, jnp.where(vacant, -jnp.inf, log_s))
    old, new = jax.tree.map(lambda a: a[:, :m], scored), jax.tree.map(lambda a: a[:, m:], scored)
    return jax.vmap(mem.merge)(old, new)


def hmws(
    optimiser: optax.GradientTransformation,
    memory_size: int = 5,
    proposals: int = 5,
    fillings: int = 10,
    recognition: str = "expected",
) -> Algorithm:
    """Hybrid memoised wake-sleep: M = `memory_size`, R = `proposals`, P = `fillings` particles for each program.

    A step costs (M + R) P evaluations for an observation. Recognition of tokens minimises
    - sum_m v_m log r(d_m | x), v_m proportional to S(d_m): `recognition="expected"`. With `"logsumexp"` it is
    - log sum_m v_m r(d_m | x), as in the authors' published code, which is content once r holds one of the programs.
    """
    require_at_least("memory_size", memory_size, 1)
    require_at_least("proposals", proposals, 1)
    require_at_least("fillings", fillings, 1)
    require_one_of("recognition", recognition, ("expected", "logsumexp"))

    def loss(model: Model, key: Key[Array, ""], remembered: Memory, batch: Batch) -> tuple[Scalar, tuple[Any, Info]]:
        h = jax.vmap(model.recognition.encode)(batch.x, batch.c)
        given = (frozen(model), key, remembered, frozen(h), batch, proposals, fillings)
        kept, novel = wake_hybrid(*given)
        updated = Memory(kept.programs.best, kept.log_joint)
        v = jnp.exp(mem.posterior(kept).log_weight)
        total = _particle_loss(model, jax.random.fold_in(key, THINNING), kept, v, h, batch)
        log_r = over_programs(model.recognition.log_prob, updated.programs, h)
        total += jnp.mean(jax.vmap(TOKEN_LOSSES[recognition])(v, log_r))
        effective = jax.vmap(objectives.effective)(kept.log_joint)
        return total, (updated, report(mem.bound(kept.log_joint), novel, effective))

    made = algorithm(loss, optimiser, memory_size, partial(_posterior, fillings))

    def init(model: Model, data: Observations) -> State:
        if not fills(model.recognition):
            raise Refusal("hmws draws the floats of programs by recognition.fill, which this model does not define.")
        return made.init(model, data)

    return made._replace(init=init)


def _particle_loss(
    model: Model, key: Key[Array, ""], kept: Memory, v: Float[Array, "b m"], h: Any, batch: Batch
) -> Scalar:
    """The loss of p and of r(u | d, x): all particles of the kept programs, weighted by the posterior estimate."""
    b, m, count = kept.programs.log_weight.shape
    within = jax.vmap(jax.vmap(objectives.normalise))(kept.programs.log_weight)
    weight = (v[:, :, None] * within).reshape(b, m * count)
    z = jax.tree.map(lambda a: a.reshape(b, m * count, *a.shape[3:]), kept.programs.particles)
    log_fill = over_programs(model.recognition.log_fill, z, h)
    each = jax.vmap(objectives.weighted)
    return jnp.mean(each(weight, score(model, z, batch.x, batch.c, key)) + each(weight, log_fill))


def _logsumexp_loss(v: Float[Array, "m"], log_r: Float[Array, "m"]) -> Scalar:
    """- log sum_m v_m r(d_m | x), zero where the row is empty."""
    filled = jax.lax.stop_gradient(v > 0) & ~jnp.isneginf(log_r)
    terms = jnp.where(filled, jnp.log(jnp.where(filled, v, 1.0)) + jnp.where(filled, log_r, 0.0), -jnp.inf)
    safe = jnp.where(jnp.any(filled), terms, 0.0)
    return jnp.where(jnp.any(filled), -jax.nn.logsumexp(safe), 0.0)


TOKEN_LOSSES = {"expected": objectives.weighted, "logsumexp": _logsumexp_loss}


def _posterior(fillings: int, key: Key[Array, ""], state: State, batch: Batch) -> Weighted:
    """Q of the batch's rows by fresh estimates of S, each program with its best particle."""
    assert state.memory is not None
    rows = mem.read(state.memory, batch.rows)
    h = jax.vmap(state.model.recognition.encode)(batch.x, batch.c)
    found, log_s = integrate(state.model, key, rows.programs, h, batch, fillings)
    return mem.posterior(Memory(found.best, jnp.where(jnp.isneginf(rows.log_joint), -jnp.inf, log_s)))
