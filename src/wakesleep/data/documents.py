"""Small JSON documents from a folder that anybody may have made: limited in size, and refused in one sentence."""

import json
import os
from pathlib import Path
from typing import Any

from wakesleep.errors import Refusal

DOCUMENT_BYTES = 16 << 20
REASON_CHARACTERS = 120


def read_document(path: Path, what: str = "a JSON document") -> Any:
    """Returns the decoded JSON of a small file."""
    text = read_small(path, what)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refusal(f"{path} is damaged and cannot be read as {what} ({reason(error)}).") from None


def read_small(path: Path, what: str, most_bytes: int = DOCUMENT_BYTES) -> str:
    """Returns the text of a file in UTF-8; refuses one that is too long or not text."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            data = file.read(most_bytes + 1)
        if len(data) > most_bytes:
            raise Refusal(f"{path} has more than {most_bytes:,} bytes, which is the most for {what}.")
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"{path} is damaged and cannot be read as {what} ({reason(error)}).") from None


def reason(error: BaseException) -> str:
    """Returns the first line of an error, shortened, without the path that an error of the system repeats."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:REASON_CHARACTERS]
