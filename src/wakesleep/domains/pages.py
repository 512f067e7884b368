"""The contract of a page: what a domain brings to the explorer in the browser.

A page is a template and scripts in a folder of the domain, and functions that answer what the page asks. Nothing here
imports a web framework: `wakesleep.serve` renders, streams and guards.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from wakesleep.errors import Refusal


class Shown(NamedTuple):
    """A template of the page's folder, and what it shows."""

    template: str
    given: Mapping[str, Any]


class Download(NamedTuple):
    """A file for the user to keep."""

    name: str
    kind: str
    """Its media type."""
    body: bytes


class Upload(NamedTuple):
    """A file that the user gave: the name it had, and where it lies."""

    name: str
    path: Path


@runtime_checkable
class Shelf(Protocol):
    """Where a page keeps things between two questions; the oldest are forgotten."""

    def keep(self, thing: Any) -> str:
        """Keeps a thing, and returns the word by which it is found again."""

    def kept(self, word: str) -> Any:
        """Returns the thing, or refuses a word that is not known or was forgotten."""


Answer = Shown | Download | dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A question of a page: its fields, the shelf, and whether nobody waits for the answer any more."""

    fields: Mapping[str, Sequence[str]]
    shelf: Shelf
    stopped: Callable[[], bool] = lambda: False

    def word(self, name: str, default: str = "") -> str:
        """Returns the last value of a field."""
        found = self.fields.get(name)
        return found[-1] if found else default

    def words(self, name: str) -> list[str]:
        """Returns all values of a field."""
        return list(self.fields.get(name, ()))

    def number(self, name: str, default: int | float, least: int | float, most: int | float) -> float:
        """Returns a field as a number, or refuses it."""
        given = self.word(name)
        try:
            found = float(given) if given else float(default)
        except ValueError:
            raise Refusal(f"{name} must be a number, but {given[:40]!r} was given.") from None
        if not least <= found <= most:
            raise Refusal(f"{name} must lie between {least:g} and {most:g}, but {given[:40]} was given.")
        return found

    def upload(self, name: str = "file") -> Upload:
        """Returns the file that a field names."""
        found = self.shelf.kept(self.word(name))
        if not isinstance(found, Upload):
            raise Refusal(f"{name} does not name a file: drop the file again.")
        return found


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page of the explorer; its address is its name in small letters."""

    name: str
    idea: str
    """One sentence: what can be done here."""
    folder: Path
    """Templates, scripts and styles; `NAME.html` is the page itself."""
    scripts: tuple[str, ...] = ()
    """Modules that the page runs."""
    context: Callable[[Asked], Mapping[str, Any]] = lambda asked: {}
    """What the page's own template shows."""
    answers: Mapping[str, Callable[[Asked], Answer]] = field(default_factory=dict)
    streams: Mapping[str, Callable[[Asked], Iterator[Shown | dict[str, Any]]]] = field(default_factory=dict)
    """Long work, a piece at a time; `Asked.stopped` says when to leave it."""
    opens: bool = False
    """Whether a file that the domain explains is opened on this page."""

    @property
    def address(self) -> str:
        """The page's place below the token."""
        return self.name.lower()
