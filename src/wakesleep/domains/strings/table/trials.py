"""Rules tried on rows that they were not drafted from, and the alarms to expect of them.

Two splits of the rows into halves are tried, each half judged by the rules of the other: one at random, which tells
of rows drawn like those of the table, and one in the table's order, which tells of the rows before and after them.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wakesleep.data.tables import Column
from wakesleep.domains.strings.table.checking import Judged
from wakesleep.domains.strings.table.rules import Rule

WIDEST, CHARACTERS_RULE = "any", "characters"
"""The last rule of a ladder, which asks for nothing of a text, and the one before it."""
MOST_ALARMS, ONE_ALARM = 0.005, 1
"""Share of rows, beside one, that a rule may refuse; one that refuses more makes room for a wider one."""
LESS_WITH_TWICE_THE_ROWS = 2**-0.5
"""Factor of the rate of alarms at random when a rule is drafted from twice as many rows: between that of errors that
are always there (1) and that of extremes (1/2); no data were looked at to choose it. In order nothing is taken off:
what moves on goes on moving."""
ALARM_AT_RANDOM, ALARM_IN_ORDER = 1 / 3, 1 / 2
"""The chance of an alarm in a column is (halves with one + this) / (halves + 1): settled on every second table of
`benchmarks/contract.py`, at random on a split that it does not report."""
BREAK_RATE = 0.004
"""Share of the rows of a column that are refused, beyond its own trial, when a table goes on in its order: a list that
was whole so far, a range of another age. Half of a table seldom shows it, so it is what other tables do: the mean over
public tables that no table of results has (`benchmarks/breaks.py`)."""
Ladder = dict[str, Rule]
Split = tuple[Sequence[int], Sequence[int]]


@dataclass
class Outcome:
    """What a rule refused in both halves of a split, drafted from the other half each time."""

    rows: set[int]
    """The rows, from zero, that were refused."""
    halves: list[bool]
    """For each half, whether anything in it was refused."""


@dataclass
class Tried:
    """A column's ladder, the narrowest rule first, and what each rule refuses."""

    ladder: Ladder
    own: dict[str, set[int]]
    """The rows refused of those that the rule was drafted from."""
    at_random: dict[str, Outcome]
    in_order: dict[str, Outcome]

    def chosen(self, rows: int, errors: set[int]) -> str:
        """Returns the name of the first rule of few alarms beside known errors, else of the widest."""
        few = ONE_ALARM + MOST_ALARMS * rows

        def most(name: str) -> int:
            sets = (self.own[name], self.at_random[name].rows, self.in_order[name].rows)
            return max(len(refused - errors) for refused in sets)

        return next((name for name in self.ladder if most(name) <= few), WIDEST)


def try_rules(column: Column, ladder: Ladder, drafted: Callable[[list[str | None]], Ladder]) -> Tried:
    """Tries a column's rules; `drafted` makes the ladder of some of its values."""
    height = len(column.values)
    everything = Column(column.name, column.values, range(height))
    own = {name: Judged(column.name, rule).add(everything) for name, rule in ladder.items()}
    splits = (_try(column, ladder, drafted, split) for split in (random_halves(height), ordered_halves(height)))
    return Tried(ladder, own, *splits)


def random_halves(height: int) -> Split:
    """Returns the rows of two halves, drawn at random with a fixed seed."""
    rows = list(range(height))
    random.Random(0).shuffle(rows)
    return sorted(rows[: height // 2]), sorted(rows[height // 2 :])


def ordered_halves(height: int) -> Split:
    """Returns the rows of the first and of the last half."""
    return range(height // 2), range(height // 2, height)


def _try(column: Column, ladder: Ladder, drafted: Callable[[list[str | None]], Ladder], halves: Split) -> dict:
    found = {name: Outcome(set(), []) for name in ladder}
    if not halves[0]:
        return found
    for half, other in (halves, halves[::-1]):
        others = drafted([column.values[i] for i in half])
        later = Column(column.name, [column.values[i] for i in other], other)
        for name in ladder:
            state = Judged(column.name, others.get(name) or others.get(CHARACTERS_RULE) or others[WIDEST])
            rows = state.add(later)
            repeats = state.repeats.found() if state.repeats is not None else []
            if state.repeats is not None:
                state.repeats.close()
            found[name].rows |= rows | {other[r - 1] for group in repeats for r in group}
            found[name].halves.append(bool(rows or repeats or state.result([])))
    return found


class Alarms:
    """The alarms to expect, column by column; a rate of k in n is (k + 1/2) / (n + 1), after Jeffreys.

    To it comes the share of rows that other tables refuse where the trial of a column shows nothing.
    """

    def __init__(self, height: int, factor: float, prior: float, breaks: float = 0.0):
        self.height, self.factor, self.prior, self.breaks = height, factor, prior, breaks
        self.rates: list[float] = []
        self.chances: list[float] = []
        self.rows: set[int] = set()
        self.counted = 0
        self.broken = 0.0

    def add(self, outcome: Outcome, own: int, asks: bool) -> float:
        """Adds the rule of a column; returns the share of rows that it is expected to refuse."""
        self.rows |= outcome.rows
        self.counted += len(outcome.rows)
        self.chances.append((sum(outcome.halves) + self.prior) / (len(outcome.halves) + 1) if asks else 0.0)
        rate = self.factor * (len(outcome.rows) + 0.5) / (self.height + 1) if asks else 0.0
        self.rates.append(max(rate, own / self.height))
        self.broken += asks * self.breaks
        return self.rates[-1] + asks * self.breaks

    @property
    def of_rows(self) -> float:
        """The share of rows with an alarm: the sum of the columns, as far as theirs were not in the same rows."""
        overlap = len(self.rows) / self.counted if self.counted else 1.0
        return 1 - math.exp(-overlap * sum(self.rates) - self.broken)

    @property
    def of_columns(self) -> float:
        """The share of columns with an alarm, in as many rows."""
        return sum(self.chances) / len(self.chances)
