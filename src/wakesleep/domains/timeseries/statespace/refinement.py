"""Programs beyond the library for one series: those near its best ones, remembered where they explain it better.

A library of some hundred atoms has few that combine a rare season with a rare slope. From the best atoms of the series
others are proposed, with numbers moved and parts exchanged for those of the library, and the best are kept.
"""

import numpy as np

from wakesleep.domains.timeseries.statespace.atoms import Atoms, joined
from wakesleep.domains.timeseries.statespace.filtering import Observed, filter_atoms
from wakesleep.domains.timeseries.statespace.library import Library
from wakesleep.domains.timeseries.statespace.posterior import (
    SCREENED_POINTS,
    Group,
    Posterior,
    compare,
    filtered_group,
    jacobian,
)
from wakesleep.domains.timeseries.statespace.prior import moved

ROUNDS, REFINED_PROPOSALS, KEPT_ATOMS = 3, 40, 16
EXCHANGED = 0.6
"""The share of proposals in which a part is exchanged."""
REFINED_SHARE = 0.001
"""The prior probability of programs beyond the library, shared by those that are kept."""
PARENT_WORTH = 0.3
"""Parents are drawn by their likelihood to this power."""
SEED = 0


def refine(posterior: Posterior) -> Posterior:
    """Returns the posterior with programs near the best ones of its leading group of atoms."""
    k, _ = posterior.leading
    group = posterior.groups[k]
    found = _search(group, posterior)
    prior = np.full((2, len(found)), np.log(REFINED_SHARE / (2 * len(found))))
    more = filtered_group(posterior.observed, group.seasons, Library(found, prior))
    groups = list(posterior.groups)
    groups[k] = group.joined(more)
    return compare(posterior.observed, posterior.logs, tuple(groups), posterior.least, posterior.width)


def _search(group: Group, posterior: Posterior) -> Atoms:
    """Returns the best atoms that some rounds of proposals find."""
    rng = np.random.default_rng(SEED)
    observed = _screened(posterior.observed)
    more = jacobian(observed, posterior.logs)
    score = lambda atoms: (filter_atoms(atoms, observed, group.seasons).log_likelihood - more).max(axis=0)  # noqa: E731
    best = group.atoms.take(np.argsort(-group.filtered.log_likelihood.max(axis=0))[:KEPT_ATOMS])
    scores = score(best)
    for _ in range(ROUNDS):
        share = np.exp(PARENT_WORTH * (scores - scores.max()))
        parents = best.take(rng.choice(len(best), REFINED_PROPOSALS, p=share / share.sum()))
        proposed = moved(rng, parents, lambda r, n: group.atoms.take(r.choice(len(group.atoms), n)), EXCHANGED)
        best, scores = joined([best, proposed]), np.concatenate([scores, score(proposed)])
        kept = np.argsort(-scores, kind="stable")[:KEPT_ATOMS]
        best, scores = best.take(kept), scores[kept]
    return best


def _screened(observed: Observed) -> Observed:
    return observed if len(observed.positions) <= 2 * SCREENED_POINTS else observed.latest(SCREENED_POINTS)
