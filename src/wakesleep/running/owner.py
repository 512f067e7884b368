"""One owner of a run directory: the process that trains in it holds a lock, and a second one gets a sentence.

The operating system frees the lock of a process that has ended in any way, so no lock is ever stale; owner.json, which
says who holds it, may be, and is believed only while the lock is held.
"""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from wakesleep.data.atomic import write_whole
from wakesleep.data.documents import read_document
from wakesleep.errors import Refusal

LOCK, OWNER = ".lock", "owner.json"


@contextmanager
def own(path: Path) -> Iterator[None]:
    """Holds the lock of a run directory within the context; refuses if another process holds it."""
    lock = FileLock(path / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise Refusal(f"{path} is in use by {_owner(path)}: wait until it ends, or stop it.") from None
    except NotImplementedError:
        raise Refusal(
            f"The file system of {path} has no locks, by which one process owns a run: train on another file system."
        ) from None
    try:
        said = {"process": os.getpid(), "host": socket.gethostname(), "since": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"}
        write_whole(path / OWNER, json.dumps(said) + "\n")
        yield
        (path / OWNER).unlink(missing_ok=True)
    finally:
        lock.release()


def _owner(path: Path) -> str:
    """Returns who holds the lock, as far as the run directory says."""
    try:
        said = read_document(path / OWNER)
    except Refusal:
        return "another process"
    if not isinstance(said, dict):
        return "another process"
    process, host, since = (str(said.get(name, "unknown"))[:100] for name in ("process", "host", "since"))
    return f"process {process} on {host}, since {since} UTC"
