"""Data that do not come with the package: in the folder that WAKESLEEP_DATA names, else in the user's cache."""

import os
from collections.abc import Callable
from pathlib import Path

from wakesleep.core.compilation import user_cache
from wakesleep.errors import Refusal


def find(name: str, make: Callable[[Path], None] | None = None) -> Path:
    """The file of that name in the data folder; one that is not there is made, where it is known how."""
    given = os.environ.get("WAKESLEEP_DATA")
    folder = Path(given or user_cache() / "data")
    path = folder / name
    if not path.is_file() and make is not None and not given:
        make(path)
    if not path.is_file():
        raise Refusal(f"{name} is not in the data folder {folder}: put it there, or name another in WAKESLEEP_DATA.")
    return path


def download(url: str, known_hash: str) -> Path:
    """A file from the web, checked against its hash and kept in the user's cache."""
    import pooch  # type: ignore[import-untyped]

    try:
        return Path(pooch.retrieve(url, known_hash, path=user_cache() / "downloads", progressbar=False))
    except (OSError, ValueError) as error:
        raise Refusal(f"{url} could not be downloaded ({error}).") from None
