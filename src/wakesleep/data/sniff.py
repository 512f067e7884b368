"""A first look at a file: what its columns hold, or its colours; enough to tell which domain reads it."""

import csv
import re
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from wakesleep.data.tables import guess_delimiter, open_text

ROWS_LOOKED_AT = 200
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
DATE = re.compile(
    r"\d{4}([-/.]\d{1,2}){1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|[A-Z][a-z]{2}[- ]\d{2,4}", re.ASCII
)
IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".bmp")
TABLES = (".csv", ".tsv", ".tab", ".txt", "", ".parquet", ".pq", ".xls", ".xlsx", ".xlsb", ".ods")
BINARY_TABLES = (".parquet", ".pq", ".xls", ".xlsx", ".xlsb", ".ods")
PIXELS_LOOKED_AT = 4_000_000


class Peeked(NamedTuple):
    """What the first values of a column are."""

    numeric: bool
    dates: bool


def peek(path: Path) -> dict[str, Peeked] | None:
    """Returns what the columns of a table hold, by name, or None where the file is not a table."""
    if not path.is_file() or path.suffix.lower() not in TABLES:
        return None
    return {name: _judge(values) for name, values in _first_values(path).items()}


def _judge(values: list[str]) -> Peeked:
    seen = [v.strip() for v in values if v.strip()]
    return Peeked(
        bool(seen) and all(NUMBER.fullmatch(v) for v in seen), bool(seen) and all(DATE.fullmatch(v) for v in seen)
    )


def _first_values(path: Path) -> dict[str, list[str]]:
    if path.suffix.lower() in BINARY_TABLES:
        from wakesleep.data.tables import read_columns

        return {c.name: c.values[:ROWS_LOOKED_AT] for c in read_columns(path)}
    with open_text(path) as file:
        lines = [line.replace("\0", "") for line in islice(file, ROWS_LOOKED_AT + 1)]
    rows = list(csv.reader(lines, delimiter=guess_delimiter(path, lines[0]))) if lines else []
    if not rows:
        return {}
    return {name: [row[i] for row in rows[1:] if i < len(row)] for i, name in enumerate(rows[0])}


def colours(path: Path) -> list[float] | None:
    """Returns the share of each colour of an image, or None where the file is not one that can be looked at."""
    if not path.is_file() or path.suffix.lower() not in IMAGES:
        return None
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            if image.width * image.height > PIXELS_LOOKED_AT:
                return None
            counts = image.convert("RGB").getcolors(PIXELS_LOOKED_AT) or []
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError):
        return None
    total = sum(count for count, _ in counts)
    return [count / total for count, _ in counts]
