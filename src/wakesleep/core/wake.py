"""The wake phase: proposals, their scores, and the memory rows that they enter."""

import math
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Int8, Key

from wakesleep.core import memory as mem
from wakesleep.core.keys import draw_rows
from wakesleep.core.memory import Memory
from wakesleep.core.model import (
    Batch,
    Model,
    Prior,
    Program,
    canonical,
    carries,
    frozen,
    propose,
    recognise,
    refine,
    score,
)

Tagged = tuple[Program, Int8[Array, "b _"]]


class Shares(NamedTuple):
    """Where the proposals of a wake phase come from, if not all from recognition."""

    explore: float = 0.0
    """Of the proposals that are not revised, the share that is drawn from the prior."""
    revise: float = 0.0
    """The share that are remembered programs with a small change."""

    @property
    def recognised(self) -> float:
        """Returns the share that recognition draws, on average."""
        return (1 - self.explore) * (1 - self.revise)


ALL_RECOGNISED = Shares()


def wake(
    model: Model,
    key: Key[Array, ""],
    remembered: Memory,
    h: Any,
    batch: Batch,
    proposals: int,
    shares: Shares = ALL_RECOGNISED,
    fixed: bool = False,
) -> tuple[Memory, Int[Array, "b"]]:
    """The wake phase for a batch: returns the merged memory rows and how many proposals entered each.

    For `fixed` see `enter`.
    """
    programs, phase = proposed(model, key, remembered, h, batch.c, proposals, shares)
    return enter(model, remembered, programs, batch, fixed, phase)


def proposed(
    model: Model,
    key: Key[Array, ""],
    remembered: Memory,
    h: Any,
    c: Any,
    proposals: int,
    shares: Shares = ALL_RECOGNISED,
) -> Tagged:
    """The proposals of a wake phase, each with what proposed it.

    The last places are revised: as many as the share says, and one more at random where it is no whole number. What r
    draws at a place does not depend on who gets the place.
    """
    revised, more = divmod(shares.revise * proposals, 1)
    drawn = proposals - int(revised)
    count = proposals - drawn + (more > 0)
    fresh = tagged(propose(model.recognition, key, h, max(drawn, 1)), "recognition")
    fresh = _explored(jax.random.fold_in(key, 1), model.prior, c, fresh, shares.explore)
    if not count:
        return fresh
    changed = _revised(jax.random.fold_in(key, 2), model, remembered, h, count)
    return _spliced(jax.random.fold_in(key, 3), fresh, changed, proposals, more) if drawn else changed


def _spliced(key: Key[Array, ""], drawn: Tagged, revised: Tagged, proposals: int, share: float) -> Tagged:
    """The drawn programs and behind them the revised ones, cut to `proposals`: where both have a place, the revised one
    gets it with the probability `share`."""
    b, overlap = drawn[1].shape[0], drawn[1].shape[1] + revised[1].shape[1] - proposals
    swap = jax.random.uniform(key, (b, overlap)) < share

    def one(first: Array, second: Array) -> Array:
        cut = first.shape[1] - overlap
        both = jnp.where(_aligned(swap, first[:, cut:]), second[:, :overlap], first[:, cut:])
        return jnp.concatenate([first[:, :cut], both, second[:, overlap:]], axis=1)

    return jax.tree.map(one, drawn, revised)


def tagged(programs: Program, phase: str) -> Tagged:
    """Returns programs [b, r, ...] with the place in `PHASES` of what proposed them."""
    shape = jax.tree.leaves(programs)[0].shape[:2]
    return programs, jnp.full(shape, mem.PHASES.index(phase), jnp.int8)


def enter(
    model: Model,
    remembered: Memory,
    proposed: Program,
    batch: Batch,
    fixed: bool = False,
    phase: Int8[Array, "b r"] | None = None,
) -> tuple[Memory, Int[Array, "b"]]:
    """Merges programs [b, r, ...], in canonical form, into memory rows; also returns how many entered each row.

    p has changed since a program was stored, so the remembered programs are rescored together with the new ones. With
    a `fixed` model this happens only where programs carry quantities, which are then refined further.
    """
    proposed = canonical(model.prior, proposed)
    if remembered.phase is None:
        phase = None
    elif phase is None:
        phase = tagged(proposed, "other")[1]
    if fixed and not carries(proposed):
        return jax.vmap(mem.merge)(remembered, Memory(proposed, score(model, proposed, batch.x, batch.c), phase))
    before, new = rescored(model, remembered, proposed, batch)
    return jax.vmap(mem.merge)(before._replace(phase=remembered.phase), new._replace(phase=phase))


def rescored(model: Model, remembered: Memory, proposed: Program, batch: Batch) -> tuple[Memory, Memory]:
    """The remembered and the proposed programs, refined and scored in one pass."""
    m = remembered.log_joint.shape[1]
    pool = _joined(remembered.programs, proposed)
    if carries(pool):
        pool, log_joint = _refitted(model, remembered.programs, pool, batch)
    else:
        log_joint = score(model, pool, batch.x, batch.c)
    vacant = jnp.pad(jnp.isneginf(remembered.log_joint), ((0, 0), (0, log_joint.shape[1] - m)))
    scored = Memory(pool, jnp.where(vacant, -jnp.inf, log_joint))
    return jax.tree.map(lambda a: a[:, :m], scored), jax.tree.map(lambda a: a[:, m:], scored)


def _refitted(model: Model, remembered: Program, pool: Program, batch: Batch) -> tuple[Program, Float[Array, "b k"]]:
    """The pool, which begins with the m remembered programs, refined, and its scores.

    A remembered program whose refined quantities score worse keeps those that it had. A proposal carries a starting
    point and no fit, so it is always refined.
    """
    refined = refine(model.evaluator, pool, batch.x)
    m = jax.tree.leaves(remembered)[0].shape[1]
    scores = score(model, _joined(remembered, refined), batch.x, batch.c)
    before, after = scores[:, :m], scores[:, m:]
    worse = jnp.pad(~(after[:, :m] >= before), ((0, 0), (0, after.shape[1] - m)))  # NaN counts as worse
    kept = jax.tree.map(lambda old, new: jnp.where(_aligned(worse, new), old, new), pool, refined)
    return kept, jnp.where(worse, jnp.pad(before, ((0, 0), (0, after.shape[1] - m))), after)


def _joined(first: Program, second: Program) -> Program:
    """Two groups of programs of the same observations as one."""
    return jax.tree.map(lambda a, b: jnp.concatenate([a, b], axis=1), first, second)


def _aligned(mask: Array, like: Array) -> Array:
    """The mask [b, k] with axes added, so that it selects along the first two axes of an array."""
    return mask.reshape(mask.shape + (1,) * (like.ndim - 2))


def _explored(key: Key[Array, ""], prior: Prior, c: Any, proposed: Tagged, share: float) -> Tagged:
    """The proposals [b, r, ...] with a share of them, at random places of the batch, replaced by draws from the prior.

    As many programs are drawn as are expected to be used, rounded up; each then counts with the probability that
    makes the expected share exact.
    """
    if share == 0:
        return proposed
    b, r = jax.tree.leaves(proposed)[0].shape[:2]
    count = min(math.ceil(share * b * r), b * r)
    key_place, key_draw, key_use = jax.random.split(key, 3)
    places = draw_rows(key_place, b * r, count)
    drawn = jax.vmap(prior.sample)(jax.random.split(key_draw, count), jax.tree.map(lambda a: a[places // r], c))
    used = jnp.where(jax.random.uniform(key_use, (count,)) < share * b * r / count, places, b * r)  # b * r: dropped

    def put(a: Array, new: Array) -> Array:
        flat = a.reshape(b * r, *a.shape[2:])
        return flat.at[used].set(new, mode="drop").reshape(a.shape)

    return jax.tree.map(put, proposed, (drawn, jnp.full(count, mem.PHASES.index("prior"), jnp.int8)))


def _revised(key: Key[Array, ""], model: Model, remembered: Memory, h: Any, count: int) -> Tagged:
    """For each observation `count` programs of its memory, each with a small change."""
    keys = jax.random.split(key, (remembered.log_joint.shape[0], count))
    one = partial(_revision, model)
    return tagged(jax.vmap(jax.vmap(one, (0, None, None)))(keys, remembered, h), "revision")


def _revision(model: Model, key: Key[Array, ""], remembered: Memory, h: Any) -> Program:
    """A remembered program of one observation, drawn from Q, with a small change."""
    key_draw, key_change = jax.random.split(key)
    return model.recognition.revise(key_change, mem.draw(jax.random.uniform(key_draw), remembered), h)


def weigh(
    model: Model, key: Key[Array, ""], batch: Batch, count: int, key_thin: Key[Array, ""] | None = None
) -> tuple[Program, Float[Array, "b k"], Float[Array, "b k"]]:
    """`count` proposals for each observation, with their log p and log r; for `key_thin` see `score`."""
    h = jax.vmap(model.recognition.encode)(batch.x, batch.c)
    z = propose(frozen(model.recognition), key, frozen(h), count)
    z = frozen(refine(frozen(model.evaluator), z, batch.x))
    return z, score(model, z, batch.x, batch.c, key_thin), recognise(model.recognition, z, h)
