"""A whole domain of one's own: sequences of eight noisy numbers explained as "start, then add step".

A program is two tokens, a start and a step. The noise, a prior over programs and a network that recognises them are
learned together. On the command line it is a domain like any other: `wakesleep train examples/new_domain.py:DOMAIN`,
then resume, evaluate, posterior, explain, sample, ship. In Python: examples/five_algorithms.py.
"""

from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from wakesleep import Dataset, Domain, Evaluator, LstmWriter, Model, Observations, TokenPrior, TokenRecognition

from wakesleep import dream, grammar  # isort: skip

STARTS, STEPS, LENGTH = 10, 5, 8  # start in 0..9, step in 0..4
# Token 0 ends a program; tokens 1 to 10 are starts (kind 1), tokens 11 to 15 steps (kind 2). One start, then one step.
MOVES = {("", 1): "start", ("start", 2): "start step", ("start step", 0): "end"}
RULES = grammar([0] + [1] * STARTS + [2] * STEPS, "", lambda state, kind: MOVES.get((state, kind)))


def start_and_step(z):
    return z[0] - 1, z[1] - 1 - STARTS


class Progression(Evaluator):
    """p(x | z): the progression with Gaussian noise of a learned size."""

    log_noise: jax.Array

    def ideal(self, z):
        start, step = start_and_step(z)
        return start + step * jnp.arange(LENGTH)

    def sample(self, key, z):
        return self.ideal(z) + jnp.exp(self.log_noise) * jax.random.normal(key, (LENGTH,))

    def log_prob(self, x, z):
        return jnp.sum(jax.scipy.stats.norm.logpdf(x, self.ideal(z), jnp.exp(self.log_noise)))


def make_model(key, data, noise):
    keys = jax.random.split(key)
    prior = TokenPrior(LstmWriter(keys[0], 8, np.zeros(1 + STARTS + STEPS)), RULES, length=2)
    return Model(prior, Progression(jnp.log(noise)), TokenRecognition(keys[1], data, RULES, length=2, hidden=32))


@dataclass(frozen=True)
class Settings:
    observations: int = 100
    data: Path | None = None  # a CSV file of one's own: eight numbers in a line, no header


def load(settings):
    if settings.data is not None:
        note = f"sequences from {settings.data.name}"
        x = jnp.asarray(np.loadtxt(settings.data, np.float32, delimiter=",", ndmin=2))
    else:
        note = "sequences drawn with noise 0.5"
        truth = make_model(jax.random.key(0), Observations(jnp.zeros((1, LENGTH))), 0.5)
        _, x = dream(truth, jax.random.key(1), None, settings.observations)
    return Dataset(Observations(x), None, [f"sequence {i}" for i in range(len(x))], note)


def picture(figure, x, programs, evaluator):
    axes = figure.subplots()
    axes.plot(x, "o")
    for z, probability in programs:
        axes.plot(evaluator.ideal(z), alpha=max(probability, 0.1))


def every_program(settings, data):
    start, step = jnp.divmod(jnp.arange(STARTS * STEPS), STEPS)
    return jnp.stack([start + 1, step + 1 + STARTS], axis=1)


DOMAIN = Domain(
    name="progressions",
    settings=Settings,
    load=load,
    build=lambda key, settings, data: make_model(key, data, 2.0),
    show=lambda z: "{}, then add {}".format(*start_and_step(z)),
    picture=picture,
    programs=every_program,
)
