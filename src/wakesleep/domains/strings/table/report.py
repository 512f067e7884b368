"""Descriptions of a table for people: a frame, a summary for notebooks, and one HTML page to mail."""

import html
from collections.abc import Sequence
from typing import Any

from wakesleep.domains.strings.table.description import BARS, Description
from wakesleep.domains.strings.table.verdict import cut, visible
from wakesleep.errors import require_one_of

SUMMARY_HEADER = ("column", "type", "empty", "distinct", "what the values are", "do not fit")
PATTERN_CUT, LONGEST_VALUE_SHOWN = 300, 60
REPORT_OUTLIERS, REPORT_PATTERNS, REPORT_ROWS = 10, 3, 5
BAR_WIDTH, BAR_HEIGHT = 14, 48
FRAME_TYPES = {
    "column": "String", "type": "String", "rows": "Int64", "nulls": "Float64", "distinct": "Int64", "unique": "Boolean",
    "from": "String", "to": "String", "pattern": "String", "description": "String", "probability": "Float64",
    "coverage": "Float64", "outliers": "Int64",
}  # fmt: skip
"""The columns of the frame with their types in Polars."""
REPORT_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title><style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1rem; color: #222 }}
h1 {{ font-size: 1.5rem }} h2 {{ font-size: 1.15rem; margin: 0 }}
table {{ border-collapse: collapse; margin: .5rem 0 }}
th, td {{ text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #e4e4e4 }}
th {{ font-weight: 600; color: #555 }} td.n {{ text-align: right; font-variant-numeric: tabular-nums }}
code {{ font: 13px ui-monospace, monospace; background: #f4f5f7; padding: .1rem .3rem; overflow-wrap: anywhere }}
section {{ border: 1px solid #ddd; border-radius: 6px; padding: 1rem; margin: 1rem 0 }}
.kind {{ color: #555; margin-left: .6rem; font-weight: 400 }} .odd {{ color: #a11 }}
.two {{ display: flex; flex-wrap: wrap; gap: 1rem 3rem; align-items: flex-start }}
.bar {{ background: #4a7ab5; height: .8rem; display: inline-block; vertical-align: middle }}
svg {{ display: block }} svg rect {{ fill: #4a7ab5 }}
figure {{ margin: .5rem 0 }} figcaption {{ font-weight: 600; color: #555 }}
.ends {{ display: flex; justify-content: space-between; gap: 1rem; font-size: 13px; min-width: {chart}px }}
.legend {{ color: #555; max-width: 48rem }}
a {{ color: inherit }}
</style></head><body><h1>{title}</h1><p>{said}</p>{summary}{legend}{sections}</body></html>
"""
LEGEND = """<p class="legend">A pattern says what the values of a column look like: as a regular expression, in words,
and by new values drawn from it. <b>Probability</b> is how sure it is that this pattern, rather than another, made the
values; <b>match</b> is the share of the values that fit it. What does not fit is listed in red with its rows, which
are counted from one below the header.</p>"""


def frame_of(found: Sequence[Description], library: str = "polars") -> Any:
    """Returns a frame with a row for each column."""
    require_one_of("library", library, ("polars", "pandas"))
    rows = [_record(d) for d in found]
    cells = {name: [row[name] for row in rows] for name in FRAME_TYPES}
    if library == "pandas":  # built directly: Polars needs PyArrow to convert
        import pandas as pd

        return pd.DataFrame(cells)
    import polars as pl

    kinds = {name: getattr(pl, kind) for name, kind in FRAME_TYPES.items()}
    return pl.DataFrame(cells, schema=kinds)


def _record(d: Description) -> dict[str, Any]:
    best = d.explained.patterns[0] if d.explained is not None else None
    return {
        "column": d.name,
        "type": d.type,
        "rows": d.rows,
        "nulls": d.null_share,
        "distinct": d.distinct,
        "unique": d.unique,
        "from": _end(d.low),
        "to": _end(d.high),
        "pattern": best.regex if best is not None else "",
        "description": best.description if best is not None else "",
        "probability": best.probability if best is not None else None,
        "coverage": best.coverage if best is not None else None,
        "outliers": len(d.explained.outliers) if d.explained is not None else 0,
    }


def _end(x: float | str | None) -> str | None:
    return x if x is None or isinstance(x, str) else f"{x:.15g}"


def _short(x: float | str | None) -> str:
    """Returns an end of a range for people: of a fraction six digits."""
    return f"{x:.6g}" if isinstance(x, float) and x % 1 else _end(x) or ""


def summary(found: Sequence[Description], links: bool = False) -> str:
    """Returns an HTML table with a line for each column."""
    head = "".join(f"<th>{w}</th>" for w in SUMMARY_HEADER)
    return f"<table><tr>{head}</tr>{''.join(_summary_line(i, d, links) for i, d in enumerate(found))}</table>"


def _summary_line(i: int, d: Description, links: bool) -> str:
    name = _text(d.name)
    odd = len(d.explained.outliers) if d.explained is not None else 0
    cells = [
        f'<td><a href="#c{i}">{name}</a></td>' if links else f"<td>{name}</td>",
        f"<td>{d.type}</td>",
        f'<td class="n">{d.null_share:.1%}</td>',
        f'<td class="n">{d.distinct:,}</td>',
        f"<td>{_text(_values(d), 80)}</td>",
        f'<td class="n">{odd or ""}</td>',
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _values(d: Description) -> str:
    """Returns what the values are, in a few words."""
    if d.low is not None:
        return f"{_short(d.low)} to {_short(d.high)}"
    return d.explained.patterns[0].description if d.explained is not None else ""


def page(title: str, found: Sequence[Description], numbers: Sequence[int], height: int) -> str:
    """Returns the whole report; `height` is how many rows the table has."""
    looked = found[0].rows if found else 0
    rows = f"{looked:,} of {height:,} rows, drawn at random" if looked < height else f"All {looked:,} rows"
    said = f"{rows}, and {len(found):,} column{'s' * (len(found) != 1)}. Described by wakesleep."
    sections = "".join(_section(i, d, numbers) for i, d in enumerate(found))
    return REPORT_PAGE.format(
        title=html.escape(title), said=said, summary=summary(found, True), legend=LEGEND, sections=sections,
        chart=BAR_WIDTH * BARS,
    )  # fmt: skip


def _section(i: int, d: Description, numbers: Sequence[int]) -> str:
    facts = ", ".join(filter(None, _facts(d)))
    head = f'<h2>{_text(d.name)}<span class="kind">{d.type}</span></h2><p>{facts}</p>'
    charts = f'<div class="two">{_common(d)}{_histogram(d)}</div>'
    return f'<section id="c{i}">{head}{_patterns(d)}{charts}{_outliers(d, numbers)}</section>'


def _facts(d: Description) -> list[str]:
    """Returns what there is to say of a column before its pattern."""
    if not d.distinct:
        return ["no row has a value"]
    distinct = "every value occurs once" if d.unique else f"{d.distinct:,} distinct values"
    facts = [distinct, f"{d.nulls:,} of {d.rows:,} rows empty" if d.nulls else "no row empty"]
    if d.missing:
        facts.append("missing is written " + ", ".join(f"<code>{_text(m)}</code>" for m in d.missing))
    facts.append(f"from {_short(d.low)} to {_short(d.high)}" if d.low is not None else "")
    return [*facts, f"format <code>{_text(d.form)}</code>" if d.form else ""]


def _patterns(d: Description) -> str:
    """Returns the patterns; of numbers no list of those that occurred."""
    shown = d.explained.patterns[:REPORT_PATTERNS] if d.explained is not None else []
    shown = [p for p in shown if not (p.closed and d.type in ("integer", "number"))]
    if not shown:
        return ""
    head = "<tr><th>pattern</th><th>in words</th><th>probability</th><th>match</th><th>new samples</th></tr>"
    lines = "".join(
        f"<tr><td><code>{_text(p.regex, PATTERN_CUT)}</code></td><td>{_text(p.description, PATTERN_CUT)}</td>"
        f'<td class="n">{p.probability:.0%}</td><td class="n">{p.coverage:.1%}</td>'
        f"<td>{', '.join(_text(s, 30) for s in dict.fromkeys(p.samples[:3]))}</td></tr>"
        for p in shown
    )
    return f"<table>{head}{lines}</table>"


def _common(d: Description) -> str:
    """Returns the most frequent values as bars; none where every value stands once."""
    if not d.common or d.common[0][1] < 2:
        return ""
    most = d.common[0][1]
    lines = "".join(
        f'<tr><td>{_text(v, 40)}</td><td><span class="bar" style="width:{round(120 * k / most)}px"></span></td>'
        f'<td class="n">{k:,}</td></tr>'
        for v, k in d.common
    )
    return f"<table><tr><th>most frequent</th><th></th><th>rows</th></tr>{lines}</table>"


def _histogram(d: Description) -> str:
    if len(d.bars) < 2:
        return ""
    most = max(d.bars)
    bars = "".join(
        f'<rect x="{i * BAR_WIDTH}" y="{BAR_HEIGHT - h}" width="{BAR_WIDTH - 2}" height="{h}"/>'
        for i, k in enumerate(d.bars)
        if (h := max(round(BAR_HEIGHT * k / most), 1 if k else 0))
    )
    size = f'width="{BAR_WIDTH * len(d.bars)}" height="{BAR_HEIGHT}"'
    of, low, high = "length in characters", *map(str, d.lengths)
    if d.low is not None:
        of, low, high = "spread of the values", _short(d.low), _short(d.high)
    ends = f'<div class="ends"><span>{low}</span><span>{high}</span></div>'
    svg = f'<svg {size} role="img" aria-label="rows from {low} to {high}">{bars}</svg>'
    return f"<figure><figcaption>{of}</figcaption>{svg}{ends}</figure>"


def _outliers(d: Description, numbers: Sequence[int]) -> str:
    if d.explained is None or not d.explained.outliers:
        return ""
    lines = []
    for o in d.explained.outliers[:REPORT_OUTLIERS]:
        rows = ", ".join(f"{numbers[i] if numbers else i + 1:,}" for i in o.rows[:REPORT_ROWS])
        rows += ", ..." * (len(o.rows) > REPORT_ROWS)
        lines.append(f'<tr><td class="odd">{_text(o.value)}</td><td>{rows}</td><td>{_text(o.why, 100)}</td></tr>')
    more = len(d.explained.outliers) - REPORT_OUTLIERS
    rest = f"<p>and {more:,} more</p>" if more > 0 else ""
    return f"<table><tr><th>does not fit</th><th>row</th><th>why</th></tr>{''.join(lines)}</table>{rest}"


def _text(text: str, longest: int = LONGEST_VALUE_SHOWN) -> str:
    return html.escape(cut(visible(text), longest))
