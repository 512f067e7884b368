"""p(x | z) of the strings domain: the exact probability of strings under a probabilistic regex.

A class is categorical over its characters. A regex becomes a weighted automaton whose states are its places, and the
forward algorithm sums over all derivations in time linear in the string. Where strays are allowed, each string comes
from a background distribution instead with a small probability.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8, Key

from wakesleep.core.keys import fused
from wakesleep.core.model import Evaluator, Scalar
from wakesleep.core.networks import Tokens
from wakesleep.domains.strings.automaton import Automaton, Chances, build
from wakesleep.domains.strings.language import CHARACTERS, CLASSES, FIRST_CLASS
from wakesleep.domains.strings.strays import Strays

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


class Regex(Evaluator):
    """p(x | z) for independent strings; what is learned are the classes' and the operators' probabilities."""

    classes: Float[Array, "6 95"]
    """Logits of the characters of each class; those of other characters are not used."""
    operators: Float[Array, "3"]
    """Logits, divided by `SPEED`, of phi for `?`, `*` and `|`."""
    strings: int
    longest: int
    strays: Strays | None
    """Where strings may come from no program; None: every string comes from its program."""

    def __init__(
        self, strings: int, longest: int, counts: Float[Array, "95"] | None = None, strays: Strays | None = None
    ):
        """Every class starts with the characters as frequent as they were counted, or all as frequent."""
        start = jnp.zeros(len(CHARACTERS)) if counts is None else jnp.log1p(counts)
        self.classes = jnp.broadcast_to(start[None, :], (len(CLASSES), len(CHARACTERS)))
        self.operators = jnp.zeros(3)
        self.strings, self.longest, self.strays = strings, longest, strays

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
        """log p of each string; minus infinity under tokens that are no regex, strays or not."""
        automaton = build(z, self.chances)
        log_p = self._log_written(x, z, automaton)
        if self.strays is None:
            return log_p
        mixed = self.strays.mix(log_p, self.strays.log_prob(x.characters, jnp.maximum(x.lengths, 0)))
        return jnp.where(automaton.sound, mixed, -jnp.inf)

    def allows(self, x: Strings, z: Tokens) -> Bool[Array, ""]:
        """Whether the regex itself, without strays, can write every string that is there."""
        log_p = self._log_written(x, z, build(z, self.chances))
        return jnp.all((x.lengths == ABSENT) | jnp.isfinite(log_p))

    def _log_written(self, x: Strings, z: Tokens, automaton: Automaton) -> Float[Array, "s"]:
        """log p of each string under the regex alone, by the forward algorithm."""
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
        if self.strays is not None:
            stray, others = self.strays.sample(jax.random.fold_in(key, 1), self.strings, self.longest)
            characters = jnp.where(stray[:, None], others, characters)
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
