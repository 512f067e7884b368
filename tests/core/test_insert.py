import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.toy import ALL_PROGRAMS, PROGRAMS
from wakesleep.core.algorithms import mws, rws
from wakesleep.core.evaluate import exact_joint
from wakesleep.core.insert import insert
from wakesleep.core.model import Observations
from wakesleep.errors import Refusal

MWS = mws(optax.adam(1e-2), 3, 2)


def test_inserted_programs_leave_the_best_distinct_ones_with_their_scores(toy):
    model, data = toy
    rows = np.asarray([5, 2])
    programs = np.broadcast_to(np.asarray(ALL_PROGRAMS), (2, PROGRAMS, 1))
    state = insert(MWS.init(model, data), rows, np.concatenate([programs, programs], axis=1), data)
    joint = np.asarray(exact_joint(model, ALL_PROGRAMS, data))
    for row in rows:
        best = np.argsort(-joint[row])[:3]
        np.testing.assert_array_equal(state.memory.programs[row, :, 0], best)
        np.testing.assert_allclose(state.memory.log_joint[row], joint[row, best], rtol=1e-6)
    others = np.setdiff1d(np.arange(len(data)), rows)
    assert np.all(np.isneginf(state.memory.log_joint[others]))
    once = insert(insert(MWS.init(model, data), [5, 2], programs[:, 3], data), [2, 5], programs[:, 1], data)
    assert set(np.asarray(once.memory.programs[2, :2, 0]).tolist()) == {1, 3}


def test_an_impossible_program_does_not_enter(toy):
    model, _ = toy
    data = Observations(jnp.zeros(2, jnp.int32))  # program 0 cannot produce symbol 0
    state = insert(MWS.init(model, data), [1], np.zeros((1, 1, 1), np.int32), data)
    assert np.all(np.isneginf(state.memory.log_joint))


@pytest.mark.parametrize(
    ("rows", "programs", "words"),
    [
        ([1, 1], np.zeros((2, 1, 1), np.int32), "rows must differ"),
        ([9], np.zeros((1, 1, 1), np.int32), "between 0 and 7"),
        ([-1], np.zeros((1, 1, 1), np.int32), "between 0 and 7"),
        ([0.5], np.zeros((1, 1, 1), np.int32), "list of row numbers"),
        ([0], np.zeros((1, 1, 2), np.int32), "int32 of shape \\[1, k, 1\\]"),
        ([0], np.zeros((2, 1, 1), np.int32), "int32 of shape \\[1, k, 1\\]"),
        ([0], np.zeros((1, 1, 1), np.float32), "float32 of shape"),
        ([0], (np.zeros((1, 1, 1), np.int32),) * 2, "structure"),
    ],
)
def test_what_cannot_be_inserted_is_refused_in_a_sentence(toy, rows, programs, words):
    model, data = toy
    with pytest.raises(Refusal, match=words):
        insert(MWS.init(model, data), rows, programs, data)


def test_a_state_without_a_memory_and_other_data_are_refused(toy):
    model, data = toy
    program = np.zeros((1, 1, 1), np.int32)
    with pytest.raises(Refusal, match="no memory"):
        insert(rws(optax.adam(1e-2), 3).init(model, data), [0], program, data)
    with pytest.raises(Refusal, match="give the training data"):
        insert(MWS.init(model, data), [0], program, data[jnp.arange(3)])
