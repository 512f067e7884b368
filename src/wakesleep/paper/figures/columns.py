"""Tables of the benchmarks of columns, from their results files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wakesleep.errors import Refusal
from wakesleep.paper.tables import markdown

FITTED = {"half": "half of the rows", "ten": "ten values"}


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Refusal(f"{path} cannot be read ({error}): run its benchmark first.") from None


def table_tables(folder: Path) -> str:
    """Validators on real tables: false alarms, errors detected and score, fitted on half of the rows and on ten."""
    return _validators(folder / "benchmark-tables.json", "public tables")


def table_held_out(folder: Path) -> str:
    """Validators on tables that nothing was fitted to or chosen on, as `table_tables`."""
    return _validators(folder / "benchmark-tables-held-out.json", "tables of packages that were held out")


def _validators(path: Path, kind: str) -> str:
    results = _read(path)
    rows = [r for r in results["rows"] if r.get("validator")]
    names = sorted({r["validator"] for r in rows}, key=lambda n: (not n.startswith("wakesleep"), n))
    by = {(r["validator"], r["fitted"]): r for r in rows}
    head = ["validator", *(f"{what}: {m}" for what in FITTED.values() for m in ("alarms", "detected", "score"))]
    lines = [
        [name, *(_number(by.get((name, f)), m) for f in FITTED for m in ("alarms", "detected", "score"))]
        for name in names
    ]
    columns, tables = max(r["columns"] for r in rows), len(results["settings"]["tables"])
    caption = (
        f"{columns} text columns of {tables} {kind}. Alarms: share of later rows refused; detected: share of injected "
        "errors refused; both are means over columns. Score: the mean of detected and 1 - alarms."
    )
    return markdown(head, lines) + "\n\n" + caption


def _number(row: dict[str, Any] | None, measure: str) -> str:
    return "" if row is None or row.get(measure) is None else f"{row[measure]:.3f}"


def table_calibration(folder: Path) -> str:
    """False alarms at each share, on random and ordered halves and on some rows drawn at random."""
    files = ("benchmark-tables.json", "benchmark-tables-held-out.json")
    given, found = ([r for r in _read(folder / f)["rows"] if r.get("share") is not None] for f in files)
    held = {(r["calibration"], r["share"]): r for r in found}
    measures = ("asked_for", "alarms", "columns_over_5")
    lines = [
        [
            r["calibration"],
            str(r["share"]),
            *(_number(row, m) for row in (r, held.get((r["calibration"], r["share"]))) for m in measures),
        ]
        for r in given
    ]
    said = ("said", "alarms", "columns over 5 %")
    return markdown(["rows fitted", "share", *said, *(f"held out: {s}" for s in said)], lines)


def table_judge(folder: Path) -> str:
    """What the judge loses without each of its parts, fitted anew out of fold."""
    rows = [r for r in _read(folder / "benchmark-tables.json")["rows"] if "ablation" in r]
    measures = [(f, m) for f in FITTED for m in ("alarms", "score", "held_out_kinds")]
    head = ["judge", *(f"{FITTED[f]}: {m.replace('_', ' ')}" for f, m in measures)]
    lines = [[r["ablation"], *(_number(r[f], m) for f, m in measures)] for r in rows]
    caption = (
        "Out of fold by table, on errors made as for training, each row fitted anew for two epochs: compare them with "
        "each other only. Held-out kinds: the share detected of errors of the kinds that no setting was chosen on."
    )
    return markdown(head, lines) + "\n\n" + caption


def table_canonical(folder: Path) -> str:
    """Columns with a known right answer: the share that each rule gets right."""
    rows = _read(folder / "benchmark-canonical.json")["table"]
    parts = list(dict.fromkeys(r["part"] for r in rows))
    keys = [(n, part) for n in sorted({r["examples"] for r in rows}) for part in parts]
    by = {(r["rule"], r["examples"], r["part"]): r for r in rows}
    names = list(dict.fromkeys(r["rule"] for r in rows))
    lines = [[name, *(_number(by.get((name, *key)), "right") for key in keys)] for name in names]
    numbers = ", ".join(f"{next(r['columns'] for r in rows if r['part'] == part)} {part}" for part in parts)
    caption = f"Share of columns ({numbers}) with recall of at least .95 and at most .05 of the near misses accepted."
    return markdown(["rule", *(f"{n} examples, {part}" for n, part in keys)], lines) + "\n\n" + caption


def table_sources(folder: Path) -> str:
    """What the first program loses without each source of proposals."""
    rows = _read(folder / "benchmark-column-sources.json")["rows"]
    measures = ("right_8", "right_30", "half", "ten")
    head = [
        "without",
        "canonical, 8 examples",
        "canonical, 30 examples",
        "tables, half of the rows",
        "tables, ten values",
    ]
    return markdown(head, [[r["without"], *(_number(r, m) for m in measures)] for r in rows])


def table_speed(folder: Path) -> str:
    """CPU seconds of whole processes, and values judged in a CPU second."""
    rows = _read(folder / "benchmark-columns-speed.json")["rows"]
    costs = [r for r in rows if "tool" in r]
    lines = [
        [
            f"{r['tool']}, {r['columns']} columns",
            f"{r['cpu_seconds']:.2f}",
            f"{r['ratio_to_rexpy']:.2f}",
            str(r["peak_mb"]),
        ]
        for r in costs
    ]
    rates = ", ".join(f"{r['values_a_cpu_second']:,} ({r['accepts']})" for r in rows if "accepts" in r)
    caption = f"Columns of 1,000 rows. `accepts` judges so many values in a CPU second: {rates}."
    return markdown(["process", "CPU seconds", "ratio to rexpy", "peak MB"], lines) + "\n\n" + caption


TABLES: dict[str, Callable[[Path], str]] = {
    "columns-tables": table_tables,
    "columns-held-out": table_held_out,
    "columns-calibration": table_calibration,
    "columns-judge": table_judge,
    "columns-canonical": table_canonical,
    "columns-speed": table_speed,
    "columns-sources": table_sources,
}
