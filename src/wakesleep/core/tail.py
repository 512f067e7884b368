"""Memory plus weighted tail: an estimate of p(x) in which the memory is summed and the rest is sampled.

With Z the programs that were remembered before the step, and z_1 .. z_R drawn from r(z | x) after Z was fixed,

    P = sum_{zeta in Z} p(zeta, x) + 1/R sum_j [z_j not in Z] p(z_j, x) / r(z_j | x)

has the expectation p(x), whatever Z is: the first sum is exact, and the second an importance-sampled estimate of the
sum over all other programs, as long as r can propose them. So E log P is a lower bound on log p(x), and P is never less
than the first sum, to which plain memoised wake-sleep is confined. The gradient of log P is the mean of
grad log p(z, x) under the weights of the terms of P, and one draw from these weights estimates it without bias.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from wakesleep.core import memory as mem
from wakesleep.core.memory import Memory
from wakesleep.core.model import Batch, Model, Prior, canonical, propose, recognise, score
from wakesleep.core.wake import rescored, tagged


def wake_with_tail(
    model: Model, key: Key[Array, ""], remembered: Memory, h: Any, batch: Batch, proposals: int
) -> tuple[Memory, Int[Array, "b"], Memory]:
    """The wake phase for a batch: the merged memory rows, how many proposals entered each, and the terms of P.

    All proposals are drawn from r, with which the terms are weighted.
    """
    drawn = propose(model.recognition, key, h, proposals)
    old, fresh = rescored(model, remembered, canonical(model.prior, drawn), batch)
    phase = None if remembered.phase is None else tagged(drawn, "recognition")[1]
    updated, novel = jax.vmap(mem.merge)(old._replace(phase=remembered.phase), fresh._replace(phase=phase))
    if type(model.prior).canonical is not Prior.canonical:  # P is a sum over programs as r spells them
        fresh = Memory(drawn, score(model, drawn, batch.x, batch.c))
    log_r = recognise(model.recognition, fresh.programs, h)
    return updated, novel, jax.vmap(terms)(old, fresh, log_r)


def terms(remembered: Memory, fresh: Memory, log_r: Float[Array, "r"]) -> Memory:
    """The terms of P for one observation: m + r programs and the logarithms of their terms, the largest first.

    The scores of both are of the same model. A proposal that is remembered, or impossible, has a term of zero; one
    that is drawn twice has two.
    """
    gone = mem.among(fresh.programs, remembered) | jnp.isneginf(fresh.log_joint)
    tail = jnp.where(gone, 0.0, fresh.log_joint) - jnp.where(gone, 0.0, log_r) - jnp.log(log_r.shape[0])
    log_terms = jnp.concatenate([remembered.log_joint, jnp.where(gone, -jnp.inf, tail)])
    programs = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), remembered.programs, fresh.programs)
    order = jnp.argsort(-log_terms)
    return Memory(jax.tree.map(lambda a: a[order], programs), log_terms[order])
