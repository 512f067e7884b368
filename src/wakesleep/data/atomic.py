"""Files and folders that appear whole or not at all, whenever the process is killed."""

import hashlib
import os
import shutil
from pathlib import Path

UNFINISHED, REMOVED = ".unfinished", ".removed"


def write_whole(path: Path, text: str) -> None:
    """Replaces a file's text at once."""
    unfinished = beside(path)
    unfinished.write_text(text)
    sync(unfinished)
    unfinished.replace(path)


def beside(path: Path) -> Path:
    """A hidden name beside the path, free for unfinished work; what a killed process left there goes."""
    unfinished = path.with_name(f".{path.name}{UNFINISHED}")
    if unfinished.is_dir():
        shutil.rmtree(unfinished)
    return unfinished


def publish(unfinished: Path, final: Path) -> None:
    """Gives a finished folder its name, which lasts from then on."""
    sync(unfinished)
    unfinished.rename(final)
    _sync_one(final.parent)


def remove(folder: Path) -> None:
    """Removes a folder; it is never seen half removed."""
    hidden = folder.with_name(f".{folder.name}{REMOVED}")
    if hidden.exists():
        shutil.rmtree(hidden)
    folder.rename(hidden)
    shutil.rmtree(hidden)


def sweep(folder: Path) -> None:
    """Removes what killed processes left unfinished in a folder."""
    for left in folder.iterdir():
        if left.name.startswith(".") and left.name.endswith((UNFINISHED, REMOVED)) and left.is_dir():
            shutil.rmtree(left)


def digests(folder: Path, but: str) -> dict[str, str]:
    """The SHA-256 of each file of a folder but one, by its path in the folder."""
    found = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if name != but:
            with path.open("rb") as file:
                found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def sync(path: Path) -> None:
    """Makes sure that a file, or a folder with all that it holds, has reached the disk."""
    for each in [*path.rglob("*"), path] if path.is_dir() else [path]:
        _sync_one(each)


def _sync_one(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
