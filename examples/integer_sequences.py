"""Integer sequences explained by formulas, learned from scratch and judged by the exact log p(x).

A program is a formula of n in reverse Polish notation, such as `n n * 3 +`: seven numbers and four operations, five
tokens at most. There are 11,179 of them, so log p(x) is a sum that can be computed, and no algorithm is judged by
its own bound. It is a domain in which recognition can collapse: trained on a memory alone, it soon proposes little
but the few formulas that it began with. Run it: python examples/integer_sequences.py
"""

import itertools
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax

from wakesleep import Evaluator, Model, Observations, Recognition, mws, rws, vimco
from wakesleep.core.evaluate import exact
from wakesleep.core.fit import fit
from wakesleep.core.networks import END, Lstm, LstmWriter, Opinion, TokenPrior, Writer, grammar, read, write

NUMBERS, OPERATIONS = ("n", "1", "2", "3", "4", "5", "10"), ("+", "-", "*", "%")
WORDS = ("", *NUMBERS, *OPERATIONS)
LENGTH, TERMS, HIDDEN = 5, 8, 32
KINDS = [0] + [1] * len(NUMBERS) + [2] * len(OPERATIONS)
N = np.arange(1.0, TERMS + 1)
VALUES = np.array([N * 0] + [N if w == "n" else N * 0 + float(w) for w in NUMBERS] + [N * 0] * len(OPERATIONS))


def depth_after(depth, kind):
    """The numbers on the stack after a token of that kind; None where it cannot come."""
    if kind == 0:
        return depth if depth == 1 else None
    after = depth + 1 if kind == 1 else depth - 1
    return after if 1 <= after <= (LENGTH + 1) // 2 else None


RULES = grammar(KINDS, 0, depth_after)


def run(z):
    """The eight terms of a formula; a % b is a modulo |b|, and a where b is zero."""
    stack = jnp.zeros((3, TERMS))
    for token in z:
        b, a, rest = stack
        remainder = jnp.where(b == 0, a, jnp.mod(a, jnp.where(b == 0, 1.0, jnp.abs(b))))
        results = jnp.stack([a + b, a - b, a * b, remainder])
        made = results[jnp.clip(token - 1 - len(NUMBERS), 0, len(OPERATIONS) - 1)]
        pushed, reduced = jnp.stack([jnp.asarray(VALUES)[token], b, a]), jnp.stack([made, rest, jnp.zeros(TERMS)])
        stack = jnp.where(token == END, stack, jnp.where(token <= len(NUMBERS), pushed, reduced))
    return stack[0]


class Formula(Evaluator):
    """p(x | z): each term with two-sided geometric noise, p(e) = (1 - s) / (1 + s) s^|e|, s learned."""

    logit: jax.Array

    def sample(self, key, z):
        u = jax.random.uniform(key, (2, TERMS), minval=1e-7)
        one, other = jnp.floor(jnp.log(u) / jax.nn.log_sigmoid(10 * self.logit))  # the difference of two geometrics
        return run(z) + one - other

    def log_prob(self, x, z):
        log_s, log_rest = jax.nn.log_sigmoid(10 * self.logit), jax.nn.log_sigmoid(-10 * self.logit)
        return jnp.sum(log_rest - jnp.log1p(jnp.exp(log_s)) + jnp.abs(x - run(z)) * log_s)


class FormulaWriter(Writer):
    """An LSTM over tokens whose output meets what was seen of the sequence."""

    lstm: Lstm
    mix: jax.Array
    output: jax.Array

    def begin(self, h):
        return self.lstm.begin()

    def step(self, state, token):
        state = self.lstm(state, token)
        return state, state[0]

    def opinion(self, output, h):
        return Opinion(jnp.tanh(jnp.concatenate([output, h]) @ self.mix) @ self.output)


class Guess(Recognition):
    """r(z | x): the sequence and its differences through a layer, then the writer."""

    inner: jax.Array
    writer: FormulaWriter

    def encode(self, x, c):
        seen = jnp.concatenate([x, jnp.diff(x), jnp.diff(x, 2)])
        return jnp.tanh(jnp.append(jnp.sign(seen) * jnp.log1p(jnp.abs(seen)), 1.0) @ self.inner)

    def sample(self, key, h):
        return write(key, self.writer, h, RULES, LENGTH)

    def log_prob(self, z, h):
        return read(z, self.writer, h, RULES)


def make_model(key):
    """An untrained model: every formula about as likely, noise of some tens."""
    keys = jax.random.split(key, 5)
    normal = lambda k, a, b: jax.random.normal(k, (a, b)) / np.sqrt(a)  # noqa: E731
    writer = FormulaWriter(
        Lstm(keys[0], len(WORDS), HIDDEN),
        normal(keys[1], 3 * HIDDEN, 2 * HIDDEN),
        0.3 * normal(keys[2], 2 * HIDDEN, len(WORDS)),
    )
    prior = TokenPrior(LstmWriter(keys[3], HIDDEN, np.zeros(len(WORDS))), RULES, LENGTH)
    return Model(prior, Formula(jnp.asarray(0.3)), Guess(normal(keys[4], 3 * TERMS - 2, 2 * HIDDEN), writer))


def every_program():
    """All formulas, padded: by length the numbers and operations that leave one number on the stack."""
    found = []
    for length in range(1, LENGTH + 1, 2):
        for kinds in itertools.product((1, 2), repeat=length):
            depths = np.cumsum([1 if k == 1 else -1 for k in kinds])
            if depths[-1] == 1 and min(depths) >= 1:
                choices = [range(1, 8) if k == 1 else range(8, 12) for k in kinds]
                found += [list(z) + [END] * (LENGTH - length) for z in itertools.product(*choices)]
    return np.array(found, np.int32)


def make_data(observations, seed=0):
    """Sequences of formulas with n in them, short ones as often as long ones, with a little noise."""
    random, programs = np.random.default_rng(seed), every_program()
    programs = programs[(programs == 1).any(axis=1)]
    sizes = (programs != END).sum(axis=1)
    share = sum(np.where(sizes == s, 1 / (sizes == s).sum(), 0.0) for s in (3, 5)) / 2
    chosen = jnp.asarray(programs[random.choice(len(programs), observations, p=share)])
    truth = Formula(jnp.asarray(np.log(0.1 / 0.9) / 10))
    return Observations(jax.vmap(truth.sample)(jax.random.split(jax.random.key(seed), observations), chosen))


def algorithms(k):
    """The algorithms by name, each with K evaluations a step."""
    adam, m, r = optax.adam(3e-3), k - k // 2, k // 2
    return {
        "MWS-tail+fantasy": mws(adam, m, r),  # the default
        "MWS-tail+both": mws(adam, m, r, recognition="both"),
        "MWS-tail+sparing": mws(adam, m, r, recognition="sparing"),
        "MWS-fantasy": mws(adam, m, r, recognition="fantasy", tail=False, explore=0.0),
        "MWS+both": mws(adam, m, r, tail=False, explore=0.0),
        "MWS": mws(adam, m, r, paper=True),
        "RWS": rws(adam, k),
        "RWS+fantasy": rws(adam, k, recognition="both"),
        "VIMCO": vimco(adam, k),
    }


def main(steps=10_000, observations=200, k=10, names=None, seed=0):
    """Trains each algorithm from scratch and returns the exact NLL in nats that each one reached."""
    data, programs, found = make_data(observations), jnp.asarray(every_program()), {}
    print(f"{len(programs):,} programs, {observations} sequences, K = {k}, {steps:,} steps; NLL in nats, exact")
    for name, algorithm in algorithms(k).items():
        if names and name not in names:
            continue
        state = algorithm.init(make_model(jax.random.key(2 * seed + 1)), data)
        for state, info in fit(algorithm, state, data, key=jax.random.key(2 * seed + 2), steps=steps, batch_size=20):
            pass
        found[name] = -float(jnp.mean(exact(state.model, programs, data)))
        noise = float(jax.nn.sigmoid(10 * state.model.evaluator.logit))
        print(f"{name:16} {found[name]:7.2f}   noise s = {noise:.2f} (true: 0.10)", flush=True)
    return found


if __name__ == "__main__":
    main(*(int(a) for a in sys.argv[1:4]))
