import jax
import jax.numpy as jnp
import numpy as np
import pytest

from wakesleep.core.keys import fused


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
