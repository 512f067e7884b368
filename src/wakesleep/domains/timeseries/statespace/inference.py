"""From values to programs: the library weighed, changes found, what lies beyond the library, and how it may end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.statespace.changes import Change, search
from wakesleep.domains.timeseries.statespace.endings import readings
from wakesleep.domains.timeseries.statespace.filtering import Observed
from wakesleep.domains.timeseries.statespace.library import Library
from wakesleep.domains.timeseries.statespace.mixture import Mixture, mixed
from wakesleep.domains.timeseries.statespace.paths import simulate
from wakesleep.domains.timeseries.statespace.posterior import Posterior, Wanted, weigh
from wakesleep.domains.timeseries.statespace.refinement import refine


@dataclass(frozen=True)
class Inferred:
    """The posterior over programs under the most probable reading of a series, and the others."""

    posterior: Posterior
    changes: tuple[Change, ...]
    probability: float = 1.0
    """Of the reading."""
    others: tuple["Inferred", ...] = ()

    def predict(self, positions: Float[np.ndarray, "h"]) -> Mixture:
        """Returns the distribution of a new value at each of some later positions, over all readings."""
        every = (self, *self.others)
        return mixed([(one.probability, one.posterior.predict(positions)) for one in every])

    def simulate(
        self, positions: Float[np.ndarray, "h"], count: int, rng: np.random.Generator
    ) -> Float[np.ndarray, "p h"]:
        """Returns draws of the values at later positions, jointly over the positions, over all readings."""
        every = (self, *self.others)
        counts = rng.multinomial(count, [one.probability for one in every])
        drawn = [simulate(one.posterior, positions, int(k), rng) for one, k in zip(every, counts, strict=True)]
        return rng.permutation(np.concatenate(drawn)) if len(every) > 1 else drawn[0]


def stages(
    observed: Observed,
    logs: tuple[bool, ...],
    library: Library,
    lengths: Sequence[float | int],
    least: float = -np.inf,
    beside: Sequence[Wanted] = (),
    beyond: bool = True,
) -> Iterator[Inferred]:
    """Yields the programs of the library, then the answer: with the changes that the series asks for, and programs
    near the best where `beyond`."""
    first = weigh(observed, logs, library, lengths, least, beside=beside)
    yield Inferred(first, ())
    _, changes = search(first)
    found = []
    for reading in readings(first, changes):
        weighed = (
            first if not reading.changes else weigh(reading.observed, logs, library, lengths, least, beside=beside)
        )
        found.append(Inferred(refine(weighed) if beyond else weighed, reading.changes, reading.probability))
    yield replace(found[0], others=tuple(found[1:]))
