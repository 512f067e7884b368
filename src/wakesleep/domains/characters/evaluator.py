"""p(x | z) of the characters domain: strokes drawn end to end, and a Bernoulli for each pixel.

A stroke is an arc of a circle with a displacement, an arc angle, a width and a sharpness. Ink at a pixel is
exp(u^2 (w^2 - d^2)), at most 1, of the nearest stroke at distance d; its logit is a line in the ink. The drawing is
centred on the canvas, and the likelihood is summed over whole-pixel shifts and linear maps of its strokes.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8, Key

from wakesleep.core.model import Evaluator, Scalar
from wakesleep.domains.characters.drawings import SIDE
from wakesleep.domains.characters.language import Tokens, drawn, stroke

MOST_DISPLACEMENT = 0.66
MOST_WIDTH = 0.1
USUAL_SHARPNESS = 20.0
MOST_TURN = 1.75 * np.pi
"""Paper: 2 pi. Here a little less: with its ends apart, an arc of a whole turn is infinitely large."""
LEAST_SQUARE = 1e-12
NO_INK_EXPONENT = -1e4
Image = Int8[Array, "y x"]


class Arcs(NamedTuple):
    """Arcs, each with a frame: the origin at its middle, one axis along the chord, the other to the centre."""

    x: Float[Array, "*t"]
    y: Float[Array, "*t"]
    along_x: Float[Array, "*t"]
    along_y: Float[Array, "*t"]
    half: Float[Array, "*t"]
    """Half of the chord."""
    curvature: Float[Array, "*t"]
    slope: Float[Array, "*t"]
    """cos(angle / 2) / half, which tells points beside the arc from points beyond its ends."""
    sagitta: Float[Array, "*t"]
    width: Float[Array, "*t"]
    sharpness: Float[Array, "*t"]


def arcs(
    start: Float[Array, "t 2"],
    displacement: Float[Array, "t 2"],
    angle: Float[Array, "t"],
    width: Float[Array, "t"],
    sharpness: Float[Array, "t"],
) -> Arcs:
    """Returns the arcs that begin at the starts; an angle of 0 is an ordinary point of every formula here."""
    half = 0.5 * jnp.sqrt(jnp.sum(displacement**2, axis=1) + LEAST_SQUARE)
    along_x, along_y = (displacement / (2 * half)[:, None]).T
    sagitta = half * jnp.tan(angle / 4)
    x, y = (start + displacement / 2).T
    x, y = x + sagitta * along_y, y - sagitta * along_x
    curvature, slope = jnp.sin(angle / 2) / half, jnp.cos(angle / 2) / half
    return Arcs(x, y, along_x, along_y, half, curvature, slope, sagitta, width, sharpness)


def closeness(arc: Arcs, x: Float[Array, "p"], y: Float[Array, "p"]) -> Float[Array, "p"]:
    """Returns u^2 (w^2 - d^2), where d is the distance of a point from an arc.

    The distance from the circle is g / (1 + sqrt(1 + k g)) with g = k |p|^2 - 2 n, which is finite at k = 0.
    """
    x, y = x - arc.x, y - arc.y
    t = jnp.abs(x * arc.along_x + y * arc.along_y)
    n = y * arc.along_x - x * arc.along_y
    g = arc.curvature * (x * x + y * y) - 2 * n
    circle = g / (1 + jnp.sqrt(jnp.maximum(1 + arc.curvature * g, LEAST_SQUARE)))
    beside = 1 - arc.curvature * n - arc.slope * t >= 0
    squared = jnp.where(beside, circle**2, (t - arc.half) ** 2 + (n - arc.sagitta) ** 2)
    return arc.sharpness**2 * (arc.width**2 - squared)


def pixels() -> Float[Array, "2 p"]:
    """Returns the centres of the pixels, x and y, on the unit canvas, row by row from the top left."""
    centres = (np.arange(SIDE, dtype=np.float32) + 0.5) / SIDE
    return jnp.asarray(np.stack(np.meshgrid(centres, centres)).reshape(2, -1))


@jax.custom_vjp
def ink(arc: Arcs, on: Bool[Array, "t"]) -> Float[Array, "p"]:
    """Returns the ink at each pixel, between 0 and 1: that of the closest of the arcs that are on."""
    return jnp.exp(jnp.minimum(_closest(arc, on)[0], 0.0))


def _closest(arc: Arcs, on: Bool[Array, "t"]) -> tuple[Float[Array, "p"], Int[Array, "p"]]:
    """Returns the closeness and the index of the closest arc at each pixel, in one fused pass over the arcs."""
    x, y = pixels()
    best, which = jnp.full(x.shape, NO_INK_EXPONENT), jnp.full(x.shape, -1)
    for j in range(on.shape[0]):
        here = jnp.where(on[j], closeness(jax.tree.map(lambda a, j=j: a[j], arc), x, y), NO_INK_EXPONENT)
        which = jnp.where(here > best, j, which)
        best = jnp.maximum(best, here)
    return best, which


def _ink_forward(arc: Arcs, on: Bool[Array, "t"]) -> tuple[Float[Array, "p"], tuple]:
    best, which = _closest(arc, on)
    return jnp.exp(jnp.minimum(best, 0.0)), (arc, which)


def _ink_backward(saved: tuple, cotangent: Float[Array, "p"]) -> tuple[Arcs, None]:
    """Returns the gradient of the arcs; a pixel differentiates only the arc that is closest to it."""
    arc, which = saved
    closest = (which[:, None] == jnp.arange(arc.x.shape[0])[None]).astype(
        jnp.float32
    )  # a row of zeros where nothing is on
    mine = Arcs(*(closest @ jnp.stack(arc, axis=1)).T)
    _, pull = jax.vjp(lambda arc: jnp.exp(jnp.minimum(closeness(arc, *pixels()), 0.0)), mine)
    return Arcs(*(jnp.stack(pull(cotangent)[0]) @ closest)), None


ink.defvjp(_ink_forward, _ink_backward)


class Renderer(Evaluator):
    """A bank of strokes that is learned, with the logits of ink and paper."""

    displacement: Float[Array, "s 2"]
    angle: Float[Array, "s"]
    width: Float[Array, "s"]
    sharpness: Float[Array, "s"]
    contrast: Float[Array, ""]
    paper: Float[Array, ""]
    shift: Float[Array, "k k"]
    maps: Float[Array, "m 2 2"] | None
    """Linear maps of the strokes, beside the identity."""

    def __init__(self, key: Key[Array, ""], strokes: int, reach: int, maps: int = 0):
        keys = jax.random.split(key, 4)
        self.displacement = 0.45 * jax.random.normal(keys[0], (strokes, 2))
        self.angle = 0.3 * jax.random.normal(keys[1], (strokes,))
        self.width = jnp.full(strokes, -2.0) + 0.1 * jax.random.normal(keys[2], (strokes,))
        self.sharpness = jnp.zeros(strokes)
        self.contrast, self.paper = jnp.asarray(5.0), jnp.asarray(-3.5)
        places = np.arange(-reach, reach + 1)
        self.shift = jnp.asarray(-(places[:, None] ** 2 + places**2) / 8, jnp.float32)
        around = jnp.eye(2)[None] + 0.15 * jax.random.normal(keys[3], (maps, 2, 2))
        self.maps = around if maps else None

    @property
    def bank(self) -> tuple[Float[Array, "s 2"], Float[Array, "s"], Float[Array, "s"], Float[Array, "s"]]:
        """Returns displacement, arc angle, width and sharpness of each stroke, each within its range."""
        turn, sharp = MOST_TURN * jnp.tanh(self.angle), USUAL_SHARPNESS * jnp.exp(self.sharpness)
        return MOST_DISPLACEMENT * jnp.tanh(self.displacement), turn, MOST_WIDTH * jax.nn.sigmoid(self.width), sharp

    def place(self, z: Tokens, linear: Float[Array, "2 2"] | None = None) -> tuple[Arcs, Bool[Array, "t"]]:
        """Returns the arcs of a program with the drawing in the middle of the canvas, and which of them leave ink."""
        strokes = self.angle.shape[0]
        on, which = drawn(z, strokes), stroke(z, strokes)
        displacement, angle, width, sharpness = (a[which] for a in self.bank)
        displacement = jnp.where((z > 0)[:, None], displacement, 0.0)
        displacement = displacement if linear is None else displacement @ linear.T
        ends = jnp.cumsum(displacement, axis=0)
        arc = arcs(ends - displacement, displacement, angle, width, sharpness)
        seen = jnp.concatenate([ends - displacement, ends, jnp.stack([arc.x, arc.y], axis=1)])
        shown = jnp.tile(on, 3)[:, None]
        low = jnp.min(jnp.where(shown, seen, jnp.inf), axis=0)
        high = jnp.max(jnp.where(shown, seen, -jnp.inf), axis=0)
        centre = jnp.where(jnp.any(on), (low + high) / 2, 0.5)
        return arc._replace(x=arc.x + 0.5 - centre[0], y=arc.y + 0.5 - centre[1]), on

    def draw(self, z: Tokens, linear: Float[Array, "2 2"] | None = None) -> Float[Array, "y x"]:
        """Returns the canvas: ink between 0 and 1."""
        return ink(*self.place(z, linear)).reshape(SIDE, SIDE)

    def shade(self, canvas: Float[Array, "*pixels"]) -> Float[Array, "*pixels"]:
        """Returns the probability that each pixel is black, scaled to 0 for paper and 1 for full ink."""
        bare, full, here = (jax.nn.sigmoid(self.paper + self.contrast * c) for c in (0.0, 1.0, canvas))
        return (here - bare) / (full - bare)

    def sample(self, key: Key[Array, ""], z: Tokens) -> Image:
        """Draws a map, a shift and every pixel, and returns the image."""
        key_map, key_shift, key_pixels = jax.random.split(key, 3)
        linear = None
        if self.maps is not None:
            which = jax.random.randint(key_map, (), 0, self.maps.shape[0] + 1)
            linear = jnp.concatenate([jnp.eye(2)[None], self.maps])[which]
        canvas = self.draw(z, linear)
        reach = self.shift.shape[0] // 2
        place = jax.random.categorical(key_shift, self.shift.reshape(-1))
        corner = (2 * reach - place // self.shift.shape[0], 2 * reach - place % self.shift.shape[0])
        moved = jax.lax.dynamic_slice(jnp.pad(canvas, reach), corner, (SIDE, SIDE))
        logits = self.paper + self.contrast * moved
        return (jax.random.uniform(key_pixels, (SIDE, SIDE)) < jax.nn.sigmoid(logits)).astype(jnp.int8)

    def log_prob(self, x: Image, z: Tokens) -> Scalar:
        """Returns log p(x | z), summed over maps and shifts."""
        one = self.log_prob_of(x, self.draw(z))
        if self.maps is None:
            return one
        others = jax.vmap(lambda linear: self.log_prob_of(x, self.draw(z, linear)))(self.maps)
        return jax.nn.logsumexp(jnp.append(others, one)) - jnp.log(1.0 + len(others))

    def log_prob_of(self, x: Image, canvas: Float[Array, "y x"]) -> Scalar:
        """Returns log p(x | canvas), summed over shifts: the image is moved back rather than the canvas.

        sum_i [x_i l_i - log(1 + e^l_i)] with l = paper + contrast * ink; off the canvas all is paper.
        """
        reach = self.shift.shape[0] // 2
        both = correlate(x.astype(jnp.float32), canvas, reach).reshape(-1)
        cost = jnp.log(1 + jax.nn.sigmoid(self.paper) * (jnp.exp(self.contrast * canvas) - 1))
        visible = windows(reach)
        lost = (visible @ cost @ visible.T).reshape(-1)
        paper = self.paper * jnp.sum(x) - SIDE * SIDE * jax.nn.softplus(self.paper)
        log_shift = jax.nn.log_softmax(self.shift.reshape(-1))
        return jax.nn.logsumexp(log_shift + self.contrast * both - lost) + paper


def correlate(x: Float[Array, "y x"], canvas: Float[Array, "y x"], reach: int) -> Float[Array, "k k"]:
    """Returns sum_p x[p + s] canvas[p] for every shift s, rows first.

    Only the shifts along a row are copied out: those along a column are then slices of a flat array.
    """
    padded, flat, places = jnp.pad(x, reach), canvas.reshape(-1), range(2 * reach + 1)
    along = jnp.stack([padded[:, j : j + SIDE] for j in places]).reshape(len(places), -1)
    return jnp.stack([along[:, SIDE * i : SIDE * (i + SIDE)] @ flat for i in places])


def windows(reach: int) -> Float[np.ndarray, "k y"]:
    """Returns a mask of the canvas rows that stay visible after each shift."""
    rows, places = np.arange(SIDE), np.arange(-reach, reach + 1)[:, None]
    return ((rows + places >= 0) & (rows + places < SIDE)).astype(np.float32)
