"""Losses and bounds as functions of log-probabilities, for one observation.

Losses are minimised, bounds maximised. `log_p` is log p(z_k, x) and `log_r` is log r(z_k | x) for
each of k programs. An impossible program (minus infinity) has no weight and passes no gradient to p.
"""

import jax
import jax.numpy as jnp
from jax.lax import stop_gradient
from jaxtyping import Array, Float

from wakesleep.core.model import Scalar

LogProbs = Float[Array, "k"]

# VIMCO's learning signal for a particle is infinite when every other particle is impossible; it is
# then taken to be this many nats. The paper does not meet the case.
SOLE_SURVIVOR_SIGNAL = 10.0


def log_weights(log_p: LogProbs, log_r: LogProbs) -> LogProbs:
    """log w_k = log p(z_k, x) - log r(z_k | x)."""
    return log_p - log_r


def normalise(log_w: LogProbs) -> LogProbs:
    """Weights that sum to one; all zero where every program is impossible."""
    top = jnp.max(log_w)
    w = jnp.exp(log_w - jnp.where(jnp.isfinite(top), top, 0.0))
    return w / jnp.maximum(jnp.sum(w), jnp.finfo(w.dtype).tiny)


def effective(log_w: LogProbs) -> Scalar:
    """The effective sample size (sum_k w_k)^2 / sum_k w_k^2: K for equal weights, 0 where all are impossible."""
    square = jnp.sum(jnp.square(normalise(log_w)))
    return jnp.where(square > 0, 1 / jnp.where(square > 0, square, 1.0), 0.0)


def iwae(log_w: LogProbs) -> Scalar:
    """The importance-weighted bound, log (1/K sum_k w_k)."""
    return jax.nn.logsumexp(log_w) - jnp.log(log_w.shape[0])


def weighted(weight: Float[Array, "k"], log_prob: LogProbs) -> Scalar:
    """The loss - sum_k weight_k log_prob_k with fixed weights; a weight of zero silences its term."""
    weight = stop_gradient(weight)
    return -jnp.sum(weight * jnp.where(weight > 0, log_prob, 0.0))


def rws_generative(log_p: LogProbs, log_r: LogProbs) -> Scalar:
    """Wake phase for (theta, phi): its gradient is minus that of the importance-weighted bound."""
    return weighted(normalise(log_weights(log_p, log_r)), log_p)


def rws_recognition(log_p: LogProbs, log_r: LogProbs) -> Scalar:
    """Wake phase for psi: descends KL(p || r) estimated with the same weights."""
    return weighted(normalise(log_weights(log_p, log_r)), log_r)


def vimco(log_p: LogProbs, log_r: LogProbs) -> Scalar:
    """A loss whose gradient is the VIMCO estimate for theta, phi and psi (Mnih and Rezende, 2016).

    sum_k (L - L_without_k) grad log r_k + sum_k w_k grad (log p_k - log r_k), with w normalised.
    """
    log_w = log_weights(log_p, log_r)
    signal = stop_gradient(vimco_signal(log_w))
    finite = jnp.where(jnp.isfinite(log_r), log_r, 0.0)
    return -jnp.sum(signal * finite) + weighted(normalise(log_w), log_w)


def vimco_signal(log_w: LogProbs) -> LogProbs:
    """L - L_without_k, the second with w_k replaced by the geometric mean of the others.

    The mean is over the possible ones, still a function of the others alone, so the estimate stays
    unbiased.
    """
    k = log_w.shape[0]
    possible = jnp.isfinite(log_w)
    finite = jnp.where(possible, log_w, 0.0)
    others = jnp.sum(possible) - possible
    mean = (jnp.sum(finite) - finite) / jnp.maximum(others, 1)
    swapped = jnp.where(jnp.eye(k, dtype=bool), mean[:, None], log_w)
    signal = iwae(log_w) - jax.vmap(iwae)(swapped)
    alone = jnp.where(possible, SOLE_SURVIVOR_SIGNAL, 0.0)
    return jnp.where(others > 0, signal, alone)
