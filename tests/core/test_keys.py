import jax
import jax.numpy as jnp
import numpy as np
import pytest

from wakesleep.core.keys import draw_rows, fused


@pytest.mark.parametrize(
    "draw",
    [
        lambda k: jax.random.uniform(k, (3, 5)),
        lambda k: jax.random.normal(k, (7,)),
        lambda k: jax.random.randint(k, (4,), 0, 1000),
        lambda k: jax.random.bits(k, (6,), jnp.uint8),
        lambda k: jax.random.uniform(jax.random.split(k, (2, 3))[1, 2], (4,)),
        lambda k: jax.random.uniform(jax.random.fold_in(k, 12345), (4,)),
        lambda k: jax.vmap(lambda q: jax.random.uniform(q, (2,)))(jax.random.split(k, 3)),
    ],
)
def test_fused_keys_draw_the_same_numbers_as_the_default_ones(draw):
    key = jax.random.key(42)
    np.testing.assert_array_equal(draw(key), draw(fused(key)))


def test_a_key_of_another_kind_is_left_alone():
    key = jax.random.key(0, impl="rbg")
    assert fused(key) is key


@pytest.mark.parametrize(("n", "b"), [(2**27, 4), (2**30 + 2**29 + 3, 200), (2**31 - 1, 2)])
def test_every_row_of_very_many_may_be_drawn(n, b):
    """Their last bits are as good as random, and none is out of range."""
    rows = np.asarray(jax.vmap(lambda k: draw_rows(k, n, b))(jax.random.split(jax.random.key(0), 4000)))
    assert rows.min() >= 0
    assert rows.max() < n
    assert all(len(set(r)) == b for r in rows[:50].tolist())
    ends = np.bincount(rows.reshape(-1) % 16, minlength=16) / rows.size
    assert np.all(np.abs(ends - 1 / 16) < 6 * np.sqrt(1 / 16 / rows.size))
    quarters = np.bincount((rows.reshape(-1).astype(np.int64) * 4 // n), minlength=4) / rows.size
    assert np.all(np.abs(quarters - 1 / 4) < 0.02)


def test_the_rows_of_ordinary_data_are_those_that_were_always_drawn():
    assert np.asarray(draw_rows(jax.random.key(3), 1000, 5)).tolist() == [596, 969, 111, 377, 437]
