"""Orders and directions: p(strokes) summed over all of them, and the best of them.

Where a pen stroke starts depends on the set of the earlier ones and not on their order, so the sum over n! orders and
2^n directions is a sum over the 2^n sets of strokes drawn so far.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from wakesleep.domains.characters.hand.prior import (
    Prior,
    closeness,
    gathered,
    log_arcs,
    log_decisions,
    log_start,
)
from wakesleep.domains.characters.hand.strokes import Program

MOST_SUMMED_PENS = 7
"""With more pen strokes the order is kept as it is, and directions alone are summed over: a lower bound."""
Pens = list[tuple[np.ndarray, np.ndarray]]
"""Knots [s, k, 2] and bends [s, a] of each pen stroke, for s programs of one structure."""


class Table(NamedTuple):
    """What an order's probability is made of."""

    arcs: Float[np.ndarray, "n s 2"]
    """log p of the arcs of each pen stroke, forwards and backwards."""
    start: Float[np.ndarray, "n s 2 2"]
    near: list[np.ndarray]
    """Of each pen stroke: `closeness` [s, 2, n, 3] of both its ends to all pen strokes."""
    counts: list[int]


def table(prior: Prior, pens: Pens) -> Table:
    """Returns the parts of all orders' probabilities."""
    backwards = [(k[:, ::-1], -b[:, ::-1]) for k, b in pens]
    arcs = [np.stack([log_arcs(prior, *a), log_arcs(prior, *b)], axis=-1) for a, b in zip(pens, backwards, strict=True)]
    start = np.stack([k[:, [0, -1]] for k, _ in pens])
    near = [closeness(prior, s, [(k[:, None], b[:, None]) for k, b in pens]) if len(pens) > 1 else s for s in start]
    return Table(np.stack(arcs), start, near, [b.shape[1] for _, b in pens])


def _drawn(prior: Prior, parts: Table, i: int, earlier: list[int]) -> Float[np.ndarray, "s 2"]:
    """Returns log p of pen stroke i after the earlier ones, in both directions, with what is decided after it."""
    near = gathered(parts.near[i][:, :, earlier]) if earlier else None
    decided = log_decisions(prior, len(earlier), parts.counts[i], len(earlier) == len(parts.counts) - 1)
    return parts.arcs[i] + log_start(prior, parts.start[i], near) + decided


def log_prior_of_all(prior: Prior, pens: Pens) -> Float[np.ndarray, "s"]:
    """Returns log p(strokes) summed over orders and directions."""
    parts, n = table(prior, pens), len(pens)
    if n > MOST_SUMMED_PENS:
        return sum(np.logaddexp.reduce(_drawn(prior, parts, i, list(range(i))), axis=-1) for i in range(n))
    total = {0: np.zeros(pens[0][0].shape[0])}
    for chosen in range(1, 2**n):
        members = [i for i in range(n) if chosen >> i & 1]
        terms = []
        for i in members:
            both = np.logaddexp.reduce(_drawn(prior, parts, i, [j for j in members if j != i]), axis=-1)
            terms.append(total[chosen ^ (1 << i)] + both)
        total[chosen] = np.logaddexp.reduce(terms, axis=0)
    return total[2**n - 1]


def log_priors(prior: Prior, programs: list[Program]) -> Float[np.ndarray, "b"]:
    """Returns log p(strokes) of several programs, those of one structure at once."""
    alike: dict[tuple[int, ...], list[int]] = {}
    ordered = [p if len(p) > MOST_SUMMED_PENS else tuple(sorted(p, key=lambda pen: len(pen.bends))) for p in programs]
    for row, program in enumerate(ordered):
        alike.setdefault(tuple(len(pen.bends) for pen in program), []).append(row)
    found = np.zeros(len(programs))
    for rows in alike.values():
        pens = zip(*(ordered[r] for r in rows), strict=True)
        stacked = [(np.stack([p.knots for p in same]), np.stack([p.bends for p in same])) for same in pens]
        found[rows] = log_prior_of_all(prior, stacked)
    return found


def best_order(prior: Prior, program: Program) -> Program:
    """Returns the program in its most probable order and directions."""
    pens = [(p.knots[None], p.bends[None]) for p in program]
    parts, n = table(prior, pens), len(program)
    best: dict[int, tuple[float, list[tuple[int, int]]]] = {0: (0.0, [])}
    sets = range(1, 2**n) if n <= MOST_SUMMED_PENS else [2 ** (i + 1) - 1 for i in range(n)]
    for chosen in sets:
        members = [i for i in range(n) if chosen >> i & 1]
        found = []
        for i in members if n <= MOST_SUMMED_PENS else members[-1:]:
            both = _drawn(prior, parts, i, [j for j in members if j != i])[0]
            before, path = best[chosen ^ (1 << i)]
            found.append((before + float(both.max()), [*path, (i, int(both.argmax()))]))
        best[chosen] = max(found, key=lambda f: f[0])
    return tuple(program[i].reversed() if turned else program[i] for i, turned in best[2**n - 1][1])
