import os
import subprocess
import sys
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


def test_a_seed_that_has_collapsed_is_named_among_seeds_that_have_not(toy, blind, monkeypatch):
    monkeypatch.setattr(collapse, "IDLE_STEPS", 30)
    monkeypatch.setattr(collapse, "IDLE_VISITS", 30)
    algorithm = mws(optax.sgd(0.0), PROGRAMS, 2)
    states = [algorithm.init(model, data) for model, data in (toy, blind)]
    arrays, static = zip(*(eqx.partition(s, eqx.is_array) for s in states), strict=True)
    stacked = eqx.combine(jax.tree.map(lambda *a: jnp.stack(a), *arrays), static[0])
    keys = jax.random.split(jax.random.key(0), 2)
    with pytest.warns(UserWarning, match="Seed 1: no program has entered a memory in"):
        list(fit(algorithm, stacked, toy[1], key=keys, steps=120, batch_size=8, every=20))


SHARDED = """
import jax, jax.numpy as jnp, numpy as np, optax
from tests.toy import toy_data, toy_model
from wakesleep.core.algorithms import mws
from wakesleep.core.collapse import search_gain
from wakesleep.core.fit import begin, data_mesh, place, shard
algorithm, data = mws(optax.sgd(0.0), 3, 2), toy_data(jax.random.key(1))
state = algorithm.init(toy_model(jax.random.key(0)), data)
mesh = data_mesh(2)
spread = place(state, mesh), shard(data, mesh)
assert len(spread[0].memory.log_joint.sharding.device_set) == 2
key = jax.random.key(3)
print(search_gain(key, state, data), search_gain(key, *spread))
"""


def test_a_memory_that_is_shared_by_two_devices_is_searched_like_any_other():
    environment = os.environ | {"XLA_FLAGS": f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=2"}
    done = subprocess.run([sys.executable, "-c", SHARDED], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    one, two = map(float, done.stdout.split())
    assert one == two > 0
