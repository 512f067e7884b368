"""The verbs of tables: draft a contract, check a table against it, compare two tables, export a contract."""

import json
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wakesleep.domains.contract import Command, Explanation, Report, Rows, check_options, option
from wakesleep.domains.contract import Table as Shown
from wakesleep.domains.strings.explain.explainer import EFFORT_NAMES, GENERALITY_NAMES
from wakesleep.errors import Refusal, require_one_of, require_share

if TYPE_CHECKING:
    from wakesleep.domains.strings.table.contract import Contract

LARGEST_SAVED_BYTES = 200_000_000


@dataclass(frozen=True)
class DraftOptions:
    """The options of `draft`."""

    effort: str = option("usual", "How long to search: quick, usual or thorough.", EFFORT_NAMES)
    generality: str = option("usual", "How far patterns go beyond the values: narrow, usual, wide.", GENERALITY_NAMES)

    def __post_init__(self) -> None:
        """Refuses impossible values."""
        check_options(self)


@dataclass(frozen=True)
class CheckOptions:
    """The options of `check`."""

    share: float | None = option(
        None,
        "For a saved explanation alone: the share of true members that is to be accepted by its judgement. Without it, "
        "97 % after many rows and less after few, as the explanation says.",
    )

    def __post_init__(self) -> None:
        """Refuses impossible values."""
        if self.share is not None:
            require_share("share", self.share)


@dataclass(frozen=True)
class NoOptions:
    """No options."""


@dataclass(frozen=True)
class Drafted(Explanation):
    """A contract as it is shown and written."""

    contract: "Contract"

    def rows(self, most: int = 5) -> Rows:
        """Returns one object for each column: what is asked of it."""
        return [{"column": name} | self.contract.words(name) for name in self.contract.columns]

    def table(self, most: int = 5, width: int = 80) -> list[Shown]:
        """Returns what is asked of each column."""
        from wakesleep.domains.strings.table.verdict import cut, visible

        asked = self.contract.columns.items()
        shown: list[tuple[str, ...]] = [
            (n, r.type, f"{r.nulls:.0%}", "yes" * r.unique, cut(visible(r.expected), 80), f"{r.alarms or 0:.2%}")
            for n, r in asked
        ]
        title = self.contract.table
        if expected := self.contract.expected_rows:
            title += f": false alarms to expect: {expected}"
        return [Shown(title, ("column", "type", "nulls", "unique", "asked for", "alarms"), shown)]

    def text(self) -> str:
        """Returns the file."""
        return self.contract.dumped()

    def write(self, name: str, path: Path) -> Path:
        """Writes the contract."""
        require_one_of("file", name, ("output",))
        path.write_text(self.contract.dumped(), encoding="utf-8")
        return path


@dataclass(frozen=True)
class Exported(Explanation):
    """A contract for another tool."""

    form: str
    body: str

    def rows(self, most: int = 5) -> Rows:
        """Returns the export as one object."""
        return [{"form": self.form, "text": self.body}]

    def table(self, most: int = 5, width: int = 80) -> list[Shown]:
        """Returns nothing: an export is a text, which is printed or written."""
        return []

    def text(self) -> str:
        """Returns the export."""
        return self.body

    def write(self, name: str, path: Path) -> Path:
        """Writes the export."""
        require_one_of("file", name, ("output",))
        path.write_text(self.body + "\n", encoding="utf-8")
        return path


def draft(words: Sequence[str], options: DraftOptions, report: Report) -> Drafted:
    """Drafts a contract from a sample of a table's rows."""
    from wakesleep.data.tables import read_table
    from wakesleep.domains.strings.columns.explanation import explain
    from wakesleep.domains.strings.table import drafting

    table = read_table(words[0], rows="sample")

    def explained(values: Any) -> Any:
        return explain(values, effort=options.effort, generality=options.generality)

    return Drafted(drafting.draft(table, Path(words[0]).name, explained, report))


def check(words: Sequence[str], options: CheckOptions, report: Report) -> Explanation:
    """Checks a table against a contract, or against a saved explanation."""
    from wakesleep.domains.strings.table.checking import check as check_contract
    from wakesleep.domains.strings.table.contract import read_contract

    path = Path(words[0])
    if (saved := _saved(path)) is not None:
        return _check_saved(saved, words[1], options.share, report)
    return check_contract(read_contract(path), words[1], report)


def _saved(path: Path) -> Rows | None:
    """Returns the rows of a saved explanation, or None where the file is none."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return None
        with path.open("rb") as file:
            if not file.read(64).lstrip().startswith((b"[", b"{")):
                return None
        if path.stat().st_size > LARGEST_SAVED_BYTES:
            raise Refusal(f"{path} has more than {LARGEST_SAVED_BYTES:,} bytes: draft a contract instead.")
        rows = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise TypeError
    except OSError as error:
        raise Refusal(f"{path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, ValueError, TypeError, RecursionError) as error:
        if isinstance(error, Refusal):
            raise
        raise Refusal(
            f"{path} is neither a contract nor a saved explanation ({type(error).__name__}): make one with `wakesleep "
            "draft TABLE -o contract.yaml`."
        ) from None
    return rows


def _check_saved(rows: Rows, source: str, share: float | None, report: Report) -> Explanation:
    """Judges a table by the full judgement of a saved explanation."""
    from wakesleep.domains.strings.explain.survey import restore
    from wakesleep.domains.strings.table.verdict import Fault, Verdict

    saved = restore(rows)
    found, height, alarms = saved.judged(source, share, report)
    before = {name: explained.patterns[0].description for name, explained in saved.columns.items() if explained}
    faults = tuple(Fault(f["column"], f["why"], before[f["column"]], f["value"], f["rows"], f["first"]) for f in found)
    return Verdict(faults, height, alarms)


def compare(words: Sequence[str], options: NoOptions, report: Report) -> Explanation:
    """Compares the columns of two tables."""
    from wakesleep.domains.strings.table.comparing import compare as compared

    return compared(words[0], words[1], report)


def export(words: Sequence[str], options: NoOptions, report: Report) -> Exported:
    """Exports a contract."""
    from wakesleep.domains.strings.table.contract import read_contract
    from wakesleep.domains.strings.table.exports import exported

    return Exported(words[1], exported(read_contract(Path(words[0])), words[1]))


CONTRACT = "The contract, a YAML file that `wakesleep draft` made."
OUTPUT = {"output": "Write it to this file."}
COMMANDS = {
    "draft": Command(
        help="Draft a contract for a table: type, nulls, pattern or values or range of each column.",
        arguments={"TABLE": "The table to learn from; 2,000 rows of it are looked at."},
        options=DraftOptions,
        run=draft,
        files=OUTPUT,
    ),
    "check": Command(
        help="Check every row of a table against a contract; exit code 0: it fits, 1: it does not, 2: not checked.",
        arguments={
            "CONTRACT": "A contract, or what `wakesleep explain TABLE --json` printed.",
            "TABLE": "The new table; - is lines of standard input.",
        },
        options=CheckOptions,
        run=check,
    ),
    "compare": Command(
        help="Compare two tables: which columns changed their pattern, their values, their range; exit code 1 if any.",
        arguments={"OLD": "The table as it was.", "NEW": "The table as it is."},
        options=NoOptions,
        run=compare,
    ),
    "export": Command(
        help="Export a contract to another tool.",
        arguments={"CONTRACT": CONTRACT, "FORM": "One of the forms that docs/contracts.md lists, such as pandera."},
        options=NoOptions,
        run=export,
        files=OUTPUT,
    ),
}
