"""log N(x | 0, K) and its gradient with respect to K: by Levinson's recursion on a regular grid, else by Cholesky.

Everything here is in double precision: the covariance of a smooth series has a condition number of some 1e8.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from wakesleep.domains.timeseries.kernels import Covariance

LOG_2PI = float(np.log(2 * np.pi))


class Series(NamedTuple):
    """An observation: n times, spans from the middle, and the values there; what is absent comes last."""

    times: Float[Array, "n"]
    values: Float[Array, "n"]
    present: Bool[Array, "n"]


def spacing(x: Series) -> Float[Array, ""]:
    """Returns the step of a regular grid."""
    return (x.times[-1] - x.times[0]) / (x.times.shape[0] - 1)


class Solved(NamedTuple):
    """What Levinson's recursion leaves behind."""

    first: Float[Array, "n"]
    """The first column of the inverse."""
    solutions: Float[Array, "2 n"]
    log_determinant: Float[Array, ""]


def levinson(r: Float[Array, "n"], sides: Float[Array, "2 n"], count: Float[Array, ""]) -> Solved:
    """Solves T s = side for both sides at once, T being the leading `count` rows of the Toeplitz matrix of r.

    Durbin's recursion carries the best linear forecast of the next point from all before it, and that of the first
    from all after it: O(n^2) operations and O(n) numbers to carry.
    """
    n, index = r.shape[0], np.arange(r.shape[0])
    backwards = jnp.concatenate([r[::-1], jnp.zeros_like(r)])

    def step(m: Array, carry: tuple) -> tuple:
        ahead, back, solutions, variance, log_det = carry
        inside = m < count
        lagged = jax.lax.dynamic_slice(backwards, (n - 1 - m,), (n,))  # r[m - j] at j
        shifted = jnp.concatenate([jnp.zeros(1, r.dtype), ahead[:-1]])
        reflection = jnp.where(inside, (r[m] - back @ lagged) / variance, 0.0)
        here = (index == m).astype(r.dtype)
        ahead = shifted + reflection * ((index == 0) - back)
        back = back + reflection * (here - shifted)
        variance = variance * (1 - reflection**2)
        error = jnp.where(inside, (sides[:, m] - solutions @ lagged) / variance, 0.0)
        solutions = solutions + error[:, None] * (here - ahead)[None]
        return ahead, back, solutions, variance, log_det + jnp.where(inside, jnp.log(variance), 0.0)

    none = jnp.zeros_like(r)
    first = jnp.zeros_like(sides).at[:, 0].set(sides[:, 0] / r[0])
    start = (none, none, first, r[0], jnp.log(r[0]))
    _, back, solutions, variance, log_det = jax.lax.fori_loop(1, n, step, start)
    return Solved(((index == 0) - back) / variance, solutions, log_det)


def by_levinson(k: Covariance, x: Series) -> tuple[Float[Array, ""], Covariance]:
    """Returns the log-likelihood on a regular grid and its gradient; `k.stationary` is at the lags 0, 1, ..., n - 1."""
    count = jnp.sum(x.present).astype(k.nugget.dtype)
    u, y = (jnp.where(x.present, a, 0.0).astype(k.nugget.dtype) for a in (x.times, x.values))
    solved = levinson(k.stationary.at[0].add(k.nugget), jnp.stack([y, u]), count)
    of_y, of_u = solved.solutions
    line = 1 + k.slope * (u @ of_u)
    alpha = of_y - k.slope * (of_u @ y) / line * of_u
    value = -0.5 * (y @ alpha + solved.log_determinant + jnp.log(line) + count * LOG_2PI)
    # The sums along the diagonals of the inverse, by the formula of Gohberg and Semencul.
    index = np.arange(y.shape[0])
    crossed, weighted = correlate(solved.first, jnp.stack([solved.first, index * solved.first]))
    diagonals = ((count - index) * crossed - 2 * weighted) / solved.first[0]
    outer = correlate(alpha, alpha[None])[0] + k.slope / line * correlate(of_u, of_u[None])[0]
    gradient = (outer - diagonals) * jnp.where(index == 0, 0.5, 1.0)
    by_slope = 0.5 * ((u @ alpha) ** 2 - (u @ of_u) / line)
    return value, Covariance(gradient, gradient[0], by_slope)


def correlate(a: Float[Array, "n"], others: Float[Array, "k n"]) -> Float[Array, "k n"]:
    """Returns sum_j b_j a_{j+k} for each lag k and each b of `others`."""
    n = a.shape[0]
    product = jnp.fft.rfft(a, 2 * n)[None] * jnp.conj(jnp.fft.rfft(others, 2 * n, axis=1))
    return jnp.fft.irfft(product, 2 * n, axis=1)[:, :n]


def by_cholesky(k: Covariance, x: Series) -> tuple[Float[Array, ""], Covariance]:
    """Returns the log-likelihood at any times and its gradient; `k.stationary` is at the lags between all points."""
    n = x.times.shape[0]
    there = x.present.astype(k.nugget.dtype)
    both = there[:, None] * there[None, :]
    u, y = (jnp.where(x.present, a, 0.0).astype(k.nugget.dtype) for a in (x.times, x.values))
    dense = both * (k.stationary + k.slope * u[:, None] * u[None, :])
    root = jnp.linalg.cholesky(dense + jnp.diag(jnp.where(x.present, k.nugget, 1.0)))
    white = jax.scipy.linalg.solve_triangular(root, y, lower=True)
    value = -0.5 * (white @ white + jnp.sum(there) * LOG_2PI) - jnp.sum(jnp.log(jnp.diag(root)))
    half = jax.scipy.linalg.solve_triangular(root, jnp.eye(n, dtype=root.dtype), lower=True)
    inverse, alpha = half.T @ half, half.T @ white
    gradient = 0.5 * both * (alpha[:, None] * alpha[None, :] - inverse)
    return value, Covariance(gradient, jnp.trace(gradient), u @ gradient @ u)
