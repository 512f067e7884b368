"""All columns of a table: which are explained, which are passed over and why, and new data checked against them."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from wakesleep.core.memory import Weighted
from wakesleep.data.tables import Column, stream_columns
from wakesleep.domains.contract import Explanation, Report, Rows, Table
from wakesleep.domains.strings.data import in_alphabet
from wakesleep.domains.strings.explain.explanation import Cost, Pattern, explain
from wakesleep.domains.strings.explain.explanation import Explanation as Explained
from wakesleep.domains.strings.explain.knowledge import Knowledge
from wakesleep.domains.strings.explain.search import Effort
from wakesleep.domains.strings.language import program
from wakesleep.errors import Refusal, require_one_of

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
MOSTLY = 0.95
LONG, MANY_WORDS = 40, 4
SAMPLES, MOST_OUTLIERS = 5, 10
WORTH_SHOWING = 0.05
WIDE = 120
DRAWN = 64
"""New strings are drawn until here, to have some that each pattern allows."""


class Finding(NamedTuple):
    """A column: explained, or passed over for a reason; and values outside of the alphabet."""

    column: Column
    explanation: Explained | None
    reason: str
    foreign: list[str]


@dataclass(frozen=True)
class Survey(Explanation):
    """The columns of a table, each with what was found, and the saved form of it."""

    saved: Rows
    """One row a column, as JSON has it; computed once."""
    explained: dict[str, Explained]

    def rows(self, most: int = 5) -> Rows:
        """Returns the rows, all patterns of each."""
        return self.saved

    def table(self, most: int = 5, width: int = 80) -> list[Table]:
        """Returns the patterns of each column with new samples, in words where there is room."""
        wide = width >= WIDE
        shown: list[tuple[str, ...]] = []
        for row in self.saved:
            likely = [p for i, p in enumerate(row["patterns"][:most]) if i == 0 or p["probability"] >= WORTH_SHOWING]
            for i, p in enumerate(likely):
                said = (p["description"],) if wide else ()
                seen = ", ".join(p["samples"][:3])
                shown.append(("" if i else row["column"], f"{100 * p['probability']:.0f} %", p["regex"], *said, seen))
            for note in _notes(row):
                shown.append(("" if likely else row["column"], "", note, *([""] * (1 + wide))))
        return [Table("columns", ("column", "", "pattern", *(("in words",) if wide else ()), "new samples"), shown)]

    def export(self, form: str) -> str:
        """Returns a schema for another tool."""
        from wakesleep.domains.strings.explain.exports import EXPORTS

        require_one_of("export", form, tuple(EXPORTS))
        return EXPORTS[form](self.explained)

    def check(self, path: str, share: float, report: Report = lambda _: None) -> Rows:
        """Returns the values of a new table that are not accepted."""
        return [v._asdict() for v in check((c for part in stream_columns(path) for c in part), self.explained, share)]


def survey(
    columns: Sequence[Column],
    knowledge: Knowledge,
    effort: Effort | None = None,
    seed: int = 0,
    report: Callable[[Column], None] = lambda column: None,
) -> Survey:
    """Explains each column, in their order."""
    found = []
    for column in columns:
        reason = passed_over(column)
        foreign = [v for v in dict.fromkeys(column.present) if not in_alphabet(v)]
        explanation = None if reason else explain(column.present, knowledge, effort, seed)
        found.append(Finding(column, explanation, reason, foreign))
        report(column)
    explained = {f.column.name: f.explanation for f in found if f.explanation is not None}
    return Survey([as_json(f) for f in found], explained)


def _notes(row: dict[str, Any]) -> list[str]:
    """Returns what else there is to say of a column."""
    found = {"does not fit": row["outliers"], "not ASCII": row.get("outside_alphabet", [])}
    notes = [f"{name}: {', '.join(map(repr, values[:5]))}" for name, values in found.items() if values]
    return notes + ([f"passed over: {row['passed_over']}"] if "passed_over" in row else [])


def passed_over(column: Column) -> str:  # noqa: PLR0911, one line a reason
    """Why a column is not explained; nothing if it is."""
    values = list(dict.fromkeys(column.present))
    if not values:
        return "empty"
    if len(values) == 1:
        return f"only one value: {values[0][:LONG]!r}"
    if _share(values, lambda v: NUMBER.fullmatch(v) is not None) >= MOSTLY:
        return "numbers"
    if _share(values, in_alphabet) < 0.5:
        return "most values have characters other than printable ASCII"
    if np.median([len(v.split()) for v in values]) >= MANY_WORDS:
        return "free text"
    if np.median([len(v) for v in values]) > LONG:
        return f"most values are longer than {LONG} characters"
    return ""


def _share(values: list[str], test: Callable[[str], bool]) -> float:
    return sum(map(test, values)) / len(values)


def as_json(finding: Finding, seed: int = 0) -> dict[str, Any]:
    """The finding for machines, and for `read_patterns`."""
    explanation = finding.explanation
    row: dict[str, Any] = {"column": finding.column.name, "patterns": [], "samples": [], "outliers": []}
    if finding.foreign:
        row["outside_alphabet"] = finding.foreign[:MOST_OUTLIERS]
    if explanation is None:
        return row | {"passed_over": finding.reason}
    drawn = explanation.sample(DRAWN, seed)
    row["patterns"] = [p._asdict() | {"samples": _allowed(p, drawn)} for p in explanation.patterns]
    row["samples"] = drawn[:SAMPLES]
    row["outliers"] = explanation.outliers(finding.column.present)[:MOST_OUTLIERS]
    return row | {"examples": list(explanation.examples), "cost": explanation.cost._asdict()}


def _allowed(pattern: Pattern, drawn: list[str]) -> list[str]:
    """The first of the new strings that a pattern allows."""
    return [s for s in drawn if re.fullmatch(pattern.regex, s)][:SAMPLES]


def restore(rows: Rows, knowledge: Knowledge) -> Survey:
    """Restores the survey that was saved as rows."""
    return Survey(rows, {r["column"]: _restore(r, knowledge) for r in rows if r["patterns"]})


def _restore(row: dict[str, Any], knowledge: Knowledge) -> Explained:
    patterns = tuple(Pattern(**{name: p[name] for name in Pattern._fields}) for p in row["patterns"])
    length = knowledge.known.shape[1]
    programs = np.stack([program(p.program, length) for p in patterns])
    weight = np.array([p.probability for p in patterns])
    posterior = Weighted(jnp.asarray(programs), jnp.asarray(np.log(weight / weight.sum()), jnp.float32))
    if not row["examples"] or not all(isinstance(e, str) for e in row["examples"]):
        raise TypeError
    return Explained(tuple(row["examples"]), patterns, Cost(**row["cost"]), knowledge, posterior)


class Violation(NamedTuple):
    """A value that is not a member of its column."""

    column: str
    value: str
    rows: int


def check(columns: Iterable[Column], saved: dict[str, Explained], share: float = 0.97) -> list[Violation]:
    """The values of new data that the saved patterns do not accept; a column may come in several stretches of rows."""
    rows: dict[str, Counter[str]] = {}
    for column in columns:
        if column.name in saved:
            rows.setdefault(column.name, Counter()).update(column.present)
    missing = [name for name in saved if name not in rows]
    if missing:
        raise Refusal(f"The table lacks the column {missing[0]!r}, for which there are patterns.")
    found = []
    for name, counts in rows.items():
        values = list(counts)
        accepted = saved[name].accepts(values, share)
        found += [Violation(name, v, counts[v]) for v, good in zip(values, accepted, strict=True) if not good]
    return found
