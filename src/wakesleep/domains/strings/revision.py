"""Regexes from others and from the strings alone: what may enter a memory beside the proposals of recognition."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Key

from wakesleep.core.keys import fused
from wakesleep.core.model import Scalar
from wakesleep.core.networks import END, Tokens, change
from wakesleep.domains.strings.evaluator import ABSENT, MEMBERS, PAST, Strings
from wakesleep.domains.strings.language import (
    ANY,
    BAR,
    CLOSE,
    DIGIT,
    FIRST_CLASS,
    LOWER,
    OPEN,
    OPTIONAL,
    PLUS,
    SPACE,
    SPELLINGS,
    STAR,
    UPPER,
    WHITE,
    WORD,
)

READ_OFF_SHARE, WRAPPED_SHARE = 0.25, 0.125
"""The shares of revisions that are read off the strings, and that put brackets around a part."""
_ALIKE = MEMBERS[np.array([DIGIT, UPPER, LOWER]) - FIRST_CLASS]
CHARACTER_KINDS = np.concatenate([_ALIKE, ~_ALIKE.any(axis=0, keepdims=True) & (np.arange(PAST + 1) != PAST)])
"""Which characters are digits, capitals, small letters, and others."""
OTHER_KIND = 3


def revised(key: Key[Array, ""], z: Tokens, x: Strings) -> Tokens:
    """The program changed at one place or two, or with brackets; or one that is read off the strings."""
    keys = jax.random.split(key, 5)
    u = jax.random.uniform(fused(keys[0]), (2,))
    once = mutate(keys[1], z, x)
    changed = jnp.where(u[1] < 0.5, mutate(keys[2], once, x), once)
    changed = jnp.where(u[0] > 1 - WRAPPED_SHARE, wrap(keys[3], z), changed)
    return jnp.where(u[0] < READ_OFF_SHARE, read_off(keys[4], x, z.shape[0]), changed)


def mutate(key: Key[Array, ""], z: Tokens, x: Strings) -> Tokens:
    """The program with one token replaced, inserted or deleted; it may break the grammar, and then scores nothing.

    A new token is a class or an operator, or a character of one of the strings.
    """
    uniform = jax.random.uniform(fused(key), (6,))
    length = jnp.sum(z != END)
    place = (uniform[0] * (length + 1)).astype(jnp.int32)
    kind = (uniform[1] * 3).astype(jnp.int32)
    special = FIRST_CLASS + (uniform[2] * (len(SPELLINGS) - FIRST_CLASS)).astype(jnp.int32)
    row = (uniform[3] * jnp.sum(x.lengths >= 0)).astype(jnp.int32)
    column = (uniform[4] * jnp.maximum(x.lengths[row], 1)).astype(jnp.int32)
    character = x.characters[row, column].astype(jnp.int32)
    literal = jnp.where(character == PAST, OPTIONAL, character + 1)
    token = jnp.where(uniform[5] < 0.5, special, literal)
    return change(z, kind == 2, kind == 0, place, token)


def wrap(key: Key[Array, ""], z: Tokens) -> Tokens:
    """The program with brackets around some of its tokens, and an operator behind; it may break the grammar."""
    u = jax.random.uniform(fused(key), (3,))
    used = jnp.sum(z != END)
    start = (u[0] * used).astype(jnp.int32)
    stop = start + 1 + (u[1] * (used - start)).astype(jnp.int32)
    operator = jnp.asarray([OPTIONAL, STAR, PLUS])[(u[2] * 3).astype(jnp.int32)]
    yes = jnp.ones((), bool)
    for place, token in ((stop, operator), (stop, jnp.asarray(CLOSE)), (start, jnp.asarray(OPEN))):
        z = change(z, yes, ~yes, place, token.astype(z.dtype))
    return z


def read_off(key: Key[Array, ""], x: Strings, length: int) -> Tokens:
    """A program from the strings alone: a class, or the character that all have, at each place that all have.

    A quarter of the time the strings are divided at random, and the programs of both parts joined by alternation; a
    quarter of the time what the longer strings have beyond the shortest is optional, at a random place.
    """
    strings = x.lengths.shape[0]
    u = jax.random.uniform(fused(key), (3 + strings + 2 * length,))
    there = x.lengths != ABSENT
    written = u[-2 * length :].reshape(2, length) < u[1]
    part = there & (u[3 : 3 + strings] < 0.5)
    part = jnp.where(jnp.any(part), part, there)
    bar = jnp.where(jnp.any(there & ~part), BAR, END)[None]
    joined = _behind(_behind(_template(x, part, written[0]), bar), _template(x, there & ~part, written[1]))
    whole = _template(x, there, written[0])
    options = _optional(u[2], x, there, written)
    return jnp.where(u[0] < 0.5, whole, jnp.where(u[0] < 0.75, joined, options))


def templates(x: Strings, length: int) -> Int[Array, "k t"]:
    """Twelve programs from the strings alone: place by place, and with an optional part at five places, each with the
    letters and digits that all strings share written out and not."""
    there = x.lengths != ABSENT
    written = jnp.asarray([[False], [True]]) & jnp.ones((2, length), bool)
    whole = [_template(x, there, row) for row in written]
    starts = (0.0, 0.25, 0.5, 0.75, 0.999)
    parted = [_optional(jnp.asarray(u), x, there, jnp.stack([row, row])) for u in starts for row in written]
    return jnp.stack(whole + parted)


def _optional(u: Scalar, x: Strings, there: Bool[Array, "s"], written: Bool[Array, "2 t"]) -> Tokens:
    """`E1(E2)?E3`: all strings begin with E1 and end with E3, and those longer than the shortest have E2 between."""
    least = jnp.min(jnp.where(there, x.lengths, jnp.max(x.lengths)))
    start = (u * (least + 1)).astype(jnp.int32)  # how much of the shortest is in E1
    beyond = x.lengths - least
    first = _template(_cut(x, jnp.zeros_like(beyond), jnp.full_like(beyond, start)), there, written[0])
    middle = _template(_cut(x, jnp.full_like(beyond, start), beyond), there & (beyond > 0), written[1])
    last = _template(_cut(x, start + beyond, jnp.full_like(beyond, least - start)), there, written[0])
    used = jnp.sum(middle != END)
    opened, closed = jnp.where(used > 1, OPEN, END)[None], jnp.where(used > 1, CLOSE, END)[None]
    mark = jnp.where(used > 0, OPTIONAL, END)[None]
    whole = first
    for piece in (opened, middle, closed, mark, last):
        whole = _behind(whole, piece)
    return whole


def _cut(x: Strings, starts: Int[Array, "s"], lengths: Int[Array, "s"]) -> Strings:
    """So many characters of each string from a place on."""
    width = x.characters.shape[1]
    places = jnp.arange(width)[None, :]
    moved = jnp.take_along_axis(x.characters, jnp.clip(places + starts[:, None], 0, width - 1), axis=1)
    return Strings(jnp.where(places < lengths[:, None], moved, PAST).astype(x.characters.dtype), lengths)


def _behind(first: Tokens, second: Int[Array, "k"]) -> Tokens:
    """The second sequence behind the first, as far as there is room."""
    used, places = jnp.sum(first != END), jnp.arange(first.shape[0])
    at = places - used
    moved = jnp.where(at < second.shape[0], second[jnp.clip(at, 0, second.shape[0] - 1)], END)
    return jnp.where(at < 0, first, moved).astype(jnp.int32)


def _template(x: Strings, rows: Bool[Array, "s"], written: Bool[Array, "t"]) -> Tokens:
    """The strings of those rows place by place to the end of the shortest, and then any number of a class; or nothing.

    A letter or digit that all have at a place is written out where `written` says so, and other characters always.
    """
    length = written.shape[0]
    lengths = jnp.where(rows, x.lengths, 0)
    longest, shortest = jnp.max(lengths), jnp.min(jnp.where(rows, lengths, jnp.max(lengths)))
    characters, kinds = _places(x, length)
    least = jnp.min(jnp.where(rows[:, None], characters, PAST), axis=0)
    most = jnp.max(jnp.where(rows[:, None], characters, -1), axis=0)
    present = jnp.any(kinds & rows[None, :, None], axis=1)
    places = jnp.arange(length)
    alone = (least == most) & (written | present[OTHER_KIND])
    literal = jnp.where(least + 1 == SPACE, WHITE, least + 1)
    token = jnp.where(alone, literal, _narrowest(present))
    tail = _narrowest(jnp.any(present & (places >= shortest)[None, :], axis=1))
    behind = jnp.where(places == shortest, tail, jnp.where(places == shortest + 1, STAR, END))
    return jnp.where(places < shortest, token, jnp.where(longest > shortest, behind, END)).astype(jnp.int32)


def _places(x: Strings, length: int) -> tuple[Int[Array, "s t"], Bool[Array, "4 s t"]]:
    """The characters of the first places of each string, and which are digits, capitals, small letters, and others."""
    width = ((0, 0), (0, max(length - x.characters.shape[1], 0)))
    characters = jnp.pad(x.characters[:, :length].astype(jnp.int32), width, constant_values=PAST)
    return characters, jnp.asarray(CHARACTER_KINDS)[:, characters]


def _narrowest(present: Bool[Array, "4 *t"]) -> Int[Array, "*t"]:
    """The narrowest class for the kinds of characters that are present."""
    digit, capital, small, other = present
    several = (digit & capital) | (digit & small) | (capital & small)
    one = jnp.where(digit, DIGIT, jnp.where(capital, UPPER, LOWER))
    return jnp.where(other, ANY, jnp.where(several, WORD, one))
