"""A simple random sample of rows, drawn in one pass; equal seeds and heights give equal rows, whatever the file."""

import math
import random
from collections.abc import Iterator


def draws(size: int, seed: int) -> Iterator[tuple[int, int]]:
    """Yields (row, place): row replaces what is at that place of the sample; rows rise and never end.

    Algorithm L (Li, 1994): after the first `size` rows the gaps between replacements are geometric, so that n rows
    take about size * log(n / size) draws.
    """
    source = random.Random(seed)
    yield from ((row, row) for row in range(size))
    w, row = 1.0, size - 1
    while True:
        w *= math.exp(math.log(1.0 - source.random()) / size)
        row += math.floor(math.log(1.0 - source.random()) / math.log1p(-w)) + 1
        yield row, source.randrange(size)


def sample_rows(height: int, size: int, seed: int) -> list[int]:
    """The rows, from zero and in order, that `draws` leaves of a table of that height."""
    kept: dict[int, int] = {}
    for row, place in draws(size, seed):
        if row >= height:
            break
        kept[place] = row
    return sorted(kept.values())
