"""Where a run's domain comes from: a name, `package.module:NAME`, or a file and a name in it, `path/file.py:NAME`.

`wakesleep.domains.domain` resolves a reference. A run records it so that it can be resolved again from anywhere.
"""

import hashlib
import re
from pathlib import Path

from wakesleep.domains import domain as find_domain
from wakesleep.domains.contract import Domain
from wakesleep.errors import Refusal
from wakesleep.running.config import Config

LONGEST_SLUG = 60


def file_of(reference: str) -> Path | None:
    """The file that a reference names, or None for a reference of another kind."""
    file, colon, _ = reference.rpartition(":")
    return Path(file) if colon and file.endswith(".py") else None


def absolute(reference: str) -> str:
    """The reference with its file, if it names one, as an absolute path."""
    file = file_of(reference)
    return reference if file is None else f"{file.resolve()}:{reference.rpartition(':')[2]}"


def digest(reference: str) -> str:
    """The SHA-256 of the file that a reference names; empty for a reference of another kind or a missing file."""
    file = file_of(reference)
    if file is None or not file.is_file():
        return ""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def slug(reference: str) -> str:
    """A name for a folder, made of letters, digits, dots, dashes and underscores."""
    file = file_of(reference)
    words = reference if file is None else f"{file.stem}-{reference.rpartition(':')[2]}"
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", words).strip("-.")[:LONGEST_SLUG] or "run"


def resolve(config: Config) -> Domain:
    """The domain of a configuration; one sentence where a run was made with a domain that is missing now."""
    file = file_of(config.domain)
    if file is not None and not file.is_file():
        raise Refusal(f"The domain {config.domain} cannot be found, since there is no file {file}: {_remedy(config)}.")
    try:
        return find_domain(config.domain)
    except (Refusal, ImportError) as error:
        if isinstance(error, Refusal) and not config.data_digest:
            raise
        said = str(error).rstrip(".")
        raise Refusal(
            f"The run needs the domain {config.domain}, which is missing ({said}): {_remedy(config)}."
        ) from None


def _remedy(config: Config) -> str:
    """What to do about a missing domain; a run that has begun knows the fingerprint of its data."""
    return "bring it back, or install it, and try again" if config.data_digest else "check the path"


def changed(config: Config) -> bool:
    """Whether the file of a run's domain is another than when the run began."""
    return bool(config.domain_digest) and digest(config.domain) != config.domain_digest
