"""Contracts drafted from a table, with the share of false alarms that their rules are expected to raise.

The rows are split at random into halves, rules are drafted from each and tried on the other: a column has the first
rule of its ladder, from narrow to wide, whose alarms are few, and the alarms of the chosen rules are what is stated.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from wakesleep.data.tables import Column, Table
from wakesleep.domains.contract import Report, Standing
from wakesleep.domains.strings.columns.characters import covering
from wakesleep.domains.strings.columns.checks import Checked
from wakesleep.domains.strings.columns.dates import Date
from wakesleep.domains.strings.columns.explanation import Explanation as Explained
from wakesleep.domains.strings.columns.wording import describe as describe_program
from wakesleep.domains.strings.table.checking import Judged
from wakesleep.domains.strings.table.contract import Contract
from wakesleep.domains.strings.table.description import Description, core, describe
from wakesleep.domains.strings.table.ranges import expected_range
from wakesleep.domains.strings.table.rules import NUMBER, Rule, matching
from wakesleep.errors import Refusal

MOST_ALARMS, ONE_ALARM = 0.005, 1
"""Share of rows, beside one, that a rule may refuse; one that refuses more makes room for a wider one."""
LESS_WITH_TWICE_THE_ROWS = 2**-0.5
"""Factor of the rate of alarms when a rule is drafted from twice as many rows: between that of errors that are
always there (1) and that of extremes (1/2); no data were looked at to choose it."""
LONGEST_FACTOR, MOST_COUNTED = 1.5, 255
NULL_DEVIATIONS = 4.0
WIDEST = "any"
"""The last rule of a ladder, which asks for nothing of a text."""
Ladder = dict[str, Rule]
Explain = Callable[[Sequence[str | None]], Explained]


@dataclass
class Tried:
    """A column's ladder, and for each rule the rows, from zero, that it refuses."""

    ladder: Ladder
    own: dict[str, set[int]]
    """Of the rows that it was drafted from."""
    refused: dict[str, set[int]]
    """Of each half, when drafted from the other."""
    halves: dict[str, list[bool]]
    """For each rule and half, whether anything in it was refused."""

    def chosen(self, rows: int, errors: set[int]) -> str:
        """Returns the name of the first rule of few alarms beside known errors, else of the widest."""
        few = ONE_ALARM + MOST_ALARMS * rows
        found = (n for n in self.ladder if max(len(self.refused[n] - errors), len(self.own[n] - errors)) <= few)
        return next(found, WIDEST)


def draft(
    table: Table,
    title: str,
    explain: Explain,
    report: Report = lambda _: None,
    known: dict[str, Description] | None = None,
) -> Contract:
    """Drafts the contract of a table; descriptions that are known already are used."""
    if not table.columns or not table.columns[0].values:
        raise Refusal(f"{title} has no rows, so no contract can be drafted from it.")
    height = len(table.columns[0].values)
    halves = _halves(height)
    rules: dict[str, Rule] = {}
    alarms = Alarms(height)
    differ = []
    for i, column in enumerate(table.columns):
        whole = (known or {}).get(column.name) or describe(column.name, column.values, explain)
        tried = _try(whole, column, halves, explain)
        name = tried.chosen(height, _errors(whole))
        rules[column.name] = replace(tried.ladder[name], alarms=alarms.add(tried, name))
        if whole.explained is not None:
            differ.append(whole.explained.disagreement)
        report(Standing(i + 1, len(table.columns), column.name))
    differs = sum(differ) / len(differ) if differ else None
    return Contract(rules, title, height, alarms.of_rows, alarms.of_columns, differs=differs)


class Alarms:
    """The alarms to expect, column by column; a rate of k in n is (k + 1/2) / (n + 1), after Jeffreys."""

    def __init__(self, height: int):
        self.height = height
        self.rates: list[float] = []
        self.chances: list[float] = []
        self.rows: set[int] = set()
        self.counted = 0

    def add(self, tried: "Tried", name: str) -> float:
        """Adds the chosen rule of a column; returns the share of rows that it is expected to refuse."""
        refused, halves, own = tried.refused[name], tried.halves[name], len(tried.own[name])
        self.rows |= refused
        self.counted += len(refused)
        self.chances.append((sum(halves) + 0.5) / (len(halves) + 1) if name != WIDEST else 0.0)
        rate = LESS_WITH_TWICE_THE_ROWS * (len(refused) + 0.5) / (self.height + 1) if name != WIDEST else 0.0
        self.rates.append(max(rate, own / self.height))
        return self.rates[-1]

    @property
    def of_rows(self) -> float:
        """The share of rows with an alarm: the sum of the columns, as far as theirs were not in the same rows."""
        overlap = len(self.rows) / self.counted if self.counted else 1.0
        return 1 - math.exp(-overlap * sum(self.rates))

    @property
    def of_columns(self) -> float:
        """The share of columns with an alarm, in as many rows."""
        return sum(self.chances) / len(self.chances)


def _errors(found: Description) -> set[int]:
    """Returns the rows, from zero, of the values that the full judgement takes for errors."""
    return {row for o in found.explained.outliers for row in o.rows} if found.explained is not None else set()


def _halves(height: int) -> list[list[int]]:
    rows = list(range(height))
    random.Random(0).shuffle(rows)
    cut = height // 2
    return [h for h in (sorted(rows[:cut]), sorted(rows[cut:])) if h]


def _try(whole: Description, column: Column, halves: list[list[int]], explain: Explain) -> Tried:
    """Drafts rules from each half and tries them on the other."""
    ladder = ladder_of(whole, column.values)
    everything = Column(column.name, column.values, range(len(column.values)))
    own = {name: Judged(column.name, rule).add(everything) for name, rule in ladder.items()}
    tried = Tried(ladder, own, {name: set() for name in ladder}, {name: [] for name in ladder})
    for half, other in _pairs(halves):
        values = [column.values[i] for i in half]
        others = ladder_of(describe(column.name, values, explain), values)
        later = Column(column.name, [column.values[i] for i in other], other)
        for name in ladder:
            state = Judged(column.name, others.get(name) or others.get("characters") or others[WIDEST])
            rows = state.add(later)
            repeats = state.repeats.found() if state.repeats is not None else []
            tried.refused[name] |= rows | {other[r - 1] for group in repeats for r in group}
            tried.halves[name].append(bool(rows or repeats or state.result([])))
    return tried


def _pairs(halves: list[list[int]]) -> Iterator[tuple[list[int], list[int]]]:
    if len(halves) == 2:
        yield halves[0], halves[1]
        yield halves[1], halves[0]


def ladder_of(found: Description, values: Sequence[str | None]) -> Ladder:
    """Returns rules for a column, the narrowest first."""
    plain = Rule(type=found.type, nulls=null_limit(found.nulls, found.rows), missing=found.missing, unique=found.unique)
    present = [v for v in values if v and v not in found.missing]
    if not present:
        return {WIDEST: Rule()}
    text = replace(plain, type="text", says="")
    ladder: Ladder = {"found": _narrow(found, plain, present)}
    if ladder["found"].numeric:
        ladder["type"] = plain
    if ladder["found"].one_of is not None and (rule := text_rule(text, found.explained, closed=False)):
        ladder["open"] = rule
    ladder["characters"] = _characters(text, present)
    ladder[WIDEST] = text
    return ladder


def _narrow(found: Description, plain: Rule, present: list[str]) -> Rule:
    if plain.numeric:
        spelled = matching(NUMBER, present)
        low, high = expected_range(
            [float(v) for v, ok in zip(present, spelled, strict=True) if ok], plain.type == "integer"
        )
        return replace(plain, low=low, high=high)
    if plain.type in ("boolean", "category"):
        return replace(plain, one_of=tuple(sorted(set(present))))
    if plain.type == "date":
        return replace(plain, form=found.form)
    return text_rule(plain, found.explained) or _characters(plain, present)


def text_rule(plain: Rule, explained: Explained | None, closed: bool = True) -> Rule | None:
    """Returns the rule of the first program, or the first that is no list; None where there is none to match by."""
    entries = explained.posterior.entries if explained is not None else ()
    entry = next((e for e in entries if closed or not e.closed), None)
    if entry is None:
        return None
    program, says = core(entry.program), describe_program(entry.program)
    try:
        if isinstance(program, Date):
            return replace(plain, form=program.form, says=says)
        if isinstance(program, Checked):
            return replace(plain, pattern=program.regex, check_digits=program.check, says=says)
        wider = "" if program.exact else " (the pattern is wider: days of the calendar or check digits are not checked)"
        return replace(plain, pattern=program.regex, says=says + wider)
    except Refusal:
        return None


def _characters(plain: Rule, present: list[str]) -> Rule:
    """Returns the rule of a text of the characters seen, letters and digits as classes, with a bound on its length."""
    seen = frozenset("".join(set(present)))
    longest = math.ceil(LONGEST_FACTOR * max(map(len, present)))
    one = covering(seen)[0].regex
    for count, rest in ((f"{{1,{longest}}}", None), ("+", longest)):
        if rest is not None or longest <= MOST_COUNTED:
            try:
                return replace(plain, pattern=one + count, longest=rest, says="characters as seen")
            except Refusal:
                continue
    return replace(plain, longest=longest)


def null_limit(nulls: int, rows: int) -> float:
    """Returns the share of nulls that is allowed: none where there were none, else a little more than was seen."""
    if not nulls:
        return 0.0
    share = nulls / rows
    limit = share + NULL_DEVIATIONS * math.sqrt(share * (1 - share) / rows) + 2 / rows
    return min(1.0, math.ceil(100 * limit) / 100)
