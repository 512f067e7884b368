"""Learns the library of atoms, the prior p(z) of each kind of series, by wake and sleep.

    python -m wakesleep.domains.timeseries.statespace.learn LIBRARY.npz [PROCESSES]

Wake weighs atoms on training series; sleep redraws atoms from what explained the series. Then the probability of each
atom, for values and for logarithms, is fitted so that the mixture foresees the last part of training series. Last, of
some draws of a library the one is kept that foresees tuning series best, which are not learned from, with the width of
its predictions. The file that ships is one run of it.
"""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wakesleep.domains.timeseries.statespace.atoms import Atoms
from wakesleep.domains.timeseries.statespace.cycles import candidates
from wakesleep.domains.timeseries.statespace.filtering import Observed
from wakesleep.domains.timeseries.statespace.library import STEPS_A_ROUND, Library, equal
from wakesleep.domains.timeseries.statespace.m3 import Competitor, learned_from
from wakesleep.domains.timeseries.statespace.posterior import POINT_WORTH, Posterior, filtered_group, forms, weigh
from wakesleep.domains.timeseries.statespace.posterior import compare as compare_groups
from wakesleep.domains.timeseries.statespace.prior import Source, cyclic, of_season, redraw
from wakesleep.domains.timeseries.statespace.seasons import cycle_of
from wakesleep.domains.timeseries.statespace.tuning import Tuned, tune

FIRST_ATOMS, LATER_ATOMS, SHIPPED_ATOMS = 1600, 700, 400
LEARNING_ROUNDS, SERIES_A_ROUND = 4, 50
WAKING_WORTH = 0.7
"""The worth of a point when atoms are weighed on training series: there a single program may explain."""
MOST_HORIZONS = 6
TUNING_SHARE = 4
"""One of this many training series is left out of learning, to choose settings on."""
SENSOR_SERIES, CYCLE_SERIES, SENSOR_POINTS = 120, 500, 200
"""Series of the archive that steps are learned from, those searched for cycles, and the points of each."""
LEAST_PAST = 10


class Kind(NamedTuple):
    """How the library of a kind of series is learned."""

    period: str
    """The competition's name of the kind."""
    season: int
    horizon: int
    foreseen: int
    """Training series whose last part is foreseen."""
    origins: int
    """Times from which it is foreseen."""
    steps: int
    """Steps of the fit of probabilities."""
    equal_share: float
    """The share of the probabilities that is equal for all atoms: all of it where equal ones foresee as well."""
    draws: int = 1
    """Libraries that are learned from different seeds, of which the tuning series choose."""
    cycle: bool = False
    """Every series has a cycle of a period of its own instead of a season."""

    @property
    def source(self) -> Source:
        """Returns the broad prior that learning begins with."""
        return cyclic if self.cycle else of_season(self.season)


SERIES_KINDS = {
    "month": Kind("monthly", 12, 18, 220, 1, 120, 1.0, draws=3),
    "quarter": Kind("quarterly", 4, 8, 300, 2, 120, 0.2, draws=3),
    "year": Kind("yearly", 1, 6, 300, 3, 400, 0.05, draws=3),
    "step": Kind("other", 1, 8, 300, 1, 120, 0.2),
    "cycle": Kind("", STEPS_A_ROUND, 20, 200, 1, 120, 0.2, cycle=True),
}

Say = Callable[[str], None]


class Foreseen(NamedTuple):
    """What every atom, of each form, says of the last part of the training series."""

    weight: np.ndarray
    """(series, pairs): likelihoods of the first part, coarsened, relative to the best."""
    density: np.ndarray
    """(series, horizons, pairs): densities of later values, relative to the best."""


def learn(rng: np.random.Generator, kind: str, series: Sequence[np.ndarray], say: Say) -> tuple[Atoms, np.ndarray]:
    """Returns the atoms of a kind of series and the log-probability of each, for values and for logarithms."""
    how = SERIES_KINDS[kind]
    atoms = how.source(rng, FIRST_ATOMS)
    for done in range(LEARNING_ROUNDS):
        chosen = rng.choice(len(series), min(SERIES_A_ROUND, len(series)), replace=False)
        atoms = redraw(rng, atoms, wake(atoms, [series[i] for i in chosen], how), LATER_ATOMS, how.source)
        say(f"{kind}: round {done + 1} of wake and sleep")
    chosen = rng.permutation(len(series))[: how.foreseen]
    probability = np.empty(0)
    for size in (SHIPPED_ATOMS, 0):
        atoms = plain_first(atoms)
        seen = foresee(atoms, [series[i] for i in chosen], how)
        probability = fit(seen, how.steps, say)
        if size:
            atoms = redraw(rng, atoms, probability.reshape(2, -1).sum(axis=0), size, how.source)
    shared = how.equal_share / len(probability)
    return atoms, np.log((1 - how.equal_share) * probability + shared).reshape(2, -1)


def plain_first(atoms: Atoms) -> Atoms:
    """Returns the atoms in the order in which a posterior has them: those without a season first."""
    return atoms.take(np.argsort(atoms.seasonal, kind="stable"))


def wake(atoms: Atoms, series: Sequence[np.ndarray], kind: Kind) -> np.ndarray:
    """Returns the mean posterior weight of each atom over the series."""
    order = np.argsort(atoms.seasonal, kind="stable")
    share = np.zeros(len(atoms))
    for values in series:
        share[order] += _weighed(atoms, values, kind, WAKING_WORTH).weight.sum(axis=0)
    return share / len(series)


def _weighed(atoms: Atoms, values: np.ndarray, kind: Kind, point_worth: float = POINT_WORTH) -> Posterior:
    seen, logs = forms(values)
    observed = Observed(np.arange(float(len(values))), seen)
    if kind.cycle:
        period = candidates(observed.positions, seen[-1])[0]
        group = filtered_group(observed, (cycle_of(period),), equal(atoms).stretched(period))
        return compare_groups(observed, logs, (group,), -np.inf, 1.0, point_worth)
    lengths = (kind.season,) * (kind.season > 1)
    return weigh(observed, logs, equal(atoms), lengths, point_worth=point_worth)


def foresee(atoms: Atoms, series: Sequence[np.ndarray], kind: Kind) -> Foreseen:
    """Returns what each atom, of each form, says of later values of each series, given those up to an origin."""
    steps = np.unique(np.linspace(1, kind.horizon, MOST_HORIZONS).round())
    least = max(LEAST_PAST, 2 * kind.season + 2)
    ends = [len(v) - kind.horizon - o * kind.horizon // 2 for v in series for o in range(kind.origins)]
    cases = [(v, n) for v, n in zip([v for v in series for _ in range(kind.origins)], ends, strict=True) if n >= least]
    cases = [(v, n) for v, n in cases if not kind.cycle or _has_cycle(v[:n])]
    weight = np.zeros((len(cases), 2 * len(atoms)), np.float32)
    density = np.zeros((len(cases), len(steps), 2 * len(atoms)), np.float32)
    for i, (values, n) in enumerate(cases):
        found = _weighed(atoms, values[:n], kind)
        every = found.each(n - 1 + steps)
        log_f = np.concatenate([m.log_densities(values[n - 1 + steps.astype(int)]) for m in every], axis=1)
        pairs = found.weight.size
        weight[i, :pairs] = found.weight.ravel()
        density[i, :, :pairs] = np.exp(log_f - log_f.max(axis=1, keepdims=True))
    return Foreseen(weight, density)


def fit(seen: Foreseen, steps: int, say: Say) -> np.ndarray:
    """Returns probabilities of the pairs that raise the mean log density of what is foreseen.

    The density is sum pi L f / sum pi L; each step multiplies pi by the ratio of the responsibilities above and below.
    """
    probability = np.full(seen.weight.shape[1], 1 / seen.weight.shape[1])
    for step in range(steps):
        mixed = seen.weight * probability
        below = mixed / mixed.sum(axis=1, keepdims=True)
        density = np.einsum("shp,sp->sh", seen.density, below)
        above = below * np.einsum("shp,sh->sp", seen.density, 1 / density) / density.shape[1]
        probability = probability * above.sum(axis=0) / np.maximum(below.sum(axis=0), 1e-12)
        probability /= probability.sum()
        if step in (0, steps - 1):
            say(f"step {step + 1}: mean log density {np.log(density).mean():.4f}, relative to the best atom's")
    return probability


def main(path: Path, processes: int) -> None:
    """Learns the library of each kind of series and writes them to one file."""
    jobs = [(kind, seed) for kind, how in SERIES_KINDS.items() for seed in range(how.draws)]
    with ProcessPoolExecutor(processes) as pool:
        found = list(pool.map(draw, *zip(*jobs, strict=True)))
    made: dict[str, Any] = {}
    for kind in SERIES_KINDS:
        mine = [drawn for (k, _), drawn in zip(jobs, found, strict=True) if k == kind]
        table, tuned = min(mine, key=lambda drawn: drawn[1].pinball)
        print(f"{kind}: {[t for _, t in mine]}, kept {tuned}")
        made |= {kind: table, f"{kind}_width": np.array(tuned.width, np.float32)}
    np.savez_compressed(path, **made)


def draw(kind: str, seed: int) -> tuple[np.ndarray, Tuned]:
    """Returns a library of a kind, learned from a seed, as it is stored, and how well it foresees tuning series."""
    how = SERIES_KINDS[kind]
    atoms, log_prior = learn(np.random.default_rng(seed), kind, training_series(kind), lambda said: None)
    table = np.concatenate([atoms.stacked(), log_prior]).astype(np.float32)
    if how.cycle:
        return table, Tuned(1.0, np.nan, np.nan)
    tuned = tune(Library(atoms, log_prior), split(kind)[0], how.season, how.origins)
    print(f"{kind}, seed {seed}: {tuned}", flush=True)
    return table, tuned


def split(kind: str) -> tuple[list[Competitor], list[Competitor]]:
    """Returns the series of a kind that settings are chosen on, and those that the library is learned from."""
    given = list(learned_from(SERIES_KINDS[kind].period))
    tuning = len(given) // TUNING_SHARE
    return given[:tuning], given[tuning:]


def training_series(kind: str) -> list[np.ndarray]:
    """Returns the values that the library of a kind is learned from.

    They are the competition's, for steps those of sensors too, and for cycles those of sensors in which one stands out.
    """
    series = [np.concatenate([c.past, c.future]) for c in split(kind)[1]] if SERIES_KINDS[kind].period else []
    if kind not in ("step", "cycle"):
        return series
    from wakesleep.domains.timeseries.data import ucr

    if kind == "step":
        return series + [r.values[:SENSOR_POINTS] for r in ucr()[:SENSOR_SERIES]]
    return [v for v in (r.values[:SENSOR_POINTS] for r in ucr()[:CYCLE_SERIES]) if _has_cycle(v)]


def _has_cycle(values: np.ndarray) -> bool:
    return bool(candidates(np.arange(float(len(values))), forms(values)[0][-1]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
