# # Your own token domain
#
# A program is a sequence of tokens that follows a grammar. The library brings the prior and the recognition network
# for such programs; a domain adds the grammar and the evaluator. Here a program is "start, then add step", and an
# observation is eight noisy numbers.

# %%
# ## The grammar
#
# Token 0 ends a program. Tokens have kinds, and `grammar` says which kind may follow in which state.

import os

import jax
import jax.numpy as jnp
import numpy as np
import optax

import wakesleep

STEPS_OF_LEARNING = int(os.environ.get("TUTORIAL_STEPS", "3000"))
STARTS, ADDED, LENGTH = 10, 5, 8
MOVES = {("", 1): "start", ("start", 2): "whole", ("whole", 0): "end"}
RULES = wakesleep.grammar([0] + [1] * STARTS + [2] * ADDED, "", lambda state, kind: MOVES.get((state, kind)))

# %%
# ## The evaluator
#
# It is written for one observation and one program; the library adds batches. `log_noise` is learned.


class Progression(wakesleep.Evaluator):
    log_noise: jax.Array

    def ideal(self, z):
        return z[0] - 1 + (z[1] - 1 - STARTS) * jnp.arange(LENGTH)

    def sample(self, key, z):
        return self.ideal(z) + jnp.exp(self.log_noise) * jax.random.normal(key, (LENGTH,))

    def log_prob(self, x, z):
        return jnp.sum(jax.scipy.stats.norm.logpdf(x, self.ideal(z), jnp.exp(self.log_noise)))


# %%
# ## Model and data
#
# The data are drawn from a model with noise 0.5; the model that learns begins at noise 2.


def make_model(key, data, noise):
    keys = jax.random.split(key)
    writer = wakesleep.LstmWriter(keys[0], 8, np.zeros(1 + STARTS + ADDED))
    prior = wakesleep.TokenPrior(writer, RULES, length=2)
    recognition = wakesleep.TokenRecognition(keys[1], data, RULES, length=2, hidden=32)
    return wakesleep.Model(prior, Progression(jnp.log(noise)), recognition)


blank = wakesleep.Observations(jnp.zeros((1, LENGTH)))
_, x = wakesleep.dream(make_model(jax.random.key(0), blank, 0.5), jax.random.key(1), None, 40)
data = wakesleep.Observations(x)

# %%
# ## Learning

algorithm = wakesleep.mws(optax.adam(3e-3), memory_size=3, proposals=3)
state = algorithm.init(make_model(jax.random.key(2), data, 2.0), data)
for state, info in wakesleep.fit(
    algorithm, state, data, key=jax.random.key(3), steps=STEPS_OF_LEARNING, batch_size=20, every=1000
):
    if int(state.step) % 1000 == 0:
        print(int(state.step), "steps, bound", round(float(info.bound), 2))

# %%
# The noise is found, and so are the programs. `wakesleep train FILE.py:DOMAIN` does the same from the command line
# ([own-domain.md](../own-domain.md)).

print("noise", round(float(jnp.exp(state.model.evaluator.log_noise)), 3))
print("remembered for the first", np.asarray(state.memory.programs[0]).tolist())
assert np.isfinite(float(info.bound))
