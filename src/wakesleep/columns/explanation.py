"""A column explained: regexes with their probabilities, and what follows from them for other strings."""

import random
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from wakesleep.columns.knowledge import Knowledge
from wakesleep.columns.search import Effort, search
from wakesleep.columns.standard import Standard, standard
from wakesleep.columns.variants import branches, distinct, divided, join, wider
from wakesleep.columns.wording import describe
from wakesleep.domains.strings.data import in_alphabet
from wakesleep.domains.strings.evaluator import Regex, Strings, as_strings, as_text
from wakesleep.domains.strings.language import flatten, text_of, tree_of
from wakesleep.errors import Refusal, require_at_least, require_share
from wakesleep.memory import Weighted
from wakesleep.model import Model

SUBSET, SUBSETS = 8, 2
"""A search sees so many strings; a longer column is searched from several such samples."""
SIDE, WIDENED = 4, 4
"""So many regexes of each side of a divided column are joined, and so many of the best are made wider."""
JUDGED = 64
"""Programs are weighed by at most so many strings of a column."""
LENGTHS = (32, 64)
"""Arrays of strings have one of these widths, so that little is compiled."""
ROOM = 256
"""So many candidates are weighed."""
COMMON = 2 * ROOM
"""So many of the known regexes, the commonest, say what strings are like anywhere."""
TEMPER = 0.7
"""Values of a column resemble each other more than independent draws do: each says less than it seems to."""
EITHER = 0.05
"""The probability that a column is of two concepts: the prior, which sees them apart, does not know of it."""
STRAY = 0.02
"""The share of values that are taken to have strayed into the column from anywhere."""
MOST_PATTERNS, LEAST = 5, 0.005


class Pattern(NamedTuple):
    """A regex found for a column."""

    program: str
    """In the paper's notation."""
    regex: str
    """Anchored, for other tools."""
    exact: bool
    """Whether `regex` accepts exactly what the program can write, and not more."""
    probability: float
    description: str


class Cost(NamedTuple):
    """What an explanation took."""

    programs: int
    """Regexes that were scored."""
    seconds: float


@dataclass(frozen=True)
class Explanation:
    """What was found for some strings of a column; the posterior is over regexes."""

    examples: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    cost: Cost
    knowledge: Knowledge
    posterior: Weighted

    def log_prob(self, strings: Iterable[Any]) -> Float[np.ndarray, "s"]:
        """log p(string | column) of each string; minus infinity outside of the alphabet of printable ASCII."""
        return _log_mixture(self.knowledge.model, self.posterior, _listed(strings))

    def evidence(self, strings: Iterable[Any]) -> Float[np.ndarray, "s"]:
        """How much more probable each string is as a member than as a value of any column, in nats."""
        strings = _listed(strings)
        anywhere = _log_anywhere(self.knowledge, strings)
        member = np.logaddexp(self.log_prob(strings), np.log(STRAY) + anywhere)
        return np.where(np.isfinite(anywhere), member - np.where(np.isfinite(anywhere), anywhere, 0.0), -np.inf)

    def accepts(self, strings: Iterable[Any], share: float = 0.95) -> Bool[np.ndarray, "s"]:
        """Whether each string is taken for a member, so that about `share` of the true members are."""
        return self.evidence(strings) > self.threshold(share)

    def threshold(self, share: float) -> float:
        """The evidence that is passed by that share of the true members, measured on other columns.

        A string that no regex allows has the least evidence there is, and never passes.
        """
        require_share("share", share)
        table = np.asarray(self.knowledge.calibration)
        counts = np.log(self.knowledge.notes["examples"])
        levels = [np.interp(1 - share, np.linspace(0, 1, table.shape[1]), row) for row in table]
        return max(float(np.interp(np.log(max(len(self.examples), 1)), counts, levels)), float(np.log(STRAY)) + 1e-4)

    def sample(self, count: int, seed: int = 0) -> list[str]:
        """New strings, each from a regex drawn from the posterior."""
        require_at_least("count", count, 1)
        return _sample(jax.random.key(seed), self.knowledge.model, self.posterior, count)

    def outliers(self, strings: Iterable[Any], share: float = 0.97) -> list[str]:
        """The strings that do not fit, the worst first, each once."""
        strings = list(dict.fromkeys(_listed(strings)))
        evidence = self.evidence(strings)
        order = np.argsort(evidence, kind="stable")
        return [strings[i] for i in order if evidence[i] <= self.threshold(share)]


def explain(values: Iterable[Any], knowledge: Knowledge, effort: Effort | None = None, seed: int = 0) -> Explanation:
    """The regexes that explain some strings of a column; those outside of the alphabet are left out."""
    start, effort = time.monotonic(), effort or Effort()
    listed = _listed(values)
    usable = [v for v in dict.fromkeys(listed) if v and in_alphabet(v) and len(v) <= LENGTHS[-1]]
    if not usable:
        raise Refusal(
            f"None of the {len(listed)} values is a text of at most {LENGTHS[-1]} printable ASCII characters."
        )
    shuffled = random.Random(seed).sample(usable, len(usable))
    judged = shuffled[:JUDGED]
    candidates = _candidates(judged, knowledge, effort, seed)
    best = _weigh(knowledge, candidates, judged)
    posterior = _weigh(knowledge, np.concatenate([candidates, wider(np.asarray(best.programs[:WIDENED]))]), judged)
    searches = _samples(judged) + len(divided(judged))
    scored = searches * (effort.programs + knowledge.known.shape[0])
    patterns = _patterns(posterior, max(map(len, usable)))
    return Explanation(tuple(judged), patterns, Cost(scored, time.monotonic() - start), knowledge, posterior)


def _listed(strings: Iterable[Any]) -> list[str]:
    if isinstance(strings, str):
        raise Refusal("A list of strings is expected, but a single string was given: put it in a list.")
    listed = list(strings)
    for value in listed:
        if not isinstance(value, str):
            raise Refusal(f"Every value must be a string, but {value!r} was given.")
    return listed


def _candidates(judged: list[str], knowledge: Knowledge, effort: Effort, seed: int) -> Int[np.ndarray, "k t"]:
    """Programs found from samples of the strings, and joined ones from its two sides where they differ in shape."""
    draw, width = random.Random(seed), _width(max(map(len, judged)))

    def best(strings: list[str], number: int) -> Int[np.ndarray, "k t"]:
        some = draw.sample(strings, min(SUBSET, len(strings)))
        x = jax.tree.map(lambda a: a[None], as_strings(some, SUBSET, width))
        key = jax.random.fold_in(jax.random.key(seed), number)
        q = search(key, knowledge.model, knowledge.known, x, effort)
        return np.asarray(q.programs[0])[np.isfinite(np.asarray(q.log_weight[0]))]

    found = [best(judged, number) for number in range(_samples(judged))]
    sides = [best(side, SUBSETS + number)[:SIDE] for number, side in enumerate(divided(judged))]
    return distinct(np.concatenate([*found, join(*sides)] if sides else found))


def _samples(judged: list[str]) -> int:
    """From how many samples a column is searched."""
    return SUBSETS if len(judged) > SUBSET else 1


def _weigh(knowledge: Knowledge, candidates: Int[np.ndarray, "k t"], judged: list[str]) -> Weighted:
    """The posterior over the candidates, given strings of which a few may have strayed in from anywhere.

    log p(z) + the sum over strings of log ((1 - STRAY) p(string | z) + STRAY p0(string)), all times `TEMPER`.
    """
    candidates = distinct(candidates)[:ROOM]
    programs = np.zeros((ROOM, candidates.shape[1]), np.int32)
    programs[: len(candidates)] = candidates
    z = jnp.asarray(programs)
    anywhere = np.log(STRAY) + _log_anywhere(knowledge, judged)
    robust = np.logaddexp(np.log1p(-STRAY) + _log_each(knowledge.model, z, judged), anywhere[None, :])
    log_joint = TEMPER * (_log_prior(knowledge.model, programs) + robust.sum(axis=1))
    log_joint[len(candidates) :] = -np.inf
    order = np.argsort(-log_joint, kind="stable")
    return Weighted(z[order], jnp.asarray(log_joint[order] - np.logaddexp.reduce(log_joint), jnp.float32))


def _patterns(posterior: Weighted, longest: int) -> tuple[Pattern, ...]:
    """The best few regexes, spelled out; programs that read the same to other tools are one, named by the best."""
    weights = np.exp(np.asarray(posterior.log_weight, np.float64))
    likely = np.flatnonzero((weights >= LEAST) | (np.arange(len(weights)) == 0))
    found: dict[Standard, list[int]] = {}
    trees = {int(i): tree_of(np.asarray(posterior.programs[i]).tolist()) for i in likely}
    for i, tree in trees.items():
        found.setdefault(standard(tree, max(2 * longest, 16)), []).append(i)
    patterns = [
        Pattern(text_of(flatten(trees[same[0]])), *regex, float(weights[same].sum()), describe(trees[same[0]]))
        for regex, same in found.items()
    ]
    return tuple(sorted(patterns, key=lambda p: -p.probability)[:MOST_PATTERNS])


def _log_anywhere(knowledge: Knowledge, strings: list[str]) -> Float[np.ndarray, "s"]:
    """log p0: the probability of each string in a column of which nothing is known."""
    common = Weighted(knowledge.known[:COMMON], knowledge.log_weight[:COMMON])
    return _log_mixture(knowledge.model, common, strings)


def _log_mixture(model: Model, programs: Weighted, strings: list[str]) -> Float[np.ndarray, "s"]:
    """log of the mixture's probability for each string."""
    weighted = np.asarray(programs.log_weight, np.float64)[:, None] + _log_each(model, programs.programs, strings)
    return np.logaddexp.reduce(weighted, axis=0)


def _log_each(model: Model, programs: Int[Array, "k t"], strings: list[str]) -> Float[np.ndarray, "k s"]:
    """log p(string | program) of each pair, computed in blocks of few shapes so that little is compiled."""
    if programs.shape[0] > ROOM:
        parts = (programs[i : i + ROOM] for i in range(0, programs.shape[0], ROOM))
        return np.concatenate([_log_each(model, part, strings) for part in parts])
    found = np.full((programs.shape[0], len(strings)), -np.inf)
    usable = sorted((i for i, s in enumerate(strings) if in_alphabet(s)), key=lambda i: len(strings[i]))
    block = SUBSET if len(usable) <= SUBSET else JUDGED
    for start in range(0, len(usable), block):
        rows = usable[start : start + block]
        x = as_strings([strings[i] for i in rows], block, _width(len(strings[rows[-1]])))
        found[:, rows] = np.asarray(_pairs(_regex(model), programs, x))[:, : len(rows)]
    return found


@eqx.filter_jit
def _pairs(evaluator: Regex, programs: Int[Array, "k t"], x: Strings) -> Float[Array, "k s"]:
    return jax.vmap(lambda z: evaluator.log_each(x, z))(programs)


def _log_prior(model: Model, programs: Int[np.ndarray, "k t"]) -> Float[np.ndarray, "k"]:
    """log p(z); a regex with alternation at its top is two concepts, each as likely as alone, with `EITHER`."""
    parts = [branches(z) for z in programs.tolist()]
    room = np.zeros((ROOM, programs.shape[1]), np.int32)
    flat = [branch for part in parts for branch in part]
    log_p = []
    for start in range(0, len(flat), ROOM):
        some = flat[start : start + ROOM]
        room[: len(some)] = some
        log_p += np.asarray(_log_written(model, jnp.asarray(room)), np.float64)[: len(some)].tolist()
    found, place = [], 0
    for part in parts:
        found.append(sum(log_p[place : place + len(part)]) + np.log(EITHER) * (len(part) - 1))
        place += len(part)
    return np.array(found)


@eqx.filter_jit
def _log_written(model: Model, programs: Int[Array, "k t"]) -> Float[Array, "k"]:
    return jax.vmap(lambda z: model.prior.log_prob(z, None))(programs)


def _regex(model: Model) -> Regex:
    assert isinstance(model.evaluator, Regex)
    return model.evaluator


def _width(longest: int) -> int:
    """The least of the usual widths that holds so many characters; beyond them the next power of two."""
    return next((w for w in LENGTHS if w >= longest), 1 << max(longest - 1, 1).bit_length())


def _sample(key: Array, model: Model, posterior: Weighted, count: int) -> list[str]:
    keys = jax.random.split(key, 1 + count)
    slots = np.asarray(jax.random.categorical(keys[0], posterior.log_weight, shape=(count,)))
    drawn = _draw(_regex(model), keys[1:], posterior.programs[slots])
    return [as_text(jax.tree.map(lambda a, i=i: a[i, :1], drawn))[0] for i in range(count)]


@eqx.filter_jit
def _draw(evaluator: Regex, keys: Array, z: Int[Array, "k t"]) -> Strings:
    return jax.vmap(evaluator.sample)(keys, z)
