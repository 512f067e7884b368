"""How a table is explained: each column of text by regexes."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wakesleep.data.sniff import peek
from wakesleep.domains.contract import (
    Explainer,
    Explanation,
    Report,
    Rows,
    Standing,
    check_options,
    files_of,
    option,
)

if TYPE_CHECKING:
    from wakesleep.data.tables import Column

EFFORT_NAMES = ("quick", "usual", "thorough")
EXPORT_NAMES = ("json-schema", "pandera", "re")
STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Options:
    """The options of columns."""

    column: str | None = option(None, "Explain this column alone.")
    effort: str = option("usual", "How long to search: quick, usual or thorough.", EFFORT_NAMES)

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


def read(path: str, options: Options) -> list["Column"]:
    """Reads the columns of a table."""
    from wakesleep.data.tables import read_table

    return read_table(path, rows="sample", column=options.column).columns


def explain(columns: list["Column"], options: Options, report: Report) -> Explanation:
    """Explains each column; numbers and free text are passed over, with the reason."""
    from wakesleep.domains.strings.explain.knowledge import shipped
    from wakesleep.domains.strings.explain.search import EFFORTS
    from wakesleep.domains.strings.explain.survey import survey

    done = 0

    def tell(column: "Column") -> None:
        nonlocal done
        done += 1
        report(Standing(done, len(columns), column.name))

    return survey(columns, shipped(), EFFORTS[options.effort], report=tell)


def restore(rows: Rows) -> Explanation:
    """Restores the explanation that was saved as rows."""
    from wakesleep.domains.strings.explain.knowledge import shipped
    from wakesleep.domains.strings.explain.survey import restore as restored

    return restored(rows, shipped())


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
