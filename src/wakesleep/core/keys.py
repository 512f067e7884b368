"""Random keys that cost little: threefry written out, with the same bits as JAX's own; and rows drawn with them.

On a CPU, JAX runs each threefry hash as a loop of some eighty tiny kernels, which in a small step costs
more than the step. Written out, a hash fuses into the code that uses it.
"""

import jax
import jax.extend.random
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Int, Key, UInt32

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)
Words = UInt32[Array, "..."]
UNIFORM_STEPS = 2**23
"""The number of different values that a uniform random number of single precision takes."""


def fused(key: Key[Array, "*keys"]) -> Key[Array, "*keys"]:
    """Returns the same key, whose draws use the written-out hash; keys of other kinds stay as they are."""
    if jax.random.key_impl(key) != "threefry2x32":
        return key
    return jax.random.wrap_key_data(jax.random.key_data(key), impl=_FUSED)


def draw_rows(key: Key[Array, ""], n: int, b: int) -> Int[Array, "b"]:
    """Draws b different rows of n < 2^31, each equally likely, at a cost that does not depend on n.

    One row from each of b strata of (nearly) equal width, all turned by a random offset.
    """
    edges = np.arange(b + 1) * n // b
    widths = np.diff(edges).astype(np.int32)
    if widths.max() <= UNIFORM_STEPS:
        uniform = jax.random.uniform(key, (b + 1,))
        within = jnp.minimum((uniform[:b] * widths).astype(jnp.int32), widths - 1)
        offset = (uniform[b] * n).astype(jnp.int32)
    else:  # A uniform number would skip rows of so wide a stratum.
        drawn = jax.random.randint(key, (b + 1,), 0, np.append(widths, n).astype(np.int32))
        within, offset = drawn[:b], drawn[b]
    rows = jnp.asarray(edges[:-1], jnp.uint32) + within.astype(jnp.uint32) + offset.astype(jnp.uint32)
    return (rows % np.uint32(n)).astype(jnp.int32)


def _hash(key: UInt32[Array, "2"], high: Words, low: Words) -> tuple[Words, Words]:
    """Returns the hash of two words by Threefry-2x32 with twenty rounds (Salmon et al., 2011)."""
    schedule = (key[0], key[1], key[0] ^ key[1] ^ PARITY)
    a, b = high + schedule[0], low + schedule[1]
    for group in range(5):
        for turn in ROTATIONS[group % 2]:
            a = a + b
            b = a ^ ((b << np.uint32(turn)) | (b >> np.uint32(32 - turn)))
        a = a + schedule[(group + 1) % 3]
        b = b + schedule[(group + 2) % 3] + np.uint32(group + 1)
    return a, b


def _count(key: UInt32[Array, "2"], shape: tuple[int, ...]) -> tuple[Words, Words]:
    """Returns the hashes of 0, 1, 2, ... in that shape."""
    size = int(np.prod(shape, dtype=np.int64))
    if size >= 2**32:
        raise ValueError(f"At most 2**32 random numbers can be drawn at once, but {size} were asked for.")
    low = jax.lax.iota(jnp.uint32, size).reshape(shape)
    return _hash(key, jnp.zeros(shape, jnp.uint32), low)


def _seed(seed: ArrayLike) -> UInt32[Array, "2"]:
    return jax.random.key_data(jax.random.key(seed, impl="threefry2x32"))


def _split(key: UInt32[Array, "2"], shape: tuple[int, ...]) -> Words:
    return jnp.stack(_count(key, shape), axis=-1)


def _fold_in(key: UInt32[Array, "2"], data: ArrayLike) -> UInt32[Array, "2"]:
    return jnp.stack(_hash(key, jnp.zeros((), jnp.uint32), jnp.asarray(data).astype(jnp.uint32)))


def _bits(key: UInt32[Array, "2"], width: int, shape: tuple[int, ...]) -> Array:
    high, low = _count(key, shape)
    if width == 64:
        return (high.astype(jnp.uint64) << np.uint64(32)) | low.astype(jnp.uint64)
    return (high ^ low).astype(jnp.dtype(f"uint{width}"))


_FUSED = jax.extend.random.define_prng_impl(
    key_shape=(2,),
    seed=_seed,
    split=_split,
    random_bits=_bits,
    fold_in=_fold_in,
    name="fused_threefry",
    tag="fused",
)
