"""Observations that recognition is trained on in place of the given ones: nothing else sees them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.toy import SYMBOLS, ToyRecognition
from wakesleep.core.algorithms import mws, rws
from wakesleep.core.model import Batch
from wakesleep.core.pretrain import pretrain

OPTIONS = {
    "replay": {"recognition": "replay", "tail": False},
    "tail": {"recognition": "replay", "tail": True},
    "fantasy": {"recognition": "fantasy", "tail": True},
    "both": {"recognition": "both", "tail": False, "replay": "expected"},
}


class NextSymbol(ToyRecognition):
    """Is trained on the symbol after the one given, the last one's being the first."""

    def varied(self, key, x):
        return (x + 1) % SYMBOLS


class ItsOwn(ToyRecognition):
    """Is trained on what is given, though it has a way of its own to say so."""

    def varied(self, key, x):
        return x


def stepped(toy, kind, algorithm):
    """The model and the memory after a step on two observations of one symbol, and the model before."""
    model, data = toy
    model = eqx.tree_at(lambda m: m.recognition, model, kind(model.recognition.logits))
    rows = jnp.nonzero(data.x == data.x[0])[0][:2]
    assert len(rows) == 2
    state, _ = algorithm.step(jax.random.key(3), algorithm.init(model, data), Batch(rows, data.x[rows]))
    return state, np.asarray(state.model.recognition.logits - model.recognition.logits), int(data.x[0])


@pytest.mark.parametrize("name", OPTIONS)
def test_recognition_alone_is_trained_on_varied_observations(toy, name):
    algorithm = mws(optax.sgd(0.5), 3, 4, **OPTIONS[name])
    plain, by_plain, x = stepped(toy, ToyRecognition, algorithm)
    varied, by_varied, _ = stepped(toy, NextSymbol, algorithm)
    np.testing.assert_allclose(varied.model.prior.logits, plain.model.prior.logits, atol=1e-6)
    np.testing.assert_allclose(varied.model.evaluator.logits, plain.model.evaluator.logits, atol=1e-6)
    np.testing.assert_array_equal(varied.memory.programs, plain.memory.programs)
    assert np.abs(by_plain - by_varied).max() > 1e-3
    if "fantasy" != OPTIONS[name]["recognition"] != "both":  # replay alone trains on the symbol of the batch
        assert np.flatnonzero(np.abs(by_plain).max(axis=1)).tolist() == [x]
        assert np.flatnonzero(np.abs(by_varied).max(axis=1)).tolist() == [(x + 1) % SYMBOLS]


@pytest.mark.parametrize("name", OPTIONS)
def test_observations_varied_into_themselves_change_nothing(toy, name):
    algorithm = mws(optax.sgd(0.5), 3, 4, **OPTIONS[name])
    plain, varied = (stepped(toy, kind, algorithm)[0] for kind in (ToyRecognition, ItsOwn))
    np.testing.assert_allclose(varied.model.recognition.logits, plain.model.recognition.logits, atol=1e-6)


def test_the_gradient_of_replay_on_a_varied_observation_is_that_of_the_observation_it_became(toy):
    """The row of the next symbol moves by the gradient of - log r(z | next) at its own logits."""
    model, _ = toy
    algorithm = mws(optax.sgd(1.0), 1, 4, recognition="replay", tail=False, explore=0.0)
    state, moved, x = stepped(toy, NextSymbol, algorithm)
    rows = np.flatnonzero(np.isfinite(np.asarray(state.memory.log_joint)[:, 0]))
    after = (x + 1) % SYMBOLS
    odds = np.asarray(jax.nn.softmax(model.recognition.logits[after]))
    drawn = [np.eye(len(odds))[int(state.memory.programs[r, 0, 0])] for r in rows]
    np.testing.assert_allclose(moved[after], np.mean(drawn, axis=0) - odds, atol=1e-6)


def test_wake_training_of_reweighted_wake_sleep_sees_the_observation_itself(toy):
    algorithm = rws(optax.sgd(0.5), 3)
    plain, varied = (stepped(toy, kind, algorithm)[1] for kind in (ToyRecognition, NextSymbol))
    np.testing.assert_allclose(varied, plain, atol=1e-6)


def test_sleep_before_the_first_step_sees_varied_dreams(toy):
    model, data = toy

    def slept(kind):
        given = eqx.tree_at(lambda m: m.recognition, model, kind(model.recognition.logits))
        return pretrain(jax.random.key(0), given, data, steps=2000, batch_size=8, learning_rate=0.05).recognition

    shifted = jax.nn.softmax(jnp.roll(slept(NextSymbol).logits, -1, axis=0))
    np.testing.assert_allclose(shifted, jax.nn.softmax(slept(ToyRecognition).logits), atol=0.05)
