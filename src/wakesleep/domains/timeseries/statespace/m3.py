"""The series of the M3 competition, split into those that learn and those that test by a fixed hash of their names."""

import json
from functools import cache
from hashlib import sha256
from typing import NamedTuple

import numpy as np

from wakesleep.data import downloads

TESTED = {"monthly": 200, "quarterly": 100, "yearly": 100, "other": 0}
"""Of each period, the series whose names have the least SHA-256 digests are tested on, and learned from by nothing."""
SEASON_LENGTH = {"monthly": 12, "quarterly": 4, "yearly": 1, "other": 1}


class Competitor(NamedTuple):
    """One series of the competition, with its own split in time."""

    name: str
    period: str
    past: np.ndarray
    future: np.ndarray

    @property
    def season(self) -> int:
        """Returns the number of steps of a year."""
        return SEASON_LENGTH[self.period]

    @property
    def naive_scale(self) -> float:
        """Returns the mean absolute change over a season, the unit of MASE."""
        return float(np.abs(self.past[self.season :] - self.past[: -self.season]).mean())


@cache
def every(period: str) -> tuple[Competitor, ...]:
    """Returns the series of a period in the order of their digests."""
    lines = downloads.find("m3/series.jsonl").read_text().splitlines()
    rows = [r for r in map(json.loads, lines) if r["period"] == period]
    rows.sort(key=lambda r: sha256(r["id"].encode()).hexdigest())
    return tuple(Competitor(r["id"], period, np.array(r["train"]), np.array(r["test"])) for r in rows)


def tested(period: str) -> tuple[Competitor, ...]:
    """Returns the series that tables report."""
    return every(period)[: TESTED[period]]


def learned_from(period: str) -> tuple[Competitor, ...]:
    """Returns the series that the library is learned from and settings are chosen on."""
    return every(period)[TESTED[period] :]
