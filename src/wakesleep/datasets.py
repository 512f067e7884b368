"""Data that do not come with the package: in the folder that WAKESLEEP_DATA names, else in the user's cache."""

import os
from pathlib import Path

from wakesleep.errors import Refusal


def cache() -> Path:
    """The user's cache folder."""
    return Path(os.environ.get("WAKESLEEP_CACHE") or Path.home() / ".cache" / "wakesleep")


def find(name: str) -> Path:
    """The file of that name in the data folder."""
    folder = Path(os.environ.get("WAKESLEEP_DATA") or cache() / "data")
    path = folder / name
    if not path.is_file():
        raise Refusal(f"{name} is not in the data folder {folder}: put it there, or name another in WAKESLEEP_DATA.")
    return path
