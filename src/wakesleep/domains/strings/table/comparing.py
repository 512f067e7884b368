"""Two tables compared: columns that came or went, and changes of type, pattern, values, range, nulls."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wakesleep.data.tables import Table, read_table
from wakesleep.domains.contract import Explanation, Report, Rows, Standing
from wakesleep.domains.contract import Table as Shown
from wakesleep.domains.strings.columns.explanation import explain
from wakesleep.domains.strings.table.description import Description, describe
from wakesleep.domains.strings.table.drafting import ladder_of
from wakesleep.domains.strings.table.rules import Rule
from wakesleep.domains.strings.table.spelling import iso_form
from wakesleep.domains.strings.table.trials import MOST_ALARMS, ONE_ALARM, WIDEST
from wakesleep.domains.strings.table.verdict import cut, escaped, visible
from wakesleep.errors import Refusal

MOST_NAMED = 5
NULL_DEVIATIONS_COMPARED = 5.0


@dataclass(frozen=True)
class Change:
    """What changed of a column."""

    column: str
    what: str
    old: str
    new: str


@dataclass(frozen=True)
class Compared(Explanation):
    """The changes from one table to another."""

    changes: tuple[Change, ...]
    columns: int

    def code(self) -> int:
        """Returns 1 where something changed."""
        return int(bool(self.changes))

    def rows(self, most: int = 5) -> Rows:
        """Returns one object for each change."""
        return [{"column": c.column, "what": c.what, "old": c.old, "new": c.new} for c in self.changes]

    def table(self, most: int = 5, width: int = 80) -> list[Shown]:
        """Returns the changes."""
        changed = len({c.column for c in self.changes})
        title = f"{changed} of {self.columns} columns changed."
        shown: list[tuple[str, ...]] = [
            (cut(visible(c.column)), c.what, cut(c.old, 80), cut(c.new, 80)) for c in self.changes
        ]
        if not shown:
            return [Shown(title, ("changed",), [("nothing",)])]
        return [Shown(title, ("column", "what changed", "old", "new"), shown)]


def compare(old: Any, new: Any, report: Report = lambda _: None) -> Compared:
    """Compares two tables by a sample of the rows of each."""
    tables = read_table(old, rows="sample"), read_table(new, rows="sample")
    for which, table in zip(("old", "new"), tables, strict=True):
        if not table.rows:
            raise Refusal(f"The {which} table has no rows, so nothing can be compared.")
    names = list(dict.fromkeys(tables[0].names + tables[1].names))
    changes: list[Change] = []
    for i, name in enumerate(names):
        if name not in tables[1].names:
            changes.append(Change(name, "the column went", "there", "missing"))
        elif name not in tables[0].names:
            changes.append(Change(name, "the column came", "missing", "there"))
        else:
            changes += _changes(name, tables)
        report(Standing(i + 1, len(names), name))
    return Compared(tuple(changes), len(names))


def _changes(name: str, tables: tuple[Table, Table]) -> list[Change]:
    columns = [t[name] for t in tables]
    found = [describe(name, c.values, explain, iso_form(c)) for c in columns]
    changes = [*_nulls(name, found)]
    if not all(f.distinct for f in found):
        return changes
    if found[0].type != found[1].type and {f.type for f in found} != {"text", "category"}:
        return [*changes, Change(name, "type", found[0].type, found[1].type)]
    rules = [_rule(f, c.values) for f, c in zip(found, columns, strict=True)]
    if found[0].type == found[1].type == "date" and found[0].form == found[1].form:
        return changes + _dates(name, found)
    news = _news(rules[0], columns[1].values)
    few = 0 if rules[0].one_of is not None else ONE_ALARM + MOST_ALARMS * len(columns[1].values)
    if sum(news.values()) <= few:
        return changes
    what = "range" if rules[0].numeric else "values" if rules[0].one_of is not None else "pattern"
    named = ", ".join(f"`{cut(escaped(v))}`" for v, _ in news.most_common(MOST_NAMED))
    more = f" and {len(news) - MOST_NAMED} more" if len(news) > MOST_NAMED else ""
    now = f"; now {visible(rules[1].expected)}" if rules[1].expected != rules[0].expected else ""
    share = sum(news.values()) / len(columns[1].present)
    return [*changes, Change(name, what, visible(rules[0].expected), f"{share:.2%} of the rows: {named}{more}{now}")]


def _rule(found: Description, values: Sequence[str | None]) -> Rule:
    """Returns the narrowest rule that hardly any of the column's own values break."""
    ladder = ladder_of(found, values)
    for rule in ladder.values():
        if sum(_news(rule, values).values()) <= MOST_ALARMS * len(values):
            return rule
    return ladder[WIDEST]


def _news(rule: Rule, values: Sequence[str | None]) -> Counter[str]:
    """Returns the values that a rule refuses, with how often they occur."""
    counts = Counter(v for v in values if v and v not in rule.missing)
    bad = rule.refused(set(counts))
    return Counter({v: k for v, k in counts.items() if v in bad})


def _nulls(name: str, found: list[Description]) -> list[Change]:
    old, new = (f.null_share for f in found)
    rows = max(min(f.rows for f in found), 1)
    deviation = (max(old * (1 - old), new * (1 - new)) / rows) ** 0.5
    if abs(old - new) <= NULL_DEVIATIONS_COMPARED * deviation:
        return []
    return [Change(name, "nulls", f"{old:.1%}", f"{new:.1%}")]


def _dates(name: str, found: list[Description]) -> list[Change]:
    old, new = ((str(f.low), str(f.high)) for f in found)
    return [Change(name, "range", " to ".join(old), " to ".join(new))] if new[0] < old[0] or new[1] > old[1] else []
