"""Columns of text explained by programs that read as regexes; nothing is compiled and no network is run."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wakesleep.data.frames import is_frame
from wakesleep.data.tables import read_table
from wakesleep.domains.strings.explain.explainer import EXPLAINER
from wakesleep.errors import Refusal

if TYPE_CHECKING:
    from wakesleep.domains.strings.columns.explanation import Explanation
    from wakesleep.domains.strings.explain.survey import Survey

__all__ = ["EXPLAINER", "explain_strings", "explain_table"]


def explain_strings(
    values: Iterable[Any],
    effort: str = "usual",
    generality: str = "usual",
    reject: Iterable[str] = (),
    seed: int = 0,
) -> "Explanation":
    """Explains the values of one column, in the order of their rows; None and NaN are nulls.

    The result has `patterns`, `outliers`, `accepts(values)`, `matches(values)`, `sample(n)` and `log_prob(values)`.
    A column of pandas, Polars or Arrow, or a frame with one column, is read as texts. `generality` is narrow, usual or
    wide. The patterns avoid the values to `reject`.
    """
    from wakesleep.domains.strings.columns.explanation import explain

    if not isinstance(values, list | tuple | range) and is_frame(values):
        columns = read_table(values, rows="all").columns
        if len(columns) != 1:
            raise Refusal(f"One column was expected, but {len(columns)} were given: use explain_table, or choose one.")
        values = columns[0].values
    return explain(values, effort=effort, generality=generality, reject=reject, seed=seed)


def explain_table(
    table: Any,
    effort: str = "usual",
    generality: str = "usual",
    reject: Iterable[str] = (),
) -> "Survey":
    """Explains each column of a table: a pandas or Polars frame, an Arrow table, a DuckDB relation, a file's path.

    2,000 rows at random are looked at. The result has `columns` (what `explain_strings` returns for each),
    `descriptions`, `to_frame()`, `report(path)`, `contract()` and `export(form)`.
    """
    from wakesleep.domains.strings.explain.survey import survey

    title = "table" if is_frame(table) else Path(table).name
    return survey(read_table(table, rows="sample"), effort, generality, tuple(reject), lambda _: None, title)
