"""A whole domain of one's own: sequences of eight noisy numbers explained as "start, then add step".

A program is two whole numbers, (start, step). The noise, a prior over programs and a network that
recognises them are learned together. Run it: python examples/new_domain.py
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from wakesleep import Evaluator, Model, Observations, Prior, Recognition, mws, rws, vimco
from wakesleep.core.fit import fit
from wakesleep.core.model import dream

STARTS, STEPS, LENGTH = 10, 5, 8  # start in 0..9, step in 0..4


class Choices(Prior):
    """p(z): how common each start and each step are."""

    start: jax.Array
    step: jax.Array

    def sample(self, key, c):
        keys = jax.random.split(key)
        return jnp.stack([jax.random.categorical(keys[0], self.start), jax.random.categorical(keys[1], self.step)])

    def log_prob(self, z, c):
        return jax.nn.log_softmax(self.start)[z[0]] + jax.nn.log_softmax(self.step)[z[1]]


class Progression(Evaluator):
    """p(x | z): the progression with Gaussian noise of a learned size."""

    log_noise: jax.Array

    def sample(self, key, z):
        return z[0] + z[1] * jnp.arange(LENGTH) + jnp.exp(self.log_noise) * jax.random.normal(key, (LENGTH,))

    def log_prob(self, x, z):
        ideal = z[0] + z[1] * jnp.arange(LENGTH)
        return jnp.sum(jax.scipy.stats.norm.logpdf(x, ideal, jnp.exp(self.log_noise)))


class Guess(Recognition):
    """r(z | x): one hidden layer, then a choice of start and a choice of step."""

    inner: jax.Array
    outer: jax.Array

    def encode(self, x, c):
        logits = self.outer @ jnp.tanh(self.inner @ jnp.append(x / 10, 1.0))
        return logits[:STARTS], logits[STARTS:]

    def sample(self, key, h):
        keys = jax.random.split(key)
        return jnp.stack([jax.random.categorical(keys[0], h[0]), jax.random.categorical(keys[1], h[1])])

    def log_prob(self, z, h):
        return jax.nn.log_softmax(h[0])[z[0]] + jax.nn.log_softmax(h[1])[z[1]]


def make_model(key, noise):
    keys = jax.random.split(key)
    prior = Choices(jnp.zeros(STARTS), jnp.zeros(STEPS))
    guess = Guess(
        0.5 * jax.random.normal(keys[0], (32, LENGTH + 1)), 0.2 * jax.random.normal(keys[1], (STARTS + STEPS, 32))
    )
    return Model(prior, Progression(jnp.log(noise)), guess)


def main(steps=3000, observations=100):
    """Trains with all five algorithms on the same data and returns the noise each one found."""
    programs, x = dream(make_model(jax.random.key(0), 0.5), jax.random.key(1), None, observations)
    data, adam, found = Observations(x), optax.adam(3e-3), {}
    algorithms = {
        "MWS": mws(adam, memory_size=3, proposals=3),
        "MWS-fantasy": mws(adam, memory_size=3, proposals=3, recognition="fantasy"),
        "RWS": rws(adam, particles=6),
        "RWS-sleep": rws(adam, particles=6, recognition="sleep"),
        "VIMCO": vimco(adam, particles=6),
    }
    for name, algorithm in algorithms.items():
        state = algorithm.init(make_model(jax.random.key(2), 2.0), data)
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
