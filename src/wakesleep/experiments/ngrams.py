"""What strings are worth without programs: a character 4-gram, which may adapt to a concept as it reads it."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from wakesleep.domains.strings.data import Concept, concepts
from wakesleep.domains.strings.language import CHARACTERS
from wakesleep.experiments.results import Row, complete

START, END = "\r", "\n"
"""The symbols before the first character and after the last."""
ORDER = 4
UNIFORM = 1 / (len(CHARACTERS) + 1)


class Ngram:
    """Counts of what follows up to `order` - 1 characters, smoothed by shorter contexts (Witten and Bell, 1991).

    The shortest context is smoothed by `base`: all symbols alike, or another model.
    """

    def __init__(self, order: int, base: "Ngram | None" = None):
        self.order, self.base = order, base
        self.counts: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def learn(self, texts: Iterable[str]) -> "Ngram":
        """The same model, having read some texts."""
        for text in texts:
            for i, symbol in enumerate(text + END):
                for context in self._contexts(text[:i]):
                    self.counts[context][symbol] += 1
        return self

    def probability(self, symbol: str, before: str) -> float:
        """Of a symbol after what was read of a text."""
        p = UNIFORM if self.base is None else self.base.probability(symbol, before)
        for context in self._contexts(before):
            seen = self.counts.get(context)
            if seen:
                p = (seen[symbol] + len(seen) * p) / (seen.total() + len(seen))
        return p

    def log_prob(self, text: str) -> float:
        """log p of a text and its end."""
        return sum(math.log(self.probability(symbol, text[:i])) for i, symbol in enumerate(text + END))

    def _contexts(self, before: str) -> list[str]:
        """From the empty one to the longest; where a text begins is part of them."""
        padded = START * (self.order - 1) + before
        return [padded[len(padded) - n :] for n in range(self.order)]


def nll(model: Ngram, concept: Concept, adapts: bool, given: bool) -> float:
    """Of the held-out strings of a concept, one after the other, those to learn from being given or not."""
    local = Ngram(model.order, model)
    if given:
        local.learn(concept.train)
    total = 0.0
    for text in concept.test:
        total -= local.log_prob(text)
        if adapts:
            local.learn([text])
    return total


def reproduce(output: Path, report: Callable = print) -> list[Row]:
    """The likelihoods of section 4.3 by a 4-gram learned from the background concepts, kept in strings-ngrams.json."""
    model = Ngram(ORDER).learn(text for c in concepts("paper") for text in c.train)

    def compute(cell: Row) -> Row:
        found = concepts("paper" if cell["split"] == "background" else "novel")
        score = lambda **how: round(float(np.mean([nll(model, c, **how) for c in found])), 3)  # noqa: E731
        return {
            "nll_plain": score(adapts=False, given=False),
            "nll": score(adapts=True, given=False),
            "nll_conditional": score(adapts=True, given=True),
        }

    cells = [{"algorithm": "4-gram", "split": split} for split in ("background", "novel")]
    return complete(output / "strings-ngrams.json", {"order": ORDER}, cells, compute, report)
