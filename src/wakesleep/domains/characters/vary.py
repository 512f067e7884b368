"""Drawings as another hand might have made them: what recognition is trained on in place of the drawings themselves.

A small affine map of the whole and a smooth displacement are drawn anew each time. A shift is not: the likelihood is
summed over shifts, and recognition has to see where the drawing lies.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from wakesleep.core.keys import fused
from wakesleep.domains.characters.evaluator import SIDE, Image
from wakesleep.domains.characters.networks import StrokeRecognition

MAP_SPREAD = 0.1
"""The standard deviation of each entry of the linear map, off the identity, at spread 1."""
BEND_SPREAD, BEND_SIDE = 0.7, 5
"""The standard deviation in pixels of the displacement at each point of a grid of 5 x 5, at spread 1."""
LEAST_SHADE = 0.45
"""From this shade a pixel of the bent drawing is ink: a half would break lines that are one pixel wide."""


class VaryingRecognition(StrokeRecognition):
    """Recognition that is trained on drawings bent by a hand."""

    spread: float = eqx.field(static=True)

    def __init__(self, *given: Any, spread: float):
        super().__init__(*given)
        self.spread = spread

    def varied(self, key: Key[Array, ""], x: Image) -> Image:
        """Returns the drawing as another hand might have made it."""
        return bent(x, *bends(key, self.spread))


def bends(key: Key[Array, ""], spread: float) -> tuple[Float[Array, "2 2"], Float[Array, "2 5 5"]]:
    """Draws a linear map and the displacements at the points of a grid."""
    key_map, key_grid = jax.random.split(fused(key))
    linear = jnp.eye(2) + spread * MAP_SPREAD * jax.random.normal(key_map, (2, 2))
    return linear, spread * BEND_SPREAD * jax.random.normal(key_grid, (2, BEND_SIDE, BEND_SIDE))


def bent(x: Image, linear: Float[Array, "2 2"], grid: Float[Array, "2 5 5"]) -> Image:
    """Returns the drawing whose pixel p is that of the given one at linear (p - middle) + middle + displacement(p)."""
    middle = (SIDE - 1) / 2
    places = jnp.stack(jnp.meshgrid(jnp.arange(SIDE), jnp.arange(SIDE), indexing="ij")) - middle
    moved = jnp.einsum("ij,jyx->iyx", linear, places) + middle
    moved += jax.image.resize(grid, (2, SIDE, SIDE), "linear")
    return (_shade(x.astype(jnp.float32), moved) > LEAST_SHADE).astype(x.dtype)


def _shade(x: Float[Array, "y x"], places: Float[Array, "2 y x"]) -> Float[Array, "y x"]:
    """Returns the shades between pixels, nothing beyond the frame."""
    corner = jnp.floor(places).astype(jnp.int32)
    part = places - corner
    total = jnp.zeros(x.shape)
    for down in (0, 1):
        for right in (0, 1):
            v, u = corner[0] + down, corner[1] + right
            weight = jnp.abs(1 - down - part[0]) * jnp.abs(1 - right - part[1])
            total += jnp.where(_inside(v) & _inside(u), weight * x[v.clip(0, SIDE - 1), u.clip(0, SIDE - 1)], 0.0)
    return total


def _inside(at: Array) -> Array:
    return (at >= 0) & (at < SIDE)
