"""Token sequences: a grammar that masks what may come next, and recurrent networks that read and write tokens.

Programs of the token domains are arrays of token numbers of a fixed length, filled up with the end token 0.
"""

from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from wakesleep.core.keys import fused
from wakesleep.core.model import Prior, Scalar

END = 0
UNREACHABLE = 10_000
BANNED = -1e9
TINY = 1e-30
Tokens = Int[Array, "t"]


@dataclass(frozen=True, eq=False)
class Grammar:
    """A finite automaton over kinds of tokens; state 0 is the start, kind 0 is that of the end token alone."""

    kind: Int[np.ndarray, "v"]
    after: Int[np.ndarray, "s c"]
    """The state after a token of each kind."""
    need: Int[np.ndarray, "s"]
    """The fewest tokens that end a sequence from each state, the end token not counted."""

    def penalties(self, state: Int[Array, ""], left: Int[Array, ""]) -> Float[Array, "v"]:
        """Returns what is added to logits: zero where the sequence can still end in `left` places, else `BANNED`."""
        late = jnp.asarray(self.need)[jnp.asarray(self.after)[state]] >= jnp.maximum(left, 1)
        # One product instead of a gather: each token has one kind.
        kinds = self.kind[None, :] == np.arange(self.after.shape[1])[:, None]
        return jnp.where(late, BANNED, 0.0) @ jnp.asarray(kinds, jnp.float32)

    def advance(self, state: Int[Array, ""], token: Int[Array, ""]) -> Int[Array, ""]:
        """Returns the state after a token."""
        return jnp.asarray(self.after)[state, jnp.asarray(self.kind)[token]]


def grammar(kind: list[int], start: Hashable, move: Callable[[Any, int], Hashable | None]) -> Grammar:
    """Returns the automaton of `move(state, kind)`, which gives the next state or None; kind 0 ends the sequence."""
    kinds = max(kind) + 1
    found: dict[Hashable, int] = {start: 0}
    rows: list[list[int]] = []
    for state in (queue := [start]):
        row = []
        for k in range(1, kinds):
            following = move(state, k)
            if following is not None and following not in found:
                found[following] = len(found)
                queue.append(following)
            row.append(-1 if following is None else found[following])
        rows.append([-2 if move(state, 0) is not None else -1, *row])
    done, dead = len(found), len(found) + 1
    table = np.array([*rows, [-2] + [-1] * (kinds - 1), [-1] * kinds])
    after = np.where(table == -1, dead, np.where(table == -2, done, table))
    return Grammar(np.array(kind), after, _distances(after, done, dead))


def _distances(after: Int[np.ndarray, "s c"], done: int, dead: int) -> Int[np.ndarray, "s"]:
    """Returns the fewest tokens from each state to one that may end."""
    need = np.full(after.shape[0], UNREACHABLE)
    need[(after[:, 0] == done)] = 0
    for _ in range(after.shape[0]):
        better = np.minimum(need, 1 + need[after[:, 1:]].min(axis=1, initial=UNREACHABLE))
        if (better == need).all():
            break
        need = better
    need[dead] = UNREACHABLE
    return need


class Opinion(NamedTuple):
    """The next token: by logits, and with the probability `share` by the weights of a guess instead."""

    logits: Float[Array, "v"]
    guess: Float[Array, "v"] | None = None
    share: float = 0.0


class Writer(eqx.Module):
    """A recurrent network that writes tokens: `step` reads the one before, `opinion` says what comes next.

    What it sees of an observation, `h`, does not enter the recurrence: where the tokens are known, the opinions of
    all places are then computed at once.
    """

    @abstractmethod
    def begin(self, h: Any) -> Any:
        """Returns the state before the first token."""

    @abstractmethod
    def step(self, state: Any, token: Int[Array, ""]) -> tuple[Any, Float[Array, "d"]]:
        """Returns the next state and output, given the token before; the first is given the end token."""

    @abstractmethod
    def opinion(self, output: Float[Array, "d"], h: Any) -> "Opinion":
        """Returns the opinion on what the next token is."""


def write(key: Key[Array, ""], writer: Writer, h: Any, rules: Grammar, length: int) -> Tokens:
    """Draws a sequence token by token, well-formed by the rules and within the length."""
    uniform = jax.random.uniform(fused(key), (length,))

    def one(carry: tuple, given: tuple) -> tuple[tuple, Array]:
        state, place, before = carry
        u, left = given
        state, output = writer.step(state, before)
        token = _invert(u, _mixture(writer.opinion(output, h), rules.penalties(place, left)))
        return (state, rules.advance(place, token), token), token

    end = jnp.zeros((), jnp.int32)
    return jax.lax.scan(one, (writer.begin(h), end, end), (uniform, jnp.arange(length, 0, -1)))[1]


def read(tokens: Tokens, writer: Writer, h: Any, rules: Grammar) -> Scalar:
    """Returns the log-probability that `write` gives these tokens; minus infinity where they break the rules."""
    length = tokens.shape[0]
    before = jnp.concatenate([jnp.zeros(1, tokens.dtype), tokens[:-1]])
    step = lambda state, token: writer.step(state, token)  # noqa: E731, PLW0108, a scan hashes what it is given
    _, outputs = jax.lax.scan(step, writer.begin(h), before)
    _, places = jax.lax.scan(lambda place, t: (rules.advance(place, t), place), jnp.zeros((), jnp.int32), tokens)
    penalties = jax.vmap(rules.penalties)(places, jnp.arange(length, 0, -1))
    opinions = jax.vmap(lambda output: writer.opinion(output, h))(outputs)
    return jnp.sum(jax.vmap(_log_p)(opinions, penalties, tokens))


def edit(key: Key[Array, ""], tokens: Tokens, rules: Grammar) -> Tokens:
    """Returns the sequence with one random token replaced, inserted or left out; the rules may ban the result."""
    words = rules.kind.shape[0]
    u = jax.random.uniform(fused(key), (3,))
    used = jnp.sum(tokens != END)
    insert, leave = u[0] < 1 / 3, u[0] > 2 / 3
    place = (u[1] * (used + insert)).astype(jnp.int32)
    token = 1 + (u[2] * (words - 1)).astype(tokens.dtype)
    return change(tokens, insert, leave, place, token)


def change(
    tokens: Tokens, insert: Bool[Array, ""], leave: Bool[Array, ""], place: Int[Array, ""], token: Int[Array, ""]
) -> Tokens:
    """Returns the sequence with a token inserted at a place, or with the one there left out, or else replaced."""
    here = jnp.arange(tokens.shape[0])
    later = jnp.concatenate([tokens[:1], tokens[:-1]])
    sooner = jnp.concatenate([tokens[1:], jnp.zeros(1, tokens.dtype)])
    inserted = jnp.where(here < place, tokens, jnp.where(here == place, token, later))
    replaced = jnp.where(here == place, token, tokens)
    left_out = jnp.where(here < place, tokens, sooner)
    return jnp.where(insert, inserted, jnp.where(leave, left_out, replaced))


def _log_p(opinion: Opinion, penalties: Float[Array, "v"], token: Int[Array, ""]) -> Scalar:
    """Returns the log-probability of one token; minus infinity where the rules ban it."""
    logits = opinion.logits + penalties
    chosen = _pick(logits, token)
    legal = chosen > BANNED / 2
    log_p = jnp.where(legal, chosen - jax.nn.logsumexp(logits), 0.0)
    if opinion.guess is not None:
        allowed = jnp.where(penalties < 0, 0.0, opinion.guess)
        guessed = _pick(allowed, token) / jnp.maximum(jnp.sum(allowed), TINY)
        log_p = jnp.log((1 - opinion.share) * jnp.exp(log_p) + opinion.share * jnp.where(legal, guessed, 1.0))
    return jnp.where(legal, log_p, -jnp.inf)


def _mixture(opinion: Opinion, penalties: Float[Array, "v"]) -> Float[Array, "v"]:
    """Returns the probabilities of all tokens."""
    p = jax.nn.softmax(opinion.logits + penalties)
    if opinion.guess is None:
        return p
    allowed = jnp.where(penalties < 0, 0.0, opinion.guess)
    return (1 - opinion.share) * p + opinion.share * allowed / jnp.maximum(jnp.sum(allowed), TINY)


def _pick(values: Array, token: Int[Array, ""]) -> Array:
    """Returns values[token] by a masked sum, which a CPU does faster than a gather inside a scan."""
    return jnp.sum(jnp.where(jnp.arange(values.shape[0]) == token, values, 0.0))


def _invert(uniform: Float[Array, ""], p: Float[Array, "v"]) -> Int[Array, ""]:
    """Returns the token at which the cumulated probability passes the uniform number."""
    mass = p @ np.triu(np.ones((p.shape[0], p.shape[0]), np.float32))  # cumsum, which is slower on a CPU
    token = jnp.sum(mass <= uniform * mass[-1])
    return jnp.minimum(token, p.shape[0] - 1 - jnp.argmax(p[::-1] > 0)).astype(jnp.int32)


class Lstm(eqx.Module):
    """An LSTM whose inputs are tokens, by the rows of a table."""

    table: Float[Array, "v g"]
    recurrent: Float[Array, "h g"]
    bias: Float[Array, "g"]

    def __init__(self, key: Key[Array, ""], tokens: int, hidden: int):
        keys = jax.random.split(key, 2)
        scale = 1 / np.sqrt(hidden)
        self.table = scale * jax.random.uniform(keys[0], (tokens, 4 * hidden), minval=-1.0, maxval=1.0)
        self.recurrent = scale * jax.random.uniform(keys[1], (hidden, 4 * hidden), minval=-1.0, maxval=1.0)
        self.bias = jnp.zeros(4 * hidden).at[hidden : 2 * hidden].set(1.0)

    @property
    def hidden(self) -> int:
        """Returns the size of its state."""
        return self.bias.shape[0] // 4

    def begin(self) -> tuple[Array, Array]:
        """Returns the state before anything is read."""
        return jnp.zeros(self.hidden), jnp.zeros(self.hidden)

    def __call__(
        self, state: tuple[Array, Array], token: Int[Array, ""], more: Array | float = 0.0
    ) -> tuple[Array, Array]:
        """Returns the state (output, cell) after a token; `more` is added to its gates."""
        output, cell = state
        gates = self.table[token] + output @ self.recurrent + self.bias + more
        enter, keep, value, show = jnp.split(gates, 4)
        cell = jax.nn.sigmoid(keep) * cell + jax.nn.sigmoid(enter) * jnp.tanh(value)
        return jax.nn.sigmoid(show) * jnp.tanh(cell), cell


class LstmWriter(Writer):
    """An LSTM with linear logits; it sees nothing but the tokens before."""

    lstm: Lstm
    output: Float[Array, "h v"]
    bias: Float[Array, "v"]
    share: float = eqx.field(static=True)
    """The share of tokens that may be any, so that nothing is much less likely than what was never learned."""

    def __init__(self, key: Key[Array, ""], hidden: int, bias: Float[np.ndarray, "v"], share: float = 0.0):
        key_lstm, key_output = jax.random.split(key)
        self.lstm = Lstm(key_lstm, bias.shape[0], hidden)
        self.output = jax.random.normal(key_output, (hidden, bias.shape[0])) * 0.1 / np.sqrt(hidden)
        self.bias = jnp.asarray(bias, jnp.float32)
        self.share = share

    def smoothed(self, share: float) -> "LstmWriter":
        """Returns the same network with another share of tokens that may be any."""
        made: LstmWriter = object.__new__(type(self))
        for name, value in {**vars(self), "share": share}.items():
            object.__setattr__(made, name, value)
        return made

    def begin(self, h: None) -> tuple[Array, Array]:
        """Returns the state of the LSTM before the first token."""
        return self.lstm.begin()

    def step(self, state: tuple[Array, Array], token: Int[Array, ""]) -> tuple[tuple[Array, Array], Float[Array, "h"]]:
        """Returns the next state of the LSTM and its output."""
        state = self.lstm(state, token)
        return state, state[0]

    def opinion(self, output: Float[Array, "h"], h: None) -> Opinion:
        """Returns logits that are linear in the output of the LSTM."""
        logits = output @ self.output + self.bias
        return Opinion(logits, jnp.ones_like(logits), self.share) if self.share else Opinion(logits)


class TokenPrior(Prior):
    """p(z): an LSTM over tokens, masked by a grammar."""

    writer: LstmWriter
    rules: Grammar = eqx.field(static=True)
    length: int

    def sample(self, key: Key[Array, ""], c: Any) -> Tokens:
        """Draws a well-formed program."""
        return write(key, self.writer, None, self.rules, self.length)

    def log_prob(self, z: Tokens, c: Any) -> Scalar:
        """Returns log p(z)."""
        return read(z, self.writer, None, self.rules)
