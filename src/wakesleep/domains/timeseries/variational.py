"""The Gaussian over an expression's continuous variables: its fit, and the lower bound on log p(x | z) that it gives.

Paper: up to 100 coordinate updates, and 10 samples. Here the mean climbs the log posterior by BFGS, which needs one
gradient an iteration, and the covariance is the inverse of the curvature found there, so that it is not diagonal. Any
Gaussian gives a lower bound; this one is close to the best where the posterior is nearly Gaussian. The carried
covariance is also BFGS's first guess of the inverse curvature, so that the next visit goes on where this one ended.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

QUADRATURE_POINTS = 10
LONGEST_STEP, LEAST_STEP_GAIN, STEP_SHRINKAGE = 1.0, 1e-4, 0.25
DIFFERENCE_STEP = 1e-4
LEAST_CURVATURE = 0.3
"""The least curvature in any direction: no standard deviation is above 1.8 in log-space."""
GREATEST_LOG_VARIABLE = 15.0
"""Variables stay between -15 and 15: beyond that no series differs from another."""

Vector = Float[Array, "v"]
ValueAndGradient = Callable[[Vector], tuple[Float[Array, ""], Vector]]


class Climb(NamedTuple):
    """The state of BFGS."""

    theta: Vector
    value: Float[Array, ""]
    gradient: Vector
    inverse: Float[Array, "v v"]
    """The guess of the inverse curvature."""
    share: Float[Array, ""]
    """The share of the full step that is tried next."""
    beside: Float[Array, "v v"]
    """Gradients a small step along each variable, taken after the climb."""


def climb(function: ValueAndGradient, theta: Vector, inverse: Float[Array, "v v"], steps: int) -> Climb:
    """Runs that many iterations of BFGS uphill, and returns its state with the gradients beside the top.

    Each iteration has one evaluation: a step that gains too little is tried shorter. The first stands still. The
    gradients beside the top are taken in the same loop, so that the function is compiled once.
    """
    size = theta.shape[0]

    def iterate(i: Array, now: Climb) -> Climb:
        along = jnp.maximum(i - steps - 1, 0)
        climbing = i <= steps
        direction = now.inverse @ now.gradient
        direction = direction * jnp.minimum(1.0, LONGEST_STEP / (jnp.max(jnp.abs(direction)) + 1e-12))
        step = now.share * direction
        beside = now.theta + DIFFERENCE_STEP * (np.arange(size) == along)
        theta = jnp.where(climbing, jnp.clip(now.theta + step, -GREATEST_LOG_VARIABLE, GREATEST_LOG_VARIABLE), beside)
        value, gradient = function(theta)
        finite = jnp.isfinite(value) & jnp.all(jnp.isfinite(gradient))
        good = climbing & finite & (value >= now.value + LEAST_STEP_GAIN * (step @ now.gradient))
        inverse = _update(now.inverse, theta - now.theta, now.gradient - gradient)
        rows = now.beside.at[along].set(gradient)
        moved = Climb(theta, value, gradient, inverse, jnp.ones_like(value), rows)
        stayed = now._replace(share=now.share * STEP_SHRINKAGE, beside=rows)
        return jax.tree.map(lambda a, b: jnp.where(good, a, b), moved, stayed)

    none, nowhere = jnp.zeros_like(theta), jnp.full_like(theta[0], -jnp.inf)
    start = Climb(theta, nowhere, none, inverse, jnp.ones_like(nowhere), jnp.zeros_like(inverse))
    return jax.lax.fori_loop(0, steps + 1 + size, iterate, start)


def curvature(top: Climb) -> Float[Array, "v v"]:
    """Returns minus the second derivatives at the end of a climb, by differences of gradients."""
    found = (top.gradient[None] - top.beside) / DIFFERENCE_STEP
    return 0.5 * (found + found.T)


def _update(inverse: Float[Array, "v v"], step: Vector, change: Vector) -> Float[Array, "v v"]:
    """Returns the BFGS update of the inverse curvature, left out where the curvature along the step is not positive."""
    curvature = step @ change
    positive = curvature > 1e-10
    scale = jnp.where(positive, 1 / jnp.where(positive, curvature, 1.0), 0.0)
    turned = inverse @ change
    both = step[:, None] * turned[None, :]
    update = (1 + scale * (change @ turned)) * step[:, None] * step[None, :] - both - both.T
    return inverse + jnp.where(positive, scale * update, 0.0)


def gaussian_root(precision: Float[Array, "v v"], active: Bool[Array, "v"]) -> Float[Array, "v v"]:
    """Returns the lower root of the inverse of a curvature, made positive where it is not; zero for idle variables."""
    both = active[:, None] & active[None, :]
    known = jnp.where(both & jnp.isfinite(precision), precision, jnp.eye(active.shape[0], dtype=precision.dtype))
    values, vectors = jnp.linalg.eigh(known)
    inverse = (vectors / jnp.maximum(jnp.abs(values), LEAST_CURVATURE)[None]) @ vectors.T
    return jnp.where(both, jnp.linalg.cholesky(inverse), 0.0)


def points(active: Bool[Array, "v"]) -> Float[Array, "s v"]:
    """Returns ten fixed points that stand for a standard normal of the active variables.

    Antithetic pairs in fixed directions, at radii of equal probability by Wilson and Hilferty's formula, whose mean
    square is exact: what is quadratic in the variables is then integrated without error by the radius alone.
    """
    half = QUADRATURE_POINTS // 2
    count = jnp.maximum(jnp.sum(active), 1).astype(jnp.float64)
    middles = np.array([-1.2815515655, -0.5244005127, 0.0, 0.5244005127, 1.2815515655])
    spread = 2 / (9 * count)
    square = jnp.maximum(1 - spread + jnp.sqrt(spread) * middles, 0.02) ** 3
    radius = jnp.sqrt(count * square / jnp.mean(square))
    directions = np.random.default_rng(0).normal(size=(half, active.shape[0]))
    chosen = jnp.where(active[None], directions, 0.0)
    unit = chosen / jnp.maximum(jnp.linalg.norm(chosen, axis=1, keepdims=True), 1e-9)
    drawn = radius[:, None] * unit
    return jnp.concatenate([drawn, -drawn])


def divergence(
    mean: Vector, root: Float[Array, "v v"], active: Bool[Array, "v"], prior_mean: Vector, prior_log_std: Vector
) -> Float[Array, ""]:
    """Returns KL(q || p) of a Gaussian from independent ones, over the active variables."""
    variance = jnp.sum(root**2, axis=1)
    diagonal = jnp.where(active, jnp.maximum(jnp.abs(jnp.diag(root)), 1e-12), 1.0)
    distance = (variance + (mean - prior_mean) ** 2) * jnp.exp(-2 * prior_log_std)
    each = 0.5 * (distance - 1) + prior_log_std - jnp.log(diagonal)
    return jnp.sum(jnp.where(active, each, 0.0))
