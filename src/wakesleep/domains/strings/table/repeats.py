"""Values that repeat in a column of any height: a fingerprint of eight bytes a row, kept in a temporary file."""

import tempfile
from collections.abc import Sequence

import numpy as np

MOST_HELD = 4_000_000
"""Fingerprints that are compared at once."""
MOST_REPEATS_NAMED = 1000


class Repeats:
    """The fingerprints of a column, row by row."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="wakesleep-")  # noqa: SIM115, closed by `close`
        self.rows = 0

    def add(self, values: Sequence[str | None]) -> None:
        """Adds the values of the next rows; None never repeats."""
        first = self.rows
        prints = (hash((first + i, None)) if v is None else hash(v) for i, v in enumerate(values))
        self._file.write(np.fromiter(prints, np.int64, len(values)).tobytes())
        self.rows += len(values)

    def found(self) -> list[list[int]]:
        """Returns the rows, from one, of each value that occurs again; a value of few rows by chance in 2^64."""
        if not self.rows:
            return []
        self._file.flush()
        prints = np.memmap(self._file, np.int64, "r", shape=(self.rows,))
        parts = -(-self.rows // MOST_HELD)
        groups: list[list[int]] = []
        for part in range(parts):
            blocks = range(0, self.rows, MOST_HELD)
            rows = np.concatenate([i + np.flatnonzero(prints[i : i + MOST_HELD] % parts == part) for i in blocks])
            own = np.asarray(prints[rows])
            order = np.argsort(own, kind="stable")
            own, rows = own[order], rows[order]
            again = np.flatnonzero(own[1:] == own[:-1])
            for key in np.unique(own[again])[: MOST_REPEATS_NAMED - len(groups)]:
                start, stop = np.searchsorted(own, key, "left"), np.searchsorted(own, key, "right")
                groups.append([int(r) + 1 for r in rows[start:stop]])
        return sorted(groups)

    def close(self) -> None:
        """Frees the file."""
        self._file.close()
