"""Baselines of the characters in bits a pixel: independent pixels, a kernel density, a causal context, an IWAE."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int8, Key
from scipy.ndimage import gaussian_filter
from scipy.special import logsumexp

Images = Int8[np.ndarray, "n y x"]
Loss = Callable[[Any, Key[Array, ""], Float[Array, "b ..."]], Float[Array, ""]]
LATENT, HIDDEN, CONTEXT_HIDDEN = 16, 200, 48
TRAIN_PARTICLES, TEST_PARTICLES = 5, 1000
CONTEXT_OFFSETS = [(dy, dx) for dy in (-3, -2, -1, 0) for dx in range(-3, 4) if (dy, dx) < (0, 0)]
"""The 24 pixels that a causal context sees: three to the left, and seven in each of the three rows above."""


def independent(train: Images, tuning: Images, test: Images) -> Float[np.ndarray, "n"]:
    """Returns nats of each test image if pixels are independent, with their shares of black in training."""
    p = (train.sum(axis=0) + 0.5) / (len(train) + 1)
    return -(test * np.log(p) + (1 - test) * np.log(1 - p)).sum(axis=(1, 2))


def kernel_density(train: Images, tuning: Images, test: Images) -> Float[np.ndarray, "n"]:
    """Returns nats under a mixture of blurred training images at 25 places, tuned on other drawings."""
    moved = np.concatenate([np.roll(train, (dy, dx), (1, 2)) for dy in range(-2, 3) for dx in range(-2, 3)])

    def nats(images: Images, blur: float, black: float, stray: float) -> Float[np.ndarray, "n"]:
        soft = gaussian_filter(moved.astype(np.float32), (0, blur, blur)).reshape(len(moved), -1)
        p = stray + (black - stray) * np.minimum(soft / soft.max(), 1)
        log_p = images.reshape(len(images), -1).astype(np.float32) @ np.log(p / (1 - p)).T + np.log(1 - p).sum(axis=1)
        return -(logsumexp(log_p, axis=1) - np.log(len(moved)))

    choices = [(b, k, s) for b in (0.7, 1.0, 1.4) for k in (0.5, 0.65, 0.8) for s in (0.01, 0.02, 0.03)]
    return nats(test, *min(choices, key=lambda c: float(nats(tuning, *c).mean())))


def causal_context(train: Images, tuning: Images, test: Images) -> Float[np.ndarray, "n"]:
    """Returns nats if a small network predicts each pixel from 24 earlier ones."""
    keys = jax.random.split(jax.random.key(0), 2)
    shapes = (len(CONTEXT_OFFSETS), CONTEXT_HIDDEN, CONTEXT_HIDDEN, 1)
    data, kept, held = (jnp.asarray(_contexts(x), jnp.float32) for x in (train, tuning, test))

    def loss(layers: Any, key: Key[Array, ""], rows: Float[Array, "b c"]) -> Float[Array, ""]:
        logit = _network(layers, rows[:, :-1])[:, 0]
        return jnp.mean(jax.nn.softplus(logit) - rows[:, -1] * logit)

    found = _trained(keys[0], _layers(keys[1], shapes), loss, data, kept, 512, 6000)
    logit = _network(found, held[:, :-1])[:, 0]
    each = jax.nn.softplus(logit) - held[:, -1] * logit
    return np.asarray(each).reshape(len(test), -1).sum(axis=1)


def _contexts(images: Images) -> Int8[np.ndarray, "m c"]:
    """Returns for each pixel the earlier pixels around it and, last, the pixel itself."""
    _, side, width = images.shape
    padded = np.pad(images, ((0, 0), (3, 0), (3, 3)))
    seen = [padded[:, 3 + dy : 3 + dy + side, 3 + dx : 3 + dx + width] for dy, dx in [*CONTEXT_OFFSETS, (0, 0)]]
    return np.stack(seen, axis=-1).reshape(-1, len(seen))


def small_iwae(train: Images, tuning: Images, test: Images) -> Float[np.ndarray, "n"]:
    """Returns the importance bound, in nats, of a small autoencoder (Burda et al., 2016)."""
    keys = jax.random.split(jax.random.key(0), 4)
    data, kept, held = (jnp.asarray(x.reshape(len(x), -1), jnp.float32) for x in (train, tuning, test))
    networks = (
        _layers(keys[0], (data.shape[1], HIDDEN, 2 * LATENT)),
        _layers(keys[1], (LATENT, HIDDEN, data.shape[1])),
    )

    def loss(networks: Any, key: Key[Array, ""], x: Float[Array, "b p"]) -> Float[Array, ""]:
        return -jnp.mean(_iwae(networks, key, x, TRAIN_PARTICLES))

    found = _trained(keys[2], networks, loss, data, kept, 50, 6000)
    bound = jax.jit(lambda x: _iwae(found, keys[3], x, TEST_PARTICLES))
    return -np.concatenate([np.asarray(bound(held[i : i + 20])) for i in range(0, len(held), 20)])


def _iwae(networks: Any, key: Key[Array, ""], x: Float[Array, "b p"], particles: int) -> Float[Array, "b"]:
    """Returns the bound log mean p(x, z) / q(z | x) over draws of q."""
    encoder, decoder = networks
    mean, log_scale = jnp.split(_network(encoder, x), 2, axis=-1)
    noise = jax.random.normal(key, (particles, *mean.shape))
    z = mean + jnp.exp(log_scale) * noise
    logit = _network(decoder, z)
    log_x = jnp.sum(x * logit - jax.nn.softplus(logit), axis=-1)
    log_w = log_x - 0.5 * jnp.sum(z**2, axis=-1) + jnp.sum(0.5 * noise**2 + log_scale, axis=-1)
    return jax.nn.logsumexp(log_w, axis=0) - jnp.log(particles)


def _layers(key: Key[Array, ""], sizes: tuple[int, ...]) -> list[tuple[Array, Array]]:
    """Returns the weights and biases of a network."""
    keys = jax.random.split(key, len(sizes) - 1)
    pairs = zip(keys, sizes, sizes[1:], strict=False)
    return [(jax.random.normal(k, (a, b)) / np.sqrt(a), jnp.zeros(b)) for k, a, b in pairs]


def _network(layers: list[tuple[Array, Array]], x: Array) -> Array:
    """Returns the output of a network with tanh between its layers."""
    for weight, bias in layers[:-1]:
        x = jnp.tanh(x @ weight + bias)
    return x @ layers[-1][0] + layers[-1][1]


def _trained(
    key: Key[Array, ""], parts: Any, loss: Loss, data: Array, kept: Array, batch: int, steps: int, every: int = 500
) -> Any:
    """Returns the parameters, of those after every stretch of Adam, with the least loss on the images kept apart."""
    adam = optax.adam(1e-3)

    def step(carry: tuple, key: Key[Array, ""]) -> tuple[tuple, None]:
        parts, state = carry
        key_rows, key_loss = jax.random.split(key)
        rows = data[jax.random.randint(key_rows, (batch,), 0, len(data))]
        change, state = adam.update(jax.grad(loss)(parts, key_loss, rows), state)
        return (optax.apply_updates(parts, change), state), None

    run = jax.jit(lambda carry, keys: jax.lax.scan(step, carry, keys)[0])
    score = jax.jit(lambda parts: loss(parts, key, kept))
    carry, best, least = (parts, adam.init(parts)), parts, np.inf
    for keys in jax.random.split(key, steps).reshape(steps // every, every):
        carry = run(carry, keys)
        if (now := float(score(carry[0]))) < least:
            best, least = carry[0], now
    return best


BASELINES = {
    "independent pixels": independent,
    "kernel density": kernel_density,
    "causal context of 24 pixels": causal_context,
    "small IWAE": small_iwae,
}
