"""A column explained: regexes with their probabilities, and what follows from them for other strings."""

import random
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from wakesleep.core.memory import Weighted
from wakesleep.core.model import Model
from wakesleep.domains.strings.data import in_alphabet
from wakesleep.domains.strings.evaluator import Regex, Strings, as_text
from wakesleep.domains.strings.explain.inference import JUDGED, LENGTHS, STRAY, infer, log_each, log_mixture
from wakesleep.domains.strings.explain.knowledge import Knowledge, regex_of
from wakesleep.domains.strings.explain.membership import Traits, traits, weigh
from wakesleep.domains.strings.explain.search import Effort
from wakesleep.domains.strings.explain.standard import Standard, standard
from wakesleep.domains.strings.explain.wording import describe
from wakesleep.domains.strings.language import flatten, text_of, tree_of
from wakesleep.errors import Refusal, require_at_least, require_share

MOST_PATTERNS, LEAST = 5, 0.005
AGAINST = -5.0
"""A string with less evidence than this is not accepted, whatever the share."""


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
        return log_mixture(self.posterior.log_weight, self._said(_listed(strings)))

    def evidence(self, strings: Iterable[Any]) -> Float[np.ndarray, "s"]:
        """How much more probable each string is as a member than as a value of another column, in nats.

        By its regexes and by what can be seen at a glance (`membership`).
        """
        listed = _listed(strings)
        return self._weighed(listed, self._said(listed))

    def _weighed(self, strings: list[str], said: Float[np.ndarray, "k s"]) -> Float[np.ndarray, "s"]:
        return weigh(*self._traits(strings, said), self._between(self.knowledge.weights))

    def traits(self, strings: list[str]) -> tuple[Traits, Bool[np.ndarray, "s"]]:
        """What speaks for each string, and whether any regex allows it."""
        return self._traits(strings, self._said(strings))

    def _traits(self, strings: list[str], said: Float[np.ndarray, "k s"]) -> tuple[Traits, Bool[np.ndarray, "s"]]:
        log_p = log_mixture(self.posterior.log_weight, said)
        anywhere = log_mixture(self.knowledge.log_weight, log_each(self.knowledge.model, self.knowledge.known, strings))
        allowed = np.isfinite(log_p) & np.isfinite(anywhere)
        ratio = np.where(allowed, log_p, -np.inf) - np.where(allowed, anywhere, 0.0)
        evidence = np.logaddexp(ratio, np.log(STRAY))
        return traits(self.examples, strings, evidence, anywhere, self.knowledge.frequent), allowed

    def _said(self, strings: list[str]) -> Float[np.ndarray, "k s"]:
        """log p(string | regex) for each regex of the posterior."""
        return log_each(self.knowledge.model, self.posterior.programs, strings)

    def accepts(self, strings: Iterable[Any], share: float | None = 0.95) -> Bool[np.ndarray, "s"]:
        """Whether each string is taken for a member, so that about `share` of the true members are.

        With None, as many as give the fewest errors: of members refused and strangers accepted alike.
        """
        return self.evidence(strings) > self.threshold(share)

    def threshold(self, share: float | None) -> float:
        """The evidence that is passed by that share of the true members, measured on other columns."""
        members = self._between(self.knowledge.calibration)
        levels = np.linspace(0, 1, len(members))
        if share is None:
            strangers = self._between(self.knowledge.strangers)
            errors = levels + 1 - np.interp(members, strangers, levels)
            found = members[np.argmin(errors)]
        else:
            require_share("share", share)
            found = np.interp(1 - share, levels, members)
        return max(float(found), AGAINST)

    def _between(self, table: Float[Array, "n q"]) -> Float[np.ndarray, "q"]:
        """What was measured, for as many examples as there are here: between the numbers for which it was."""
        counts = np.log(self.knowledge.notes["examples"])
        here = np.log(max(len(self.examples), 1))
        return np.array([np.interp(here, counts, column) for column in np.asarray(table, np.float64).T])

    def sample(self, count: int, seed: int = 0) -> list[str]:
        """New strings, each from a regex drawn from the posterior."""
        require_at_least("count", count, 1)
        return _sample(jax.random.key(seed), self.knowledge.model, self.posterior, count)

    def outliers(self, strings: Iterable[Any], share: float = 0.97) -> list[str]:
        """The strings that do not fit, the worst first, each once.

        They are not accepted, or no regex allows them that has `LEAST` of the probability: however like the others a
        string is in all else, as a misprint is.
        """
        strings = list(dict.fromkeys(_listed(strings)))
        said = self._said(strings)
        evidence = self._weighed(strings, said)
        allowed = log_mixture(self.posterior.log_weight, np.where(np.isfinite(said), 0.0, -np.inf))
        strange = (evidence <= self.threshold(share)) | (allowed < np.log(LEAST))
        return [strings[i] for i in np.argsort(evidence, kind="stable") if strange[i]]


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
    posterior, scored = infer(judged, knowledge, effort or Effort(), seed)
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


def _patterns(posterior: Weighted, longest: int) -> tuple[Pattern, ...]:
    """The best few regexes, spelled out; programs that read the same to other tools are one, named by the best."""
    weights = np.exp(np.asarray(posterior.log_weight, np.float64))
    likely = np.flatnonzero((weights >= LEAST) | (np.arange(len(weights)) == 0))
    found: dict[Standard, list[int]] = {}
    trees = {int(i): tree_of(z) for i, z in zip(likely, np.asarray(posterior.programs)[likely].tolist(), strict=True)}
    for i, tree in trees.items():
        found.setdefault(standard(tree, max(2 * longest, 16)), []).append(i)
    patterns = [
        Pattern(text_of(flatten(trees[same[0]])), *regex, float(weights[same].sum()), describe(trees[same[0]]))
        for regex, same in found.items()
    ]
    return tuple(sorted(patterns, key=lambda p: -p.probability)[:MOST_PATTERNS])


def _sample(key: Array, model: Model, posterior: Weighted, count: int) -> list[str]:
    keys = jax.random.split(key, 1 + count)
    slots = np.asarray(jax.random.categorical(keys[0], posterior.log_weight, shape=(count,)))
    drawn = jax.device_get(_draw(regex_of(model), keys[1:], np.asarray(posterior.programs)[slots]))
    return [as_text(jax.tree.map(lambda a, i=i: a[i, :1], drawn))[0] for i in range(count)]


@eqx.filter_jit
def _draw(evaluator: Regex, keys: Array, z: Int[Array, "k t"]) -> Strings:
    return jax.vmap(evaluator.sample)(keys, z)
