"""A model small enough to enumerate: five programs, four observations, some pairs impossible."""

import equinox as eqx
import jax
import jax.numpy as jnp

from wakesleep.core.model import Evaluator, Model, Observations, Prior, Recognition

PROGRAMS = 5
SYMBOLS = 4


class ToyPrior(Prior):
    logits: jax.Array

    def sample(self, key, c):
        return jax.random.categorical(key, self.logits)[None]

    def log_prob(self, z, c):
        return jax.nn.log_softmax(self.logits)[z[0]]


class ToyEvaluator(Evaluator):
    logits: jax.Array
    possible: tuple = eqx.field(static=True)

    def table(self):
        masked = jnp.where(jnp.asarray(self.possible), self.logits, -1e9)
        return jnp.where(jnp.asarray(self.possible), jax.nn.log_softmax(masked, axis=1), -jnp.inf)

    def sample(self, key, z):
        return jax.random.categorical(key, self.table()[z[0]])

    def log_prob(self, x, z):
        return self.table()[z[0], x]


class ToyRecognition(Recognition):
    logits: jax.Array

    def sample(self, key, h):
        return jax.random.categorical(key, self.logits[h])[None]

    def log_prob(self, z, h):
        return jax.nn.log_softmax(self.logits[h])[z[0]]


def toy_model(key, possible=None):
    """Random tables; program 0 cannot produce symbol 0 unless told otherwise."""
    keys = jax.random.split(key, 3)
    if possible is None:
        possible = [[True] * SYMBOLS for _ in range(PROGRAMS)]
        possible[0][0] = False
    frozen = tuple(tuple(row) for row in possible)
    return Model(
        ToyPrior(jax.random.normal(keys[0], (PROGRAMS,))),
        ToyEvaluator(jax.random.normal(keys[1], (PROGRAMS, SYMBOLS)), frozen),
        ToyRecognition(jax.random.normal(keys[2], (SYMBOLS, PROGRAMS))),
    )


def toy_data(key, n=8):
    return Observations(jax.random.randint(key, (n,), 0, SYMBOLS))


ALL_PROGRAMS = jnp.arange(PROGRAMS)[:, None]
