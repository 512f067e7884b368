"""Where the package keeps what it may make again."""

import os
from pathlib import Path


def user_cache() -> Path:
    """Returns the user's cache folder: WAKESLEEP_CACHE, or one in the home folder."""
    return Path(os.environ.get("WAKESLEEP_CACHE") or Path.home() / ".cache" / "wakesleep")
