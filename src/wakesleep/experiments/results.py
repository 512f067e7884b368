"""A results file: a table made cell by cell, each kept as soon as it is finished."""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from wakesleep.errors import Refusal
from wakesleep.runs import write_whole

Row = dict[str, Any]


def complete(
    path: Path,
    settings: dict[str, Any],
    cells: Iterable[Row],
    compute: Callable[[Row], Row],
    report: Callable[[str], None] = print,
) -> list[Row]:
    """Fills the file with a row for each cell; a cell that it has already is not computed again.

    A cell is the part of a row that identifies it. Settings belong to the whole table: a file made
    with others is refused, not mixed.
    """
    table = load(path) or {"rows": [], "settings": settings, "cpu_seconds": 0.0}
    if table["settings"] != settings:
        raise Refusal(f"{path} was made with other settings: remove it, or write to another directory (--output).")
    for cell in cells:
        name = " ".join(f"{k}={v}" for k, v in cell.items())
        if any(cell.items() <= row.items() for row in table["rows"]):
            report(f"{name}: done before")
            continue
        start = time.process_time()
        row = cell | compute(cell)
        row["cpu_seconds"] = round(time.process_time() - start, 1)
        table["rows"].append(row)
        table["cpu_seconds"] = round(table["cpu_seconds"] + row["cpu_seconds"], 1)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, dump(table))
        report(f"{name}: {row['cpu_seconds']:.0f} CPU seconds")
    return table["rows"]


def load(path: Path) -> dict[str, Any] | None:
    """The table in the file, if there is one."""
    if not path.exists():
        return None
    try:
        table: dict[str, Any] = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise Refusal(f"{path} is not a results file ({error}).") from None
    return table


def dump(table: dict[str, Any]) -> str:
    """JSON with one row a line, so that a change reads well."""
    head = {k: v for k, v in table.items() if k != "rows"}
    rows = ",\n".join("  " + json.dumps(row) for row in table["rows"])
    return '{"rows": [\n' + rows + "\n],\n" + json.dumps(head, indent=1)[1:] + "\n"


def resize(plan: Any, steps: int | None, seeds: int | None) -> Any:
    """The plan with another number of steps (for each of its tasks, where it has several) or of seeds."""
    if steps is not None:
        plan = replace(plan, steps=dict.fromkeys(plan.steps, steps) if isinstance(plan.steps, dict) else steps)
    return plan if seeds is None else replace(plan, seeds=seeds)
