"""A whole domain of one's own: sequences of eight noisy numbers explained as "start, then add step".

A program is two tokens, a start and a step. The noise, a prior over programs and a network that
recognises them are learned together. Run it: python examples/new_domain.py
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from wakesleep import (
    Evaluator,
    LstmWriter,
    Model,
    Observations,
    TokenPrior,
    TokenRecognition,
    dream,
    fit,
    grammar,
    mws,
    rws,
    vimco,
)

STARTS, STEPS, LENGTH = 10, 5, 8  # start in 0..9, step in 0..4
# Token 0 ends a program; tokens 1 to 10 are starts (kind 1), tokens 11 to 15 steps (kind 2). One start, then one step.
MOVES = {("", 1): "start", ("start", 2): "start step", ("start step", 0): "end"}
RULES = grammar([0] + [1] * STARTS + [2] * STEPS, "", lambda state, kind: MOVES.get((state, kind)))


class Progression(Evaluator):
    """p(x | z): the progression with Gaussian noise of a learned size."""

    log_noise: jax.Array

    def ideal(self, z):
        return (z[0] - 1) + (z[1] - 1 - STARTS) * jnp.arange(LENGTH)

    def sample(self, key, z):
        return self.ideal(z) + jnp.exp(self.log_noise) * jax.random.normal(key, (LENGTH,))

    def log_prob(self, x, z):
        return jnp.sum(jax.scipy.stats.norm.logpdf(x, self.ideal(z), jnp.exp(self.log_noise)))


def make_model(key, data, noise):
    keys = jax.random.split(key)
    prior = TokenPrior(LstmWriter(keys[0], 8, np.zeros(1 + STARTS + STEPS)), RULES, length=2)
    recognition = TokenRecognition(keys[1], data, RULES, length=2, hidden=32)
    return Model(prior, Progression(jnp.log(noise)), recognition)


def main(steps=3000, observations=100):
    """Trains with all five algorithms on the same data and returns the noise each one found."""
    blank = Observations(jnp.zeros((1, LENGTH)))
    programs, x = dream(make_model(jax.random.key(0), blank, 0.5), jax.random.key(1), None, observations)
    data, adam, found = Observations(x), optax.adam(3e-3), {}
    algorithms = {
        "MWS": mws(adam, memory_size=3, proposals=3),
        "MWS-fantasy": mws(adam, memory_size=3, proposals=3, recognition="fantasy"),
        "RWS": rws(adam, particles=6),
        "RWS-sleep": rws(adam, particles=6, recognition="sleep"),
        "VIMCO": vimco(adam, particles=6),
    }
    for name, algorithm in algorithms.items():
        state = algorithm.init(make_model(jax.random.key(2), data, 2.0), data)
        for state, info in fit(algorithm, state, data, key=jax.random.key(3), steps=steps, batch_size=20):
            pass
        found[name] = float(np.exp(state.model.evaluator.log_noise))
        print(f"{name:12} noise {found[name]:.2f} (true: 0.50)   bound {float(info.bound):7.2f}")
        if name == "MWS":
            right = jnp.mean(jnp.all(state.memory.programs[:, 0] == programs, axis=1))
            print(f"{'':12} {100 * float(right):.0f} % of the programs recovered")
    return found


if __name__ == "__main__":
    main()
