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
from wakesleep.keys import fused
from wakesleep.model import Evaluator, Scalar
from wakesleep.networks import END, Tokens

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


class Part(NamedTuple):
    """A piece of a regex: the probability that it is empty, and its weights of starting and ending at each place."""

    empty: Float[Array, ""]
    first: Float[Array, "t"]
    last: Float[Array, "t"]


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


class _Reading(NamedTuple):
    """Where the construction stands: inside the open brackets, and what was read outside of each of them."""

    chosen: Part
    """The branches before the last bar, each with its probability."""
    rest: Float[Array, ""]
    """The probability that is left for the branches to come."""
    before: Part
    """The branch, except for its last part."""
    item: Part
    outside: tuple[Part, Float[Array, "d"], Part]
    """`chosen`, `rest` and `before` of the levels outside, the outermost first."""
    depth: Int[Array, ""]
    full: Bool[Array, ""]
    """Whether the branch has a part."""
    ended: Bool[Array, ""]
    sound: Bool[Array, ""]


def _join(a: Part, b: Part) -> Part:
    return Part(a.empty * b.empty, a.first + a.empty * b.first, b.last + b.empty * a.last)


def _add(chosen: Part, share: Scalar, branch: Part) -> Part:
    return Part(chosen.empty + share * branch.empty, chosen.first + share * branch.first, chosen.last + branch.last)


def _where(condition: Bool[Array, ""], a: Part, b: Part) -> Part:
    return jax.tree.map(lambda u, v: jnp.where(condition, u, v), a, b)


def _repeated(item: Part, token: Int[Array, ""], chances: Chances) -> tuple[Part, Float[Array, ""]]:
    """The part under its operator, and the weight with which it is followed by itself."""
    optional, star = token == OPTIONAL, token == STAR
    again = jnp.where(optional, 0.0, chances.repeat)
    enter = jnp.where(optional, chances.optional, jnp.where(star, chances.repeat, 1.0))
    series = 1.0 / (1.0 - again * item.empty)  # rounds in which the part is empty
    once = Part(item.empty * (1.0 - again) * series, item.first * series, item.last * (1.0 - again) * series)
    return Part(1.0 - enter + enter * once.empty, enter * once.first, once.last), again * series


def build(tokens: Tokens, chances: Chances) -> Automaton:
    """The automaton of a regex."""
    length = tokens.shape[0]
    nothing = Part(jnp.ones(()), jnp.zeros(length), jnp.zeros(length))
    never = nothing._replace(empty=jnp.zeros(()))
    outside = jax.tree.map(lambda a: jnp.broadcast_to(a, (DEPTH, *a.shape)), (never, jnp.ones(()), nothing))
    no = jnp.zeros((), bool)
    start = _Reading(never, jnp.ones(()), nothing, nothing, outside, jnp.zeros((), jnp.int32), no, no, ~no)
    places = jnp.arange(length)

    def step(at: _Reading, given: tuple[Array, Array]) -> tuple[_Reading, tuple[Array, Array]]:
        token, place = given
        return _step(at, token, (places == place).astype(jnp.float32), nothing, never, chances)

    at, (ends, starts) = jax.lax.scan(step, start, (tokens, places))
    whole = _add(at.chosen, at.rest, _join(at.before, at.item))
    follow = ends.T @ starts + at.before.last[:, None] * at.item.first[None, :]
    blank = tokens[0] == END
    sound = at.sound & (at.depth == 0) & (at.full | blank)
    return Automaton(whole.empty, whole.first, follow, whole.last, sound)


def _step(
    at: _Reading, token: Int[Array, ""], here: Float[Array, "t"], nothing: Part, never: Part, chances: Chances
) -> tuple[_Reading, tuple[Float[Array, "t"], Float[Array, "t"]]]:
    """Reads a token; also which places may now be followed by which others, as two vectors of weights."""
    end, bar, opens, closes = token == END, token == BAR, token == OPEN, token == CLOSE
    postfix = (token == OPTIONAL) | (token == STAR) | (token == PLUS)
    atom = (token < OPTIONAL) & ~end
    branch = _join(at.before, at.item)
    repeated, again = _repeated(at.item, token, chances)
    share = jnp.where(bar, at.rest * chances.either, at.rest)
    closed = _add(at.chosen, share, branch)
    levels = jnp.arange(DEPTH)
    popped = jax.tree.map(lambda a: _at(a, levels == at.depth - 1), at.outside)
    pushed = opens & (levels == at.depth)
    outside = jax.tree.map(
        lambda a, b: jnp.where(pushed.reshape(-1, *(1,) * (a.ndim - 1)), b[None], a),
        at.outside,
        (at.chosen, at.rest, branch),
    )
    chosen = _where(opens, never, _where(bar, closed, _where(closes, popped[0], at.chosen)))
    rest = jnp.where(opens, 1.0, jnp.where(bar, at.rest * (1 - chances.either), jnp.where(closes, popped[1], at.rest)))
    before = _where(opens | bar, nothing, _where(atom, branch, _where(closes, popped[2], at.before)))
    new = Part(jnp.zeros(()), here, here)
    item = _where(postfix, repeated, _where(atom, new, _where(closes, closed, _where(opens | bar, nothing, at.item))))
    joins = atom | bar | opens | closes
    ends = jnp.where(joins, at.before.last, jnp.where(postfix, again * at.item.last, 0.0))
    fault = (
        (at.ended & ~end)
        | ((postfix | bar | closes) & ~at.full)
        | (opens & (at.depth >= DEPTH))
        | (closes & (at.depth <= 0))
    )
    depth = jnp.clip(at.depth + opens.astype(jnp.int32) - closes.astype(jnp.int32), 0, DEPTH)
    full = jnp.where(opens | bar, False, atom | closes | at.full)
    after = _Reading(chosen, rest, before, item, outside, depth, full, at.ended | end, at.sound & ~fault)
    return after, (ends, at.item.first)


def _at(levels: Array, chosen: Bool[Array, "d"]) -> Array:
    """The entry of a chosen level."""
    return jnp.sum(jnp.where(chosen.reshape(-1, *(1,) * (levels.ndim - 1)), levels, 0.0), axis=0)


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
            literal = z[None, :] == characters[:, None].astype(z.dtype) + 1
            reached = reached * (literal + members.T @ kinds)
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
        finish = [automaton.last]
        for _ in range(self.longest - 1):
            finish.append(automaton.last + automaton.follow @ finish[-1])
        weights = jnp.stack(finish[::-1])
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
    return Strings(jnp.asarray(characters), jnp.asarray(lengths))


def as_text(x: Strings) -> list[str]:
    """The strings that are there, as text."""
    rows = zip(np.asarray(x.characters), np.asarray(x.lengths), strict=True)
    return ["".join(CHARACTERS[c] for c in row[:length]) for row, length in rows if length != ABSENT]
