"""How a table of numbers is explained: each column of numbers is a series."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wakesleep.data.sniff import peek
from wakesleep.domains.contract import Explainer, Explanation, Report, Standing, check_options, files_of, option
from wakesleep.domains.learned import SETTING_HELP, pairs
from wakesleep.errors import Refusal

if TYPE_CHECKING:
    from wakesleep.domains.timeseries.records import Record

EFFORT_NAMES = ("quick", "usual", "thorough")
TRANSFORM_NAMES = ("auto", "none", "log")
MOST_AHEAD = 10
CSV = {"csv": "Write parts and extrapolation to this CSV file."}


@dataclass(frozen=True)
class Options:
    """The options of series."""

    column: str | None = option(None, "Explain this column alone.")
    time: str | None = option(None, "The column of times.")
    effort: str = option("usual", "How long to search: quick, usual or thorough.", EFFORT_NAMES)
    ahead: float = option(0.1, "Continue the series by this share of its length.")
    transform: str = option("auto", "auto, none or log.", TRANSFORM_NAMES)
    set: tuple[str, ...] = option((), f"{SETTING_HELP} Only points=N, the most points of a series.")

    def __post_init__(self) -> None:
        """Refuses impossible values."""
        check_options(self)
        if not 0 < self.ahead <= MOST_AHEAD:
            raise Refusal(f"ahead must lie between 0 and {MOST_AHEAD}, but {self.ahead} was given.")
        if set(pairs(self.set)) - {"points"}:
            raise Refusal("explain timeseries takes --set points=N alone; train a model for other settings.")


def reads(path: Path) -> float:
    """Says how surely a file is a table of series: a column of dates or times, and numbers in most others."""
    table = peek(path)
    if not table:
        return 0.0
    columns = list(table.values())
    numbers = sum(c.numeric for c in columns)
    dated = any(c.dates for c in columns)
    return (0.8 if dated else 0.6) if numbers and numbers + dated >= len(columns) else 0.0


def read(path: str, options: Options) -> tuple[list["Record"], int]:
    """Reads the series of a table, and the most points that each may keep."""
    from wakesleep.domains.timeseries.domain import DOMAIN
    from wakesleep.domains.timeseries.tables import read_records

    points = DOMAIN.configure(pairs(options.set)).points
    return read_records(Path(path), options.column, options.time), points


def explain(given: tuple[list["Record"], int], options: Options, report: Report) -> Explanation:
    """Explains each series with the model that ships, and computes what comes next."""
    from wakesleep.domains.timeseries.explain import explanation
    from wakesleep.domains.timeseries.explain.findings import Findings, finish
    from wakesleep.domains.timeseries.explain.knowledge import shipped
    from wakesleep.domains.timeseries.explain.search import EFFORTS

    records, points = given
    effort = EFFORTS[options.effort]
    total, done = effort.rounds * len(records), 0
    found = []
    for record in records:

        def tell(_: int, name: str = record.name) -> None:
            nonlocal done
            done += 1
            report(Standing(min(done, total), total, name))

        known: Any = shipped()
        e = explanation.explain(record, known, effort, points, options.transform, report=tell)
        found.append(finish(e, options.ahead))
    return Findings(tuple(found))


EXPLAINER = Explainer(
    options=Options,
    reads=reads,
    read=read,
    explain=explain,
    files=files_of(True) | CSV,
    what="series of numbers",
)
