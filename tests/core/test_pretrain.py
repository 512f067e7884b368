import equinox as eqx
import jax
import numpy as np
import optax
import pytest

from tests.running.test_run import config, same
from tests.toy import ALL_PROGRAMS, SYMBOLS, ToyEvaluator
from wakesleep.core import evaluate
from wakesleep.core.model import Batch, Observations
from wakesleep.core.pretrain import pretrain, sleep
from wakesleep.errors import Refusal
from wakesleep.running import train as training


def test_recognition_that_has_slept_gives_the_exact_posterior_of_a_model_that_stays(toy):
    model, _ = toy
    every = Observations(jax.numpy.arange(SYMBOLS))
    slept = pretrain(jax.random.key(0), model, every, steps=4000, batch_size=SYMBOLS, learning_rate=0.01)
    assert same((slept.prior, slept.evaluator), (model.prior, model.evaluator))
    joint = np.asarray(evaluate.exact_joint(model, ALL_PROGRAMS, every))
    truth = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    before, after = (np.asarray(jax.nn.softmax(m.recognition.logits, axis=1)) for m in (model, slept))
    assert np.abs(before - truth).max() > 0.3
    np.testing.assert_allclose(after, truth, atol=0.08)


class Unscored(ToyEvaluator):
    """Counts the times that p(x | z) is asked for: sleep needs draws alone."""

    def log_prob(self, x, z):
        raise AssertionError("sleep scored a program")


def test_sleep_scores_no_program(toy):
    model, data = toy
    unscored = Unscored(model.evaluator.logits, model.evaluator.possible)
    unscored = eqx.tree_at(lambda m: m.evaluator, model, unscored)
    sleeping = sleep(optax.sgd(0.01))
    state = sleeping.init(model, data)._replace(model=unscored)
    state, info = sleeping.step(jax.random.key(0), state, Batch(jax.numpy.arange(3), data.x[:3]))
    assert np.isfinite(info.bound)
    assert not same(state.model.recognition, model.recognition)


def test_a_run_may_sleep_before_its_first_step_and_repeats_it():
    job, told = training.prepare(config(pretrain=30)), []
    start, untrained = job.start(report=told.append), training.prepare(config()).start()
    assert same(job.start(), start)
    assert same(start.model.prior, untrained.model.prior)
    assert not same(start.model.recognition, untrained.model.recognition)
    assert (told[-1].step, told[-1].steps) == (30, 30)
    assert eqx.tree_equal(jax.tree.map(np.shape, start), jax.tree.map(np.shape, untrained))


def test_a_negative_number_of_steps_is_refused():
    with pytest.raises(Refusal, match="pretrain"):
        config(pretrain=-1)
