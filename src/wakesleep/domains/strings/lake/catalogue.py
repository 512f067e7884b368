"""A catalogue of all tables below a folder: described in several processes, resumed where it was stopped."""

import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from wakesleep.data.kinds import is_table_name
from wakesleep.domains.contract import Explanation, Report, Rows, Standing, Table
from wakesleep.domains.strings.explain.explainer import EFFORT_NAMES
from wakesleep.domains.strings.lake.describe import File, describe_file, failed, made_with
from wakesleep.domains.strings.lake.pool import Failure, answers
from wakesleep.domains.strings.lake.store import Journal, require_catalogue_name
from wakesleep.errors import Refusal, require_at_least, require_one_of


@dataclass(frozen=True)
class Summary(Explanation):
    """What was done to make a catalogue."""

    output: str
    files: int
    described: int
    unchanged: int
    columns: int
    """Columns that were described now."""
    failed: int
    seconds: float
    cpu_seconds: float
    failures: tuple[tuple[str, str], ...]
    """Files and columns that could not be described, and why."""

    @property
    def columns_a_second(self) -> float:
        """Columns described in a second of the clock."""
        return self.columns / max(self.seconds, 1e-9)

    def rows(self, most: int = 5) -> Rows:
        """Returns the counts, the times and the first failures."""
        return [asdict(self) | {"columns_a_second": self.columns_a_second, "failures": list(self.failures[:most])}]

    def table(self, most: int = 5, width: int = 80) -> list[Table]:
        """Returns a table of the counts, and one of the first failures."""
        header = ("files", "new", "unchanged", "failed", "columns", "columns/s", "seconds", "CPU s")
        counts = [self.files, self.described, self.unchanged, self.failed, self.columns]
        times = [self.columns_a_second, self.seconds, self.cpu_seconds]
        shown = [Table(self.output, header, [(*(f"{c:,}" for c in counts), *(f"{t:,.1f}" for t in times))])]
        if self.failures:
            title = f"{self.failed:,} could not be described" + f"; the first {most:,}" * (self.failed > most)
            shown.append(Table(title, ("file", "why"), list(self.failures[:most])))
        return shown


def tables_below(folder: Path | str, output: Path | None = None) -> Iterator[File]:
    """Yields the tables below a folder by their names, in order; hidden files and the catalogue are left out."""
    own = output and output.resolve()
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in files if is_table_name(name) and not name.startswith(".")):
            path = Path(place) / name
            if path.is_file() and path.resolve() != own:
                yield File(str(path), _printable(path.relative_to(folder)))


def _printable(path: Path) -> str:
    """Returns a path as text; bytes that are not UTF-8 are spelled out."""
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")


def make_catalogue(
    folder: Path,
    output: Path,
    *,
    jobs: int = 1,
    effort: str = "quick",
    seconds: float = 600.0,
    report: Report = lambda _: None,
) -> Summary:
    """Describes every table below a folder and writes the catalogue; what an unfinished or older one has is kept.

    A file is described again if its digest has changed; one that takes more than `seconds` gets a row that says so.
    """
    require_at_least("jobs", jobs, 1)
    require_at_least("seconds", seconds, 1)
    require_one_of("effort", effort, EFFORT_NAMES)
    require_catalogue_name(output)
    if not folder.is_dir():
        raise Refusal(f"{folder} is not a folder: name the one whose tables are to be described.")
    clock, cpu = time.monotonic(), _cpu_seconds()
    found = list(tables_below(folder, output))
    if not found:
        raise Refusal(f"No table was found below {folder}.")
    with Journal(output, made_with(effort)) as journal:
        unchanged, columns = _describe_all(found, journal, jobs, effort, seconds, report)
        failures = journal.finish([file.name for file in found], output)
    times = time.monotonic() - clock, _cpu_seconds() - cpu
    return Summary(
        str(output), len(found), len(found) - unchanged, unchanged, columns, len(failures), *times, tuple(failures)
    )


def _describe_all(
    found: list[File], journal: Journal, jobs: int, effort: str, seconds: float, report: Report
) -> tuple[int, int]:
    """Describes the files that the journal lacks; returns how many it had, and how many columns the others have."""
    tasks = [file._replace(digest=journal.digest(file.name)) for file in found]
    unchanged = columns = 0
    for i, (file, answer) in enumerate(answers(partial(describe_file, effort=effort), tasks, jobs, seconds)):
        rows = failed(file, effort, answer.reason) if isinstance(answer, Failure) else answer
        if rows is None:
            unchanged += 1
        else:
            journal.add(rows)
            columns += sum(row["column"] is not None for row in rows)
        report(Standing(i + 1, len(tasks), file.name))
    return unchanged, columns


def _cpu_seconds() -> float:
    """Returns the time that this process and those it waited for have computed."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system
