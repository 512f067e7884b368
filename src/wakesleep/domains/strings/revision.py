"""Regexes from others and from the strings alone: what may enter a memory beside the proposals of recognition."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Key

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
from wakesleep.keys import fused
from wakesleep.networks import END, Tokens, change

READ_OFF, WRAPPED = 0.25, 0.125
"""The shares of revisions that are read off the strings, and that put brackets around a part."""
_ALIKE = MEMBERS[np.array([DIGIT, UPPER, LOWER]) - FIRST_CLASS]
KINDS = np.concatenate([_ALIKE, ~_ALIKE.any(axis=0, keepdims=True) & (np.arange(PAST + 1) != PAST)])
"""Which characters are digits, capitals, small letters, and others."""
OTHER = 3


def revised(key: Key[Array, ""], z: Tokens, x: Strings) -> Tokens:
    """The program changed at one place or two, or with brackets; or one that is read off the strings."""
    keys = jax.random.split(key, 5)
    u = jax.random.uniform(fused(keys[0]), (2,))
    once = mutate(keys[1], z, x)
    changed = jnp.where(u[1] < 0.5, mutate(keys[2], once, x), once)
    changed = jnp.where(u[0] > 1 - WRAPPED, wrap(keys[3], z), changed)
    return jnp.where(u[0] < READ_OFF, read_off(keys[4], x, z.shape[0]), changed)


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

    Half of the time the strings are divided at random, and the programs of both parts joined by alternation.
    """
    u = jax.random.uniform(fused(key), (2 + x.lengths.shape[0] + 2 * length,))
    there = x.lengths != ABSENT
    some = there & ((u[0] < 0.5) | (u[2 : 2 + there.shape[0]] < 0.5))
    some = jnp.where(jnp.any(some), some, there)
    written = u[-2 * length :].reshape(2, length) < u[1]
    first, second = _template(x, some, written[0]), _template(x, there & ~some, written[1])
    used, places = jnp.sum(first != END), jnp.arange(length)
    behind = second[jnp.clip(places - used - 1, 0, length - 1)]
    joined = jnp.where(places < used, first, jnp.where(places == used, BAR, behind))
    return jnp.where(jnp.any(there & ~some), joined, first)


def _template(x: Strings, rows: Bool[Array, "s"], written: Bool[Array, "t"]) -> Tokens:
    """The strings of those rows place by place to the end of the shortest, and then any number of a class.

    A letter or digit that all have at a place is written out where `written` says so, and other characters always.
    """
    length = written.shape[0]
    lengths = jnp.where(rows, x.lengths, 0)
    longest, shortest = jnp.max(lengths), jnp.min(jnp.where(rows, lengths, length))
    characters, kinds = _places(x, length)
    least = jnp.min(jnp.where(rows[:, None], characters, PAST), axis=0)
    most = jnp.max(jnp.where(rows[:, None], characters, -1), axis=0)
    present = jnp.any(kinds & rows[None, :, None], axis=1)
    places = jnp.arange(length)
    alone = (least == most) & (written | present[OTHER])
    literal = jnp.where(least + 1 == SPACE, WHITE, least + 1)
    token = jnp.where(alone, literal, _narrowest(present))
    tail = _narrowest(jnp.any(present & (places >= shortest)[None, :], axis=1))
    behind = jnp.where(places == shortest, tail, jnp.where(places == shortest + 1, STAR, END))
    return jnp.where(places < shortest, token, jnp.where(longest > shortest, behind, END)).astype(jnp.int32)


def _places(x: Strings, length: int) -> tuple[Int[Array, "s t"], Bool[Array, "4 s t"]]:
    """The characters of the first places of each string, and which are digits, capitals, small letters, and others."""
    width = ((0, 0), (0, max(length - x.characters.shape[1], 0)))
    characters = jnp.pad(x.characters[:, :length].astype(jnp.int32), width, constant_values=PAST)
    return characters, jnp.asarray(KINDS)[:, characters]


def _narrowest(present: Bool[Array, "4 *t"]) -> Int[Array, "*t"]:
    """The narrowest class for the kinds of characters that are present."""
    digit, capital, small, other = present
    several = (digit & capital) | (digit & small) | (capital & small)
    one = jnp.where(digit, DIGIT, jnp.where(capital, UPPER, LOWER))
    return jnp.where(other, ANY, jnp.where(several, WORD, one))
