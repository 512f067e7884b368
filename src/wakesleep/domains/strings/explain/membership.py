"""Whether a string belongs to a column: what its regexes say for it, and what can be seen at a glance.

A regex that is wide enough for the members of a column often is for many others too: `\\w+` tells no word from another,
and repeats a class as often as it likes. That the string is longer than all examples, or of another shape, says more. A
logistic regression, learned on other columns, weighs all of it.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float

from wakesleep.domains.strings.ngrams import END, Ngram

ENOUGH, MOST = 6.0, 30.0
"""The evidence of regexes, in nats, counts apart above ENOUGH, and no more above MOST."""
RIDGE = 1.0
"""What holds the weights of traits, each in units of its spread, near zero."""
NEWTON_STEPS = 25

ORDER, RARE = 4, 1e-4
"""Of the n-gram that reads the examples; and the share of a character that is in no other column."""

Traits = Float[np.ndarray, "s f"]


def traits(
    examples: Sequence[str],
    strings: Sequence[str],
    evidence: Float[np.ndarray, "s"],
    anywhere: Float[np.ndarray, "s"],
    frequent: Mapping[str, float],
) -> Traits:
    """What speaks for each string: the evidence of regexes, log p0 of the string, and its likeness to the examples.

    `frequent` is the share of each character, and of the end, among all symbols of other columns. A string that is an
    example itself is held against the others.
    """
    seen, spelling = _Seen(examples), _Spelling(examples, frequent)
    others = {e: _Seen([o for o in examples if o != e] or [e]) for e in set(examples) & set(strings)}
    said = np.minimum(evidence, MOST)
    common = np.maximum(anywhere, -1e3) / [max(len(s), 1) for s in strings]
    likeness = np.array([others.get(s, seen).likeness(s) for s in strings], float).reshape(len(strings), -1)
    spelled = np.minimum([spelling.likeness(s) for s in strings], MOST)
    return np.column_stack([np.ones(len(strings)), said, np.maximum(said, ENOUGH), common, likeness, spelled])


def weigh(seen: Traits, allowed: Bool[np.ndarray, "s"], weights: Float[np.ndarray, "f"]) -> Float[np.ndarray, "s"]:
    """The evidence that each string is a member, in nats; nothing speaks for what no regex allows."""
    return np.where(allowed, seen @ weights, -np.inf)


class _Seen:
    """What the examples of a column look like."""

    def __init__(self, examples: Sequence[str]):
        lengths = [len(e) for e in examples]
        self.shortest, self.longest = min(lengths), max(lengths)
        self.shapes, self.outlines = {shape(e) for e in examples}, {outline(e) for e in examples}
        self.starts, self.ends = {e[:2] for e in examples}, {e[-2:] for e in examples}
        self.characters = set("".join(examples))
        self.kinds = set("".join(self.shapes))
        self.forms = {form(e) for e in examples}

    def likeness(self, text: str) -> list[float]:
        """How a string differs from the examples: in length, shape, characters, and at both ends."""
        runs = shape(text)
        beyond = max(len(text) - self.longest, self.shortest - len(text), 0)
        found = (
            np.log1p(beyond),
            runs in self.shapes,
            outline(text) in self.outlines,
            len(set(runs) - self.kinds),
            len(set(text) - self.characters) / max(len(text), 1),
            text[:2] in self.starts,
            text[-2:] in self.ends,
            form(text) in self.forms,
        )
        return [float(f) for f in found]


class _Spelling:
    """How the examples of a column are spelled."""

    def __init__(self, examples: Sequence[str], frequent: Mapping[str, float]):
        self.examples, self.frequent = set(examples), frequent
        self.ngram = Ngram(ORDER, self.alone).learn(self.examples)

    def alone(self, symbol: str, before: str = "") -> float:
        """The probability of a symbol, whatever comes before it."""
        return self.frequent.get(symbol, RARE)

    def likeness(self, text: str) -> float:
        """How much better than the frequencies of characters an n-gram of the examples foresees a string, in nats."""
        own = {text} if text in self.examples and len(self.examples) > 1 else set()
        log_p = self.ngram.learn(own, -1).log_prob(text)
        self.ngram.learn(own)
        return log_p - sum(np.log(self.alone(symbol)) for symbol in text + END)


@lru_cache(maxsize=4096)
def shape(text: str) -> str:
    """A text with each run of capitals, of small letters and of digits as one character."""
    return re.sub(r"A+|a+|9+", lambda run: run[0][0], form(text))


@lru_cache(maxsize=4096)
def form(text: str) -> str:
    """A text with A for each capital, a for each small letter, and 9 for each digit."""
    for kind, name in (("[A-Z]", "A"), ("[a-z]", "a"), ("[0-9]", "9")):
        text = re.sub(kind, name, text)
    return text


@lru_cache(maxsize=4096)
def outline(text: str) -> str:
    """A text with each run of letters and digits as one character."""
    return re.sub("[A-Za-z0-9]+", "w", text)


def fit(columns: Sequence[tuple[Traits, Bool[np.ndarray, "s"]]]) -> Float[np.ndarray, "f"]:
    """The weights of traits, from columns with members and strangers; both count alike, and every column alike.

    The sum of the weighted traits is then log p(traits | member) - log p(traits | stranger).
    """
    x = np.concatenate([t for t, _ in columns])
    y = np.concatenate([member for _, member in columns]).astype(float)
    share = np.concatenate([np.where(m, 1 / max(m.sum(), 1), 1 / max((~m).sum(), 1)) for _, m in columns])
    spread = x.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    ridge = np.where(spread > 0, RIDGE, 0.0)  # the constant is free
    x, weights = x / scale, np.zeros(x.shape[1])
    for _ in range(NEWTON_STEPS):
        p = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (share * (y - p)) - ridge * weights
        curvature = (x * (share * p * (1 - p))[:, None]).T @ x + np.diag(ridge)
        weights = weights + np.linalg.solve(curvature, slope)
    return weights / scale
