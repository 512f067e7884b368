"""What an expression says of the covariance of a series, as a function of its continuous variables.

Variables are logarithms, of standard deviations, lengths and periods, packed in the order of the tokens. Times are
measured in spans of the observed series and values in its standard deviations.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from wakesleep.domains.timeseries.language import (
    DECAYING,
    KERNEL_SPELLINGS,
    LIN,
    M12,
    M32,
    MOST_VARIABLES,
    MULTIPLY,
    PER,
    RW,
    SE,
    SINGLE_KERNELS,
    WN,
    C,
)

VARIABLE_KINDS = (
    "noise",
    "constant",
    "slope",
    "wander",
    "amplitude",
    "SE",
    "M12",
    "M32",
    "roundness",
    "period",
    "decay",
)
"""The kinds of variables, each with a prior of its own; a decay is the length of a kernel that multiplies a Per."""
NOISE, CONSTANT, LINE_SLOPE, WANDER, AMPLITUDE, SE_LENGTH, ROUNDNESS, PERIOD, DECAY = 0, 1, 2, 3, 4, 5, 8, 9, 10
IDLE = len(VARIABLE_KINDS)
LEAST_NOISE_DEVIATION = 1e-3
"""Every series has noise of at least this standard deviation: a thousandth of its own. It is part of the model."""
WALK_LENGTH_SPANS = 10.0
"""The length of the random walk, in spans: it is stationary, and close to Brownian motion within a span."""
SCALE_KIND = np.full(len(KERNEL_SPELLINGS), AMPLITUDE, np.int32)
SCALE_KIND[[WN, C, LIN, RW]] = NOISE, CONSTANT, LINE_SLOPE, WANDER
LENGTH_KIND = np.full(len(KERNEL_SPELLINGS), IDLE, np.int32)
LENGTH_KIND[[SE, M12, M32, PER]] = SE_LENGTH, SE_LENGTH + 1, SE_LENGTH + 2, ROUNDNESS


class Layout(NamedTuple):
    """Where the variables of an expression are: its leaves, and which packed variable each leaf has in each role."""

    leaf: Int[Array, "l"]
    joined: Bool[Array, "l"]
    """Whether a leaf multiplies the one before it."""
    place: Float[Array, "l 3 v"]
    """One-hot: the packed variable that is the scale, the length and the period of a leaf; zero where it has none."""
    kind: Int[Array, "v"]
    """The kind of each packed variable, IDLE where it is idle."""


def layout(tokens: Int[Array, "t"], scaled: bool) -> Layout:
    """Returns the layout of an expression."""
    leaf = tokens[0::2]
    after = jnp.concatenate([tokens[1::2], jnp.zeros(leaf.shape[0] - tokens[1::2].shape[0], tokens.dtype)])
    joins = after == MULTIPLY
    joined = jnp.concatenate([jnp.zeros(1, bool), joins[:-1]])
    following = jnp.concatenate([leaf[1:], jnp.zeros(1, leaf.dtype)])
    decaying = _among(leaf, DECAYING)
    periodic = leaf == PER
    scale = _among(leaf, (C, *SINGLE_KERNELS)) | ((decaying | periodic) & ~joined if scaled else jnp.zeros_like(joined))
    has = jnp.stack([scale, decaying | periodic, periodic], axis=1)
    decay = decaying & joins & (following == PER)
    lengths = jnp.where(decay, DECAY, jnp.asarray(LENGTH_KIND)[leaf])
    kinds = jnp.stack([jnp.asarray(SCALE_KIND)[leaf], lengths, jnp.full_like(lengths, PERIOD)], axis=1)
    position = jnp.cumsum(has.reshape(-1)).reshape(has.shape) - 1
    place = (position[..., None] == np.arange(MOST_VARIABLES, dtype=np.int32)[None, None]) & has[..., None]
    found = jnp.sum(place * kinds[..., None], axis=(0, 1))
    kind = jnp.where(jnp.any(place, axis=(0, 1)), found, IDLE)
    return Layout(leaf, joined, place.astype(jnp.float32), kind)


def _among(leaf: Int[Array, "l"], kinds: tuple[int, ...]) -> Bool[Array, "l"]:
    return jnp.any(leaf[:, None] == np.array(kinds)[None], axis=1)


class Covariance(NamedTuple):
    """A covariance in three parts: the stationary one at some lags, noise of each point alone, and a line's."""

    stationary: Float[Array, "*lags"]
    nugget: Float[Array, ""]
    slope: Float[Array, ""]
    """The coefficient of the kernel slope * u * u', u being the time from the middle of the observed span."""


def covariance(theta: Float[Array, "v"], shape: Layout, lags: Float[Array, "*lags"]) -> Covariance:
    """Returns the covariance that the variables give at those lags, which are not negative."""
    return differentiable(theta, shape, lags)[0]


def differentiable(
    theta: Float[Array, "v"], shape: Layout, lags: Float[Array, "*lags"]
) -> tuple[Covariance, Callable[[Covariance], Float[Array, "v"]]]:
    """Returns the covariance, and the function that pulls a gradient with respect to it back to the variables.

    A product of kernels is exp of a sum, and at most one of its factors has a polynomial before the exp: so a term
    is the sum over its leaves, and all leaves are computed as one array. The derivatives are written out because
    they need nothing but these arrays, which halves both the time to compile and the time to run.
    """
    scale, length, period = jnp.moveaxis(jnp.tensordot(shape.place.astype(theta.dtype), theta, 1), 1, 0)
    walks = shape.leaf == RW
    # A walk of variance s^2 a span: (l / 2) s^2 exp(-d / l), l being WALK_LENGTH_SPANS.
    scale, length = (
        scale + jnp.where(walks, 0.5 * np.log(WALK_LENGTH_SPANS / 2), 0.0),
        jnp.where(walks, np.log(WALK_LENGTH_SPANS), length),
    )
    member = _terms(shape).astype(theta.dtype)
    leaves = _leaves(shape.leaf, length, period, lags.reshape(-1))
    stationary = (shape.leaf >= C) & (shape.leaf != LIN) & (shape.leaf != WN)
    variance = jnp.where(member @ stationary > 0, jnp.exp(2 * member @ scale), 0.0)
    terms = variance[:, None] * (1 + member @ leaves.rough) * jnp.exp(-(member @ leaves.exponent))
    noise, line = ((shape.leaf == kind) * jnp.exp(2 * scale) for kind in (WN, LIN))

    def back(gradient: Covariance) -> Float[Array, "v"]:
        weighted = member.T @ (terms * gradient.stationary.reshape(1, -1))
        by_scale = 2 * (jnp.sum(weighted, axis=1) + gradient.nugget * noise + gradient.slope * line)
        by_length = jnp.sum(weighted * leaves.by_length, axis=1)
        by_period = jnp.sum(weighted * leaves.by_period, axis=1)
        return jnp.tensordot(jnp.stack([by_scale, by_length, by_period], axis=1), shape.place.astype(theta.dtype), 2)

    parts = Covariance(
        jnp.sum(terms, axis=0).reshape(lags.shape), LEAST_NOISE_DEVIATION**2 + jnp.sum(noise), jnp.sum(line)
    )
    return parts, back


def components(theta: Float[Array, "v"], shape: Layout, lags: Float[Array, "*lags"]) -> Float[Array, "l *lags"]:
    """Returns the stationary covariance of each term alone."""
    member = _terms(shape)
    keep = lambda row: shape._replace(leaf=jnp.where(row, shape.leaf, 0))  # noqa: E731
    return jax.vmap(lambda row: covariance(theta, keep(row), lags).stationary)(member)


def _terms(shape: Layout) -> Bool[Array, "l l"]:
    """Returns a mask of the leaves that belong to each term."""
    term = jnp.cumsum(~shape.joined) - 1
    return (term[None] == np.arange(term.shape[0])[:, None]) & (shape.leaf > 0)[None]


class Leaves(NamedTuple):
    """Each leaf at each lag: minus its exponent, what is added to 1 before the exp, and logarithmic derivatives."""

    exponent: Float[Array, "l d"]
    rough: Float[Array, "l d"]
    by_length: Float[Array, "l d"]
    by_period: Float[Array, "l d"]


def _leaves(
    leaf: Int[Array, "l"], length: Float[Array, "l"], period: Float[Array, "l"], lags: Float[Array, "d"]
) -> Leaves:
    kind, shrink = leaf[:, None], jnp.exp(-length)[:, None]
    ratio = lags[None] * shrink
    # A Matern kernel's distance; its exponent is linear in it.
    rough = jnp.where(kind == M32, jnp.sqrt(3.0), 1.0) * ratio
    phase = np.pi * lags[None] * jnp.exp(-period)[:, None]
    sine = jnp.sin(phase)
    wave = jnp.where(kind == PER, 2 * (sine * shrink) ** 2, 0.0)
    matern = (kind == M12) | (kind == M32) | (kind == RW)
    exponent = jnp.where(matern, rough, jnp.where(kind == SE, 0.5 * ratio**2, wave))
    by_length = jnp.where(kind == M12, rough, jnp.where(kind == M32, rough**2 / (1 + rough), 2 * exponent))
    by_period = jnp.where(kind == PER, 4 * shrink**2 * sine * jnp.cos(phase) * phase, 0.0)
    return Leaves(exponent, jnp.where(kind == M32, rough, 0.0), by_length, by_period)
