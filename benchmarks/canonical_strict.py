"""Strict canonical columns: drawn members and near misses written by hand, by somebody who did not know the tool.

Columns were written in pairs of like topic. One of each pair was looked at (strict); the others were run once, when the
language was settled (strict, run once). `canonical_strict.json` holds, for each column, 240 members drawn in order, at
least 20 near misses with one slip each, and the format in words.
"""

import json
from pathlib import Path
from typing import Any

STORED: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
COUNTS, MOST_STRICT_DRAWS = (8, 30), 3
PREFIX = "strict "


def strict_parts() -> dict[str, list[str]]:
    """The names of the columns of each part."""
    found: dict[str, list[str]] = {}
    for name, column in STORED.items():
        found.setdefault(column["part"], []).append(PREFIX + name)
    return found


def strict_drawn(name: str, count: int, seed: int) -> tuple[list[str], list[str], list[str]]:
    """Examples of a column, members that are in no draw of examples, and near misses."""
    column = STORED[name.removeprefix(PREFIX)]
    few, many = COUNTS
    start = few * seed if count == few else MOST_STRICT_DRAWS * few + many * seed
    last = MOST_STRICT_DRAWS * sum(COUNTS)
    return column["members"][start : start + count], column["members"][last:], column["misses"]
