"""What the commands say: tables on a terminal, JSON for machines."""

import json
from typing import Any

from rich.console import Console
from rich.table import Table

out = Console()
err = Console(stderr=True)
WORTH_SHOWING = 0.05
WIDE = 120
"""A terminal of so many characters has room for words beside regexes."""


def print_json(value: Any) -> None:
    """A value in a line."""
    print(json.dumps(value))


def show_end(summary: dict[str, Any] | None, as_json: bool) -> None:
    """The end of a training run, told by one of its processes."""
    if summary is None:
        return
    if as_json:
        print_json(summary)
        return
    out.print(
        f"[bold]{summary['run']}[/bold]: step {summary['step']} of {summary['steps']}, "
        f"bound {summary['bound']:.3f} nats",
        highlight=False,
    )


def show_rows(rows: list[dict[str, Any]], title: str, as_json: bool) -> None:
    """Rows as they are, the names of their fields on top."""
    if as_json:
        print_json(rows)
        return
    words = [tuple(f"{v:.4f}" if isinstance(v, float) else str(v) for v in r.values()) for r in rows]
    show_table(title, tuple(rows[0]), words)


def show_programs(found: list[dict[str, Any]], as_json: bool) -> None:
    """The programs of each observation with their probabilities."""
    if as_json:
        print_json(found)
        return
    rows: list[tuple[str, ...]] = []
    for one in found:
        for i, p in enumerate(one["programs"]):
            said = f"{p['program']}; {p['remarks']}" if "remarks" in p else p["program"]
            rows.append((one["name"] if i == 0 else "", f"{100 * p['probability']:.1f} %", said))
        if not one["programs"]:
            rows.append((one["name"], "", "no program that could have produced it was found"))
    show_table("programs", ("observation", "probability", "program"), rows)


def show_columns(findings: list[Any], most: int, export: str | None, as_json: bool) -> None:
    """Patterns of columns: a table on a terminal, JSON, or another tool's schema."""
    from wakesleep.domains.strings.explain.exports import EXPORTS
    from wakesleep.domains.strings.explain.survey import as_json as as_row
    from wakesleep.errors import require_one_of

    if export is not None:
        require_one_of("export", export, tuple(EXPORTS))
        print(EXPORTS[export](findings))
        return
    rows = [as_row(f) for f in findings]
    if as_json:
        print_json(rows)
        return
    wide = out.width >= WIDE
    shown: list[tuple[str, ...]] = []
    for row in rows:
        likely = [p for i, p in enumerate(row["patterns"][:most]) if i == 0 or p["probability"] >= WORTH_SHOWING]
        for i, p in enumerate(likely):
            said = (p["description"],) if wide else ()
            seen = ", ".join(p["samples"][:3])
            shown.append(("" if i else row["column"], f"{100 * p['probability']:.0f} %", p["regex"], *said, seen))
        for note in _notes(row):
            shown.append(("" if likely else row["column"], "", note, *([""] * (1 + wide))))
    show_table("columns", ("column", "", "pattern", *(("in words",) if wide else ()), "new samples"), shown)


def show_series(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Expressions with their sentences, what was done to the series, and the next values."""
    if as_json:
        print_json(rows)
        return
    shown: list[tuple[str, ...]] = []
    for row in rows:
        likely = [p for i, p in enumerate(row["programs"]) if i == 0 or p["probability"] >= WORTH_SHOWING]
        for i, p in enumerate(likely):
            name = row["series"] if i == 0 else ""
            shown.append((name, f"{100 * p['probability']:.0f} %", p["expression"], p["sentence"]))
        for note in row["notes"]:
            shown.append(("", "", "", f"note: {note}"))
    show_table("series", ("series", "", "expression", "in words"), shown)
    ahead = [(r["series"], *(_ahead(r[k]) for k in ("first", "last"))) for r in rows]
    show_table("extrapolation: median (90 % band)", ("series", "next", "last"), ahead)


def _ahead(value: dict[str, Any]) -> str:
    return f"{value['time']}: {value['median']:.5g} ({value['low']:.5g} to {value['high']:.5g})"


def _notes(row: dict[str, Any]) -> list[str]:
    """What else there is to say of a column."""
    found = {"does not fit": row["outliers"], "not ASCII": row.get("outside_alphabet", [])}
    notes = [f"{name}: {', '.join(map(repr, values[:5]))}" for name, values in found.items() if values]
    return notes + ([f"passed over: {row['passed_over']}"] if "passed_over" in row else [])


def show_table(title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """A table of words."""
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    out.print(table, markup=False)
