"""What strings are worth without programs: a character 4-gram, which may adapt to a concept as it reads it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from wakesleep.domains.strings.data import Concept, concepts
from wakesleep.domains.strings.ngrams import Ngram
from wakesleep.paper.results import Row, complete

NGRAM_ORDER = 4


def nll(model: Ngram, concept: Concept, adapts: bool, given: bool) -> float:
    """Returns the NLL of a concept's held-out strings, in turn, with its training strings given or not."""
    local = Ngram(model.order, model.probability)
    if given:
        local.learn(concept.train)
    total = 0.0
    for text in concept.test:
        total -= local.log_prob(text)
        if adapts:
            local.learn([text])
    return total


def reproduce(output: Path, report: Callable = print) -> list[Row]:
    """Fills strings-ngrams.json, likelihoods by a 4-gram of the background concepts, and returns its rows."""
    model = Ngram(NGRAM_ORDER).learn(text for c in concepts("paper") for text in c.train)

    def compute(cell: Row) -> Row:
        found = concepts("paper" if cell["split"] == "background" else "novel")
        score = lambda **how: round(float(np.mean([nll(model, c, **how) for c in found])), 3)  # noqa: E731
        return {
            "nll_plain": score(adapts=False, given=False),
            "nll": score(adapts=True, given=False),
            "nll_conditional": score(adapts=True, given=True),
        }

    cells = [{"algorithm": "4-gram", "split": split} for split in ("background", "novel")]
    return complete(output / "strings-ngrams.json", {"order": NGRAM_ORDER}, cells, compute, report)
