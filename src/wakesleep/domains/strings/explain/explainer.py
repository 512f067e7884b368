"""How a table is explained: each column by programs that read as regexes."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wakesleep.data.sniff import peek
from wakesleep.domains.contract import (
    Explainer,
    Explanation,
    Report,
    Rows,
    check_options,
    files_of,
    option,
)

if TYPE_CHECKING:
    from wakesleep.data.tables import Table

EFFORT_NAMES = ("quick", "usual", "thorough")
GENERALITY_NAMES = ("narrow", "usual", "wide")
EXPORT_NAMES = (
    "json-schema", "pandera", "pandera-polars", "great-expectations", "frictionless", "odcs", "dbt", "sql-postgres",
    "sql-duckdb", "re", "regex-python", "regex-rust", "regex-re2", "regex-ecmascript", "regex-postgres", "regex-posix",
    "regex-portable",
)  # fmt: skip
STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Options:
    """The options of columns."""

    column: str | None = option(None, "Explain this column alone.")
    effort: str = option("usual", "How long to search: quick, usual or thorough.", EFFORT_NAMES)
    generality: str = option("usual", "How far patterns go beyond the values: narrow, usual, wide.", GENERALITY_NAMES)
    reject: tuple[str, ...] = option((), "A value that the patterns should not accept; repeatable.")

    def __post_init__(self) -> None:
        """Refuses impossible values."""
        check_options(self)


def reads(path: Path) -> float:
    """Says how surely a file is a table with columns of text; lines on standard input are one column."""
    if str(path) == STANDARD_INPUT:
        return 1.0
    table = peek(path)
    if not table:
        return 0.0
    return 0.7 if any(not c.numeric and not c.dates for c in table.values()) else 0.1


def read(path: str, options: Options) -> "Table":
    """Reads a sample of the rows of a table."""
    from wakesleep.data.tables import read_table

    return replace(read_table(path, rows="sample", column=options.column), name=Path(path).name)


def explain(table: "Table", options: Options, report: Report) -> Explanation:
    """Explains each column."""
    from wakesleep.domains.strings.explain.survey import survey

    return survey(table, options.effort, options.generality, options.reject, report, table.name or "table")


def restore(rows: Rows) -> Explanation:
    """Restores the explanation that was saved as rows."""
    from wakesleep.domains.strings.explain.survey import restore as restored

    return restored(rows)


EXPLAINER = Explainer(
    options=Options,
    reads=reads,
    read=read,
    explain=explain,
    restore=restore,
    exports=EXPORT_NAMES,
    files=files_of(False),
    what="a table of columns",
)
