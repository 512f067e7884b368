"""Curves with unknown coefficients: programs with continuous variables, integrated out, judged by an exact integral.

A program is a set of shapes (constant, line, bump, wave), four bits; its variables are the coefficients of the shapes.
A curve is their weighted sum with noise, whose size is learned. Coefficients have a normal prior, so log p(x | shapes)
is a normal density that can be computed, and no algorithm is judged by its own bound. Three are compared at the same
number of evaluations: hybrid memoised wake-sleep (`hmws`) in both forms of its token loss, reweighted wake-sleep, and
memoised wake-sleep that remembers coefficients as recognition drew them. Run it: python examples/hybrid_programs.py
"""

import itertools
import sys
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.scipy.stats import multivariate_normal, norm

from wakesleep import Evaluator, Model, Observations, Prior, Recognition, hmws, mws, rws
from wakesleep.core.fit import fit

POINTS, HIDDEN, NOISE = 12, 32, 0.3
AT = np.linspace(-1, 1, POINTS)
SHAPES = np.stack([np.ones(POINTS), 1.5 * AT, 2 * np.exp(-8 * AT**2), 1.5 * np.sin(6 * AT)])
SPREAD = 1.0
EVERY = np.array(list(itertools.product((0, 1), repeat=len(SHAPES))), np.int32)
LEAST_LOG_SPREAD = -4.0


class Curve(NamedTuple):
    """A program: which shapes there are, and their coefficients; those of absent shapes are not used."""

    shapes: jax.Array
    coefficients: jax.Array


class ShapePrior(Prior):
    """p(z): independent shapes; the coefficients are drawn with them, and their density belongs to the evaluator."""

    logits: jax.Array

    def sample(self, key, c):
        key_shapes, key_coefficients = jax.random.split(key)
        there = jax.random.bernoulli(key_shapes, jax.nn.sigmoid(self.logits))
        return Curve(there.astype(jnp.int32), SPREAD * jax.random.normal(key_coefficients, (len(SHAPES),)))

    def log_prob(self, z, c):
        return jnp.sum(jax.nn.log_sigmoid(jnp.where(z.shapes == 1, self.logits, -self.logits)))


class NoisySum(Evaluator):
    """p(x, coefficients | shapes): a normal prior for each coefficient, and normal noise of a size that is learned."""

    log_noise: jax.Array

    def sample(self, key, z):
        mean = (z.shapes * z.coefficients) @ jnp.asarray(SHAPES)
        return mean + jnp.exp(self.log_noise) * jax.random.normal(key, (POINTS,))

    def log_prob(self, x, z):
        mean = (z.shapes * z.coefficients) @ jnp.asarray(SHAPES)
        log_prior = jnp.sum(norm.logpdf(z.coefficients, 0.0, SPREAD))
        return log_prior + jnp.sum(norm.logpdf(x, mean, jnp.exp(self.log_noise)))

    def exact(self, x, shapes):
        """log p(x | shapes) with the coefficients integrated out."""
        used = shapes[:, None] * jnp.asarray(SHAPES)
        covariance = SPREAD**2 * used.T @ used + jnp.exp(2 * self.log_noise) * jnp.eye(POINTS)
        return multivariate_normal.logpdf(x, jnp.zeros(POINTS), covariance)


class Guess(Recognition):
    """r(z | x): a layer for the curve; then a logit for each shape, and a normal for each coefficient given them."""

    inner: jax.Array
    to_logits: jax.Array
    to_fill: jax.Array

    def encode(self, x, c):
        return jnp.tanh(jnp.append(x, 1.0) @ self.inner)

    def sample(self, key, h):
        there = jax.random.bernoulli(key, jax.nn.sigmoid(h @ self.to_logits))
        return Curve(there.astype(jnp.int32), jnp.zeros(len(SHAPES)))

    def log_prob(self, z, h):
        logits = h @ self.to_logits
        return jnp.sum(jax.nn.log_sigmoid(jnp.where(z.shapes == 1, logits, -logits)))

    def fill(self, key, z, h):
        mean, spread = self._normal(z, h)
        return z._replace(coefficients=mean + spread * jax.random.normal(key, mean.shape))

    def log_fill(self, z, h):
        return jnp.sum(norm.logpdf(z.coefficients, *self._normal(z, h)))

    def _normal(self, z, h):
        """Where the coefficients are thought to be; those of absent shapes keep their prior."""
        pairs = jnp.concatenate([h, jnp.outer(h, z.shapes).ravel(), z.shapes, jnp.ones(1)])
        mean, log_spread = (pairs @ self.to_fill).reshape(2, len(SHAPES))
        spread = jnp.exp(jnp.maximum(log_spread, LEAST_LOG_SPREAD))
        there = z.shapes == 1
        return jnp.where(there, mean, 0.0), jnp.where(there, spread, SPREAD)


def make_model(key, noise=1.0):
    """An untrained model, with noise far from the truth."""
    keys = jax.random.split(key, 3)
    k, wide = len(SHAPES), HIDDEN * (1 + len(SHAPES)) + len(SHAPES) + 1
    guess = Guess(
        jax.random.normal(keys[0], (POINTS + 1, HIDDEN)) / np.sqrt(POINTS),
        0.3 * jax.random.normal(keys[1], (HIDDEN, k)) / np.sqrt(HIDDEN),
        0.1 * jax.random.normal(keys[2], (wide, 2 * k)) / np.sqrt(wide),
    )
    return Model(ShapePrior(jnp.zeros(k)), NoisySum(jnp.log(jnp.asarray(noise))), guess)


def make_data(observations, seed=0):
    """Curves of two shapes on average, drawn from the model with its true noise."""
    truth = make_model(jax.random.key(0), NOISE)
    keys = jax.random.split(jax.random.key(seed + 100), (2, observations))
    z = jax.vmap(lambda key: truth.prior.sample(key, None))(keys[0])
    return Observations(jax.vmap(truth.evaluator.sample)(keys[1], z))


def exact(model, data):
    """log p(x) of each curve: the sum over all sets of shapes, coefficients integrated out."""

    def one(x):
        log_prior = jax.vmap(lambda s: model.prior.log_prob(Curve(s, jnp.zeros(len(SHAPES))), None))(jnp.asarray(EVERY))
        return jax.nn.logsumexp(log_prior + jax.vmap(lambda s: model.evaluator.exact(x, s))(jnp.asarray(EVERY)))

    return jax.vmap(one)(data.x)


def algorithms(m, r, p):
    """The algorithms by name, each with (m + r) p evaluations a step."""
    adam = optax.adam(3e-3)
    return {
        "HMWS": hmws(adam, m, r, p),
        "HMWS, logsumexp": hmws(adam, m, r, p, recognition="logsumexp"),
        "RWS": rws(adam, (m + r) * p),
        "MWS, floats drawn by r": mws(adam, m, r * p + m * (p - 1), paper=True),
    }


def main(observations=300, steps=3000, seed=0):
    """Trains each algorithm from the same start, and prints the exact NLL, the noise learned and the bound."""
    data, unseen = make_data(observations, seed), make_data(observations, seed + 1)
    best = -float(jnp.mean(exact(make_model(jax.random.key(0), NOISE), unseen)))
    print(f"{'':<24}{'NLL':>8}{'noise':>8}{'bound':>9}      (truth: NLL {best:.2f}, noise {NOISE})")
    for name, algorithm in algorithms(2, 2, 5).items():
        state = algorithm.init(make_model(jax.random.key(seed)), data)
        *_, (state, info) = fit(algorithm, state, data, key=jax.random.key(seed + 1), steps=steps, batch_size=20)
        nll, noise = -float(jnp.mean(exact(state.model, unseen))), float(jnp.exp(state.model.evaluator.log_noise))  # type: ignore[attr-defined]
        print(f"{name:<24}{nll:>8.2f}{noise:>8.3f}{float(info.bound):>9.2f}", flush=True)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
