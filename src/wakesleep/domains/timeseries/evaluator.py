"""p(x | z) of the time series domain: a Gaussian process whose covariance the expression gives.

`log_prob` is the variational lower bound of the Gaussian that the program carries; `refine` fits that Gaussian.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from wakesleep.core.model import Evaluator, Scalar, frozen
from wakesleep.domains.timeseries import variational
from wakesleep.domains.timeseries.kernels import IDLE, VARIABLE_KINDS, Layout, covariance, differentiable, layout
from wakesleep.domains.timeseries.language import MOST_VARIABLES, Kernel
from wakesleep.domains.timeseries.likelihood import Series, by_cholesky, by_levinson, spacing

START_MEAN = {
    "noise": -2.0,
    "constant": -1.0,
    "slope": 0.0,
    "wander": 0.5,
    "amplitude": -0.5,
    "SE": -2.0,
    "M12": -1.0,
    "M32": -1.5,
    "roundness": 0.0,
    "period": -2.0,
    "decay": 0.0,
}
START_STD = 1.5


class Prior(NamedTuple):
    """The prior of each packed variable of an expression, and which of them are active."""

    mean: Float[Array, "v"]
    log_std: Float[Array, "v"]
    active: Bool[Array, "v"]


class GaussianProcess(Evaluator):
    """A zero-mean Gaussian process; what is learned are log-normal priors, one for each kind of variable."""

    mean: Float[Array, "c"]
    log_std: Float[Array, "c"]
    points: int
    """The points of a sampled series."""
    scaled: bool
    regular: bool
    """Every series is on a regular grid, so that its covariance is a Toeplitz matrix (and that of a line)."""
    steps: int
    """Iterations of BFGS in one visit."""

    def __init__(self, points: int, scaled: bool = True, regular: bool = True, steps: int = 20):
        self.mean = jnp.array([START_MEAN[k] for k in VARIABLE_KINDS])
        self.log_std = jnp.full(len(VARIABLE_KINDS), np.log(START_STD), jnp.float32)
        self.points, self.scaled, self.regular, self.steps = points, scaled, regular, steps

    def prior(self, shape: Layout) -> Prior:
        """Returns the priors of the variables of an expression."""
        # One more kind, for what is idle.
        mean, log_std = (jnp.append(a, 0.0)[shape.kind] for a in (self.mean, self.log_std))
        return Prior(mean, log_std, shape.kind < IDLE)

    def log_prob(self, x: Series, z: Kernel) -> Scalar:
        """Returns E_q[log p(x | theta)] - KL(q || p), a lower bound; only the KL depends on what is learned."""
        shape = layout(z.tokens, self.scaled)
        mean, log_std, active = self.prior(shape)
        expected = self.expected(frozen(x), frozen(z))
        return expected - variational.divergence(z.mean, z.root, active, mean, log_std)

    def expected(self, x: Series, z: Kernel) -> Scalar:
        """Returns E_q[log p(x | theta)] over ten points; minus infinity where any of them is impossible."""
        shape = layout(z.tokens, self.scaled)
        active = shape.kind < IDLE
        with jax.enable_x64(True):
            root, mean = z.root.astype(jnp.float64), z.mean.astype(jnp.float64)
            thetas = mean[None] + variational.points(active) @ root.T
            values, _ = jax.vmap(lambda theta: self.likelihood(theta, shape, x))(thetas)
            value = jnp.mean(jnp.where(jnp.isnan(values), -jnp.inf, values)).astype(jnp.float32)
        return jnp.where(jnp.any(active) & (value > -jnp.inf), value, -jnp.inf)

    def likelihood(self, theta: Float[Array, "v"], shape: Layout, x: Series) -> tuple[Scalar, Float[Array, "v"]]:
        """Returns log p(x | theta) and its gradient."""
        k, back = differentiable(theta, shape, self.lags(x))
        value, gradient = by_levinson(k, x) if self.regular else by_cholesky(k, x)
        return value, back(gradient)

    def lags(self, x: Series) -> Float[Array, "*lags"]:
        """Returns the lags at which the covariance is needed."""
        times = x.times.astype(jnp.float64)
        if self.regular:
            return jnp.arange(times.shape[0]) * spacing(x._replace(times=times))
        return jnp.abs(times[:, None] - times[None, :])

    def refine(self, z: Kernel, x: Series) -> Kernel:
        """Returns the program with its Gaussian fitted further: BFGS moves the mean, curvature gives the covariance."""
        model, x = frozen(self), frozen(x)
        shape = layout(z.tokens, self.scaled)
        prior = model.prior(shape)
        with jax.enable_x64(True):
            prior = Prior(prior.mean.astype(jnp.float64), prior.log_std.astype(jnp.float64), prior.active)

            def log_posterior(theta: Float[Array, "v"]) -> tuple[Array, Array]:
                value, gradient = model.likelihood(theta, shape, x)
                away = jnp.where(prior.active, (theta - prior.mean) * jnp.exp(-2 * prior.log_std), 0.0)
                return value - 0.5 * jnp.sum(away * (theta - prior.mean)), gradient - away

            root = z.root.astype(jnp.float64)
            top = variational.climb(log_posterior, z.mean.astype(jnp.float64), root @ root.T, self.steps)
            root = variational.gaussian_root(variational.curvature(top), prior.active)
            return Kernel(z.tokens, top.theta.astype(jnp.float32), root.astype(jnp.float32))

    def sample(self, key: Key[Array, ""], z: Kernel) -> Series:
        """Draws the variables from their priors, and a series on a regular grid."""
        key_theta, key_x = jax.random.split(key)
        mean, log_std, _ = self.prior(layout(z.tokens, self.scaled))
        theta = mean + jnp.exp(log_std) * jax.random.normal(key_theta, mean.shape)
        return self.draw(key_x, theta, z.tokens)

    def draw(self, key: Key[Array, ""], theta: Float[Array, "v"], tokens: Int[Array, "t"]) -> Series:
        """Draws a series on a regular grid with those variables."""
        times = jnp.linspace(-0.5, 0.5, self.points)
        noise = jax.random.normal(key, (self.points,))
        shape = layout(tokens, self.scaled)
        with jax.enable_x64(True):
            u = times.astype(jnp.float64)
            k = covariance(theta.astype(jnp.float64), shape, jnp.abs(u[:, None] - u[None, :]))
            dense = k.stationary + k.nugget * jnp.eye(self.points) + k.slope * u[:, None] * u[None, :]
            values = (jnp.linalg.cholesky(dense) @ noise.astype(jnp.float64)).astype(jnp.float32)
        return Series(times, values, jnp.ones(self.points, bool))


def begin(tokens: Int[Array, "t"], mean: Float[Array, "v"] | None = None, spread: float = 0.3) -> Kernel:
    """Returns a program that carries a Gaussian not yet fitted."""
    start = jnp.zeros(MOST_VARIABLES) if mean is None else mean
    return Kernel(tokens, start, spread * jnp.eye(MOST_VARIABLES))
