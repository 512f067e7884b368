"""Programs of the clusters domain: a label for each point, in order of appearance.

The first point has label 0, and a later point an earlier label or the next unused one, so that each
partition is spelled in one way. Points that a group does not have are labelled `ABSENT`.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from wakesleep.core.model import Prior, Scalar

Labels = Int[Array, "j"]
ABSENT = -1


def newest(z: Labels) -> Int[Array, "j"]:
    """The greatest label allowed at each point: one more than the greatest before it."""
    tops, top = [], jnp.zeros((), z.dtype)
    for j in range(z.shape[0]):
        tops.append(top)
        top = jnp.maximum(top, z[j] + 1)
    return jnp.stack(tops)


def present(size: Int[Array, ""], points: int) -> Bool[Array, "j"]:
    """Which of the points a group of that size has."""
    return jnp.arange(points) < size


def partitions(points: int) -> Int[np.ndarray, "n j"]:
    """Every partition of that many points (their number is the Bell number: 877 for 7 points)."""
    rows = np.zeros((1, 1), np.int32)
    for _ in range(points - 1):
        tops = rows.max(axis=1) + 2
        grown = np.repeat(rows, tops, axis=0)
        labels = np.concatenate([np.arange(t) for t in tops]).astype(np.int32)
        rows = np.column_stack([grown, labels])
    return rows


class RestaurantPrior(Prior):
    """The Chinese restaurant process with concentration alpha over the points of a group."""

    points: int
    alpha: float = eqx.field(static=True)

    def sample(self, key: Key[Array, ""], c: Int[Array, ""]) -> Labels:
        """Seats the points one after the other."""
        uniforms = jax.random.uniform(key, (self.points,))
        counts, labels, top = [jnp.zeros(())] * self.points, [], jnp.zeros((), jnp.int32)
        for j in range(self.points):
            mass = [jnp.where(top == k, self.alpha, counts[k]) for k in range(j + 1)]
            label = invert(mass, uniforms[j])
            counts = [counts[k] + (label == k) for k in range(self.points)]
            top = jnp.maximum(top, label + 1)
            labels.append(label)
        return jnp.where(present(c, self.points), jnp.stack(labels), ABSENT)

    def log_prob(self, z: Labels, c: Int[Array, ""]) -> Scalar:
        """sum_j log (points with that label before j, or alpha for a new one) / (j + alpha)."""
        here = present(c, self.points)
        new, valid = z == newest(z), jnp.where(here, (z >= 0) & (z <= newest(z)), z == ABSENT)
        earlier = jnp.stack([sum((z[i] == z[j] for i in range(j)), 0) for j in range(self.points)])
        mass = jnp.where(new, self.alpha, jnp.maximum(earlier, 1)) / (jnp.arange(self.points) + self.alpha)
        first = jnp.arange(self.points) == 0  # the first point has nowhere else to sit
        return jnp.where(jnp.all(valid), jnp.sum(jnp.where(here & ~first, jnp.log(mass), 0.0)), -jnp.inf)


def invert(mass: list[Float[Array, ""]], uniform: Float[Array, ""]) -> Int[Array, ""]:
    """The index that a uniform number in [0, 1) picks from unnormalised masses.

    Unrolled over the few masses, so that it fuses.
    """
    below, total = [], jnp.zeros(())
    for m in mass:
        total = total + m
        below.append(total)
    index, last = jnp.zeros((), jnp.int32), jnp.zeros((), jnp.int32)
    for i, m in enumerate(mass):
        index += below[i] <= uniform * total
        last = jnp.where(m > 0, i, last)
    return jnp.minimum(index, last)
