"""The posterior over atoms for a series: every atom of a library weighed exactly, and what the mixture predicts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.statespace.atoms import Atoms, joined
from wakesleep.domains.timeseries.statespace.filtering import Filtered, Observed, filter_atoms
from wakesleep.domains.timeseries.statespace.library import Library
from wakesleep.domains.timeseries.statespace.mixture import Mixture
from wakesleep.domains.timeseries.statespace.prediction import predict
from wakesleep.domains.timeseries.statespace.seasons import Season, season_of

POINT_WORTH = 0.15
"""Each point counts as this share of one: no program is quite true, and errors of one are alike (coarsening)."""
LEAST_SHARE_OF_VALUES = 0.02
"""Programs of the values keep at least this share beside those of logarithms, for which a zero is impossible."""
LEAST_RATIO_FOR_LOG = 1.2
"""Logarithms are tried where the greatest value is more than this many times the least."""
KNEE_RATIO = 1.25
"""Logarithms are bent at this many times the greatest value, so that growth beyond it is straight.

An integrated walk of logarithms spreads as the time ahead to the power of 3/2, and its exponential explodes. The ratio
had the least quantile loss on training series of the competition, of 1.1 to 2 and none."""
SCREENED_POINTS, SCREENED_ATOMS = 300, 120
"""A series of over twice as many points is screened on its latest ones: of each group these many of the best atoms
see all of it."""
LEAST_BEHIND_NATS = 30.0
"""A group whose best atom is further behind on the latest points is left out: its weight would be below e^-4."""
LEAST_WEIGHT = 1e-3
"""Members of less weight than this share of the greatest are left out of the mixture."""


Wanted = tuple[tuple[Season, ...], Library]
"""The seasons of a group and its library."""


@dataclass(frozen=True)
class Group:
    """Atoms that share their seasons, and what the filter found."""

    seasons: tuple[Season, ...]
    atoms: Atoms
    filtered: Filtered
    log_prior: Float[np.ndarray, "2 a"]

    def joined(self, other: "Group") -> "Group":
        """Returns the atoms of two groups of the same seasons as one."""
        shift, (a, b) = len(self.atoms), (self.filtered, other.filtered)
        moved = [(places + shift, atoms, state) for places, atoms, state in b.states]
        filtered = Filtered(
            np.hstack([a.log_likelihood, b.log_likelihood]), np.hstack([a.squares, b.squares]), a.states + moved
        )
        prior = np.hstack([self.log_prior, other.log_prior])
        return Group(self.seasons, joined([self.atoms, other.atoms]), filtered, prior)


@dataclass(frozen=True)
class Posterior:
    """The atoms of a library weighed on a series."""

    observed: Observed
    logs: tuple[bool, ...]
    """Which forms of the values are logarithms."""
    groups: tuple[Group, ...]
    log_likelihood: Float[np.ndarray, "m a"]
    """log p(x | z) of each form and atom, in the units of the values."""
    weight: Float[np.ndarray, "m a"]
    """Coarsened posterior weights, which sum to one."""
    least: float = -np.inf
    width: float = 1.0
    """By which the scales of predictions are multiplied."""

    @property
    def atoms(self) -> Atoms:
        """Returns the atoms of all groups, in the order of the weights."""
        return joined([g.atoms for g in self.groups])

    @property
    def leading(self) -> tuple[int, slice]:
        """Returns the group with the most weight and the places of its atoms."""
        ends = np.cumsum([0, *(len(g.atoms) for g in self.groups)])
        places = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        k = int(np.argmax([self.weight[:, here].sum() for here in places]))
        return k, places[k]

    @property
    def knee(self) -> float:
        """Returns where logarithms are bent: nowhere if the user asked for logarithms alone."""
        return float(self.observed.values[1].max() + np.log(KNEE_RATIO)) if self.logs == (False, True) else np.inf

    def predict(self, positions: Float[np.ndarray, "h"]) -> Mixture:
        """Returns the distribution of a new value at each of some later positions."""
        every = self.each(positions, LEAST_WEIGHT * self.weight.max())
        weight = np.concatenate([m.weight for m in every])
        return Mixture(
            weight / weight.sum(),
            np.hstack([m.mean for m in every]),
            np.hstack([m.scale for m in every]),
            np.concatenate([m.log for m in every]),
            every[0].freedom,
            self.least,
            self.knee,
        )

    def each(self, positions: Float[np.ndarray, "h"], least_weight: float = 0.0) -> list[Mixture]:
        """Returns what is predicted of each form by the atoms of at least that weight, in the order of the weights."""
        n = len(self.observed.positions)
        found: list[list[Mixture]] = [[] for _ in self.logs]
        start = 0
        for group in self.groups:
            weight = self.weight[:, start : start + len(group.atoms)]
            places = np.flatnonzero((weight >= least_weight).any(axis=0))
            start += len(group.atoms)
            if not len(places):
                continue
            ahead = predict(group.filtered, places, self.observed.positions[-1], positions, group.seasons)
            for m, log in enumerate(self.logs):
                mine = weight[m, places] >= least_weight
                squares = group.filtered.squares[m, places[mine]]
                scale = self.width * np.sqrt(ahead.variance[:, mine] * squares / n)
                logs = np.full(mine.sum(), log)
                mean, own = ahead.mean[:, m, mine], weight[m, places[mine]]
                found[m].append(Mixture(own, mean, scale, logs, float(n), knee=self.knee))
        return [member for of_form in found for member in of_form]


def forms(values: Float[np.ndarray, "n"]) -> tuple[Float[np.ndarray, "m n"], tuple[bool, ...]]:
    """Returns the values and, where they are positive and varied, their logarithms; and which are logarithms."""
    if values.min() > 0 and values.max() > LEAST_RATIO_FOR_LOG * values.min():
        return np.stack([values, np.log(values)]), (False, True)
    return values[None], (False,)


def weigh(
    observed: Observed,
    logs: tuple[bool, ...],
    library: Library,
    lengths: Sequence[float | int],
    least: float = -np.inf,
    point_worth: float = POINT_WORTH,
    beside: Sequence[Wanted] = (),
) -> Posterior:
    """Returns the posterior over the atoms of a library, with every set of the given seasons for seasonal ones.

    weight = p(z) p(x | z)^w, with w the worth of a point. `beside` are further seasons with libraries of their own.
    """
    seasons = [season_of(length, observed.positions) for length in lengths]
    sets = [chosen for k in range(1, len(seasons) + 1) for chosen in combinations(seasons, k)]
    plain, seasonal = (library.take(library.atoms.seasonal == s) for s in (False, True))
    shared = replace(seasonal, log_prior=seasonal.log_prior - np.log(max(1, len(sets))))
    wanted = [((), plain), *((chosen, shared) for chosen in sets), *beside]
    there = screened(observed, logs, [each for each in wanted if len(each[1].atoms)])
    groups = tuple(filtered_group(observed, *each) for each in there)
    return compare(observed, logs, groups, least, library.width, point_worth)


def compare(
    observed: Observed,
    logs: tuple[bool, ...],
    groups: tuple[Group, ...],
    least: float,
    width: float,
    point_worth: float = POINT_WORTH,
) -> Posterior:
    """Returns the posterior over the atoms of groups that were filtered."""
    prior = np.concatenate([g.log_prior for g in groups], axis=1)
    likelihood = np.concatenate([g.filtered.log_likelihood for g in groups], axis=1) - jacobian(observed, logs)
    tempered = prior[: len(logs)] + likelihood * point_worth
    return Posterior(observed, logs, groups, likelihood, _shares(tempered, logs), least, width)


def jacobian(observed: Observed, logs: tuple[bool, ...]) -> Float[np.ndarray, "m 1"]:
    """Returns by how much log p of each form of the values exceeds log p of the values themselves."""
    return np.array([[values.sum() if log else 0.0] for values, log in zip(observed.values, logs, strict=True)])


def _shares(tempered: Float[np.ndarray, "m a"], logs: tuple[bool, ...]) -> Float[np.ndarray, "m a"]:
    """Returns weights that sum to one, of which values have their least share."""
    weight = np.exp(tempered - tempered.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    share = np.exp(np.logaddexp.reduce(tempered, axis=1) - np.logaddexp.reduce(tempered, axis=None))
    if logs == (False, True) and share[0] < LEAST_SHARE_OF_VALUES:
        share = np.array([LEAST_SHARE_OF_VALUES, 1 - LEAST_SHARE_OF_VALUES])
    return weight * share[:, None]


def screened(observed: Observed, logs: tuple[bool, ...], wanted: Sequence[Wanted]) -> Sequence[Wanted]:
    """Returns the groups with the atoms that see all of a series; of a long one the best on its latest points."""
    if len(observed.positions) <= 2 * SCREENED_POINTS:
        return wanted
    latest = observed.latest(SCREENED_POINTS)
    more = jacobian(latest, logs)
    scores = [(filter_atoms(k.atoms, latest, s).log_likelihood - more).max(axis=0) for s, k in wanted]
    least = max(score.max() for score in scores) - LEAST_BEHIND_NATS
    return [
        (seasons, library.take(np.sort(np.argsort(-score)[:SCREENED_ATOMS])))
        for (seasons, library), score in zip(wanted, scores, strict=True)
        if score.max() >= least
    ]


def filtered_group(observed: Observed, seasons: tuple[Season, ...], library: Library) -> Group:
    """Returns the atoms of a group filtered."""
    return Group(seasons, library.atoms, filter_atoms(library.atoms, observed, seasons), library.log_prior)
