"""A column explained: regexes with their probabilities, and what follows from them for other strings."""

import itertools
import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from wakesleep.columns.knowledge import Knowledge, log_written
from wakesleep.columns.search import Effort, search
from wakesleep.columns.standard import Standard, standard
from wakesleep.columns.variants import branches, distinct, divided, join, wider
from wakesleep.columns.wording import describe
from wakesleep.domains.strings.data import in_alphabet
from wakesleep.domains.strings.evaluator import Regex, Strings, as_strings, as_text
from wakesleep.domains.strings.language import flatten, text_of, tree_of
from wakesleep.errors import Refusal, require_at_least, require_share
from wakesleep.memory import Memory, Weighted
from wakesleep.model import Model

SUBSET, SUBSETS = 8, 2
"""A search sees so many strings; a longer column is searched from several such samples."""
SIDE, WIDENED = 4, 4
"""So many regexes of each side of a divided column are joined, and so many of the best are made wider."""
JUDGED = 64
"""Programs are weighed by at most so many strings of a column."""
LENGTHS = (32, 64)
"""Arrays of strings have one of these widths, so that little is compiled."""
ROOM, BLOCKS = 128, (8, 16, 64)
"""So many programs, and so many strings, are weighed at once, so that little is compiled."""
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
        return _log_mixture(self.posterior.log_weight, self._said(self.posterior.programs, _listed(strings)))

    def evidence(self, strings: Iterable[Any]) -> Float[np.ndarray, "s"]:
        """How much more probable each string is as a member than as a value of any column, in nats."""
        strings = _listed(strings)
        anywhere = _log_mixture(self.knowledge.log_weight, self._said(self.knowledge.known, strings))
        member = np.logaddexp(self.log_prob(strings), np.log(STRAY) + anywhere)
        return np.where(np.isfinite(anywhere), member - np.where(np.isfinite(anywhere), anywhere, 0.0), -np.inf)

    def _said(self, programs: Int[Array, "k t"], strings: list[str]) -> Float[np.ndarray, "k s"]:
        return _log_each(self.knowledge.model, programs, strings)

    def accepts(self, strings: Iterable[Any], share: float | None = 0.95) -> Bool[np.ndarray, "s"]:
        """Whether each string is taken for a member, so that about `share` of the true members are.

        With None, as many as give the fewest errors: of members refused and strangers accepted alike.
        """
        return self.evidence(strings) > self.threshold(share)

    def threshold(self, share: float | None) -> float:
        """The evidence that is passed by that share of the true members, measured on other columns.

        A string that no regex allows has the least evidence there is, and never passes.
        """
        members, levels = self._measured(self.knowledge.calibration)
        if share is None:
            strangers, _ = self._measured(self.knowledge.strangers)
            errors = levels + 1 - np.interp(members, strangers, levels)
            found = members[np.argmin(errors)]
        else:
            require_share("share", share)
            found = np.interp(1 - share, levels, members)
        return max(float(found), float(np.log(STRAY)) + 1e-4)

    def _measured(self, table: Float[Array, "n q"]) -> tuple[Float[np.ndarray, "q"], Float[np.ndarray, "q"]]:
        """The quantiles of the evidence for as many examples as there are here, and their levels."""
        rows, counts = np.asarray(table, np.float64), np.log(self.knowledge.notes["examples"])
        here = np.log(max(len(self.examples), 1))
        found = np.array([np.interp(here, counts, column) for column in rows.T])
        return found, np.linspace(0, 1, rows.shape[1])

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
    start = time.monotonic()
    listed = _listed(values)
    usable = [v for v in dict.fromkeys(listed) if v and in_alphabet(v) and len(v) <= LENGTHS[-1]]
    if not usable:
        raise Refusal(
            f"None of the {len(listed)} values is a text of at most {LENGTHS[-1]} printable ASCII characters."
        )
    shuffled = random.Random(seed).sample(usable, len(usable))
    judged = shuffled[:JUDGED]
    posterior, scored = _infer(judged, knowledge, effort or Effort(), seed)
    patterns = _patterns(posterior, max(map(len, usable)))
    return Explanation(tuple(judged), patterns, Cost(scored, time.monotonic() - start), knowledge, posterior)


def _infer(judged: list[str], knowledge: Knowledge, effort: Effort, seed: int) -> tuple[Weighted, int]:
    """The posterior over regexes, and how many were scored; of several searches each has half of the rounds."""
    said = _log_each(knowledge.model, knowledge.known, judged)
    anywhere = _log_mixture(knowledge.log_weight, said)
    searches = _searches(judged, seed)
    effort = effort if len(searches.rows) == 1 else effort._replace(rounds=-(-effort.rounds // 2))
    found = _candidates(searches, said, judged, knowledge, effort, seed)
    log_joint = _log_joint(knowledge, found, judged, anywhere)
    more = wider(found[np.argsort(-log_joint, kind="stable")[:WIDENED]])
    log_joint = np.concatenate([log_joint, _log_joint(knowledge, more, judged, anywhere)])
    posterior = _normalised(np.concatenate([found, more]), log_joint)
    return posterior, len(said) + len(searches.rows) * effort.programs + len(more)


def _listed(strings: Iterable[Any]) -> list[str]:
    if isinstance(strings, str):
        raise Refusal("A list of strings is expected, but a single string was given: put it in a list.")
    listed = list(strings)
    for value in listed:
        if not isinstance(value, str):
            raise Refusal(f"Every value must be a string, but {value!r} was given.")
    return listed


class _Searches(NamedTuple):
    """Which of a column's strings each search sees: samples of all of them, then of its two sides, if it has two."""

    rows: list[list[int]]
    samples: int


def _searches(judged: list[str], seed: int) -> _Searches:
    draw, every = random.Random(seed), range(len(judged))
    place = {s: i for i, s in enumerate(judged)}
    samples = [every] * (SUBSETS if len(judged) > SUBSET else 1)
    sides = [[place[s] for s in side] for side in divided(judged)]
    return _Searches([draw.sample(rows, min(SUBSET, len(rows))) for rows in (*samples, *sides)], len(samples))


def _candidates(
    searches: _Searches,
    said: Float[np.ndarray, "p s"],
    judged: list[str],
    knowledge: Knowledge,
    effort: Effort,
    seed: int,
) -> Int[np.ndarray, "k t"]:
    """Programs found from samples of the strings, and joined ones from its two sides where they differ in shape."""
    width = _width(max(map(len, judged)))
    x = jax.tree.map(
        lambda *a: jnp.stack(a), *(as_strings([judged[i] for i in rows], SUBSET, width) for rows in searches.rows)
    )
    start = _known(knowledge, [said[:, rows].sum(axis=1) for rows in searches.rows], effort.memory_size)
    q = search(jax.random.key(seed), knowledge.model, start, x, effort)
    found = [z[np.isfinite(w)] for z, w in zip(np.asarray(q.programs), np.asarray(q.log_weight), strict=True)]
    sides = [side[:SIDE] for side in found[searches.samples :]]
    return distinct(np.concatenate([*found[: searches.samples], *([join(*sides)] if sides else [])]))[:ROOM]


def _known(knowledge: Knowledge, said: list[Float[np.ndarray, "p"]], size: int) -> Memory:
    """The known programs that are best for each search."""
    log_joint = np.asarray(knowledge.log_prior)[None] + np.stack(said)
    best = np.argsort(-log_joint, axis=1, kind="stable")[:, :size]
    return Memory(knowledge.known[best], jnp.asarray(np.take_along_axis(log_joint, best, 1), jnp.float32))


def _log_joint(
    knowledge: Knowledge, programs: Int[np.ndarray, "k t"], judged: list[str], anywhere: Float[np.ndarray, "s"]
) -> Float[np.ndarray, "k"]:
    """Given strings of which a few may have strayed in from anywhere, log p of each program and of them.

    log p(z) + the sum over strings of log ((1 - STRAY) p(string | z) + STRAY p0(string)), all times `TEMPER`.
    """
    said = _log_each(knowledge.model, jnp.asarray(programs), judged)
    robust = np.logaddexp(np.log1p(-STRAY) + said, np.log(STRAY) + anywhere[None, :])
    return TEMPER * (_log_prior(knowledge.model, programs) + robust.sum(axis=1))


def _normalised(programs: Int[np.ndarray, "k t"], log_joint: Float[np.ndarray, "k"]) -> Weighted:
    """The posterior over the best programs, each of them once, in arrays of one size."""
    _, once = np.unique(programs, axis=0, return_index=True)
    best = once[np.argsort(-log_joint[once], kind="stable")][:ROOM]
    kept, weights = np.zeros((ROOM, programs.shape[1]), np.int32), np.full(ROOM, -np.inf)
    kept[: len(best)] = programs[best]
    weights[: len(best)] = log_joint[best] - np.logaddexp.reduce(log_joint[best])
    return Weighted(jnp.asarray(kept), jnp.asarray(weights, jnp.float32))


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


def _log_mixture(log_weight: Any, said: Float[np.ndarray, "k s"]) -> Float[np.ndarray, "s"]:
    """log of a mixture's probability for each string, from that of each program in it."""
    return np.logaddexp.reduce(np.asarray(log_weight, np.float64)[:, None] + said, axis=0)


def _log_each(model: Model, programs: Int[Array, "k t"], strings: list[str]) -> Float[np.ndarray, "k s"]:
    """log p(string | program) of each pair, computed in blocks of few shapes so that little is compiled."""
    found = np.full((len(programs), len(strings)), -np.inf)
    usable = sorted((i for i, s in enumerate(strings) if in_alphabet(s)), key=lambda i: len(strings[i]))
    block = next((b for b in BLOCKS if b >= len(usable)), BLOCKS[-1])
    for start in range(0, len(usable), block):
        rows = usable[start : start + block]
        x = as_strings([strings[i] for i in rows], block, _width(len(strings[rows[-1]])))
        for place, some in _rooms(programs):
            here = np.asarray(_pairs(_regex(model), some, x))[: len(programs) - place, : len(rows)]
            found[place : place + ROOM, rows] = here
    return found


def _rooms(programs: Any) -> Iterator[tuple[int, Int[Array, "k t"]]]:
    """The programs, so many at a time, the last filled up with empty ones; and where each part begins."""
    for place in range(0, len(programs), ROOM):
        some = np.asarray(programs[place : place + ROOM])
        yield place, jnp.asarray(np.pad(some, ((0, ROOM - len(some)), (0, 0))))


@eqx.filter_jit
def _pairs(evaluator: Regex, programs: Int[Array, "k t"], x: Strings) -> Float[Array, "k s"]:
    return jax.vmap(lambda z: evaluator.log_each(x, z))(programs)


def _log_prior(model: Model, programs: Int[np.ndarray, "k t"]) -> Float[np.ndarray, "k"]:
    """log p(z); a regex with alternation at its top is two concepts, each as likely as alone, with `EITHER`."""
    parts = [branches(z) for z in programs.tolist()]
    flat = np.array([branch for part in parts for branch in part], np.int32)
    log_p = np.concatenate([np.zeros(0), *(np.asarray(log_written(model, some)) for _, some in _rooms(flat))])
    starts = np.cumsum([0, *map(len, parts)])
    found = [log_p[a:b].sum() + np.log(EITHER) * (b - a - 1) for a, b in itertools.pairwise(starts)]
    return np.array(found)


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
