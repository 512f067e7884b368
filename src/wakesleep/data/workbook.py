"""Prints the first sheet of a spreadsheet as JSON; run as a script, in a process whose memory is limited.

A few kilobytes can name cells so far apart that the sheet takes all memory of a machine, upon which the reading
library ends the process that it is in. So this one is a process of its own, and imports nothing of the package.

    python workbook.py FILE BYTES ROWS     prints lists of at most ROWS rows, then "end" or {"error": SENTENCE}
"""

import json
import sys
from datetime import datetime
from typing import Any


def main(path: str, memory: int, most: int) -> None:
    """Prints the rows, with empty lists for empty rows."""
    _limit(memory)
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        block: list[list[str]] = []
        for row in CalamineWorkbook.from_path(path).get_sheet_by_index(0).iter_rows():
            cells = [_text(value) for value in row]
            block.append(cells if any(cells) else [])
            if len(block) >= most:
                print(json.dumps(block))
                block = []
        print(json.dumps(block))
        print(json.dumps("end"))
    except (CalamineError, OSError, ValueError, IndexError) as error:
        print(json.dumps({"error": str(error)}))


def _limit(memory: int) -> None:
    """Limits this process to so many bytes of address space, where the system can."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _text(value: Any) -> str:
    """A cell as it reads: whole numbers without a fraction, dates without a time that is midnight."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).removesuffix(" 00:00:00") if isinstance(value, datetime) else str(value)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
