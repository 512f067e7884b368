"""A whole domain of one's own: sequences of eight noisy numbers explained as "start, then add step".

A program is two whole numbers, (start, step). The noise, a prior over programs and a network that recognises them are
learned together. On the command line it is a domain like any other: `wakesleep train examples/new_domain.py:DOMAIN`,
then resume, evaluate, posterior, explain, sample, ship. In Python: examples/five_algorithms.py.
"""

from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from wakesleep import Dataset, Domain, Evaluator, Model, Observations, Prior, Recognition, dream

STARTS, STEPS, LENGTH = 10, 5, 8  # start in 0..9, step in 0..4
SHAPES = (32, LENGTH + 1), (STARTS + STEPS, 32)


def two_choices(key, start, step):
    keys = jax.random.split(key)
    return jnp.stack([jax.random.categorical(keys[0], start), jax.random.categorical(keys[1], step)])


class Choices(Prior):  # p(z): how common each start and each step are
    start: jax.Array
    step: jax.Array

    def sample(self, key, c):
        return two_choices(key, self.start, self.step)

    def log_prob(self, z, c):
        return jax.nn.log_softmax(self.start)[z[0]] + jax.nn.log_softmax(self.step)[z[1]]


class Progression(Evaluator):  # p(x | z): the progression with Gaussian noise of a learned size
    log_noise: jax.Array

    def sample(self, key, z):
        return z[0] + z[1] * jnp.arange(LENGTH) + jnp.exp(self.log_noise) * jax.random.normal(key, (LENGTH,))

    def log_prob(self, x, z):
        return jnp.sum(jax.scipy.stats.norm.logpdf(x, z[0] + z[1] * jnp.arange(LENGTH), jnp.exp(self.log_noise)))


class Guess(Recognition):  # r(z | x): one hidden layer, then a choice of start and a choice of step
    inner: jax.Array
    outer: jax.Array

    def encode(self, x, c):
        logits = self.outer @ jnp.tanh(self.inner @ jnp.append(x / 10, 1.0))
        return logits[:STARTS], logits[STARTS:]

    def sample(self, key, h):
        return two_choices(key, *h)

    def log_prob(self, z, h):
        return jax.nn.log_softmax(h[0])[z[0]] + jax.nn.log_softmax(h[1])[z[1]]


def make_model(key, noise):
    inner, outer = (jax.random.normal(k, s) for k, s in zip(jax.random.split(key), SHAPES, strict=True))
    return Model(Choices(jnp.zeros(STARTS), jnp.zeros(STEPS)), Progression(jnp.log(noise)), Guess(inner / 2, outer / 5))


@dataclass(frozen=True)
class Settings:
    observations: int = 100
    data: Path | None = None  # a CSV file of one's own: eight numbers in a line, no header


def load(settings):
    if settings.data is not None:
        note = f"sequences from {settings.data.name}"
        x = jnp.asarray(np.loadtxt(settings.data, np.float32, delimiter=",", ndmin=2))
    else:
        note, truth = "sequences drawn with noise 0.5", make_model(jax.random.key(0), 0.5)
        _, x = dream(truth, jax.random.key(1), None, settings.observations)
    return Dataset(Observations(x), None, [f"sequence {i}" for i in range(len(x))], note)


def picture(figure, x, programs, evaluator):
    axes = figure.subplots()
    axes.plot(x, "o")
    for (start, step), probability in programs:
        axes.plot(start + step * np.arange(LENGTH), alpha=max(probability, 0.1))


DOMAIN = Domain(
    name="progressions",
    settings=Settings,
    load=load,
    build=lambda key, settings, data: make_model(key, 2.0),
    show=lambda z: f"{z[0]}, then add {z[1]}",
    picture=picture,
    programs=lambda settings, data: jnp.stack(jnp.divmod(jnp.arange(STARTS * STEPS), STEPS), axis=1),
)
