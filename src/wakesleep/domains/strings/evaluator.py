r"""p(x | z) of the strings domain: the exact probability of strings under a probabilistic regex.

`E?` is E with probability phi_?, `E*` is `E+` with phi_*, `E+` is `EE*`, `E1|E2` is E1 with phi_|, and a class
is categorical over its characters. A regex becomes a weighted automaton whose states are its places (Glushkov's
construction), and the forward algorithm sums over all derivations in time linear in the string.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8, Key

from wakesleep.core.keys import fused
from wakesleep.core.model import Evaluator, Scalar
from wakesleep.core.networks import END, Tokens
from wakesleep.domains.strings.language import (
    BAR,
    CHARACTERS,
    CLASSES,
    CLOSE,
    DEPTH,
    FIRST_CLASS,
    OPEN,
    OPTIONAL,
    PLUS,
    STAR,
)

PAST = len(CHARACTERS)
"""The number that stands for no character, after the end of a string."""
ABSENT = -1
"""The length of a string that is not there."""
LEAST = 1e-3
"""No choice of an operator is more certain than this leaves open."""

SPEED = 10.0
"""How much faster than the weights of networks the operators' parameters learn at the same rate.

The classes learn no faster: else, while most regexes are still `.+`, the class of all characters becomes one of digits,
and stays it.
"""

MEMBERS = np.array([[c in members for c in CHARACTERS] + [False] for members in CLASSES.values()])


class Strings(NamedTuple):
    """Some strings of one concept, as numbers of characters and lengths."""

    characters: Int8[Array, "s l"]
    lengths: Int[Array, "s"]


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
    fault = (
        (at.ended & ~end)
        | ((postfix | bar | closes) & ~at.full)
        | (opens & (at.depth >= DEPTH))
        | (closes & (at.depth <= 0))
    )
    after = _Reading(
        chosen, outside, item, item_empty, jnp.where(here, 1.0, first), jnp.where(here, 1.0, last),
        jnp.clip(at.depth + opens.astype(jnp.int32) - closes.astype(jnp.int32), 0, DEPTH),
        jnp.where(fresh, False, atom | closes | at.full), at.ended | end, at.sound & ~fault,
    )  # fmt: skip
    return after, (ends, starts)


def _repeat(token: Int[Array, ""], empty: Scalar, chances: Chances) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """What an operator does to a part: factors for starting, ending and going round, and whether it is empty now."""
    again = jnp.where(token == OPTIONAL, 0.0, chances.repeat)
    enter = jnp.where(token == OPTIONAL, chances.optional, jnp.where(token == STAR, chances.repeat, 1.0))
    series = 1.0 / (1.0 - again * empty)  # rounds in which the part is empty
    leave = (1.0 - again) * series
    return enter * series, leave, again * series, 1.0 - enter + enter * empty * leave


def _where(condition: Bool[Array, ""], a: _Level, b: _Level) -> _Level:
    return jax.tree.map(lambda u, v: jnp.where(condition, u, v), a, b)


class Regex(Evaluator):
    """p(x | z) for independent strings; what is learned are the classes' and the operators' probabilities."""

    classes: Float[Array, "6 95"]
    """Logits of the characters of each class; those of other characters are not used."""
    operators: Float[Array, "3"]
    """Logits, divided by `SPEED`, of phi for `?`, `*` and `|`."""
    strings: int
    longest: int

    def __init__(self, strings: int, longest: int, counts: Float[Array, "95"] | None = None):
        """Every class starts with the characters as frequent as they were counted, or all as frequent."""
        start = jnp.zeros(len(CHARACTERS)) if counts is None else jnp.log1p(counts)
        self.classes = jnp.broadcast_to(start[None, :], (len(CLASSES), len(CHARACTERS)))
        self.operators = jnp.zeros(3)
        self.strings, self.longest = strings, longest

    @property
    def chances(self) -> Chances:
        """The operators' probabilities."""
        return Chances(*(LEAST + (1 - 2 * LEAST) * jax.nn.sigmoid(SPEED * self.operators)))

    @property
    def emissions(self) -> Float[Array, "6 96"]:
        """The probability of each character in each class; that of no character is zero."""
        logits = jnp.where(MEMBERS[:, :-1], self.classes, -jnp.inf)
        return jnp.pad(jax.nn.softmax(logits, axis=1), ((0, 0), (0, 1)))

    def log_prob(self, x: Strings, z: Tokens) -> Scalar:
        """The sum over the strings that are there."""
        log_p = self.log_each(x, z)
        there = x.lengths != ABSENT
        return jnp.where(jnp.all(~there | jnp.isfinite(log_p)), jnp.sum(jnp.where(there, log_p, 0.0)), -jnp.inf)

    def log_each(self, x: Strings, z: Tokens) -> Float[Array, "s"]:
        """log p of each string."""
        automaton = build(z, self.chances)
        members = self.emissions[:, x.characters]
        kinds = (z[None, :] == FIRST_CLASS + jnp.arange(len(CLASSES))[:, None]).astype(members.dtype)

        def step(carry: tuple[Array, Array], given: tuple) -> tuple[tuple[Array, Array], None]:
            weight, log_scale = carry
            place, characters, members = given
            reached = jnp.where(place == 0, automaton.first[None, :], weight @ automaton.follow)
            emitted = (z[None, :] == characters[:, None].astype(z.dtype) + 1).astype(reached.dtype)
            for member, kind in zip(members, kinds, strict=True):  # a product so small would break fusion
                emitted += member[:, None] * kind[None, :]
            reached = reached * emitted
            total = jax.lax.stop_gradient(jnp.sum(reached, axis=1))
            scale = jnp.where(total > 0, total, 1.0)
            inside = place < x.lengths
            weight = jnp.where(inside[:, None], reached / scale[:, None], weight)
            return (weight, log_scale + jnp.where(inside, jnp.log(scale), 0.0)), None

        shape = x.characters.shape
        start = (jnp.zeros((shape[0], z.shape[0])), jnp.zeros(shape[0]))
        given = (jnp.arange(shape[1]), x.characters.T, jnp.moveaxis(members, 2, 0))
        (weight, log_scale), _ = jax.lax.scan(step, start, given)
        total = jnp.where(x.lengths == 0, automaton.empty, weight @ automaton.last)
        possible = (total > 0) & automaton.sound
        return jnp.where(possible, jnp.log(jnp.where(possible, total, 1.0)) + log_scale, -jnp.inf)

    def sample(self, key: Key[Array, ""], z: Tokens) -> Strings:
        """Independent strings, each given that it is not longer than strings may be."""
        automaton = build(z, self.chances)
        # At each place, the probability of ending within the characters that are left.
        shorter = lambda ending, _: (automaton.last + automaton.follow @ ending, ending)  # noqa: E731
        weights = jax.lax.scan(shorter, automaton.last, None, length=self.longest)[1][::-1]
        uniform = jax.random.uniform(fused(key), (self.strings, self.longest, 2))
        characters = jax.vmap(lambda u: self._walk(u, z, automaton, weights))(uniform)
        return Strings(characters.astype(jnp.int8), jnp.sum(characters != PAST, axis=1))

    def _walk(
        self, uniform: Float[Array, "l 2"], z: Tokens, automaton: Automaton, weights: Float[Array, "l t"]
    ) -> Int[Array, "l"]:
        """One string: at each step stop or go on to another place, and there a character."""
        emissions = jnp.cumsum(self.emissions[:, :-1], axis=1)

        def step(carry: tuple[Array, Array, Array], given: tuple) -> tuple[tuple, Array]:
            going, stop, onward = carry
            u, weight = given
            mass = jnp.cumsum(jnp.concatenate([stop[None], onward * weight]))
            chosen = jnp.minimum(jnp.sum(mass <= u[0] * mass[-1]), z.shape[0])
            going = going & (chosen > 0) & (mass[-1] > 0)
            place = jnp.maximum(chosen - 1, 0)
            token = z[place]
            row = emissions[jnp.clip(token - FIRST_CLASS, 0, len(CLASSES) - 1)]
            drawn = jnp.minimum(jnp.sum(row <= u[1] * row[-1]), PAST - 1)
            character = jnp.where(token < FIRST_CLASS, token - 1, drawn)
            return (going, automaton.last[place], automaton.follow[place]), jnp.where(going, character, PAST)

        start = (jnp.ones((), bool), automaton.empty, automaton.first)
        return jax.lax.scan(step, start, (uniform, weights))[1]


def as_strings(values: list[str], strings: int | None = None, longest: int | None = None) -> Strings:
    """Text as arrays of that shape; the strings that are missing are marked so."""
    strings, longest = strings or len(values), longest or max(map(len, values), default=1)
    characters = np.full((strings, max(longest, 1)), PAST, np.int8)
    lengths = np.full(strings, ABSENT, np.int32)
    for i, value in enumerate(values):
        characters[i, : len(value)] = [ord(c) - ord(CHARACTERS[0]) for c in value]
        lengths[i] = len(value)
    return Strings(*jax.device_put((characters, lengths)))  # `jnp.asarray` would compile for each shape


def as_text(x: Strings) -> list[str]:
    """The strings that are there, as text."""
    rows = zip(np.asarray(x.characters), np.asarray(x.lengths), strict=True)
    return ["".join(CHARACTERS[c] for c in row[:length]) for row, length in rows if length != ABSENT]
