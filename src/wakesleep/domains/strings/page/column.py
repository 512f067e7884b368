"""The page of one column: its patterns, its characters by part, and whether a typed value fits."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wakesleep.domains.pages import Asked, Download, Page, Shown
from wakesleep.domains.strings.explain import explain_strings
from wakesleep.domains.strings.explain.explainer import EXPORT_NAMES, GENERALITY_NAMES
from wakesleep.errors import Refusal, require_one_of

if TYPE_CHECKING:
    from wakesleep.domains.strings.columns.explanation import Explanation

FOLDER = Path(__file__).parent
VALUES_SHOWN = 40
MOST_PASTED = 20_000
LONGEST_TYPED = 2_000
PART_COLOURS = 8
ENDINGS = {
    "json-schema": "json", "pandera": "py", "great": "json", "frictionless": "json", "odcs": "yaml", "dbt": "yml",
    "sql": "sql", "regex": "json", "re": "py",
}  # fmt: skip
"""The endings of the files of exports, by how the name of the export begins."""
EXAMPLE_VALUES = """ORD-10231
ORD-20240
ORD-30257
ORD-1O261
ORD-20275
ORD-48213
ORD-51877
ORD-60924"""
EXAMPLE_NOTE = (
    "An example: one value has a letter O for a zero. Press 'not this one' beside it, and see the patterns change."
)


class Found(NamedTuple):
    """An explained column on the shelf."""

    name: str
    values: list[str]
    explanation: "Explanation"
    reader: Any


def file_name(form: str) -> str:
    """Returns the name of the file for an export."""
    return f"{form}.{next((end for begin, end in ENDINGS.items() if form.startswith(begin)), 'txt')}"


def context(asked: Asked) -> dict[str, Any]:
    """Returns what the page shows at first: the values of a column that was opened, or an example."""
    name = asked.word("column")
    if not asked.word("file"):
        return {"values": EXAMPLE_VALUES, "name": "", "note": EXAMPLE_NOTE, "generalities": GENERALITY_NAMES}
    from wakesleep.data.tables import read_table

    upload = asked.upload()
    table = read_table(upload.path, rows="sample", column=name or None)
    column = table.columns[0]
    shown = column.present[:MOST_PASTED]
    note = f"Column {column.name!r} of {upload.name}"
    if len(column.values) < table.rows:
        note += f", a random sample of {len(column.values):,} of its {table.rows:,} rows"
    lines = "\n".join(v.replace("\r", " ").replace("\n", " ") for v in shown)
    return {"values": lines, "name": column.name, "note": note + ".", "generalities": GENERALITY_NAMES}


def explain(asked: Asked) -> Shown:
    """Answers the candidates for the values, with the probabilities that they had before."""
    rejected = list(dict.fromkeys(v for v in asked.words("reject") if v))
    unwanted = set(rejected)
    lines = [line for line in asked.word("values").splitlines() if line.strip()]
    values = [line for line in lines if line not in unwanted]
    if not values:
        raise Refusal("There are no values yet: paste some, one a line.")
    if len(values) > MOST_PASTED:
        raise Refusal(f"{len(values):,} values were pasted; the page takes {MOST_PASTED:,}: give the file itself.")
    level = int(asked.number("generality", 1, 0, len(GENERALITY_NAMES) - 1))
    found = explain_strings(values, generality=GENERALITY_NAMES[level], reject=rejected)
    return Shown("found.html", described(asked, asked.word("name") or "column", found, values, rejected))


def described(asked: Asked, name: str, found: "Explanation", values: list[str], rejected: list[str]) -> dict[str, Any]:
    """Returns what the page shows of an explained column."""
    from wakesleep.domains.strings.page.parts import Reader

    reader = Reader(found.posterior.entries[0].program)
    before = _before(asked)
    outliers = {o.value: o.why for o in found.outliers}
    distinct = list(dict.fromkeys(values))
    shown = sorted(distinct, key=lambda v: v not in outliers)[:VALUES_SHOWN]
    return {
        "explained": asked.shelf.keep(Found(name, values, found, reader)),
        "found": found,
        "before": before,
        "parts": reader.parts,
        "colours": PART_COLOURS,
        "values": [{"text": v, "pieces": reader.read(v), "why": outliers.get(v, "")} for v in shown],
        "distinct": len(distinct),
        "rejected": rejected,
        "accepted": [r for r in rejected if all(e.program.log_prob(r) > -math.inf for e in found.posterior.entries)],
        "exports": EXPORT_NAMES,
    }


def _before(asked: Asked) -> dict[str, float]:
    """Returns the probability of each regex in the explanation that the page showed last; empty if there is none."""
    if not asked.word("explained"):
        return {}
    try:
        last = asked.shelf.kept(asked.word("explained"))
    except Refusal:
        return {}
    return {p.regex: p.probability for p in last.explanation.patterns} if isinstance(last, Found) else {}


def _found(asked: Asked) -> Found:
    found = asked.shelf.kept(asked.word("explained"))
    if not isinstance(found, Found):
        raise Refusal("No column is explained yet: give some values first.")
    return found


def value(asked: Asked) -> Shown:
    """Answers whether a typed value fits, and why."""
    typed = asked.word("value")
    if not typed or not asked.word("explained"):  # nothing to judge, or nothing yet to judge it by
        return Shown("value.html", {"typed": "", "colours": PART_COLOURS})
    if len(typed) > LONGEST_TYPED:
        raise Refusal(f"The value has {len(typed):,} characters; the page judges at most {LONGEST_TYPED:,}.")
    found = _found(asked)
    explanation = found.explanation
    log_p = float(explanation.log_prob([typed])[0])
    return Shown(
        "value.html",
        {
            "typed": typed,
            "accepted": bool(explanation.accepts([typed])[0]),
            "matched": bool(explanation.matches([typed])[0]),
            "why": explanation.judge.why(typed),
            "bits": -log_p / math.log(2) if log_p > -math.inf else None,
            "pieces": found.reader.read(typed),
            "colours": PART_COLOURS,
        },
    )


def export(asked: Asked) -> Download:
    """Answers the rule of the column for another tool."""
    from wakesleep.data.tables import Column, Table
    from wakesleep.domains.strings.explain.survey import Survey

    form, found = asked.word("form"), _found(asked)
    require_one_of("form", form, EXPORT_NAMES)
    column = Column(found.name, found.values)
    survey = Survey({found.name: found.explanation}, column.numbers, Table([column], column.rows), found.name)
    return Download(file_name(form), "text/plain", survey.export(form).encode())


COLUMN_PAGE = Page(
    name="Column",
    idea="Paste values, one a line: see the pattern that wrote them, character by character, and what does not fit.",
    folder=FOLDER,
    scripts=("column.js",),
    context=context,
    answers={"explain": explain, "value": value, "export": export},
)
