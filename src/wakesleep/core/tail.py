"""Memory plus weighted tail: an estimate of p(x) in which the memory is summed and the rest is sampled.

With Z the programs that were remembered before the step, and z_1 .. z_R drawn from r(z | x) after Z was fixed,

    P = sum_{zeta in Z} p(zeta, x) + 1/R sum_j [z_j not in Z] p(z_j, x) / r(z_j | x)

has the expectation p(x), whatever Z is: the first sum is exact, and the second an importance-sampled estimate of the
sum over all other programs, as long as r can propose them. So E log P is a lower bound on log p(x), and P is never less
than the first sum, to which plain memoised wake-sleep is confined. The gradient of log P is the mean of
grad log p(z, x) under the weights of the terms of P, and one draw from these weights estimates it without bias.

Where some proposals come from the prior or change a remembered program, r draws a share s of them on average. The
others may enter the memory and have no term in P; what r drew counts 1 / (s R) instead of 1 / R.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from wakesleep.core import memory as mem
from wakesleep.core.memory import Memory
from wakesleep.core.model import Batch, Model, Prior, canonical, recognise, score
from wakesleep.core.wake import ALL_RECOGNISED, Shares, proposed, rescored


def wake_with_tail(
    model: Model,
    key: Key[Array, ""],
    remembered: Memory,
    h: Any,
    batch: Batch,
    proposals: int,
    shares: Shares = ALL_RECOGNISED,
) -> tuple[Memory, Int[Array, "b"], Memory]:
    """The wake phase for a batch: the merged memory rows, how many proposals entered each, and the terms of P."""
    drawn, phase = proposed(model, key, remembered, h, batch.c, proposals, shares)
    old, fresh = rescored(model, remembered, canonical(model.prior, drawn), batch)
    recorded = None if remembered.phase is None else phase
    updated, novel = jax.vmap(mem.merge)(old._replace(phase=remembered.phase), fresh._replace(phase=recorded))
    if type(model.prior).canonical is not Prior.canonical:  # P is a sum over programs as r spells them
        fresh = Memory(drawn, score(model, drawn, batch.x, batch.c))
    log_q = recognise(model.recognition, fresh.programs, h) + math.log(shares.recognised)
    return updated, novel, jax.vmap(terms)(old, fresh, log_q, phase == mem.PHASES.index("recognition"))


def terms(remembered: Memory, fresh: Memory, log_q: Float[Array, "r"], from_r: Bool[Array, "r"]) -> Memory:
    """The terms of P for one observation: m + r programs and the logarithms of their terms, the largest first.

    The scores of both are of the same model; `log_q` is log s r(z | x). A proposal that is remembered, impossible, or
    not drawn from r has a term of zero; one that is drawn twice has two.
    """
    gone = mem.among(fresh.programs, remembered) | jnp.isneginf(fresh.log_joint) | ~from_r
    tail = jnp.where(gone, 0.0, fresh.log_joint) - jnp.where(gone, 0.0, log_q) - jnp.log(log_q.shape[0])
    log_terms = jnp.concatenate([remembered.log_joint, jnp.where(gone, -jnp.inf, tail)])
    programs = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), remembered.programs, fresh.programs)
    order = jnp.argsort(-log_terms)
    return Memory(jax.tree.map(lambda a: a[order], programs), log_terms[order])
