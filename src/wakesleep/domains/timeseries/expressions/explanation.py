"""A series explained by expressions with their probabilities, and what comes next."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from wakesleep.core.model import Model
from wakesleep.domains.timeseries.expressions.knowledge import Knowledge, fitted_to
from wakesleep.domains.timeseries.expressions.prediction import (
    BAND_PROBABILITY,
    Conditions,
    Mixture,
    mixture,
)
from wakesleep.domains.timeseries.expressions.search import Effort, Found, best_fits, peaks, posterior, search
from wakesleep.domains.timeseries.language import Kernel, text_of
from wakesleep.domains.timeseries.likelihood import Series
from wakesleep.domains.timeseries.records import Record, Scale, is_even, observe, scale_of, shorten
from wakesleep.errors import require_one_of

EFFECTIVE_POINTS = 12
"""The predictive mixture weighs a series of any length as at most this many points."""
LEAST_WEIGHT = 0.001
"""Programs of less weight are left out of the predictive mixture."""
MOST_PROGRAMS = 12
"""The predictive mixture has at most this many programs of the values, and as many of their logarithms."""
AHEAD_SHARE = 0.1
"""The share of its length by which a series is continued by default."""
PADDED_TO_POINTS = {True: 128, False: 16}
"""Series on a regular grid, or not, are padded to a multiple of this many points, to share what is compiled."""
TRANSFORM_NAMES = ("auto", "none", "log")
LEAST_RATIO_FOR_LOG_KERNELS = 1.5
"""The logarithm is tried where the greatest value is more than this many times the least."""


class Program(NamedTuple):
    """An expression found for a series."""

    expression: str
    probability: float
    log_joint: float


class Outlook(NamedTuple):
    """What comes next: for each future time the median and the ends of the credible band."""

    times: Float[np.ndarray, "t"]
    median: Float[np.ndarray, "t"]
    low: Float[np.ndarray, "t"]
    high: Float[np.ndarray, "t"]


@dataclass(frozen=True)
class Explanation:
    """What was found for a series; `record` is what was explained, logarithms where `log` says so."""

    record: Record
    log: bool
    scale: Scale
    found: list[Found]
    knowledge: Knowledge
    log_evidence: float
    """log of the summed p(z, x) over the memory, in the user's units."""
    other: "Explanation | None" = None
    """The same series explained the other way, as it is or by its logarithm, where both were tried."""

    @property
    def scaled(self) -> bool:
        """Returns whether every term has a variance of its own."""
        return bool(self.knowledge.notes["settings"]["scaled"])

    @property
    def programs(self) -> list[Program]:
        """Returns the expressions, the most probable first."""
        weights = posterior(self.found)
        return [
            Program(text_of(np.asarray(f.z.tokens).tolist()), float(w), f.log_joint)
            for f, w in zip(self.found, weights, strict=True)
        ]

    def _given(self, times: Float[np.ndarray, "t"], record: Record | None = None) -> Conditions:
        seen = record or self.record
        values = (seen.values - self.scale.mean) / self.scale.deviation
        return Conditions(self.scale.time(seen.times), values, self.scale.time(times))

    def predict(self, times: Float[np.ndarray, "t"], record: Record | None = None) -> Mixture:
        """Returns the distribution of a new value at each time, given what was observed, in the user's own values.

        Another record of the same series, longer than what was searched, may be given to condition on.
        """
        kept = self.mixed()
        seen = record or self._user_record()
        made = [e._ahead(times, seen, [(f, w) for of, f, w in kept if of is e]) for e in self._ways()]
        joined = (np.concatenate(a) for a in zip(*[m for m in made if m is not None], strict=True))
        return Mixture(*joined)

    def mixed(self) -> list[tuple["Explanation", Found, float]]:
        """Returns programs and tempered weights of the predictive mixture, over raw and log values if both were fitted.

        No program is quite true, and with many points the posterior is sure of the least untrue. So its logarithm is
        multiplied by c / (c + n), as if a series of n points had at most c (a coarsened posterior: Miller and Dunson,
        2019).
        """
        every = [
            (e, f, f.log_joint + e.log_evidence - _total(e.found))
            for e in self._ways()
            for f in e.found[:MOST_PROGRAMS]
        ]
        score = np.array([s for _, _, s in every])
        weight = np.exp((score - score.max()) * EFFECTIVE_POINTS / (EFFECTIVE_POINTS + len(self.record.times)))
        kept = np.flatnonzero(weight >= LEAST_WEIGHT * weight.sum())
        return [(*every[i][:2], float(weight[i] / weight[kept].sum())) for i in kept]

    def _ways(self) -> list["Explanation"]:
        return [self] if self.other is None else [self, self.other]

    def _user_record(self) -> Record:
        return self.record._replace(values=np.exp(self.record.values)) if self.log else self.record

    def _ahead(self, times: Float[np.ndarray, "t"], record: Record, kept: list[tuple[Found, float]]) -> Mixture | None:
        """Returns the mixture over the programs of this explanation alone; None where it has none."""
        if not kept:
            return None
        seen = record._replace(values=np.log(record.values)) if self.log else record
        weights = np.array([w for _, w in kept])
        drawn = mixture([f.z for f, _ in kept], weights, self._given(times, seen), self.scaled)
        mean, deviation = self.scale.value(drawn.mean), self.scale.deviation * drawn.deviation
        return Mixture(drawn.weight, mean, deviation, drawn.log | self.log)

    def future(self, share: float = AHEAD_SHARE) -> Float[np.ndarray, "t"]:
        """Returns times beyond the last, at the median distance."""
        step = float(np.median(np.diff(self.record.times)))
        count = max(1, round(share * len(self.record.times)))
        return self.record.times[-1] + step * np.arange(1, count + 1)

    def outlook(self, share: float = AHEAD_SHARE) -> "Outlook":
        """Returns the median and the credible band beyond the last time, in the user's own values."""
        times = self.future(share)
        ahead = self.predict(times)
        return Outlook(times, *map(ahead.quantile, (0.5, (1 - BAND_PROBABILITY) / 2, (1 + BAND_PROBABILITY) / 2)))


def explain(
    record: Record,
    knowledge: Knowledge,
    effort: Effort | None = None,
    points: int = 256,
    transform: str = "auto",
    seed: int = 0,
    report: Callable[[int], None] = lambda done: None,
) -> Explanation:
    """Explains a tidy record; with `transform` auto, its values or their logarithm, whichever is more probable."""
    require_one_of("transform", transform, TRANSFORM_NAMES)
    short = shorten(record, points)
    positive = short.values.min() > 0
    varied = positive and short.values.max() > LEAST_RATIO_FOR_LOG_KERNELS * short.values.min()
    tries = {"none": [False], "log": [True], "auto": [False, True] if varied else [False]}[transform]
    made = [_explain(short, log, knowledge, effort or Effort(), seed, report) for log in tries]
    best, *others = sorted(made, key=lambda e: -e.log_evidence)
    return replace(best, other=others[0]) if others else best


def explain_by(
    record: Record,
    knowledge: Knowledge,
    starts: Callable[[list[float]], list[Kernel]],
    visits: int = 3,
) -> Explanation:
    """Explains a record by one expression alone, the best of the fits that begin at `starts(log-periods)`."""
    x, model = _prepare(record, knowledge, Effort())
    begun = starts(peaks(x))
    found = best_fits(model, x, begun, visits)[:1]
    return Explanation(record, False, scale_of(record), found, knowledge, _evidence(found, record, False))


def _explain(
    record: Record, log: bool, knowledge: Knowledge, effort: Effort, seed: int, report: Callable[[int], None]
) -> Explanation:
    seen = record._replace(values=np.log(record.values)) if log else record
    x, model = _prepare(seen, knowledge, effort)
    found = search(jax.random.key(seed), model, x, effort, report)
    return Explanation(seen, log, scale_of(seen), found, knowledge, _evidence(found, seen, log))


def _prepare(seen: Record, knowledge: Knowledge, effort: Effort) -> tuple[Series, Model]:
    """Returns the series and the model for its kind of grid."""
    regular = is_even(seen.times)
    # Filled up to a multiple of some number of points, so that series of many lengths share what is compiled.
    size = PADDED_TO_POINTS[regular] * -(-len(seen.times) // PADDED_TO_POINTS[regular])
    x = jax.tree.map(lambda a: a[0], observe([seen], size))
    return x, fitted_to(knowledge.model, regular, effort.steps)


def _evidence(found: list[Found], seen: Record, log: bool) -> float:
    """Returns log p(x) of the user's values, by the sum over what was found."""
    stretched = len(seen.times) * float(np.log(scale_of(seen).deviation))
    return _total(found) - stretched - (float(seen.values.sum()) if log else 0.0)


def _total(found: list[Found]) -> float:
    """Returns log of the summed p(z, x), in the model's units."""
    return float(np.logaddexp.reduce([f.log_joint for f in found]))
