"""A results file: a table made cell by cell, each kept as soon as it is finished."""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
from filelock import FileLock

from wakesleep.data.atomic import write_whole
from wakesleep.errors import Refusal, require_one_of
from wakesleep.paper.cells import VARIANTS

Row = dict[str, Any]


def complete(
    path: Path,
    settings: dict[str, Any],
    cells: Iterable[Row],
    compute: Callable[[Row], Row | list[Row]],
    report: Callable[[str], None] = print,
) -> list[Row]:
    """Fills the file with a row, or several, for each cell; a cell that it has already is not computed again.

    A cell is the part of a row that identifies it. Settings belong to the whole table: a file made
    with others is refused, not mixed. Several processes may fill one file with different cells.
    """
    for cell in cells:
        name = " ".join(f"{k}={v}" for k, v in cell.items())
        if any(cell.items() <= row.items() for row in _table(path, settings)["rows"]):
            report(f"{name}: done before")
            continue
        start = _cpu_seconds()
        made = compute(cell)
        seconds = round(_cpu_seconds() - start, 1)
        rows = [cell | row | {"cpu_seconds": seconds} for row in (made if isinstance(made, list) else [made])]
        _append(path, settings, rows, seconds)
        jax.clear_caches()  # what was compiled for a cell serves no other, and a process can hold but so much of it
        report(f"{name}: {seconds:.0f} CPU seconds")
    rows_of_all: list[Row] = _table(path, settings)["rows"]
    return rows_of_all


def _cpu_seconds() -> float:
    """Returns CPU time of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def _table(path: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Returns the table as it stands, which must have been made with these settings."""
    table = load(path) or {"rows": [], "settings": settings, "cpu_seconds": 0.0}
    if table["settings"] != settings:
        raise Refusal(f"{path} was made with other settings: remove it, or write to another directory (--output).")
    return table


def _append(path: Path, settings: dict[str, Any], rows: list[Row], seconds: float) -> None:
    """Adds rows to the file, which another process may have changed in the meantime."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.parent / f".{path.name}.lock"):
        table = _table(path, settings)
        table["rows"] += rows
        table["cpu_seconds"] = round(table["cpu_seconds"] + seconds, 1)
        write_whole(path, dump(table))


def load(path: Path) -> dict[str, Any] | None:
    """Returns the table in the file, if there is one."""
    if not path.exists():
        return None
    try:
        table: dict[str, Any] = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise Refusal(f"{path} is not a results file ({error}).") from None
    return table


def longest(path: Path) -> dict[str, Any]:
    """Returns the results with only the rows of the longest run in it."""
    table = load(path)
    if table is None or not table["rows"]:
        raise Refusal(f"{path} has no results yet: make them with wakesleep reproduce {path.stem}.")
    steps = max(row["steps"] for row in table["rows"])
    return table | {"rows": [row for row in table["rows"] if row["steps"] == steps]}


def dump(table: dict[str, Any]) -> str:
    """Returns JSON with one row a line, so that a change reads well."""
    head = {k: v for k, v in table.items() if k != "rows"}
    rows = ",\n".join("  " + json.dumps(row) for row in table["rows"])
    return '{"rows": [\n' + rows + "\n],\n" + json.dumps(head, indent=1)[1:] + "\n"


def resize(
    plan: Any, steps: int | None, seeds: int | None, algorithms: list[str] | None = None, ks: list[int] | None = None
) -> Any:
    """Returns the plan with another number of steps (for each task, where it has several) or seeds, or cut down."""
    if steps is not None:
        plan = replace(plan, steps=dict.fromkeys(plan.steps, steps) if isinstance(plan.steps, dict) else steps)
    for name in algorithms or ():
        require_one_of("algorithm", name, tuple(VARIANTS))
    cuts = {"seeds": seeds, "algorithms": algorithms and tuple(algorithms), "ks": ks and tuple(ks)}
    return replace(plan, **{k: v for k, v in cuts.items() if v})
