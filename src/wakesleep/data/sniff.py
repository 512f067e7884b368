"""A first look at a file: what its columns hold, or its colours; enough to tell which domain reads it."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from wakesleep.data.tables import stream_columns
from wakesleep.errors import Refusal

ROWS_LOOKED_AT = 200
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
DATE = re.compile(
    r"\d{4}([-/.]\d{1,2}){1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|[A-Z][a-z]{2}[- ]\d{2,4}", re.ASCII
)
IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".bmp")
PIXELS_LOOKED_AT = 4_000_000


class Peeked(NamedTuple):
    """What the first values of a column are."""

    numeric: bool
    dates: bool


def peek(path: Path) -> dict[str, Peeked] | None:
    """Returns what the columns of a table hold, by name, or None where the file is not a table."""
    if not path.is_file() or path.suffix.lower() in IMAGES:
        return None
    try:
        first = next(stream_columns(path), [])
    except Refusal:
        return None
    return {column.name: _judge(column.values[:ROWS_LOOKED_AT]) for column in first}


def _judge(values: Sequence[str | None]) -> Peeked:
    seen = [v.strip() for v in values if v and v.strip()]
    numeric, dates = (bool(seen) and all(form.fullmatch(v) for v in seen) for form in (NUMBER, DATE))
    return Peeked(numeric, dates)


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
