"""The page of a table: every column, streamed as it is explained, and the report as one file."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wakesleep.domains.pages import Asked, Download, Page, Shown
from wakesleep.domains.strings.explain import explain_strings
from wakesleep.domains.strings.explain.explainer import EXPORT_NAMES, GENERALITY_NAMES
from wakesleep.domains.strings.page.column import file_name
from wakesleep.errors import Refusal, require_one_of

FOLDER = Path(__file__).parent
PATTERNS_ON_PAGE, OUTLIERS_SHOWN, SAMPLES_ON_PAGE = 2, 3, 3


def context(asked: Asked) -> dict[str, Any]:
    """Returns what the page shows at first: the file that was opened, if any."""
    file = asked.word("file")
    name = asked.upload().name if file else ""
    return {"file": file, "name": name, "generalities": GENERALITY_NAMES, "exports": EXPORT_NAMES}


def columns(asked: Asked) -> Iterator[Shown | dict[str, Any]]:
    """Streams a row for each column, then where the whole is found; a closed page ends the work."""
    from wakesleep.data.tables import read_table
    from wakesleep.domains.strings.explain.survey import Survey

    upload = asked.upload()
    level = int(asked.number("generality", 1, 0, len(GENERALITY_NAMES) - 1))
    table = read_table(upload.path, rows="sample")
    numbers = table.columns[0].numbers if table.columns else ()
    yield {"columns": len(table.columns), "rows": table.rows, "read": len(numbers), "notes": list(table.notes)}
    found: dict[str, Any] = {}
    for column in table.columns:
        if asked.stopped():
            return
        some = any(column.values)
        found[column.name] = explain_strings(column.values, generality=GENERALITY_NAMES[level]) if some else None
        yield Shown("row.html", {"name": column.name, "found": found[column.name], "numbers": numbers, **SHOWN_ON_PAGE})
        kept = (
            asked.shelf.keep(Survey(dict(found), numbers, table, upload.name))
            if len(found) == len(table.columns)
            else ""
        )
        yield {"done": len(found), "survey": kept}


SHOWN_ON_PAGE = {"patterns": PATTERNS_ON_PAGE, "outliers": OUTLIERS_SHOWN, "samples": SAMPLES_ON_PAGE}


def download(asked: Asked) -> Download:
    """Answers the report as one HTML file, or the rules for another tool."""
    from wakesleep.domains.strings.explain.survey import Survey

    survey, form = asked.shelf.kept(asked.word("survey")), asked.word("form")
    if not isinstance(survey, Survey):
        raise Refusal("No table is explained yet: drop one first.")
    if form == "report":
        with tempfile.TemporaryDirectory() as folder:
            return Download("report.html", "text/html", survey.report(Path(folder) / "report.html").read_bytes())
    require_one_of("form", form, EXPORT_NAMES)
    return Download(file_name(form), "text/plain", survey.export(form).encode())


TABLE_PAGE = Page(
    name="Table",
    idea="Drop a table (CSV, Parquet, Excel, JSON lines): each column's pattern appears as soon as it is found.",
    folder=FOLDER,
    scripts=("table.js",),
    context=context,
    answers={"download": download},
    streams={"columns": columns},
    opens=True,
)
