"""The most that is read from a file; each limit is checked before the memory for it is taken."""

CELL_CHARACTERS = 10_000_000
LINE_CHARACTERS = 16_000_000
TABLE_COLUMNS = 16_384
"""As many as a sheet of Excel has."""
TABLE_CELLS = 50_000_000
TABLE_CHARACTERS = 4 << 30
"""Both are held in memory by `rows="all"`; a stream has no such limits."""

CHUNK_ROWS = 16_384
CHUNK_CELLS = 262_144
CHUNK_CHARACTERS = 16_000_000
SAMPLE_ROWS = 2000
SAMPLE_CELL_CHARACTERS = 2000
"""A sample keeps the beginning of a longer cell: it is free text, or not text at all."""

EXPANDED_BYTES = 4 << 30
EXPANDED_BYTES_ALWAYS = 64 << 20
"""An archive may expand to this however small it is, and above it `EXPANSION_RATIO`-fold."""
EXPANSION_RATIO = 250
SPREADSHEET_MEMORY_BYTES = 2 << 30

IMAGE_PIXELS = 1 << 24
"""4,096 x 4,096."""
IMAGES_PIXELS = 1 << 28
"""Of all images that are read at once."""


def expanded_bytes(compressed: int) -> int:
    """The most bytes that a compressed file of that size may expand to."""
    return min(EXPANDED_BYTES, max(EXPANDED_BYTES_ALWAYS, EXPANSION_RATIO * compressed))
