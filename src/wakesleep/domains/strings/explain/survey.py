"""All columns of a table explained and described, shown, exported, and new data checked against them."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wakesleep.data.tables import Column, Table, stream_columns
from wakesleep.domains.contract import Explanation, Report, Rows, Standing
from wakesleep.domains.contract import Table as Shown
from wakesleep.domains.strings.columns.explanation import Explanation as Explained
from wakesleep.domains.strings.columns.explanation import Pattern, explain
from wakesleep.domains.strings.columns.explanation import restore as restore_one
from wakesleep.domains.strings.table.contract import Contract
from wakesleep.domains.strings.table.description import Description, described
from wakesleep.domains.strings.table.spelling import iso_form
from wakesleep.errors import Refusal

LEAST_PROBABILITY_SHOWN, LEAST_ALARMS_SHOWN = 0.05, 0.05
LONGEST_PATTERN_SHOWN, LONGEST_WORDS_SHOWN, LONGEST_SAMPLE_SHOWN = 100, 80, 30
SAMPLES_SHOWN, OUTLIERS_SHOWN, OUTLIER_ROWS_NAMED = 2, 3, 3
MOST_VIOLATIONS = 10_000
"""Different values of one column that are told; all are counted."""
FREE_TEXT = "free text"


@dataclass(frozen=True)
class Survey(Explanation):
    """The columns of a table: explained, or empty (None)."""

    columns: dict[str, Explained | None]
    numbers: Sequence[int]
    """The row of the file, counted from one, in which each explained row stands."""
    source: Table | None = None
    """The rows that were explained; None where the survey was restored."""
    title: str = "table"
    explain: Callable[[Any], Explained] = explain

    @cached_property
    def descriptions(self) -> dict[str, Description]:
        """Each column in figures: type, nulls, uniqueness, range."""
        columns = self.source.columns if self.source is not None else ()
        return {c.name: described(c.name, c.values, self.columns[c.name], iso_form(c)) for c in columns}

    def contract(self, report: Report = lambda _: None) -> Contract:
        """Drafts the contract of the table, with the alarms to expect; halves of the rows are explained for that."""
        from wakesleep.domains.strings.table.drafting import draft, text_rule
        from wakesleep.domains.strings.table.rules import Rule

        if self.source is not None:
            return draft(self.source, self.title, self.explain, report, self.descriptions)
        rules = {n: (e and text_rule(Rule(nulls=float(e.nulls > 0)), e)) or Rule() for n, e in self.columns.items()}
        return Contract(rules, self.title)

    def to_frame(self, library: str = "polars") -> Any:
        """Returns a row for each column as a Polars or pandas frame."""
        from wakesleep.domains.strings.table.report import frame_of

        return frame_of(list(self.descriptions.values()), library)

    def report(self, path: Path | str) -> Path:
        """Writes one HTML file that needs no other: each column with pattern, figures, samples and outliers."""
        from wakesleep.domains.strings.table.report import page

        height = self.source.rows if self.source is not None else 0
        text = page(self.title, list(self.descriptions.values()), self.numbers, height)
        Path(path).write_text(text, encoding="utf-8")
        return Path(path)

    def _repr_html_(self) -> str:
        from wakesleep.domains.strings.table.report import summary

        return summary(list(self.descriptions.values()))

    def rows(self, most: int = 5) -> Rows:
        """Returns one object a column: patterns, counts, samples, outliers, and what `restore` needs."""
        return [self._row(name, found, most) for name, found in self.columns.items()]

    def _row(self, name: str, found: Explained | None, most: int) -> dict[str, Any]:
        if found is None:
            return {"column": name, "patterns": [], "outliers": [], "empty": True}
        return {
            "column": name,
            "patterns": [_pattern_row(p) for p in found.patterns[:most]],
            "rows": found.rows,
            "distinct": found.distinct,
            "nulls": found.nulls,
            "null_marks": list(found.null_marks),
            "outliers": [
                {"value": o.value, "rows": [self.numbers[i] for i in o.rows], "why": o.why} for o in found.outliers
            ],
            "disagreement": found.disagreement,
            "expected_alarms": round(found.expected_alarms, 3),
            "saved": found.as_dict(),
        }

    def table(self, most: int = 5, width: int = 80) -> list[Shown]:
        """Returns the patterns of each column, in words too, with new samples and the worst values."""
        shown: list[tuple[str, ...]] = []
        for name, found in self.columns.items():
            if found is None:
                shown.append((name, "", "no values", ""))
                continue
            best, *others = found.patterns[:most]
            for i, p in enumerate([best, *(o for o in others if o.probability >= LEAST_PROBABILITY_SHOWN)]):
                shown.append(("" if i else name, f"{100 * p.probability:.0f} %", _said(p), _samples(p)))
            shown += [("", "", note, "") for note in self._notes(found)]
        return [Shown("columns", ("column", "", "pattern", "new samples"), shown)]

    def _notes(self, found: Explained) -> list[str]:
        """Returns what else there is to say of a column: common parts, nulls, and values that do not fit."""
        best = found.patterns[0]
        notes = [*best.notes]
        unmatched = round((1 - best.coverage) * (found.rows - found.nulls))
        if unmatched > sum(len(o.rows) for o in found.outliers):
            notes.append(f"{100 * best.coverage:.1f} % of the rows match")
        if found.nulls:
            notes.append(f"{found.nulls} of {found.rows} rows are empty")
        for outlier in found.outliers[:OUTLIERS_SHOWN]:
            where = ", ".join(str(self.numbers[i]) for i in outlier.rows[:OUTLIER_ROWS_NAMED])
            more = " ..." if len(outlier.rows) > OUTLIER_ROWS_NAMED else ""
            notes.append(f"does not fit: {outlier.value!r} (row {where}{more}), {outlier.why}")
        if (left := len(found.outliers) - OUTLIERS_SHOWN) > 0:
            notes.append(f"and {left} more values do not fit")
        if found.expected_alarms > LEAST_ALARMS_SHOWN:
            notes.append(f"so few rows: about {100 * found.expected_alarms:.0f} % of true values will not be accepted")
        return notes

    def export(self, form: str) -> str:
        """Returns the contract of the table for another tool."""
        from wakesleep.domains.strings.table.exports import exported

        return exported(self.contract(), form)

    def check(self, path: str, share: float | None = None, report: Report = lambda _: None) -> Rows:
        """Returns the values of a new table that are not accepted; every row is judged, a stretch at a time.

        With a share, about that much of true values is accepted; without, `accepts` judges as usual.
        """
        return self.judged(path, share, report)[0]

    def judged(self, path: str, share: float | None = None, report: Report = lambda _: None) -> tuple[Rows, int, int]:
        """Returns what `check` does, how many rows there are, and how many have a value that is not accepted."""
        height = alarms = 0
        saved = {name: found for name, found in self.columns.items() if found is not None}
        counts: dict[tuple[str, str | None], list[int]] = {}
        seen: set[str] = set()
        for columns in stream_columns(path):
            seen |= {c.name for c in columns}
            flagged: set[int] = set()
            for column in columns:
                if column.name in saved:
                    flagged |= _judge(column, saved[column.name], share, counts)
                height = column.rows
            alarms += len(flagged)
            report(Standing(height, 0, "rows"))
        if missing := [name for name in saved if name not in seen]:
            raise Refusal(f"The table lacks the column {missing[0]!r}, for which there are patterns.")
        found = [
            {"column": name, "value": value, "rows": rows[0], "first": rows[1:], "why": _why(saved[name], value)}
            for (name, value), rows in counts.items()
        ]
        return found, height, alarms


def _pattern_row(p: Pattern) -> dict[str, Any]:
    """Returns a pattern for JSON.

    `python` is the regex with an end that a newline does not pass: in Python `$` also stands before one. `slow` says
    whether Python's `re` may need over a second for a value of 100,000 characters; RE2 and Rust never do.
    """
    from wakesleep.domains.strings.table.backtracking import is_slow
    from wakesleep.domains.strings.table.dialects import whole

    return asdict(p) | {"python": whole(p.regex, "python"), "slow": is_slow(p.regex)}


def _judge(
    column: Column, known: Explained, share: float | None, counts: dict[tuple[str, str | None], list[int]]
) -> set[int]:
    """Adds the values of a stretch that are not accepted, with the first of their rows; returns all these rows."""
    values = list(dict.fromkeys(column.values))
    refused = {v for v, good in zip(values, known.accepts(values, share or "usual"), strict=True) if not good}
    if not refused:
        return set()
    flagged = set()
    for number, value in zip(column.numbers, column.values, strict=True):
        if value in refused:
            flagged.add(number)
            rows = counts.setdefault((column.name, value), [0])
            rows[0] += 1
            if len(rows) <= OUTLIER_ROWS_NAMED:
                rows.append(number)
    if len(counts) > MOST_VIOLATIONS:
        raise Refusal(
            f"More than {MOST_VIOLATIONS} different values do not fit, {column.name!r} being the last column looked "
            "at: the table is of another kind than the one that was explained."
        )
    return flagged


def _why(known: Explained, value: str | None) -> str:
    return "empty, which no row was before" if value is None else known.judge.why(value)


def _said(p: Pattern) -> str:
    """Returns a pattern in words with its regex below; a list of values, or free text, says enough in words."""
    words = _cut(p.description, LONGEST_WORDS_SHOWN)
    return words if p.closed or p.description == FREE_TEXT else f"{_cut(p.regex, LONGEST_PATTERN_SHOWN)}\n{words}"


def _samples(p: Pattern) -> str:
    drawn = dict.fromkeys(_cut(s, LONGEST_SAMPLE_SHOWN) for s in p.samples)
    return ", ".join(list(drawn)[:SAMPLES_SHOWN])


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def survey(
    table: Table, effort: str, generality: str, reject: tuple[str, ...], report: Report, title: str = "table"
) -> Survey:
    """Explains each column of a table, in their order."""

    def explained(values: Any) -> Explained:
        return explain(values, effort=effort, generality=generality, reject=reject)

    found: dict[str, Explained | None] = {}
    for i, column in enumerate(table.columns):
        found[column.name] = explained(column.values) if any(column.values) else None
        report(Standing(i + 1, len(table.columns), column.name))
    numbers = table.columns[0].numbers if table.columns else ()
    return Survey(found, numbers, table, title, explained)


def restore(rows: Rows) -> Survey:
    """Restores the survey that was saved as rows."""
    try:
        return Survey({r["column"]: restore_one(r["saved"]) if "saved" in r else None for r in rows}, ())
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Refusal(
            f"The saved explanation is damaged or of another version ({type(error).__name__}): make it anew with "
            "`wakesleep explain FILE --json`."
        ) from None
