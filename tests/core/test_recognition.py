import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.toy import ToyEvaluator
from wakesleep.core.check import check
from wakesleep.core.model import Model, Observations
from wakesleep.core.networks import LstmWriter, TokenPrior, grammar
from wakesleep.core.recognition import FlatEncoder, SequenceEncoder, TokenRecognition
from wakesleep.errors import Refusal

WORDS, LENGTH = 3, 2
RULES = grammar([0, 1, 1], 0, lambda state, kind: state)  # any sequence of two words
EVERY = jnp.asarray([[0, 0], [1, 0], [2, 0], [1, 1], [1, 2], [2, 1], [2, 2]], jnp.int32)


class Sum(ToyEvaluator):
    """p(x | z): the sum of the tokens, in each place of x, with noise."""

    def sample(self, key, z):
        return jnp.sum(z) + jax.random.normal(key, (4,))

    def log_prob(self, x, z):
        return jnp.sum(jax.scipy.stats.norm.logpdf(x, jnp.sum(z), 1.0))


def total(recognition, x, c=None):
    h = recognition.encode(x, c)
    return float(jnp.sum(jnp.exp(jax.vmap(lambda z: recognition.log_prob(z, h))(EVERY))))


def test_with_arrays_it_keeps_the_contract_and_sums_to_one():
    data = Observations(100 + 5 * jax.random.normal(jax.random.key(0), (6, 4)))
    recognition = TokenRecognition(jax.random.key(1), data, RULES, LENGTH, hidden=5)
    assert isinstance(recognition.encoder, FlatEncoder)
    features = jax.vmap(recognition.encode)(data.x, None)
    assert float(jnp.std(features)) > 0.05  # not saturated by the scale of x
    prior = TokenPrior(LstmWriter(jax.random.key(2), 4, np.zeros(WORDS)), RULES, LENGTH)
    check(Model(prior, Sum(jnp.zeros(2), ()), recognition), data, programs=EVERY)
    revised = recognition.revise(jax.random.key(0), EVERY[4], features[0])
    assert revised.shape == (LENGTH,)


@pytest.mark.parametrize("x", [jnp.asarray([[3, 1, 0], [2, 2, 1]]), jnp.asarray([3, 0])])
def test_with_sequences_of_integers_it_reads_them_and_sums_to_one(x):
    recognition = TokenRecognition(jax.random.key(1), Observations(x), RULES, LENGTH, hidden=5)
    assert isinstance(recognition.encoder, SequenceEncoder)
    np.testing.assert_allclose([total(recognition, row) for row in x], 1.0, atol=1e-4)


def test_conditions_are_inputs_too_and_ones_own_encoder_is_used():
    data = Observations(jnp.asarray([[1, 2], [3, 4]]), jnp.asarray([0.5, 1.5]))
    recognition = TokenRecognition(jax.random.key(1), data, RULES, LENGTH, hidden=5)
    assert recognition.encoder.first.shape == (3, 5)
    own = TokenRecognition(jax.random.key(1), data, RULES, LENGTH, hidden=5, encoder=lambda x, c: x / 10 + c)
    np.testing.assert_allclose(own.encode(data.x[1], data.c[1]), [1.8, 1.9], rtol=1e-6)
    assert abs(total(own, data.x[0], data.c[0]) - 1) < 1e-4
    with pytest.raises(Refusal, match="vector of features"):
        TokenRecognition(jax.random.key(1), data, RULES, LENGTH, encoder=lambda x, c: c)


def test_it_learns_to_tell_observations_apart():
    """Trained on pairs, it gives each observation its own program."""
    data = Observations(jnp.asarray([[0.0, 1.0], [10.0, 2.0], [20.0, -1.0]]))
    recognition = TokenRecognition(jax.random.key(1), data, RULES, LENGTH, hidden=8)
    optimiser = optax.adam(0.03)

    def loss(r):
        return -jnp.mean(jax.vmap(lambda x, z: r.log_prob(z, r.encode(x, None)))(data.x, EVERY[:3]))

    @eqx.filter_jit
    def step(r, state):
        value, gradient = eqx.filter_value_and_grad(loss)(r)
        updates, state = optimiser.update(gradient, state)
        return eqx.apply_updates(r, updates), state, value

    state = optimiser.init(eqx.filter(recognition, eqx.is_inexact_array))
    for _ in range(150):
        recognition, state, value = step(recognition, state)
    assert float(value) < 0.5  # a tenth of each token may be any, so not zero
