"""Files and folders that appear whole or not at all, whenever the process is killed, and nothing outside of them.

Unfinished work has a random hidden name that is created exclusively, so no link that lies there is followed.
"""

import hashlib
import os
import secrets
import shutil
import stat
from pathlib import Path

from wakesleep.errors import Refusal

UNFINISHED_SUFFIX, REMOVED_SUFFIX = ".unfinished", ".removed"
NAME_BYTES = 8
"""Random bytes in a hidden name."""
MOST_ENTRIES = 100_000
"""The most files and folders that a folder of ours has."""
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def write_whole(path: Path, text: str) -> None:
    """Replaces a file's text at once; a link at its place is replaced and not followed."""
    unfinished = beside(path)
    try:
        with os.fdopen(os.open(unfinished, _NEW_FILE, 0o666), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    _sync_one(path.parent)


def beside(path: Path) -> Path:
    """Returns a hidden name beside the path that nothing has, for unfinished work."""
    return path.with_name(f".{path.name}.{secrets.token_hex(NAME_BYTES)}{UNFINISHED_SUFFIX}")


def publish(unfinished: Path, final: Path) -> None:
    """Gives a finished folder its name, which lasts from then on."""
    sync(unfinished)
    unfinished.rename(final)
    _sync_one(final.parent)


def remove(folder: Path) -> None:
    """Removes a folder; it is never seen half removed."""
    hidden = folder.with_name(f".{folder.name}.{secrets.token_hex(NAME_BYTES)}{REMOVED_SUFFIX}")
    folder.rename(hidden)
    shutil.rmtree(hidden)


def sweep(folder: Path) -> None:
    """Removes what killed processes left unfinished or half removed in a folder; links are removed, not followed."""
    for left in folder.iterdir():
        if left.name.startswith(".") and left.name.endswith((UNFINISHED_SUFFIX, REMOVED_SUFFIX)):
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left)
            else:
                left.unlink()


def require_plain(folder: Path) -> None:
    """Refuses a folder that holds anything but folders and files, such as links, which may lead outside, or pipes."""
    folders, seen = [folder], 0
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                seen += 1
                mode = entry.stat(follow_symlinks=False).st_mode
                if stat.S_ISDIR(mode):
                    folders.append(Path(entry.path))
                elif not stat.S_ISREG(mode):
                    kind = "a link" if stat.S_ISLNK(mode) else "neither a file nor a folder"
                    raise Refusal(f"{entry.path} is {kind}, which {folder} must not hold: replace it by what it names.")
                if seen > MOST_ENTRIES:
                    raise Refusal(f"{folder} holds more than {MOST_ENTRIES:,} files and folders.")


def digests(folder: Path, but: str) -> dict[str, str]:
    """Returns the SHA-256 of each file of a folder but one, by its path in the folder."""
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
    if os.name == "nt" and path.is_dir():  # Windows opens no folders
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
