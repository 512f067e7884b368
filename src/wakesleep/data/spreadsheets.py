"""Rows of the first sheet of a spreadsheet, read in a process of its own (see `workbook`)."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from wakesleep.data import limits
from wakesleep.errors import Refusal

READER = Path(__file__).with_name("workbook.py")


def sheet_rows(path: Path, title: str) -> Iterator[list[str]]:
    """The rows of the first sheet, as texts."""
    _require_small(path, title)
    words = [str(READER), str(path.resolve()), str(limits.SPREADSHEET_MEMORY_BYTES), str(limits.CHUNK_ROWS // 16)]
    process = subprocess.Popen(
        [sys.executable, "-P", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONIOENCODING": "utf-8"},
        text=True,
        encoding="utf-8",
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            found = json.loads(line)
            if isinstance(found, dict):
                raise Refusal(f"{title} cannot be read as a spreadsheet: {found['error']}.")
            if found == "end":
                return
            yield from found
        raise _ended(title, process.wait())
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def _ended(title: str, code: int) -> Refusal:
    """What is said when the reading process has not come to the end of the sheet."""
    if code < 0:
        most = limits.SPREADSHEET_MEMORY_BYTES
        return Refusal(
            f"{title} takes more than {most >> 20:,} MB of memory to be read as a spreadsheet, which is the most that "
            "is given: its cells may lie far apart; save the sheet as CSV."
        )
    return Refusal(f"{title} cannot be read as a spreadsheet: it is damaged, or of another kind.")


def _require_small(path: Path, title: str) -> None:
    """Refuses a workbook whose parts expand to too much; other faults are left to the reading process."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(part.file_size for part in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return
    most = limits.expanded_bytes(path.stat().st_size)
    if size > most:
        raise Refusal(
            f"{title} expands to {size:,} bytes, but a spreadsheet of its size may expand to {most:,}: save the sheet "
            "as CSV if you trust it."
        )
