import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wakesleep.core import memory as mem
from wakesleep.core.memory import Memory

M, R, CODES = 3, 4, 6
merge = jax.jit(mem.merge)
# Scores from a few values, so that ties and twins are common; None is an impossible program.
SCORE = dict(enumerate([-1.0, -1.0, -2.0, -3.5, None, -0.5]))
codes = st.integers(0, CODES - 1)


def as_memory(programs, slots):
    scores = [-np.inf if SCORE[c] is None else SCORE[c] for c in programs]
    padded = [*programs, *[0] * (slots - len(programs))]
    return Memory(
        jnp.asarray([[c, c % 2] for c in padded], jnp.int32),
        jnp.asarray([*scores, *[-np.inf] * (slots - len(programs))], jnp.float32),
    )


def possible(programs):
    return {c for c in programs if SCORE[c] is not None}


def kl_up_to_a_constant(log_joint):
    """D_KL(Q || p(. | x)) - log p(x) for Q proportional to p on its support."""
    return -float(mem.bound(log_joint))


@given(st.sets(codes, max_size=M), st.lists(codes, min_size=R, max_size=R))
@settings(max_examples=200, deadline=None)
def test_merge_keeps_the_best_distinct_programs_as_a_python_set_would(held, proposed):
    held = sorted(possible(held))
    merged, entered = merge(as_memory(held, M), as_memory(proposed, R))
    kept = [int(z[0]) for z, s in zip(merged.programs, merged.log_joint, strict=True) if s > -np.inf]
    everything = possible(held) | possible(proposed)
    best = sorted((SCORE[c] for c in everything), reverse=True)[:M]
    assert len(set(kept)) == len(kept)
    assert set(kept) <= everything
    assert [SCORE[c] for c in kept] == best
    assert int(entered) == len(set(kept) - set(held))
    # Among equal scores the remembered stay.
    assert not [c for c in held if c not in kept and SCORE[c] > min(best)]


@given(st.sets(codes, max_size=M), st.lists(codes, min_size=R, max_size=R))
@settings(max_examples=100, deadline=None)
def test_a_wake_step_never_increases_the_divergence_from_the_posterior(held, proposed):
    before = as_memory(sorted(possible(held)), M)
    after, _ = merge(before, as_memory(proposed, R))
    assert kl_up_to_a_constant(after.log_joint) <= kl_up_to_a_constant(before.log_joint) + 1e-6


@given(st.lists(st.floats(-20, 0), min_size=M, max_size=M), st.lists(st.floats(0.01, 1), min_size=M, max_size=M))
@settings(max_examples=100, deadline=None)
def test_weights_proportional_to_p_are_optimal_for_a_support(log_joint, other):
    log_joint, other = np.asarray(log_joint), np.asarray(other) / np.sum(other)
    programs = jnp.arange(M, dtype=jnp.int32)[:, None]
    q = np.exp(np.asarray(mem.posterior(Memory(programs, jnp.asarray(log_joint, jnp.float32))).log_weight))
    loss = lambda w: float(np.sum(np.where(w > 0, w * (np.log(np.maximum(w, 1e-300)) - log_joint), 0.0)))  # noqa: E731
    assert loss(q) <= loss(other) + 1e-4


def test_of_two_twins_that_carry_different_numbers_the_better_scored_stays():
    old = Memory((jnp.asarray([[1], [2]]), jnp.asarray([0.1, 0.2])), jnp.asarray([-1.0, -5.0]))
    new = Memory((jnp.asarray([[2], [1]]), jnp.asarray([0.9, 0.8])), jnp.asarray([-3.0, -4.0]))
    merged, _ = mem.merge(old, new)
    np.testing.assert_array_equal(merged.programs[0][:, 0], [1, 2])
    np.testing.assert_allclose(merged.programs[1], [0.1, 0.9])
    np.testing.assert_allclose(merged.log_joint, [-1.0, -3.0])


def test_draws_follow_q_and_never_take_an_empty_slot():
    row = Memory(jnp.arange(4, dtype=jnp.int32)[:, None], jnp.log(jnp.asarray([0.5, 0.3, 0.2, 0.0])))
    uniforms = (jnp.arange(10_000) + 0.5) / 10_000
    z = jax.vmap(mem.draw, (0, None))(jnp.append(uniforms, jnp.asarray([0.0, 0.99999994])), row)[:, 0]
    np.testing.assert_allclose(np.bincount(z, minlength=4)[:3] / len(z), [0.5, 0.3, 0.2], atol=1e-3)
    assert int(jnp.max(z)) == 2


def test_an_empty_row_weighs_nothing_and_is_not_nan():
    row = mem.empty(jax.ShapeDtypeStruct((1,), jnp.int32), 1, 3)
    assert np.all(np.asarray(mem.posterior(row).log_weight) == -np.inf)
