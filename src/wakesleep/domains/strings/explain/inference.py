"""The posterior over regexes for a column: programs found by searches, weighed by all of its strings."""

import itertools
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, Int

from wakesleep.core.memory import Memory, Weighted
from wakesleep.core.model import Model
from wakesleep.domains.strings.data import in_alphabet
from wakesleep.domains.strings.evaluator import Regex, Strings, as_strings
from wakesleep.domains.strings.explain.knowledge import Knowledge, log_written, regex_of
from wakesleep.domains.strings.explain.search import Effort, search
from wakesleep.domains.strings.explain.templates import templates
from wakesleep.domains.strings.explain.variants import branches, distinct, divided, join, wider

SUBSET, SUBSETS = 8, 2
"""A search sees so many strings; a longer column is searched from several such samples."""
SIDE, WIDENED = 4, 4
"""So many regexes of each side of a divided column are joined, and so many of the best are made wider."""
JUDGED = 64
"""Programs are weighed by at most so many strings of a column."""
LENGTHS = (16, 32, 64)
"""Arrays of strings have one of these widths, so that little is compiled."""
ROOM, BLOCK = 128, 16
"""So many programs, and so many strings, are weighed at once, so that little is compiled."""
TEMPER = 0.7
"""Values of a column resemble each other more than independent draws do: each says less than it seems to."""
EITHER = 0.05
"""The probability that a column is of two concepts: the prior, which sees them apart, does not know of it."""
STRAY = 0.02
"""The share of values that are taken to have strayed into the column from anywhere."""


def infer(judged: list[str], knowledge: Knowledge, effort: Effort, seed: int) -> tuple[Weighted, int]:
    """The posterior over regexes, and how many were scored; of several searches each has half of the rounds."""
    said = log_each(knowledge.model, knowledge.known, judged)
    anywhere = log_mixture(knowledge.log_weight, said)
    searches = _searches(judged, seed)
    effort = effort if len(searches.rows) == 1 else effort._replace(rounds=-(-effort.rounds // 2))
    found = _candidates(searches, said, judged, knowledge, effort, seed)
    log_joint = _log_joint(knowledge, found, judged, anywhere)
    more = wider(found[np.argsort(-log_joint, kind="stable")[:WIDENED]])
    log_joint = np.concatenate([log_joint, _log_joint(knowledge, more, judged, anywhere)])
    posterior = _normalised(np.concatenate([found, more]), log_joint)
    return posterior, len(said) + len(searches.rows) * effort.programs + len(more)


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
    found = []
    for number, rows in enumerate(searches.rows):
        strings = [judged[i] for i in rows]
        x = as_strings(strings, SUBSET, _width(max(map(len, strings))))
        start = _known(knowledge, said[:, rows].sum(axis=1), effort.memory_size)
        made = templates(strings, knowledge.known.shape[1])
        q = search(jax.random.fold_in(jax.random.key(seed), number), knowledge.model, start, made, x, effort)
        found.append(np.asarray(q.programs)[np.isfinite(q.log_weight)])
    sides = [side[:SIDE] for side in found[searches.samples :]]
    return distinct(np.concatenate([*found[: searches.samples], *([join(*sides)] if sides else [])]))[:ROOM]


def _known(knowledge: Knowledge, said: Float[np.ndarray, "p"], size: int) -> Memory:
    """The known programs that are best for some strings, by what they say of them."""
    log_joint = np.asarray(knowledge.log_prior) + said
    best = np.argsort(-log_joint, kind="stable")[:size]
    return Memory(*jax.device_put((np.asarray(knowledge.known)[best], log_joint[best].astype(np.float32))))


def _log_joint(
    knowledge: Knowledge, programs: Int[np.ndarray, "k t"], judged: list[str], anywhere: Float[np.ndarray, "s"]
) -> Float[np.ndarray, "k"]:
    """Given strings of which a few may have strayed in from anywhere, log p of each program and of them.

    log p(z) + the sum over strings of log ((1 - STRAY) p(string | z) + STRAY p0(string)), all times `TEMPER`.
    """
    said = log_each(knowledge.model, programs, judged)
    robust = np.logaddexp(np.log1p(-STRAY) + said, np.log(STRAY) + anywhere[None, :])
    return TEMPER * (_log_prior(knowledge.model, programs) + robust.sum(axis=1))


def _normalised(programs: Int[np.ndarray, "k t"], log_joint: Float[np.ndarray, "k"]) -> Weighted:
    """The posterior over the best programs, each of them once, in arrays of one size."""
    _, once = np.unique(programs, axis=0, return_index=True)
    best = once[np.argsort(-log_joint[once], kind="stable")][:ROOM]
    kept, weights = np.zeros((ROOM, programs.shape[1]), np.int32), np.full(ROOM, -np.inf)
    kept[: len(best)] = programs[best]
    weights[: len(best)] = log_joint[best] - np.logaddexp.reduce(log_joint[best])
    return Weighted(*jax.device_put((kept, weights.astype(np.float32))))


def _log_prior(model: Model, programs: Int[np.ndarray, "k t"]) -> Float[np.ndarray, "k"]:
    """log p(z); a regex with alternation at its top is two concepts, each as likely as alone, with `EITHER`."""
    parts = [branches(z) for z in programs.tolist()]
    flat = np.array([branch for part in parts for branch in part], np.int32)
    log_p = np.concatenate([np.zeros(0), *(np.asarray(log_written(model, some)) for _, some in _rooms(flat))])
    starts = np.cumsum([0, *map(len, parts)])
    found = [log_p[a:b].sum() + np.log(EITHER) * (b - a - 1) for a, b in itertools.pairwise(starts)]
    return np.array(found)


def log_mixture(log_weight: Any, said: Float[np.ndarray, "k s"]) -> Float[np.ndarray, "s"]:
    """log of a mixture's probability for each string, from that of each program in it."""
    return np.logaddexp.reduce(np.asarray(log_weight, np.float64)[:, None] + said, axis=0)


def log_each(model: Model, programs: Any, strings: list[str]) -> Float[np.ndarray, "k s"]:
    """log p(string | program) of each pair, computed in blocks of few shapes so that little is compiled."""
    found = np.full((len(programs), len(strings)), -np.inf)
    usable = sorted((i for i, s in enumerate(strings) if in_alphabet(s)), key=lambda i: len(strings[i]))
    for start in range(0, len(usable), BLOCK):
        rows = usable[start : start + BLOCK]
        block = BLOCK if len(rows) > BLOCK // 2 else BLOCK // 2
        x = as_strings([strings[i] for i in rows], block, _width(len(strings[rows[-1]])))
        for place, some in _rooms(programs):
            here = np.asarray(_pairs(regex_of(model), some, x))[: len(programs) - place, : len(rows)]
            found[place : place + ROOM, rows] = here
    return found


def _rooms(programs: Any) -> Iterator[tuple[int, Int[Array, "k t"]]]:
    """The programs, so many at a time, the last filled up with empty ones; and where each part begins."""
    programs = np.asarray(programs)
    for place in range(0, len(programs), ROOM):
        some = programs[place : place + ROOM]
        yield place, jax.device_put(np.pad(some, ((0, ROOM - len(some)), (0, 0))))


@eqx.filter_jit
def _pairs(evaluator: Regex, programs: Int[Array, "k t"], x: Strings) -> Float[Array, "k s"]:
    return jax.vmap(lambda z: evaluator.log_each(x, z))(programs)


def _width(longest: int) -> int:
    """The least of the usual widths that holds so many characters; beyond them the next power of two."""
    return next((w for w in LENGTHS if w >= longest), 1 << max(longest - 1, 1).bit_length())
