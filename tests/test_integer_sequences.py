"""The example of integer sequences: its programs, its probabilities against plain sums, and a short run."""

import runpy
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

PATH = Path(__file__).parents[1] / "examples" / "integer_sequences.py"


@pytest.fixture(scope="module")
def example():
    return runpy.run_path(str(PATH))


def plainly(words: list[str], n: int) -> int:
    """A formula by whole numbers and a list."""
    stack: list[int] = []
    for word in words:
        if word in "+-*%":
            b, a = stack.pop(), stack.pop()
            stack.append({"+": a + b, "-": a - b, "*": a * b, "%": a % abs(b) if b else a}[word])
        else:
            stack.append(n if word == "n" else int(word))
    (value,) = stack
    return value


def test_formulas_have_the_values_of_plain_arithmetic(example):
    programs = example["every_program"]()
    some = programs[:: len(programs) // 400]
    found = np.asarray(jax.vmap(example["run"])(jnp.asarray(some)))
    for z, values in zip(some, found, strict=True):
        words = [example["WORDS"][t] for t in z if t]
        assert values.tolist() == [plainly(words, n) for n in range(1, 9)], words


def test_the_prior_gives_all_formulas_together_probability_one(example):
    programs = jnp.asarray(example["every_program"]())
    assert len({tuple(z) for z in np.asarray(programs).tolist()}) == len(programs) == 11_179
    prior = example["make_model"](jax.random.key(0)).prior
    log_p = jax.vmap(lambda z: prior.log_prob(z, None))(programs)
    assert float(jnp.exp(jax.nn.logsumexp(log_p))) == pytest.approx(1.0, abs=1e-4)


def test_the_noise_is_a_distribution_and_is_drawn_as_it_is_scored(example):
    formula, z = example["Formula"](jnp.asarray(0.0)), jnp.asarray([1, 0, 0, 0, 0], jnp.int32)
    ideal = example["run"](z)
    near = jnp.stack([ideal.at[0].add(e) for e in range(-40, 41)])
    one = jax.vmap(lambda x: formula.log_prob(x, z))(near)
    rest = 7 * np.log((1 - 0.5) / (1 + 0.5))  # the other terms, without noise
    assert float(jnp.sum(jnp.exp(one - rest))) == pytest.approx(1.0, abs=1e-4)
    drawn = np.asarray(jax.vmap(lambda k: formula.sample(k, z))(jax.random.split(jax.random.key(0), 2000)))
    drawn = drawn - np.asarray(ideal)
    for e in (0, 1, -1, 3):
        assert (drawn == e).mean() == pytest.approx(0.5 ** abs(e) / 3, abs=0.02)


def test_it_runs_and_says_the_exact_nll(example):
    found = example["main"](steps=20, observations=20, k=4, names=("MWS-tail+both", "RWS+fantasy"))
    assert list(found) == ["MWS-tail+both", "RWS+fantasy"]
    assert all(0 < nll < 200 for nll in found.values())
