"""p(x | z) of the clusters domain: Gaussian clusters of one shared covariance, means integrated out.

Within a cluster of n points, sqrt(n) times their mean is N(0, Sigma + n I) and the n - 1 contrasts
are N(0, Sigma), all independent. So a cluster's score needs only its count and its sum, and the
14 x 14 covariance of seven points is never built.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from wakesleep.core.model import Evaluator, Scalar
from wakesleep.domains.clusters.language import Labels

Points = Float[Array, "j d"]


class GaussianClusters(Evaluator):
    """mu_c ~ N(0, I), x_j ~ N(mu_{z_j}, Theta Theta^T); Theta is learned, the identity at first."""

    theta: Float[Array, "d d"]

    def __init__(self, dimensions: int = 2, variance: float = 1.0):
        self.theta = jnp.sqrt(variance) * jnp.eye(dimensions)

    @property
    def sigma(self) -> Float[Array, "d d"]:
        """Returns the covariance within a cluster."""
        rows = self.theta[:, None, :] * self.theta[None, :, :]
        return jnp.sum(rows, axis=-1)

    def sample(self, key: Key[Array, ""], z: Labels) -> Points:
        """Draws a point for each label; zeros where a label is absent."""
        key_mean, key_noise = jax.random.split(key)
        shape = (z.shape[0], self.theta.shape[0])
        means = jax.random.normal(key_mean, shape)[jnp.maximum(z, 0)]
        points = means + jax.random.normal(key_noise, shape) @ self.theta.T
        return jnp.where((z >= 0)[:, None], points, 0.0)

    def log_prob(self, x: Points, z: Labels) -> Scalar:
        """Returns log p(x | z): the sum over clusters of log N of the contrasts and of the mean."""
        (points, d), cluster = x.shape, jnp.arange(x.shape[0])
        member = [(z[j] == cluster).astype(x.dtype) for j in range(points)]
        count = sum(member)
        sums = [sum(member[j] * x[j, i] for j in range(points)) for i in range(d)]
        sigma = [[self.sigma[i, j] for j in range(i + 1)] for i in range(d)]
        log_det, scatter = quadratic(sigma, [x[:, i] for i in range(d)], 0.0)
        total = jnp.sum(jnp.where(z >= 0, log_det + scatter + d * jnp.log(2 * jnp.pi), 0.0))
        _, spread = quadratic(sigma, sums, 0.0)
        log_det_mean, of_mean = quadratic(sigma, sums, count)
        total += jnp.sum(log_det_mean - log_det + (of_mean - spread) / jnp.maximum(count, 1.0))
        return -0.5 * total


def quadratic(sigma: list[list[Scalar]], v: list[Any], shift: float | Float[Array, "k"]) -> tuple[Any, Any]:
    """Returns log det (sigma + shift I) and v^T (sigma + shift I)^-1 v, elementwise over k.

    By an LDL factorisation of the lower triangle, unrolled over the few dimensions, which fuses into
    the sums around it.
    """
    pivots: list = []
    lower: list[list] = []
    rest: list = []
    for i in range(len(v)):
        lower.append([])
        for j in range(i):
            inner = sum((lower[i][k] * lower[j][k] * pivots[k] for k in range(j)), 0.0)
            lower[i].append((sigma[i][j] - inner) / pivots[j])
        pivots.append(sigma[i][i] + shift - sum((lower[i][k] ** 2 * pivots[k] for k in range(i)), 0.0))
        rest.append(v[i] - sum((lower[i][k] * rest[k] for k in range(i)), 0.0))
    log_det = sum((jnp.log(p) for p in pivots), 0.0)
    return log_det, sum((r**2 / p for r, p in zip(rest, pivots, strict=True)), 0.0)
