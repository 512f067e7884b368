"""The verbs `catalogue` and `like`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wakesleep.domains.contract import Command, Explanation, Report, check_options, option
from wakesleep.domains.strings.explain.explainer import EFFORT_NAMES
from wakesleep.errors import Refusal


@dataclass(frozen=True)
class CatalogueOptions:
    """The options of `catalogue`."""

    output: str = option("catalogue.parquet", "The catalogue: a file that ends in .parquet or .jsonl.", short="-o")
    jobs: int = option(1, "How many processes describe files at the same time.")
    effort: str = option("quick", "How long to search: quick, usual or thorough.", EFFORT_NAMES)
    seconds: float = option(600.0, "A file that takes longer is given up; its row says so.")

    def __post_init__(self) -> None:
        """Refuses impossible words."""
        check_options(self)


@dataclass(frozen=True)
class LikeOptions:
    """The options of `like`."""

    column: str | None = option(None, "Take the values of this column, written FILE:NAME.")


def _catalogue(words: Sequence[str], options: CatalogueOptions, report: Report) -> Explanation:
    from wakesleep.domains.strings.lake.catalogue import make_catalogue

    return make_catalogue(
        Path(words[0]),
        Path(options.output),
        jobs=options.jobs,
        effort=options.effort,
        seconds=options.seconds,
        report=report,
    )


def _like(words: Sequence[str], options: LikeOptions, report: Report) -> Explanation:
    from wakesleep.domains.strings.lake.like import column_values, like

    catalogue, *values = words
    if bool(values) == (options.column is not None):
        raise Refusal("Give either values to look for, or a column with --column FILE:NAME.")
    return like(Path(catalogue), column_values(options.column) if options.column is not None else values, report)


COMMANDS = {
    "catalogue": Command(
        help="Describe every table below a folder, a row for each column; what was done before is kept.",
        arguments={"FOLDER": "The folder; hidden files and folders in it are left out."},
        options=CatalogueOptions,
        run=_catalogue,
    ),
    "like": Command(
        help="Find the columns of a catalogue that some values would fit, best first.",
        arguments={"CATALOGUE": "What `wakesleep catalogue` wrote.", "VALUE...": "The values to look for."},
        options=LikeOptions,
        run=_like,
    ),
}
