"""A first look at a file: what its columns hold, or its colours; enough to tell which domain reads it."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from wakesleep.data.kinds import PICTURE_SUFFIXES
from wakesleep.data.tables import stream_columns
from wakesleep.errors import Refusal

ROWS_LOOKED_AT = 200
PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
DATE = re.compile(
    r"\d{4}([-/.]\d{1,2}){1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|[A-Z][a-z]{2}[- ]\d{2,4}", re.ASCII
)
PIXELS_LOOKED_AT = 4_000_000


class Peeked(NamedTuple):
    """What the first values of a column are."""

    numeric: bool
    dates: bool


def peek(path: Path) -> dict[str, Peeked] | None:
    """Returns what the columns of a table hold, by name, or None where the file is not a table."""
    if not path.is_file() or path.suffix.lower() in PICTURE_SUFFIXES:
        return None
    try:
        first = next(stream_columns(path), [])
    except Refusal:
        return None
    return {column.name: _judge(column.values[:ROWS_LOOKED_AT]) for column in first}


def type_of(values: Sequence[str | None]) -> str:
    """Returns what the values of a column are: number, date, text, or empty."""
    if not any(value and value.strip() for value in values):
        return "empty"
    found = _judge(values)
    return "number" if found.numeric else "date" if found.dates else "text"


def _judge(values: Sequence[str | None]) -> Peeked:
    seen = [v.strip() for v in values if v and v.strip()]
    numeric, dates = (bool(seen) and all(form.fullmatch(v) for v in seen) for form in (PLAIN_NUMBER, DATE))
    return Peeked(numeric, dates)


def colours(path: Path) -> list[float] | None:
    """Returns the share of each colour of an image, or None where the file is not one that can be looked at."""
    if not path.is_file() or path.suffix.lower() not in PICTURE_SUFFIXES:
        return None
    from wakesleep.data.images import read_image

    try:
        pixels = read_image(path, most_pixels=PIXELS_LOOKED_AT)
    except Refusal:
        return None
    counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)[1]
    return [float(c) / counts.sum() for c in counts]
