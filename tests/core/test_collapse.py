import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
import pytest

from tests.toy import PROGRAMS, SYMBOLS
from wakesleep.core import collapse
from wakesleep.core.algorithms import mws
from wakesleep.core.fit import fit


@pytest.fixture
def blind(toy):
    """Recognition proposes program 0 alone."""
    model, data = toy
    lone = jnp.where(jnp.arange(PROGRAMS) == 0, 0.0, -1e9)[None].repeat(SYMBOLS, 0)
    return eqx.tree_at(lambda m: m.recognition.logits, model, lone), data


def train(model, data, **settings):
    algorithm = mws(optax.sgd(0.0), PROGRAMS, 2, **settings)
    state = algorithm.init(model, data)
    for state, _ in fit(algorithm, state, data, key=jax.random.key(0), steps=120, batch_size=8, every=20):
        pass
    return state


def test_a_run_that_has_collapsed_warns_once_and_names_remedies(blind, monkeypatch):
    monkeypatch.setattr(collapse, "IDLE_STEPS", 30)
    monkeypatch.setattr(collapse, "IDLE_VISITS", 30)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        state = train(*blind)
    assert int(state.step) == 120
    told = [str(w.message) for w in told if "No program has entered" in str(w.message)]
    assert len(told) == 1
    for remedy in ("fantasy", "explore", "pretrain"):
        assert remedy in told[0]


def test_a_run_that_has_found_everything_does_not_warn(blind, monkeypatch):
    monkeypatch.setattr(collapse, "IDLE_STEPS", 30)
    monkeypatch.setattr(collapse, "IDLE_VISITS", 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        train(*blind, explore=0.9)
