"""New tables checked against a contract: every row, a stretch at a time, in bounded memory."""

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from wakesleep.data.tables import Column, stream_columns
from wakesleep.domains.contract import Report, Standing
from wakesleep.domains.strings.table.contract import Contract
from wakesleep.domains.strings.table.repeats import Repeats
from wakesleep.domains.strings.table.rules import Rule
from wakesleep.domains.strings.table.spelling import respelled
from wakesleep.domains.strings.table.verdict import ROWS_NAMED, Fault, Verdict
from wakesleep.errors import Refusal

MOST_VALUES_LISTED = 1000
"""Different values of one column that are listed; all are counted."""
FEWEST_COMPARED = 5
"""Values by which alone a column is taken for one that is missing."""
MOST_FITTED_KEPT = 50_000
"""Values of one column that fitted and are not looked at again."""
VALUES_COMPARED, ALIKE_NAMES, ALIKE_VALUES = 500, 0.75, 0.95
STANDARD_INPUT = "-"


class Judged:
    """The values of one column, as far as they were read."""

    def __init__(self, name: str, rule: Rule):
        self.name, self.rule = name, rule
        self.rows = self.nulls = self.refused = self.unlisted = 0
        self.faults: dict[str | None, list[int]] = {}
        """For each value its number of rows, then the first of them."""
        self._known: set[str] = set()
        self.repeats = Repeats() if rule.unique else None

    def add(self, column: Column) -> set[int]:
        """Judges the next rows; returns the numbers of those that do not fit."""
        rule = self.rule
        if column.instants and rule.form:
            column = replace(column, values=respelled(column.values, rule.form))
        values = column.values
        fresh = set(values)
        nulls = fresh & {None, "", *rule.missing}
        fresh -= nulls
        fresh -= self._known
        bad: set[str | None] = set(rule.refused(fresh)) if fresh else set()  # type: ignore[arg-type]
        if len(self._known) < MOST_FITTED_KEPT:
            self._known |= fresh - bad  # type: ignore[arg-type]
        self.rows += len(values)
        self.nulls += sum(map(values.count, nulls))
        if self.repeats is not None:
            self.repeats.add([None if v in nulls else v for v in values] if nulls else values)
        if not rule.nulls:
            bad |= nulls
        return self._place(column, bad) if bad else set()

    def _place(self, column: Column, bad: set[str | None]) -> set[int]:
        found = set()
        for number, value in zip(column.numbers, column.values, strict=True):
            if value in bad:
                found.add(number)
                self._note(value, number)
        return found

    def _note(self, value: str | None, number: int) -> None:
        self.refused += 1
        rows = self.faults.get(value)
        if rows is None:
            if len(self.faults) >= MOST_VALUES_LISTED:
                self.unlisted += 1
                return
            rows = self.faults[value] = [0]
        rows[0] += 1
        if len(rows) <= ROWS_NAMED:
            rows.append(number)

    def absent(self, first: int, last: int) -> set[int]:
        """Judges rows of JSON lines that come before the column's name does: they have no value."""
        return (
            self.add(Column(self.name, [None] * (last - first + 1), range(first, last + 1))) if last >= first else set()
        )

    def result(self, again: Sequence[tuple[str | None, list[int]]]) -> list[Fault]:
        """Returns the faults, those of the most rows first; `again` are the values that repeat."""
        rule, tolerated = self.rule, self.refused <= self.rule.tolerate * self.rows
        order = sorted(self.faults.items(), key=lambda f: (-f[1][0], f[1][1]))
        found = [
            Fault(
                self.name, rule.why(value), rule.expected if value else "a value", value, rows[0], rows[1:], tolerated
            )
            for value, rows in order
        ]
        for value, places in again:
            found.append(Fault(self.name, "occurs again", "a value once", value, len(places), places[:ROWS_NAMED]))
        if rule.nulls and self.rows and self.nulls > rule.nulls * self.rows:
            share = f"{self.nulls / self.rows:.1%} of the rows are empty"
            found.append(Fault(self.name, share, f"at most {rule.nulls:.1%}"))
        return found


def check(contract: Contract, source: Any, report: Report = lambda _: None) -> Verdict:
    """Judges every row of a table; `source` is a path, "-" or a data frame."""
    states = {name: Judged(name, rule) for name, rule in contract.columns.items()}
    seen: dict[str, list[str | None]] = {}
    height = alarms = 0
    for columns in stream_columns(source):
        for column in columns:
            seen.setdefault(column.name, list(column.values[:VALUES_COMPARED]))
        height, flagged = _judge(states, columns, height)
        alarms += len(flagged)
        report(Standing(height, 0, "rows"))
    if not seen:
        raise Refusal("The table has no columns, so nothing can be checked.")
    if str(source) == STANDARD_INPUT and not seen.keys() & states.keys():
        raise Refusal("Standard input is read as lines of one column, `lines`, which the contract lacks: name a file.")
    faults = _column_faults(contract, seen)
    for name, state in states.items():
        if name in seen:
            repeats = _repeated(state, source)
            alarms += sum(len(rows) for _, rows in repeats)
            faults += state.result(repeats)
    unlisted = sum(s.unlisted for s in states.values())
    expected = contract.in_order.rows if contract.in_order is not None else None
    return Verdict(tuple(faults), height, min(alarms, height), unlisted, expected, contract.expected_rows)


def _judge(states: dict[str, Judged], columns: Iterable[Column], height: int) -> tuple[int, set[int]]:
    """Judges a stretch of rows; returns the rows read so far, and those of the stretch that do not fit."""
    flagged: set[int] = set()
    for column in columns:
        if column.name in states:
            state = states[column.name]
            flagged |= state.absent(state.rows + 1, height)
            flagged |= state.add(column)
        last = column.rows
    return (last if columns else height), flagged


def _repeated(state: Judged, source: Any) -> list[tuple[str | None, list[int]]]:
    """Returns the values of a column that repeat, read again from the table where that is possible."""
    if state.repeats is None:
        return []
    groups = state.repeats.found()
    state.repeats.close()
    if not groups or str(source) == STANDARD_INPUT:
        return [(None, rows) for rows in groups]
    wanted, values = {rows[0] for rows in groups}, dict[int, str | None]()
    for (column,) in stream_columns(source, columns=[state.name]):
        first, last = (column.numbers[0], column.numbers[-1]) if column.values else (1, 0)
        values |= {n: column.values[n - first] for n in wanted if first <= n <= last}
    return [(values[rows[0]], rows) for rows in groups]


def _column_faults(contract: Contract, seen: dict[str, list[str | None]]) -> list[Fault]:
    """Returns what is wrong with the names of the columns: missing, renamed, repeated, new."""
    missing = [name for name in contract.columns if name not in seen]
    repeated = {name: base for name in seen if name not in contract.columns and (base := _base(name)) in seen}
    new = [name for name in seen if name not in contract.columns and name not in repeated]
    found = [Fault(base, "two columns have this name", "each name once") for base in repeated.values()]
    for name in missing:
        other = _renamed(name, contract.columns[name], {n: seen[n] for n in new})
        new = [n for n in new if n != other]
        why = "the column is missing" + (f"; it may now be called {other!r}" if other else "")
        found.append(Fault(name, why, f"a column {name!r}"))
    if not contract.new_columns:
        found += [Fault(name, "the column is new", "the columns of the contract") for name in new]
    return found


def _base(name: str) -> str:
    """Returns the name that the reader numbered since it repeats; nothing where it is no such."""
    base = re.sub(r"(?: \([0-9]+\)|_[0-9]+)$", "", name)
    return base if base != name else ""


def _renamed(name: str, rule: Rule, new: dict[str, list[str | None]]) -> str:
    """Returns the new column that a missing one may be called now, by its name or by its values, or nothing."""

    def likeness(other: str) -> float:
        return difflib.SequenceMatcher(None, _letters(name), _letters(other)).ratio()

    def fits(other: str) -> float:
        good = rule.matches(new[other])
        return sum(good) / len(good) if good else 0.0

    def enough(other: str) -> bool:
        narrow = rule.one_of is not None or bool(rule.pattern or rule.form)
        return (narrow and len(new[other]) >= FEWEST_COMPARED) or likeness(other) >= ALIKE_NAMES

    alike = [n for n in new if fits(n) >= ALIKE_VALUES and enough(n)]
    return max(alike, key=likeness, default="")


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()
