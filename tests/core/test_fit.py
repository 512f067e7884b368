import os
import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.toy import ALL_PROGRAMS, toy_data, toy_model
from wakesleep.core import fit as fitting
from wakesleep.core.algorithms import mws, rws
from wakesleep.core.evaluate import exact
from wakesleep.core.fit import data_mesh, draw_rows, fit
from wakesleep.core.model import Evaluator
from wakesleep.errors import Refusal

MWS = mws(optax.adam(1e-2), 3, 2)


def train(model, data, steps, every, key, start=None, algorithm=MWS):
    state = start if start is not None else algorithm.init(model, data)
    for state, _ in fit(algorithm, state, data, key=key, steps=steps, batch_size=4, every=every):
        pass
    return state


def same(a, b):
    left, right = (jax.tree.leaves(eqx.filter(t, eqx.is_array)) for t in (a, b))
    return all(np.array_equal(u, v) for u, v in zip(left, right, strict=True))


def test_rows_of_a_batch_differ_and_all_are_equally_likely():
    n, b, draws = 10, 4, 4000
    rows = np.asarray(jax.vmap(lambda k: draw_rows(k, n, b))(jax.random.split(jax.random.key(0), draws)))
    assert all(len(set(r)) == b for r in rows.tolist())
    counts = np.bincount(rows.reshape(-1), minlength=n)
    expected = draws * b / n
    assert np.all(np.abs(counts - expected) < 5 * np.sqrt(expected))


def test_a_batch_of_everything_is_everything():
    assert sorted(np.asarray(draw_rows(jax.random.key(3), 7, 7)).tolist()) == list(range(7))


def test_cutting_a_run_into_pieces_changes_no_bit(toy):
    model, data = toy
    key = jax.random.key(5)
    whole = train(model, data, 30, 1000, key)
    part = train(model, data, 13, 5, key)
    assert same(whole, train(model, data, 30, 4, key, start=part))


def test_reports_do_not_depend_on_how_time_cuts_the_steps(toy, monkeypatch):
    model, data = toy
    found = []
    for seconds in (0.0, 1e9):  # a call has one step, or twice as many each time
        monkeypatch.setattr(fitting, "CALL_SECONDS", seconds)
        told = fit(MWS, MWS.init(model, data), data, key=jax.random.key(5), steps=40, batch_size=4, every=20)
        found.append({int(state.step): [float(n) for n in info[:3]] for state, info in told})
    assert len(found[0]) == 40 > len(found[1])
    assert all(found[0][step] == report for step, report in found[1].items())


@pytest.mark.parametrize("seeds", [None, 2])
def test_the_steps_are_compiled_once_however_they_are_cut(toy, seeds):
    model, data = toy
    traced, counts = [], []

    def step(*given, **named):
        traced.append(1)
        return MWS.step(*given, **named)

    state, key = MWS.init(model, data), jax.random.key(5)
    if seeds:
        key = jax.random.split(key, seeds)
        state = eqx.filter_vmap(lambda _: MWS.init(model, data))(key)
    for _ in fit(MWS._replace(step=step), state, data, key=key, steps=9, batch_size=4, every=3):
        counts.append(len(traced))
    assert len(counts) >= 3
    assert len(set(counts)) == 1


def test_the_state_that_was_given_is_not_consumed(toy):
    model, data = toy
    state = MWS.init(model, data)
    train(model, data, 3, 3, jax.random.key(0), start=state)
    assert int(state.step) == 0


def test_seeds_side_by_side_equal_seeds_one_by_one():
    data = toy_data(jax.random.key(1))
    keys = jax.random.split(jax.random.key(9), 2)
    stacked = eqx.filter_vmap(lambda k: MWS.init(toy_model(k), data))(keys)
    together = train(None, data, 20, 20, keys, start=stacked)
    for s in range(2):
        alone = train(toy_model(keys[s]), data, 20, 20, keys[s])
        pairs = zip(*(jax.tree.leaves(eqx.filter(t, eqx.is_array)) for t in (together, alone)), strict=True)
        for a, b in pairs:
            np.testing.assert_allclose(a[s], b, rtol=1e-4, atol=1e-5)


SHARDED = """
import jax, optax, numpy as np
from tests.core.test_fit import learn_seeds
from wakesleep.core.fit import data_mesh
assert jax.device_count() == 2
state, found = learn_seeds(data_mesh(2))
assert len(state.memory.log_joint.sharding.device_set) == 2, state.memory.log_joint.sharding
assert np.all(np.isfinite(np.asarray(state.memory.log_joint[:, :, 0])))
copies = [np.asarray(s.data) for s in state.model.prior.logits.addressable_shards]
assert np.array_equal(copies[0], copies[1])
print(*found)
"""


def learn_seeds(mesh, seeds=8):
    """Eight seeds of a toy trained on a mesh: the last states, and log p(x) of each summed over all programs."""
    data = toy_data(jax.random.key(1))
    keys = jax.random.split(jax.random.key(2), seeds)
    state = eqx.filter_vmap(lambda k: MWS.init(toy_model(k), data))(keys)
    for state, _ in fit(MWS, state, data, key=keys, steps=300, batch_size=4, mesh=mesh):
        pass
    arrays, static = eqx.partition(state.model, eqx.is_array)
    one = lambda i: eqx.combine(jax.tree.map(lambda a: jnp.asarray(np.asarray(a)[i]), arrays), static)  # noqa: E731
    return state, [float(exact(one(i), ALL_PROGRAMS, data).mean()) for i in range(seeds)]


def test_observations_and_memory_sharded_over_two_devices_are_learned_as_well_as_on_one():
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=2"
    environment = {"XLA_FLAGS": flags, "PATH": "/usr/bin", "HOME": "/tmp"}
    done = subprocess.run([sys.executable, "-c", SHARDED], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    one, two = np.asarray(learn_seeds(data_mesh(1))[1]), np.array(done.stdout.split(), float)
    error = np.sqrt((np.var(one, ddof=1) + np.var(two, ddof=1)) / len(one))
    assert error < 0.1
    assert abs(one.mean() - two.mean()) < 4 * error


@pytest.mark.parametrize(("size", "words"), [(0, "between 1 and the 8"), (9, "between 1 and the 8")])
def test_a_batch_that_the_data_cannot_serve_is_refused(toy, size, words):
    model, data = toy
    with pytest.raises(Refusal, match=words):
        next(fit(MWS, MWS.init(model, data), data, key=jax.random.key(0), steps=1, batch_size=size))


class Broken(Evaluator):
    scale: jax.Array

    def sample(self, key, z):
        return z[0]

    def log_prob(self, x, z):
        return jnp.log(self.scale - 2.0)


def test_a_run_that_meets_nan_stops_with_a_sentence(toy):
    model, data = toy
    algorithm, broken = rws(optax.sgd(1e-2), 3), Broken(jnp.ones(()))
    with pytest.raises(Refusal, match=r"evaluator\.log_prob gives NaN"):
        algorithm.init(eqx.tree_at(lambda m: m.evaluator, model, broken), data)
    fine = eqx.tree_at(lambda m: m.evaluator, model, Broken(jnp.full((), 3.0)))
    state = algorithm.init(fine, data)  # NaN comes later, at whatever step the scale falls below two
    state = state._replace(model=eqx.tree_at(lambda m: m.evaluator, model, broken))
    with pytest.raises(Refusal, match="by step"):
        list(fit(algorithm, state, data, key=jax.random.key(0), steps=5, batch_size=4))
