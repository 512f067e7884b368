"""What is to be said of an explained series: which parts it has, how large they are, and when it changed."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.explain.decomposition import leading
from wakesleep.domains.timeseries.explain.explained import Explained
from wakesleep.domains.timeseries.statespace.posterior import Group

LEAST_PART_PROBABILITY = 0.5
"""A part is named where the programs that have it weigh at least this much."""
LEAST_WANDERING = 0.6
"""A level wanders where it leaves a straight line by this many typical surprises."""
LEAST_LINE_SIGMAS, LEAST_DRIFT_SIGMAS = 4.5, 3.0
"""A line is named where its slope is this many standard errors from none, a drift where it is likewise for a walk."""
LEAST_TURN_SURPRISES = 2.0
LEAST_GROWTH = 1.3
"""Swings are said to grow with a level that changes by at least this factor."""
LEAST_ECHO_SHARE = 0.1
LEAST_SEASON_RATIO = 2.0
"""A season is named where its effects vary this many times as much as noise would make them."""
LEAST_ALIKE = 0.5
"""The least correlation between a calendar's season and itself a round later."""


class SeasonFact(NamedTuple):
    """A season: its length in steps, its probability, its share of the variance, and its effects by phase."""

    length: float | int
    probability: float
    share: float
    high: int
    """The index of a time at which it is highest."""
    low: int
    high_effect: float
    low_effect: float
    changing: bool


@dataclass(frozen=True)
class Facts:
    """Everything that sentences are made of; sizes are in logarithms where `log`."""

    log: bool
    log_probability: float
    seasons: tuple[SeasonFact, ...]
    wandering: bool
    wander_share: float
    trending: bool
    slope: float
    """Mean change of the trend for each step, without shifts."""
    start: float
    end: float
    """The trend at both ends, in the user's values."""
    turn: int | None
    """The index of the latest turn of a level that wanders."""
    echo: float
    """The coefficient of an autoregression that is named, else 0."""
    surprise: float
    """The typical size of what a step brings that was not foreseen."""
    shifts: tuple[tuple[int, float], ...]
    """Indices, and sizes in the units of the parts."""
    bends: tuple[tuple[int, float, float], ...]
    """Indices, and the slopes before and after."""
    outliers: tuple[int, ...]

    @property
    def growing(self) -> bool:
        """Returns whether seasonal swings grow or shrink with the level."""
        ratio = max(self.start, self.end) / max(min(self.start, self.end), 1e-300)
        return self.log and bool(self.seasons) and ratio > LEAST_GROWTH


def facts_of(e: Explained) -> Facts:
    """Returns what the mixture says of a series."""
    d = e.parts
    trend, t = d.parts.mean[0], d.positions
    group, m, weight = leading(e.posterior)
    top = int(np.argmax(weight))
    scale = float(np.sqrt(group.filtered.squares[m, top] / len(e.posterior.observed.positions)))
    surprise = _surprise(group, top) * scale
    indices = {kind: _indices(e, kind) for kind in ("shift", "bend", "outlier")}
    line, slope, jumps, bends = _line(t, trend, indices["shift"], indices["bend"])
    wander = float(np.std(trend - line))
    wandering = wander > LEAST_WANDERING * surprise
    walk = float(np.sqrt(group.atoms.level_walk[top])) * scale
    back = np.exp if d.log else np.asarray
    return Facts(
        log=d.log,
        log_probability=float(sum(e.posterior.weight[k].sum() for k, log in enumerate(e.posterior.logs) if log)),
        seasons=tuple(_season(e, k) for k in range(len(d.seasons)) if _clear(e, k, surprise)),
        wandering=wandering,
        wander_share=_share(trend - line, e),
        trending=_trending(t, slope, surprise, walk if wandering else 0.0)
        and (bool(jumps or bends) or slope * float(trend[-1] - trend[0]) > 0),
        slope=slope,
        start=float(back(trend[0])),
        end=float(back(trend[-1])),
        turn=_turn(trend, LEAST_TURN_SURPRISES * surprise) if wandering else None,
        echo=float(group.atoms.echo[top]) if _share(d.parts.mean[-1], e) > LEAST_ECHO_SHARE else 0.0,
        surprise=surprise,
        shifts=jumps,
        bends=bends,
        outliers=tuple(indices["outlier"]),
    )


def _surprise(group: Group, top: int) -> float:
    """Returns the deviation of what a step brings, in scales: one, and what a season forgets until it comes again."""
    a, brought = group.atoms, 1.0
    for season in group.seasons:
        steps = season.length if season.single else 1.0
        brought += float(a.season_walk[top] * steps + a.season_prior[top] * (1 - a.season_memory[top] ** (2 * steps)))
    return float(np.sqrt(brought))


def _indices(e: Explained, kind: str) -> list[int]:
    """Returns the places of changes of a kind among the positions of the parts."""
    positions = e.posterior.observed.positions
    return [int(np.searchsorted(e.parts.positions, positions[c.place])) for c in e.changes if c.kind == kind]


def _line(
    t: Float[np.ndarray, "n"], trend: Float[np.ndarray, "n"], shifts: list[int], bends: list[int]
) -> tuple[Float[np.ndarray, "n"], float, tuple, tuple]:
    """Returns the straight line nearest to the trend, with its steps and bends where the series has any."""
    columns = [np.ones_like(t), t - t[0], *((t >= t[i]).astype(float) for i in shifts)]
    columns += [np.maximum(t - t[i], 0.0) for i in bends]
    basis = np.stack(columns, axis=1)
    found = np.linalg.lstsq(basis, trend, rcond=None)[0]
    jumps = tuple((i, float(trend[i] - trend[i - 1])) for i in shifts)
    slopes = np.cumsum([found[1], *found[2 + len(shifts) :]])
    changes = tuple((i, float(slopes[k]), float(slopes[k + 1])) for k, i in enumerate(bends))
    return basis @ found, float(found[1]), jumps, changes


def _trending(t: Float[np.ndarray, "n"], slope: float, surprise: float, walk: float) -> bool:
    """Returns whether the slope is more than noise, or the steps of a walk, would make of none."""
    n, span = len(t), float(t[-1] - t[0])
    if walk:
        return bool(abs(slope) * span > LEAST_DRIFT_SIGMAS * walk * np.sqrt(span))
    return bool(abs(slope) * span * np.sqrt(n / 12) > LEAST_LINE_SIGMAS * surprise)


def _share(part: Float[np.ndarray, "n"], e: Explained) -> float:
    """Returns the share of the series' variance that a part has."""
    seen = e.observed_values()
    seen = np.log(seen) if e.parts.log else seen
    return float(min(np.var(part) / max(np.nanvar(seen), 1e-300), 1.0))


def _clear(e: Explained, k: int, surprise: float) -> bool:
    """Returns whether the effects of a season are more than what noise makes of none."""
    part, effects = e.parts.parts.mean[1 + k], e.parts.seasons[k].effects
    by_chance = surprise**2 * max(1, effects - 1) / len(e.posterior.observed.positions)
    return float(np.var(part)) > LEAST_SEASON_RATIO * by_chance and _repeats(e, k)


def _repeats(e: Explained, k: int) -> bool:
    """Returns whether a calendar's season is alike from one round to the next; one that is forgotten is but noise."""
    season, part = e.parts.seasons[k], e.parts.parts.mean[1 + k]
    lag = int(season.length)
    if not season.single or len(part) <= 2 * lag:
        return True
    return float(np.corrcoef(part[lag:], part[:-lag])[0, 1]) > LEAST_ALIKE


def _season(e: Explained, k: int) -> SeasonFact:
    """Returns what is to be said of a season; effects are those of its latest round."""
    d = e.parts
    season, part = d.seasons[k], d.parts.mean[1 + k]
    recent = np.flatnonzero(d.positions > d.positions[-1] - season.length)
    high, low = recent[np.argmax(part[recent])], recent[np.argmin(part[recent])]
    starts = np.cumsum([0, *(len(g.atoms) for g in e.posterior.groups)])
    weight = [
        e.posterior.weight[:, starts[g] : starts[g + 1]].sum()
        for g, group in enumerate(e.posterior.groups)
        if any(s.length == season.length for s in group.seasons)
    ]
    group, _, of_atoms = leading(e.posterior)
    moving = (group.atoms.season_walk > 0) | (group.atoms.season_memory < 1)
    changing = of_atoms[moving].sum() > LEAST_PART_PROBABILITY * of_atoms.sum()
    effects = float(part[high]), float(part[low])
    return SeasonFact(season.length, float(sum(weight)), _share(part, e), int(high), int(low), *effects, bool(changing))


def _turn(trend: Float[np.ndarray, "n"], least: float) -> int | None:
    """Returns the index of the latest high or low from which the trend has since moved by `least`."""
    high = low = len(trend) - 1
    for i in range(len(trend) - 1, -1, -1):
        high, low = (i if trend[i] > trend[high] else high), (i if trend[i] < trend[low] else low)
        for extreme, sign in ((high, 1), (low, -1)):
            since, before = trend[extreme] - trend[-1], trend[extreme] - trend[i]
            if i < extreme < len(trend) - 1 and sign * since > least and sign * before > least:
                return extreme
    return None
