"""Values of a column that its explanation leaves out, because they were not written by what wrote the others."""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence

import numpy as np

from wakesleep.domains.strings.columns.posterior import Posterior

LEAST_ROWS = 20
"""Rows from which a single value of another form may be a stray."""
LEAST_GAIN_NATS = 4.0
"""Nats a value that the programs of the others must gain on a model of characters: free text has no strays."""
MOST_STRAY_SHARE = 0.05
MOST_OTHER_FORMS = 3


def strays_of(
    texts: Sequence[str], posterior: Posterior, oddities: Collection[str], infer: Callable[[list[str]], Posterior]
) -> frozenset[str]:
    """Returns the oddities that the judge found, if they are few, and else the one value of a form of its own."""
    odd = frozenset(oddities)
    rows = sum(posterior.rows.counts.get(v, 0) for v in odd)
    if odd and rows <= MOST_STRAY_SHARE * len(texts):
        return odd
    return _lone(texts, posterior, infer)


def _lone(texts: Sequence[str], posterior: Posterior, infer: Callable[[list[str]], Posterior]) -> frozenset[str]:
    """Returns the value of a single row whose form no other has, where the other rows share few and narrow forms."""
    if len(texts) < LEAST_ROWS:
        return frozenset()
    rows: Counter[str] = Counter()
    for value, count in posterior.rows.counts.items():
        rows[_form(value)] += count
    alone = [v for v in posterior.rows.counts if rows[_form(v)] == 1]
    if len(alone) != 1 or len(rows) > 1 + MOST_OTHER_FORMS:
        return frozenset()
    return frozenset(alone) if _is_narrow(infer([t for t in texts if t != alone[0]]), alone[0]) else frozenset()


def _form(value: str) -> str:
    """Returns the kinds of characters of a value, runs of one kind as one."""
    return _RUN.sub(r"\1", value.translate(_KINDS))


class _Kinds(dict[int, str]):
    """Kinds of characters for `str.translate`: a digit is 9, a capital A, another letter a; others are themselves."""

    def __missing__(self, code: int) -> str:
        c = chr(code)
        self[code] = found = "9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c
        return found


_KINDS = _Kinds()
_RUN = re.compile(r"(.)\1+", re.DOTALL)


def _is_narrow(others: Posterior, stray: str) -> bool:
    """Returns whether the programs of the others write all these, not the stray, and gain much on a character model."""
    program, values = others.entries[0].program, list(others.rows.counts)
    log_p = np.array(program.log_probs(values))
    if program.log_prob(stray) > -math.inf or not np.isfinite(log_p).all():
        return False
    return float(np.mean(log_p - others.log_background(values))) >= LEAST_GAIN_NATS
