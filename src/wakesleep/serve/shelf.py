"""What the server keeps between two requests: uploaded files and things that pages found, the oldest forgotten."""

import secrets
import tempfile
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from wakesleep.domains.pages import Upload
from wakesleep.errors import Refusal

MOST_THINGS = 60
MOST_FILES = 12
WORD_BYTES = 9


class Shelf:
    """Things by random words. Files that were uploaded lie in a folder of the shelf and are deleted with it."""

    def __init__(self) -> None:
        self._things: OrderedDict[str, Any] = OrderedDict()
        self._files: OrderedDict[str, Upload] = OrderedDict()
        self._lock = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="wakesleep-explore-")

    @property
    def folder(self) -> Path:
        """Where uploaded files are written."""
        return Path(self._folder.name)

    def keep(self, thing: Any) -> str:
        """Keeps a thing, and returns the word by which it is found again."""
        word = secrets.token_urlsafe(WORD_BYTES)
        with self._lock:
            room, most = (self._files, MOST_FILES) if isinstance(thing, Upload) else (self._things, MOST_THINGS)
            room[word] = thing
            while len(room) > most:
                self._drop(room.popitem(last=False)[1])
        return word

    def kept(self, word: str) -> Any:
        """Returns the thing, or refuses a word that is not known or was forgotten."""
        with self._lock:
            for room in (self._files, self._things):
                if word in room:
                    room.move_to_end(word)
                    return room[word]
        raise Refusal("What this page refers to is no longer kept by the server: give it again.")

    def _drop(self, thing: Any) -> None:
        """Deletes the file of an upload, unless it is the user's own."""
        if isinstance(thing, Upload) and self.folder in thing.path.parents:
            thing.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Deletes every uploaded file."""
        self._folder.cleanup()
