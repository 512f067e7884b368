"""Contracts drafted from a table, with the share of false alarms that their rules are expected to raise.

The rows are split into halves, at random and in order, rules are drafted from each and tried on the other: a column has
the first rule of its ladder, from narrow to wide, whose alarms are few in both, and those alarms are what is stated,
in order with what other tables show beyond such trials.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from wakesleep.data.tables import Table
from wakesleep.domains.contract import Report, Standing
from wakesleep.domains.strings.columns.characters import covering
from wakesleep.domains.strings.columns.checks import Checked
from wakesleep.domains.strings.columns.dates import Date
from wakesleep.domains.strings.columns.explanation import Explanation as Explained
from wakesleep.domains.strings.columns.wording import describe as describe_program
from wakesleep.domains.strings.table.contract import Contract, Expected
from wakesleep.domains.strings.table.description import Description, core, describe
from wakesleep.domains.strings.table.dialects import with_any_digits
from wakesleep.domains.strings.table.ranges import expected_range, moves, wider_ranges
from wakesleep.domains.strings.table.rules import NUMBER_REGEX, Rule, matching
from wakesleep.domains.strings.table.spelling import iso_form
from wakesleep.domains.strings.table.trials import (
    ALARM_AT_RANDOM,
    ALARM_IN_ORDER,
    BREAK_RATE,
    CHARACTERS_RULE,
    LESS_WITH_TWICE_THE_ROWS,
    WIDEST,
    Alarms,
    Ladder,
    ordered_halves,
    try_rules,
)
from wakesleep.errors import Refusal

LONGEST_FACTOR, MOST_COUNTED = 1.5, 255
NULL_DEVIATIONS = 4.0
Explain = Callable[[Sequence[str | None]], Explained]


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
    rules: dict[str, Rule] = {}
    at_random = Alarms(height, LESS_WITH_TWICE_THE_ROWS, ALARM_AT_RANDOM)
    in_order = Alarms(height, 1.0, ALARM_IN_ORDER, BREAK_RATE)
    differ = []
    for i, column in enumerate(table.columns):
        form = iso_form(column)
        whole = (known or {}).get(column.name) or describe(column.name, column.values, explain, form)

        def drafted(values: list[str | None], name: str = column.name, form: str = form) -> Ladder:
            return ladder_of(describe(name, values, explain, form), values)

        tried = try_rules(column, ladder_of(whole, column.values), drafted)
        name = tried.chosen(height, _errors(whole))
        own, asks = len(tried.own[name]), name != WIDEST
        at_random.add(tried.at_random[name], own, asks)
        rules[column.name] = replace(tried.ladder[name], alarms=in_order.add(tried.in_order[name], own, asks))
        if whole.explained is not None:
            differ.append(whole.explained.disagreement)
        report(Standing(i + 1, len(table.columns), column.name))
    differs = sum(differ) / len(differ) if differ else None
    return Contract(
        rules, title, height, Expected(in_order.of_rows, in_order.of_columns),
        Expected(at_random.of_rows, at_random.of_columns), differs=differs,
    )  # fmt: skip


def _errors(found: Description) -> set[int]:
    """Returns the rows, from zero, of the values that the full judgement takes for errors."""
    return {row for o in found.explained.outliers for row in o.rows} if found.explained is not None else set()


def ladder_of(found: Description, values: Sequence[str | None]) -> Ladder:
    """Returns rules for a column, the narrowest first."""
    present = [v for v in values if v and v not in found.missing]
    if not present:
        return {WIDEST: Rule()}
    plain = Rule(type=found.type, nulls=_nulls(found, values), missing=found.missing, unique=found.key)
    text = replace(plain, type="text", says="")
    ladder: Ladder = {"found": _narrow(found, plain, present)}
    if plain.numeric:
        wider = wider_ranges(_numbers(present), plain.type == "integer")
        ladder |= {name: replace(plain, low=low, high=high) for name, (low, high) in wider.items()}
        ladder["type"] = plain
    if ladder["found"].one_of is not None and (rule := text_rule(text, found.explained, closed=False)):
        ladder["open"] = rule
    ladder[CHARACTERS_RULE] = _characters(text, present)
    ladder[WIDEST] = text
    return ladder


def _narrow(found: Description, plain: Rule, present: list[str]) -> Rule:
    if plain.numeric:
        low, high = expected_range(_numbers(present), plain.type == "integer")
        return replace(plain, low=low, high=high)
    if plain.type in ("boolean", "category"):
        return replace(plain, one_of=tuple(sorted(set(present))))
    if plain.type == "date":
        return replace(plain, form=found.form)
    rule = text_rule(plain, found.explained)
    if rule is not None and rule.pattern and moves(present):
        return _moving(rule, found.explained)
    return rule or _characters(plain, present)


def _moving(rule: Rule, explained: Explained | None) -> Rule:
    """Returns a rule that stays true when the values of a column move on: as dates or times, else with any digits."""
    for entry in explained.posterior.entries if explained is not None else ():
        if isinstance(date := core(entry.program), Date):
            return replace(rule, pattern="", check_digits="", form=date.form, says=describe_program(entry.program))
    wider = with_any_digits(rule.pattern)
    return rule if wider == rule.pattern else replace(rule, pattern=wider, says=f"{rule.says} (with any digits)")


def _numbers(present: list[str]) -> list[float]:
    return [float(v) for v, ok in zip(present, matching(NUMBER_REGEX, present), strict=True) if ok]


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


def _nulls(found: Description, values: Sequence[str | None]) -> float:
    """Returns the share of nulls that is allowed in the whole and in each half in order, where it varies more."""
    marks = {None, "", *found.missing}
    counts = [(sum(values[i] in marks for i in half), len(half)) for half in ordered_halves(len(values)) if half]
    return max(null_limit(found.nulls, found.rows), *(null_limit(nulls, rows) for nulls, rows in counts))


def null_limit(nulls: int, rows: int) -> float:
    """Returns the share of nulls that is allowed: none where there were none, else a little more than was seen."""
    if not nulls:
        return 0.0
    share = nulls / rows
    limit = share + NULL_DEVIATIONS * math.sqrt(share * (1 - share) / rows) + 2 / rows
    return min(1.0, math.ceil(100 * limit) / 100)
