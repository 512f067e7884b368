# # A program with continuous variables
#
# A program's integer leaves are the program; float leaves are carried along. Here a program is a shape, constant or
# line, and it carries the number that the shape needs. `refine` fits that number, and the memory keeps it.

# %%
# ## The program: one token and one number

import os
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

import wakesleep

STEPS_OF_LEARNING = int(os.environ.get("TUTORIAL_STEPS", "500"))
PLACES = jnp.linspace(-1.0, 1.0, 6)
SPREAD, NOISE = 3.0, 0.3


class Shape(NamedTuple):
    kind: jax.Array
    """0: constant, 1: line through the origin."""
    size: jax.Array
    """Carried: the height or the slope."""


# %%
# ## The parts
#
# Prior and recognition score the integer leaf alone. They draw a starting point for the number, which `refine`
# replaces.


class KindPrior(wakesleep.Prior):
    logit: jax.Array

    def sample(self, key, c):
        kind = jax.random.bernoulli(key, jax.nn.sigmoid(self.logit)).astype(jnp.int32)
        return Shape(kind, jnp.zeros(()))

    def log_prob(self, z, c):
        return jnp.where(z.kind == 1, jax.nn.log_sigmoid(self.logit), jax.nn.log_sigmoid(-self.logit))


class KindRecognition(wakesleep.Recognition):
    weight: jax.Array

    def sample(self, key, h):
        kind = jax.random.bernoulli(key, jax.nn.sigmoid(self.weight @ h)).astype(jnp.int32)
        return Shape(kind, jnp.zeros(()))

    def log_prob(self, z, h):
        odds = self.weight @ h
        return jnp.where(z.kind == 1, jax.nn.log_sigmoid(odds), jax.nn.log_sigmoid(-odds))


# %%
# ## A bound
#
# The number is normal with spread 3 a priori, and p(x | kind) integrates it out. The evaluator must not score higher
# than that. Given the number s, log p(x | kind) = log p(x, s | kind) - log p(s | x, kind) at every s, and the posterior
# of s is normal here; so at its mean, log p(x, s | kind) + half log(2 pi variance) is exactly log p(x | kind). At any
# other s the first term is smaller and the second is the same: a lower bound, tight once `refine` has been called.


class Shapes(wakesleep.Evaluator):
    log_noise: jax.Array

    def features(self, z):
        return jnp.where(z.kind == 1, PLACES, 1.0)

    def variance(self, z):
        return 1 / (1 / SPREAD**2 + jnp.sum(self.features(z) ** 2) / jnp.exp(2 * self.log_noise))

    def refine(self, z, x):
        mean = self.variance(z) * jnp.sum(self.features(z) * x) / jnp.exp(2 * self.log_noise)
        return z._replace(size=mean)

    def sample(self, key, z):
        key_size, key_noise = jax.random.split(key)
        size = SPREAD * jax.random.normal(key_size)
        return size * self.features(z) + jnp.exp(self.log_noise) * jax.random.normal(key_noise, PLACES.shape)

    def log_prob(self, x, z):
        logpdf = jax.scipy.stats.norm.logpdf
        joint = logpdf(z.size, 0, SPREAD) + jnp.sum(logpdf(x, z.size * self.features(z), jnp.exp(self.log_noise)))
        return joint + 0.5 * jnp.log(2 * jnp.pi * self.variance(z))


# %%
# The claim, checked against the integral: x is normal with covariance noise^2 I + spread^2 f f'.

model = wakesleep.Model(
    KindPrior(jnp.zeros(())), Shapes(jnp.asarray(jnp.log(NOISE))), KindRecognition(jnp.zeros(PLACES.shape))
)
x = model.evaluator.sample(jax.random.key(5), Shape(jnp.asarray(1), jnp.zeros(())))
for kind in (0, 1):
    start = Shape(jnp.asarray(kind), jnp.asarray(0.4))
    f = np.asarray(model.evaluator.features(start)) * np.ones(len(PLACES))
    covariance = NOISE**2 * np.eye(len(f)) + SPREAD**2 * np.outer(f, f)
    exact = jax.scipy.stats.multivariate_normal.logpdf(x, np.zeros(len(f)), covariance)
    before = model.evaluator.log_prob(x, start)
    after = model.evaluator.log_prob(x, model.evaluator.refine(start, x))
    print(f"kind {kind}: {float(before):.3f} before refine, {float(after):.3f} after it, exact {float(exact):.3f}")
    assert before <= exact + 1e-3
    assert abs(after - exact) < 1e-2 * abs(exact)

# %%
# ## Learning

_, observed = wakesleep.dream(model, jax.random.key(1), None, 30)
data = wakesleep.Observations(observed)
algorithm = wakesleep.mws(optax.adam(1e-2), memory_size=2, proposals=2)
state = algorithm.init(model, data)
for state, info in wakesleep.fit(
    algorithm, state, data, key=jax.random.key(3), steps=STEPS_OF_LEARNING, batch_size=10, every=100
):
    if int(state.step) % 100 == 0:
        print(int(state.step), "steps, bound", round(float(info.bound), 2))
first = jax.tree.map(lambda leaf: np.asarray(leaf[0]), state.memory.programs)
print("remembered for the first: kinds", first.kind, "sizes", first.size.round(3))
