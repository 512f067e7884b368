"""Where a run's domain comes from: a name, `package.module:NAME`, or a file and a name in it, `path/file.py:NAME`.

`wakesleep.domains.domain` resolves a reference. A run records it so that it can be resolved again from anywhere.
"""

import hashlib
import re
from pathlib import Path

from wakesleep.running.config import Config

LONGEST_SLUG = 60


def file_of(reference: str) -> Path | None:
    """Returns the file that a reference names, or None for a reference of another kind."""
    file, colon, _ = reference.rpartition(":")
    return Path(file) if colon and file.endswith(".py") else None


def digest(reference: str) -> str:
    """Returns the SHA-256 of the file that a reference names; empty where it names none or the file is missing."""
    file = file_of(reference)
    if file is None or not file.is_file():
        return ""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def slug(reference: str) -> str:
    """Returns a name for a folder, made of letters, digits, dots, dashes and underscores."""
    file = file_of(reference)
    words = reference if file is None else f"{file.stem}-{reference.rpartition(':')[2]}"
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", words).strip("-.")[:LONGEST_SLUG] or "run"


def changed(config: Config) -> bool:
    """Whether the file of a run's domain is another than when the run began."""
    return bool(config.domain_digest) and digest(config.domain) != config.domain_digest
