"""Columns of a catalogue that some values would fit, ranked by how probably their programs write such values."""

import heapq
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wakesleep.data.tables import few_shot, read_table
from wakesleep.domains.contract import Explanation, Report, Rows, Standing, Table
from wakesleep.domains.strings.columns.records import UNREADABLE, from_record
from wakesleep.domains.strings.lake.store import rows_of
from wakesleep.errors import Refusal

MOST_VALUES_LIKE = 100
STRAY_SHARE = 0.02
"""The share of values that need not fit a column, so that one misspelling does not rule it out."""
STRAY_CHARACTERS = 128
"""A stray value is a sequence of characters and an end, each with the probability of one in this many."""
LEAST_SHARE_FITTING = 0.5
MOST_KEPT = 1000
PROGRAMS_CACHED = 4096


class Match(NamedTuple):
    """A column that some values would fit."""

    log_prob: float
    """The mean over the values of log p(value | column), in nats."""
    fitting: float
    """The share of the values that the column's programs can write."""
    file: str
    column: str
    description: str


@dataclass(frozen=True)
class Matches(Explanation):
    """The columns of a catalogue that values would fit, best first."""

    matches: tuple[Match, ...]
    values: int
    searched: int

    def rows(self, most: int = 5) -> Rows:
        """Returns one object for each of the best columns."""
        return [match._asdict() for match in self.matches[:most]]

    def table(self, most: int = 5, width: int = 80) -> list[Table]:
        """Returns the best columns with the share of values that fit, and how probable these are there."""
        shown: list[tuple[str, ...]] = [
            (m.file, m.column, m.description[:width], f"{100 * m.fitting:.0f} %", f"{m.log_prob:.1f}")
            for m in self.matches[:most]
        ]
        title = f"{len(self.matches):,} of {self.searched:,} columns fit {self.values:,} value" + "s" * (
            self.values != 1
        )
        return [Table(title, ("file", "column", "what it holds", "fit", "log p a value"), shown)]

    def code(self) -> int:
        """Returns 1 where no column fits."""
        return 0 if self.matches else 1


def like(catalogue: Path, values: Sequence[str], report: Report = lambda _: None) -> Matches:
    """Returns the columns that values would fit, by the mean of log p(value | column), highest first."""
    given = few_shot([value for value in values if value], MOST_VALUES_LIKE)
    if not given:
        raise Refusal("There is no value to look for: give some, or a column with --column FILE:NAME.")
    best: list[tuple[Match, int]] = []
    searched = 0
    for row in rows_of(catalogue):
        if row["programs"] is None:
            continue
        searched += 1
        match = _match(row, given, catalogue)
        if match.fitting >= LEAST_SHARE_FITTING:
            heapq.heappush(best, (match, -searched))
            if len(best) > MOST_KEPT:
                heapq.heappop(best)
        report(Standing(searched, 0, "columns"))
    return Matches(tuple(match for match, _ in sorted(best, reverse=True)), len(given), searched)


def _match(row: dict[str, Any], values: list[str], catalogue: Path) -> Match:
    try:
        score = _scores(row["programs"])
        found = [score(value) for value in values]
    except UNREADABLE as error:
        raise Refusal(f"{catalogue} is damaged, or of another version ({str(error)[:100]}): make it anew.") from None
    fitting = sum(log_p > -math.inf for log_p in found) / len(found)
    total = sum(map(_with_strays, found, values))
    return Match(total / len(found), fitting, str(row["file"]), str(row["column"]), str(row["description"]))


def _with_strays(log_p: float, value: str) -> float:
    """Returns log((1 - s) p(value) + s q(value)), where s is the share of strays and q their distribution."""
    stray = math.log(STRAY_SHARE) - (len(value) + 1) * math.log(STRAY_CHARACTERS)
    return float(np.logaddexp(math.log1p(-STRAY_SHARE) + log_p, stray))


@lru_cache(maxsize=PROGRAMS_CACHED)
def _scores(programs: str) -> Callable[[str], float]:
    """Returns the log-probability of a value under a column's programs, which are a mixture."""
    parts = [(math.log(weight), from_record(record)) for weight, record in json.loads(programs)]

    def score(value: str) -> float:
        return float(np.logaddexp.reduce([log_w + program.log_prob(value) for log_w, program in parts]))

    return score


def column_values(reference: str) -> list[str]:
    """Returns the values of a column, given as FILE:NAME; both may have colons in them."""
    places = [i for i, c in enumerate(reference) if c == ":"]
    for place in places:
        if Path(reference[:place]).is_file():
            found = read_table(reference[:place], rows="sample", column=reference[place + 1 :])
            return found.columns[0].present
    raise Refusal(f"{reference!r} names no column: write FILE:NAME, such as orders.csv:order.")
