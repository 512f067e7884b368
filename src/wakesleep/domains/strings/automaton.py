"""The weighted automaton of a regex: its states are the places of the regex (Glushkov's construction).

`E?` is E with probability phi_?, `E*` is `E+` with phi_*, `E+` is `EE*`, and `E1|E2` is E1 with phi_|.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from wakesleep.core.model import Scalar
from wakesleep.core.networks import END, Tokens
from wakesleep.domains.strings.language import BAR, CLOSE, DEPTH, OPEN, OPTIONAL, PLUS, STAR


class Chances(NamedTuple):
    """The probabilities of the operators."""

    optional: Scalar
    repeat: Scalar
    either: Scalar


class Automaton(NamedTuple):
    """A weighted automaton: a string is a walk over the places of a regex."""

    empty: Float[Array, ""]
    first: Float[Array, "t"]
    follow: Float[Array, "t t"]
    last: Float[Array, "t"]
    sound: Bool[Array, ""]
    """Whether the tokens were a well-formed regex."""


class _Level(NamedTuple):
    """What was read inside of a bracket: its branches before the last bar, and the branch, except for its last part.

    A piece of a regex is a stretch of places, so that one number says where it starts. Its weights of starting and
    of ending at its places are kept by `_Reading` for all pieces together.
    """

    start: Float[Array, ""]
    branch: Float[Array, ""]
    """Where the branch starts."""
    empty: Float[Array, ""]
    """The probability that one of the branches before the last bar is chosen and empty."""
    rest: Float[Array, ""]
    """The probability that is left for the branches to come."""
    branch_empty: Float[Array, ""]


class _Reading(NamedTuple):
    """Where the construction stands."""

    level: _Level
    outside: Float[Array, "d 5"]
    """The levels outside of the open brackets, the outermost first."""
    item: Float[Array, ""]
    """Where the last part starts."""
    item_empty: Float[Array, ""]
    first: Float[Array, "t"]
    """The weight with which the piece that a place belongs to starts there."""
    last: Float[Array, "t"]
    depth: Int[Array, ""]
    full: Bool[Array, ""]
    """Whether the branch has a part."""
    ended: Bool[Array, ""]
    sound: Bool[Array, ""]


def build(tokens: Tokens, chances: Chances) -> Automaton:
    """The automaton of a regex, by one pass over its tokens."""
    length = tokens.shape[0]
    places = jnp.arange(length, dtype=jnp.float32)
    no, nothing = jnp.zeros((), bool), jnp.zeros(length)
    start = _Reading(
        _inside(jnp.zeros(())), jnp.zeros((DEPTH, 5)), jnp.zeros(()), jnp.ones(()), nothing, nothing,
        jnp.zeros((), jnp.int32), no, no, ~no,
    )  # fmt: skip
    at, (ends, starts) = jax.lax.scan(lambda at, given: _step(at, *given, places, chances), start, (tokens, places))
    in_item, in_branch = _stretches(at, places)
    level = at.level
    first = at.first * jnp.where(in_item, level.rest * level.branch_empty, jnp.where(in_branch, level.rest, 1.0))
    last = at.last * jnp.where(in_branch & ~in_item, at.item_empty, 1.0)
    joined = jnp.where(in_branch & ~in_item, at.last, 0.0)[:, None] * jnp.where(in_item, at.first, 0.0)[None, :]
    empty = level.empty + level.rest * level.branch_empty * at.item_empty
    sound = at.sound & (at.depth == 0) & (at.full | (tokens[0] == END))
    return Automaton(empty, first, ends.T @ starts + joined, last, sound)


def _inside(place: Float[Array, ""]) -> _Level:
    """A level of which nothing has been read."""
    return _Level(place, place, jnp.zeros(()), jnp.ones(()), jnp.ones(()))


def _stretches(at: _Reading, places: Float[Array, "t"]) -> tuple[Bool[Array, "t"], Bool[Array, "t"]]:
    """Which places belong to the last part, and which to the branch."""
    return places >= at.item, places >= at.level.branch


def _step(
    at: _Reading, token: Int[Array, ""], place: Float[Array, ""], places: Float[Array, "t"], chances: Chances
) -> tuple[_Reading, tuple[Float[Array, "t"], Float[Array, "t"]]]:
    """Reads a token; also which places may now be followed by which others, as two vectors of weights."""
    end, bar, opens, closes = token == END, token == BAR, token == OPEN, token == CLOSE
    postfix = (token == OPTIONAL) | (token == STAR) | (token == PLUS)
    atom = (token < OPTIONAL) & ~end
    joins = atom | bar | opens | closes  # the last part is finished, and becomes part of the branch
    fresh = opens | bar
    level, (enter, leave, again, repeated) = at.level, _repeat(token, at.item_empty, chances)

    branch_empty = level.branch_empty * at.item_empty
    share = jnp.where(bar, level.rest * chances.either, jnp.where(closes, level.rest, 1.0))
    empty = level.empty + share * branch_empty
    in_item, in_branch = _stretches(at, places)
    in_before = in_branch & ~in_item
    ends = at.last * jnp.where(in_before & joins, 1.0, jnp.where(in_item & postfix, again, 0.0))
    starts = jnp.where(in_item, at.first, 0.0)
    of_item = jnp.where(joins, level.branch_empty * share, jnp.where(postfix, enter, 1.0))
    first = at.first * jnp.where(in_item, of_item, jnp.where(in_before, share, 1.0))
    last = at.last * jnp.where(in_item & postfix, leave, jnp.where(in_before & joins, at.item_empty, 1.0))
    here = atom & (places == place)

    levels = jnp.arange(DEPTH)[:, None]
    held = jnp.stack(level._replace(branch_empty=branch_empty))
    outside = jnp.where(opens & (levels == at.depth), held[None, :], at.outside)
    popped = _Level(*jnp.sum(jnp.where(levels == at.depth - 1, at.outside, 0.0), axis=0))
    barred = _Level(level.start, place, empty, level.rest * (1 - chances.either), jnp.ones(()))
    grown = level._replace(branch_empty=jnp.where(atom, branch_empty, level.branch_empty))
    chosen = _where(opens, _inside(place), _where(bar, barred, _where(closes, popped, grown)))
    item = jnp.where(atom | fresh, place, jnp.where(closes, level.start, at.item))
    kept = jnp.where(closes, empty, jnp.where(postfix, repeated, at.item_empty))
    item_empty = jnp.where(fresh, 1.0, jnp.where(atom, 0.0, kept))
    after = _Reading(
        chosen, outside, item, item_empty, jnp.where(here, 1.0, first), jnp.where(here, 1.0, last),
        jnp.clip(at.depth + opens.astype(jnp.int32) - closes.astype(jnp.int32), 0, DEPTH),
        jnp.where(fresh, False, atom | closes | at.full), at.ended | end, at.sound & ~_is_fault(at, token, postfix),
    )  # fmt: skip
    return after, (ends, starts)


def _is_fault(at: _Reading, token: Int[Array, ""], postfix: Bool[Array, ""]) -> Bool[Array, ""]:
    """Whether a token may not stand here: after the end, without a part before it, too deep, or closing nothing."""
    needs_part = postfix | (token == BAR) | (token == CLOSE)
    depth = ((token == OPEN) & (at.depth >= DEPTH)) | ((token == CLOSE) & (at.depth <= 0))
    return (at.ended & (token != END)) | (needs_part & ~at.full) | depth


def _repeat(token: Int[Array, ""], empty: Scalar, chances: Chances) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """What an operator does to a part: factors for starting, ending and going round, and whether it is empty now."""
    again = jnp.where(token == OPTIONAL, 0.0, chances.repeat)
    enter = jnp.where(token == OPTIONAL, chances.optional, jnp.where(token == STAR, chances.repeat, 1.0))
    series = 1.0 / (1.0 - again * empty)  # rounds in which the part is empty
    leave = (1.0 - again) * series
    return enter * series, leave, again * series, 1.0 - enter + enter * empty * leave


def _where(condition: Bool[Array, ""], a: _Level, b: _Level) -> _Level:
    return jax.tree.map(lambda u, v: jnp.where(condition, u, v), a, b)
