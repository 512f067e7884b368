"""The memory records by what each program was proposed, and recording changes nothing else."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.toy import PROGRAMS, SYMBOLS, toy_data, toy_model
from wakesleep.core import memory as mem
from wakesleep.core.algorithms import mws
from wakesleep.core.insert import insert
from wakesleep.core.memory import PHASES
from wakesleep.core.model import Batch

KEY = jax.random.key(0)


def stepped(steps=4, **given):
    data, algorithm = toy_data(jax.random.key(1)), mws(optax.adam(1e-2), 3, 4, **given)
    state = algorithm.init(toy_model(KEY), data)
    batch = Batch(jnp.arange(len(data)), data.x)
    step = eqx.filter_jit(algorithm.step)
    for t in range(steps):
        state, _ = step(jax.random.fold_in(KEY, t), state, batch)
    return state, data


@pytest.mark.parametrize("given", [{}, {"explore": 0.5}, {"recognition": "replay"}, {"paper": True}])
def test_recording_changes_nothing_else(given):
    """The same programs, and the same numbers but for rounding: the two steps are compiled apart."""
    with_phases, without = stepped(phases=True, **given)[0], stepped(**given)[0]
    assert without.memory.phase is None
    assert with_phases.memory.phase.shape == without.memory.log_joint.shape
    kept = with_phases._replace(memory=with_phases.memory._replace(phase=None))
    arrays = lambda tree: jax.tree.leaves(eqx.filter(tree, eqx.is_array))  # noqa: E731
    for a, b in zip(arrays(kept.memory.programs), arrays(without.memory.programs), strict=True):
        assert np.array_equal(a, b)
    for a, b in zip(arrays(kept), arrays(without), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(("explore", "expected"), [(0.0, "recognition"), (1.0, "prior")])
def test_the_proposer_is_recorded(explore, expected):
    memory = stepped(phases=True, explore=explore)[0].memory
    filled = np.asarray(memory.log_joint > -jnp.inf)
    assert filled.any()
    assert set(np.asarray(memory.phase)[filled].tolist()) == {PHASES.index(expected)}


def test_each_phase_is_told_apart():
    """Recognition proposes program 1 alone, the prior program 4 alone."""
    lone = lambda z: jnp.where(jnp.arange(PROGRAMS) == z, 0.0, -30.0)  # noqa: E731
    model = eqx.tree_at(lambda m: m.prior.logits, toy_model(KEY), lone(4))
    model = eqx.tree_at(lambda m: m.recognition.logits, model, lone(1)[None].repeat(SYMBOLS, 0))
    data, algorithm = toy_data(jax.random.key(1)), mws(optax.sgd(0.0), 3, 8, explore=0.5, phases=True)
    state, _ = algorithm.step(KEY, algorithm.init(model, data), Batch(jnp.arange(len(data)), data.x))
    programs, phase = np.asarray(state.memory.programs)[..., 0], np.asarray(state.memory.phase)
    filled = np.asarray(state.memory.log_joint > -jnp.inf)
    assert set(phase[filled & (programs == 1)].tolist()) == {PHASES.index("recognition")}
    assert set(phase[filled & (programs == 4)].tolist()) == {PHASES.index("prior")}


def test_a_program_keeps_the_phase_that_first_found_it():
    row = mem.Memory(jnp.array([[2]]), jnp.array([-1.0]), jnp.array([1], jnp.int8))
    again = mem.Memory(jnp.array([[2], [3]]), jnp.array([-1.0, -2.0]), jnp.array([0, 0], jnp.int8))
    merged, _ = mem.merge(row, again)
    assert (int(merged.programs[0, 0]), int(merged.phase[0])) == (2, 1)


def test_inserted_programs_are_of_another_source():
    state, data = stepped(steps=0, phases=True)
    state = insert(state, np.arange(len(data)), jnp.full((len(data), 1, 1), 2), data)
    filled = np.asarray(state.memory.log_joint > -jnp.inf)
    assert set(np.asarray(state.memory.phase)[filled].tolist()) == {PHASES.index("other")}
