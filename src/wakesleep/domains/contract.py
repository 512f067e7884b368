"""What a domain offers to the command line: settings, data, a model, and words for its programs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from jaxtyping import Array, Key

from wakesleep.core.model import Model, Observations, Program
from wakesleep.errors import Refusal


class Dataset(NamedTuple):
    """Observations to learn from, others held out if there are any, and a name for each of the former."""

    train: Observations
    test: Observations | None
    names: Sequence[str]
    note: str
    """What was done to the data, in one line for the user."""
    digest: str = ""
    """A fingerprint of the data, where it is known already."""


@dataclass(frozen=True)
class Domain:
    """A domain; `settings` is a frozen dataclass whose fields, all with defaults, are its settings."""

    name: str
    settings: type
    load: Callable[[Any], Dataset]
    """The data that the settings ask for."""
    build: Callable[[Key[Array, ""], Any, Observations], Model]
    """An untrained model for such data."""
    show: Callable[[Program], str]
    """One program, as NumPy arrays, in a line."""
    words: Callable[[Any], Any]
    """One observation, as NumPy arrays, as something that JSON can carry."""
    picture: Callable[[Any, Any, list[tuple[Program, float]], Any], None]
    """Draws an observation, and programs with their probabilities under an evaluator, on a Matplotlib figure."""
    programs: Callable[[Any, Observations], Program | None]
    """Every program that the data may have, or None where there are too many to list."""
    remarks: Callable[[Any, Program], str] | None = None
    """What else is to be said of an observation and a program, both as NumPy arrays."""
    film: Callable[[Any, Program, Path], Path] | None = None
    """Writes an animated GIF of how an evaluator carries out a program, where that can be watched."""
    shipped: Path | None = None
    """A trained model that comes with the package."""
    observation: Any = None
    """The named tuple that an observation x is, where it is not one array."""
    data_setting: str = "data"
    """The setting that names a file of the user's own."""

    def configure(self, given: dict[str, Any]) -> Any:
        """Settings with the given ones, words turned into the type of the default."""
        known = {f.name: f for f in fields(self.settings)}
        for name in given:
            if name not in known:
                raise Refusal(
                    f"{self.name} has no setting {name!r}; its settings are {', '.join(known)} "
                    f"(see: wakesleep domains {self.name})."
                )
        return self.settings(**{k: _parse(k, v, known[k].default) for k, v in given.items()})


def _parse(name: str, value: Any, default: Any) -> Any:
    """The value in the type of the default; only a path has the default None."""
    kind = Path if default is None or isinstance(default, Path) else type(default)
    if value is None or (isinstance(value, kind) and not isinstance(value, bool)):
        return value
    if kind is bool:
        words = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
        if str(value).lower() in words:
            return words[str(value).lower()]
        raise Refusal(f"{name} must be true or false, but {value!r} was given.")
    try:
        return kind(value)
    except (TypeError, ValueError):
        expected = {int: "a whole number", float: "a number"}.get(kind, kind.__name__)
        raise Refusal(f"{name} must be {expected}, but {value!r} was given.") from None
