"""The page of memories: bounds of runs side by side, and the programs remembered for an observation over the steps.

It reads the files of the run directories that were named when the server was started, and computes nothing.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wakesleep.domains.pages import Asked, Page
from wakesleep.errors import Refusal

MOST_BYTES_READ = 32 << 20
"""Bytes of a file that are read; of a longer one the end."""
MOST_CURVE_POINTS = 600
"""Points of a curve that are sent; a longer one is thinned."""
MOST_LOOKS = 300
WATCHED_OPTION = "--watch"


def memory_page(runs: Sequence[Path]) -> Page:
    """Returns the page of these run directories."""
    given = list(runs)

    def context(asked: Asked) -> dict[str, Any]:
        return {"runs": [_described(i, path) for i, path in enumerate(given)]}

    def _run(asked: Asked) -> Path:
        return given[int(asked.number("run", 0, 0, len(given) - 1))] if given else _none()

    def curves(asked: Asked) -> dict[str, Any]:
        return {"runs": [{"name": path.name, **_curve(path)} for path in given]}

    def remembered(asked: Asked) -> dict[str, Any]:
        row = int(asked.number("row", 0, 0, math.inf))
        return _remembered(_run(asked), row)

    return Page(
        name="Memory",
        idea="Watch a run learn: which programs it remembers for an observation, what found them, and how its bound "
        "compares with other runs.",
        folder=Path(__file__).parent,
        scripts=("memory.js",),
        context=context,
        answers={"curves": curves, "remembered": remembered},
    )


def _none() -> Path:
    raise Refusal("No run directory was given: start with `wakesleep explore RUN`.")


def _described(number: int, path: Path) -> dict[str, Any]:
    """Returns what the page says of a run: its settings, in a few words."""
    try:
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
        words = {name: config.get(name) for name in ("domain", "algorithm", "steps", "batch_size", "seed", "watch")}
    except (OSError, ValueError, AttributeError, RecursionError):
        words = {}
    return {"number": number, "name": path.name, "settings": words}


def _lines(file: Path) -> list[dict[str, Any]]:
    """Returns the whole lines of a file of JSON lines; a line that is cut off or damaged is left out."""
    try:
        size = file.stat().st_size
        with file.open("rb") as opened:
            opened.seek(max(0, size - MOST_BYTES_READ))
            texts = opened.read(MOST_BYTES_READ).split(b"\n")
    except OSError:
        return []
    found = []
    for text in texts[:-1]:
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(line, dict) and isinstance(line.get("step"), int):
            found.append(line)
    return found


def _number(value: Any) -> float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if good else None


def _curve(path: Path) -> dict[str, Any]:
    """Returns the steps, bounds and novelty of a run: of the looks, or of the checkpoints where nothing was watched."""
    watched = [line for line in _lines(path / "memory.jsonl") if "bound" in line]
    lines = watched or _lines(path / "metrics.jsonl")
    lines = lines[:: max(1, len(lines) // MOST_CURVE_POINTS)]
    names = ("bound", "novel", "explained")
    return {"steps": [line["step"] for line in lines]} | {n: [_number(line.get(n)) for line in lines] for n in names}


def _remembered(path: Path, row: int) -> dict[str, Any]:
    """Returns the programs of an observation at each look, and the observations that there are."""
    lines = _lines(path / "memory.jsonl")
    rows = sorted({line["row"] for line in lines if isinstance(line.get("row"), int)})
    looks = [{"step": line["step"], "programs": _programs(line)} for line in lines if line.get("row") == row]
    looks = looks[:1] + looks[1:-1][:: max(1, len(looks) // MOST_LOOKS)] + looks[1:][-1:]
    note = "" if rows else _why_nothing(path)
    return {"rows": rows, "looks": looks, "names": _names(path), "note": note}


def _programs(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the programs of a line as the page expects them."""
    given = line.get("programs")
    return [
        {"program": str(p.get("program")), "q": _number(p.get("q")) or 0.0, "since": p.get("since"), "by": p.get("by")}
        for p in (given if isinstance(given, list) else [])
        if isinstance(p, dict)
    ]


def _names(path: Path) -> list[str]:
    """Returns the names of the first observations, where the run has listed its programs."""
    try:
        with (path / "programs.jsonl").open(encoding="utf-8", errors="replace") as opened:
            return [str(json.loads(text).get("name", "")) for text, _ in zip(opened, range(100), strict=False)]
    except (OSError, ValueError, AttributeError, RecursionError):
        return []


def _why_nothing(path: Path) -> str:
    """Returns why there are no programs to show."""
    config = _described(0, path)["settings"]
    if str(config.get("algorithm", "")).startswith("mws"):
        return f"{path.name} wrote nothing down of its memory: train with {WATCHED_OPTION} 20 to see it here."
    return f"{path.name} keeps no memory: {config.get('algorithm', 'its algorithm')} proposes anew at every step."
