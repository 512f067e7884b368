"""How a table of numbers is explained: each column of numbers, or each name of a long table, is a series."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wakesleep.data.sniff import peek
from wakesleep.domains.contract import Explainer, Explanation, Report, Standing, check_options, files_of, option
from wakesleep.errors import Refusal

if TYPE_CHECKING:
    from wakesleep.domains.timeseries.reading.series import Series

TRANSFORM_NAMES = ("auto", "none", "log")
MOST_AHEAD = 10
CSV = {"csv": "Write parts and forecast to this CSV file."}


@dataclass(frozen=True)
class Options:
    """The options of series."""

    column: str | None = option(None, "Explain this column alone.")
    time: str | None = option(None, "The column of times.")
    id: str | None = option(None, "The column that names the series of a long table.")
    season: int | None = option(None, "The season in steps, 1 for none; by default the calendar's.")
    ahead: float = option(0.1, "Continue the series by this share of its length.")
    transform: str = option("auto", "auto, none or log.", TRANSFORM_NAMES)

    def __post_init__(self) -> None:
        """Refuses impossible values."""
        check_options(self)
        if not 0 < self.ahead <= MOST_AHEAD:
            raise Refusal(f"ahead must lie between 0 and {MOST_AHEAD}, but {self.ahead} was given.")


def reads(path: Path) -> float:
    """Says how surely a file is a table of series: a column of dates or times, and numbers in most others."""
    table = peek(path)
    if not table:
        return 0.0
    columns = list(table.values())
    numbers = sum(c.numeric for c in columns)
    dated = any(c.dates for c in columns)
    return (0.8 if dated else 0.6) if numbers and numbers + dated >= len(columns) else 0.0


def read(path: str, options: Options) -> list["Series"]:
    """Reads the series of a table."""
    from wakesleep.domains.timeseries.reading.tables import read_series

    return read_series(Path(path), column=options.column, time=options.time, id=options.id, season=options.season)


def explain(given: list["Series"], options: Options, report: Report) -> Explanation:
    """Explains each series with the library that ships, and computes what comes next."""
    from wakesleep.domains.timeseries.explain import explained
    from wakesleep.domains.timeseries.explain.findings import Findings, finish

    found, refused = [], []
    for done, series in enumerate(given):
        report(Standing(done, len(given), series.name))
        try:
            found.append(finish(explained.explain(series, options.transform), options.ahead))
        except Refusal as why:
            refused.append(str(why))
    if not found:
        raise Refusal(refused[0])
    return Findings(tuple(found), tuple(refused))


EXPLAINER = Explainer(
    options=Options,
    reads=reads,
    read=read,
    explain=explain,
    files=files_of(True) | CSV,
    what="series of numbers",
)
