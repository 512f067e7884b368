"""The memory: for each observation the best M distinct programs found so far, and their scores.

It is the variational distribution Q_i of the paper, with Q_i(zeta) proportional to p(zeta, x_i) on
its support. Minus infinity marks an empty slot.

The sum of a row, sum_zeta p(zeta) p(x | zeta), is a lower bound on p(x): its programs differ, and the sum leaves out
all others. It is one only for scores of the model as it now is; rescore a memory that was written before the last
step. Where programs carry quantities it is a bound on two conditions: `Evaluator.log_prob(x, z)` is a lower bound on
log p(x | integer leaves of z), which each evaluator has to see to itself, and prior and recognition score the integer
leaves alone, which `wakesleep.check` tests.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Int8, PyTree

from wakesleep.core.model import Program, same_program

PHASES = ("recognition", "prior", "revision", "other")
"""What a remembered program was proposed by; other: put in by a call of `insert`."""


class Memory(NamedTuple):
    """Programs [n, m, ...] and log p(z, x) [n, m]; the best of a row comes first."""

    programs: PyTree[Array]
    log_joint: Float[Array, "n m"]
    phase: Int8[Array, "n m"] | None = None
    """The place in `PHASES` of what proposed each program when it entered; None where that is not recorded."""


class Weighted(NamedTuple):
    """Programs [..., k, ...] with normalised log-weights [..., k]."""

    programs: PyTree[Array]
    log_weight: Float[Array, "*batch k"]


def empty(program: PyTree[jax.ShapeDtypeStruct], n: int, m: int, phases: bool = False) -> Memory:
    """A memory of n rows and m slots for programs shaped like `program`, nothing in it."""
    programs = jax.tree.map(lambda a: jnp.zeros((n, m, *a.shape), a.dtype), program)
    return Memory(programs, jnp.full((n, m), -jnp.inf, jnp.float32), jnp.zeros((n, m), jnp.int8) if phases else None)


def read(memory: Memory, rows: Int[Array, "b"]) -> Memory:
    """Those rows of the memory."""
    return jax.tree.map(lambda a: a[rows], memory)


def write(memory: Memory, rows: Int[Array, "b"], new: Memory) -> Memory:
    """The memory with those rows, all different, replaced."""
    return jax.tree.map(lambda a, b: a.at[rows].set(b, unique_indices=True), memory, new)


def twins(programs: Program, log_joint: Float[Array, "k"], distinct: int) -> Bool[Array, "k"]:
    """Which programs have a better-scored twin (an earlier one, among equals) in the pool.

    The first `distinct` of them are known to differ from each other, so only pairs with a later one
    are compared.
    """
    k = log_joint.shape[0]
    late = jax.tree.map(lambda a: a[distinct:], programs)
    same = jax.vmap(jax.vmap(same_program, (None, 0)), (0, None))(late, programs)  # [late, k]
    position, late_score, score = jnp.arange(k)[None, :], log_joint[distinct:, None], log_joint[None, :]
    earlier = position < position[:, distinct:].T
    loses = (late_score < score) | ((late_score == score) & earlier)
    beaten_late = jnp.any(same & loses, axis=1)
    beaten_early = jnp.any((same & ~loses)[:, :distinct], axis=0)
    return jnp.concatenate([beaten_early, beaten_late])


def merge(remembered: Memory, proposed: Memory) -> tuple[Memory, Int[Array, ""]]:
    """One row's wake step: pool, drop twins (the better-scored stays), keep the best M.

    Also how many of the proposed were kept.
    """
    m = remembered.log_joint.shape[0]
    pool = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), remembered, proposed)
    scores = jnp.where(twins(pool.programs, pool.log_joint, m), -jnp.inf, pool.log_joint)
    best, order = jax.lax.top_k(scores, m)
    programs, phase = jax.tree.map(lambda a: a[order], (pool.programs, pool.phase))
    return Memory(programs, best, phase), jnp.sum((order >= m) & (best > -jnp.inf))


def among(programs: Program, row: Memory) -> Bool[Array, "k"]:
    """Which of k programs are among those that a row of a memory holds; empty slots hold none."""
    same = jax.vmap(jax.vmap(same_program, (None, 0)), (0, None))(programs, row.programs)
    return jnp.any(same & ~jnp.isneginf(row.log_joint)[None, :], axis=1)


def bound(log_joint: Float[Array, "*batch m"]) -> Float[Array, "*batch"]:
    """The ELBO of Q: log of the sum of p(zeta, x) over the remembered programs."""
    return jax.nn.logsumexp(log_joint, axis=-1)


def posterior(memory: Memory) -> Weighted:
    """Q: weights proportional to p (Claim 1 of the paper); an empty row has weight nowhere."""
    total = bound(memory.log_joint)[..., None]
    return Weighted(memory.programs, jnp.where(jnp.isfinite(total), memory.log_joint - total, -jnp.inf))


def draw(uniform: Float[Array, ""], memory: Memory) -> Program:
    """The program that a uniform number picks from the Q of one row; any where the row is empty."""
    top = jnp.max(memory.log_joint)
    mass = jnp.cumsum(jnp.exp(memory.log_joint - jnp.where(jnp.isfinite(top), top, 0.0)))
    slot = jnp.sum(mass <= uniform * mass[-1])
    slot = jnp.minimum(slot, jnp.sum(memory.log_joint > -jnp.inf) - 1)
    return jax.tree.map(lambda a: a[jnp.maximum(slot, 0)], memory.programs)
