"""The contract of a domain: what it learns from, how its programs read, and how it explains a user's file.

Nothing here imports JAX, so that an explainer that does not compute with it answers at once.
"""

import html
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from wakesleep.errors import Refusal, quoted, require_one_of

Rows = list[dict[str, Any]]


class Dataset(NamedTuple):
    """Observations to learn from, others held out if there are any, and a name for each of the former."""

    train: Any
    """`Observations`."""
    test: Any
    """`Observations`, or None."""
    names: Sequence[str]
    note: str
    """One line for the user: what was done to the data."""
    digest: str = ""
    """A fingerprint of the data, where it is known already."""


class Standing(NamedTuple):
    """How far a long piece of work has come."""

    done: int
    total: int
    note: str = ""


Report = Callable[[Standing], None]


class Table(NamedTuple):
    """A table for a terminal: a title, the header and rows of words."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


class Explanation(ABC):
    """What was found for a user's data. It is finished: nothing below searches or draws samples."""

    @abstractmethod
    def rows(self, most: int = 5) -> Rows:
        """Returns one JSON-able object for each observation, with at most `most` programs each."""

    @abstractmethod
    def table(self, most: int = 5, width: int = 80) -> list[Table]:
        """Returns the tables that a terminal of that width shows."""

    def notes(self) -> list[str]:
        """Returns lines for the user about how the data were read."""
        return []

    def draw(self, path: Path) -> Path:
        """Draws the explanation to a PNG file."""
        raise Refusal("This explanation cannot be drawn.")

    def export(self, form: str) -> str:
        """Returns the explanation as text for another tool."""
        raise Refusal(f"This explanation cannot be exported as {form!r}.")

    def text(self) -> str:
        """Returns a text that is printed as it stands, instead of the tables; empty where there is none."""
        return ""

    def code(self) -> int:
        """Returns the exit code of the command that shows this: 0, or 1 where data do not fit."""
        return 0

    def check(self, path: str, share: float | None, report: Report = lambda _: None) -> Rows:
        """Returns the parts of a new file that do not fit; every row of it is judged."""
        raise Refusal("New data cannot be checked against this explanation.")

    def report(self, path: Path) -> Path:
        """Writes the tables, and the picture where there is one, to one HTML file that needs no other."""
        picture = ""
        with TemporaryDirectory() as folder:
            if type(self).draw is not Explanation.draw:
                drawn = self.draw(Path(folder) / "picture.png").read_bytes()
                picture = f'<img alt="" src="data:image/png;base64,{b64encode(drawn).decode()}">'
        tables = "".join(_as_html(t) for t in self.table(width=200))
        path.write_text(PAGE.format(picture=picture, tables=tables), encoding="utf-8")
        return path

    def write(self, name: str, path: Path) -> Path:
        """Writes one of the files that the explainer names (`Explainer.files`)."""
        known = {"picture": self.draw, "report": self.report}
        if name not in known:
            raise Refusal(f"This explanation cannot be written as {name}.")
        return known[name](path)


PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>wakesleep</title><style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem }}
table {{ border-collapse: collapse; margin: 1rem 0 }} img {{ max-width: 100% }}
th, td {{ text-align: left; vertical-align: top; padding: .3rem .8rem; border-bottom: 1px solid #ccc }}
td {{ font-family: ui-monospace, monospace; overflow-wrap: anywhere }}
</style>{picture}{tables}</html>
"""


def _as_html(table: Table) -> str:
    """Returns a table as HTML, with every word escaped."""
    lines = [("th", table.header), *(("td", row) for row in table.rows)]
    body = "".join(f"<tr>{''.join(f'<{tag}>{html.escape(w)}</{tag}>' for w in row)}</tr>" for tag, row in lines)
    return f"<h2>{html.escape(table.title)}</h2><table>{body}</table>"


PICTURE = {"picture": "Draw the explanation to this PNG."}
FILM = {"film": "Write the best program of the first observation, step by step, to this animated GIF."}
REPORT = {"report": "Write the explanation to this HTML file."}


def files_of(drawn: bool, filmed: bool = False) -> dict[str, str]:
    """Returns the files that an explanation can be written to, where it can be drawn and filmed or not."""
    return (PICTURE if drawn else {}) | (FILM if filmed else {}) | REPORT


@dataclass(frozen=True, kw_only=True)
class Explainer:
    """How a domain explains a user's file: options, reading, explaining, and restoring a saved explanation."""

    options: type
    """A frozen dataclass; its fields, made by `option`, are the options of `wakesleep explain`."""
    reads: Callable[[Path], float]
    """How sure the domain is, from 0 to 1, that a file holds what it explains; it looks at little of the file."""
    read: Callable[[str, Any], Any]
    """(path, options): reads the file, or refuses it, before any long work."""
    explain: Callable[[Any, Any, Report], Explanation]
    """(what `read` returned, options, report): the explanation."""
    propose: Callable[[Any, Any, Report], Any] | None = None
    """(model, observations, report): programs, with leaves [n, k, ...], that a search of the domain's own finds.

    The best of them are the memory of an explanation by a trained model, which has no wake phases then.
    """
    restore: Callable[[Rows], Explanation] | None = None
    """The explanation from the rows that were saved of it, where new data can be checked against one."""
    exports: tuple[str, ...] = ()
    """The forms that `Explanation.export` knows."""
    files: Mapping[str, str] = field(default_factory=lambda: files_of(True))
    """The files that `Explanation.write` knows, and what is said of them in the help."""
    what: str = ""
    """What such a file is read as, in a few words."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A verb that a domain brings to the command line, such as `wakesleep forecast FILE`."""

    help: str
    """One sentence, the command's own help."""
    arguments: Mapping[str, str]
    """The words in order: their names in capitals, and what is said of them in the help.

    All must be given, except that the last may be spelled NAME...: any number of words.
    """
    options: type
    """A frozen dataclass; its fields, made by `option`, are the options of the command."""
    run: Callable[[Sequence[str], Any, Report], Explanation]
    """(words, options, report): what the command shows; a bad word is refused before any long work."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The files that `Explanation.write` knows, and what is said of them in the help."""
    shown: str = "Programs shown for each."
    """What `--most` limits, in the help."""


def option(default: Any, help: str, choices: tuple[str, ...] = (), short: str = "") -> Any:  # noqa: A002, the command line's word
    """Declares an option: a dataclass field with its help, its legal words where these are few, and a short form."""
    return field(default=default, metadata={"help": help, "choices": choices, "short": short})


def check_options(options: Any) -> None:
    """Refuses a word that an option does not know."""
    for each in fields(options):
        if each.metadata.get("choices"):
            require_one_of(each.name, getattr(options, each.name), each.metadata["choices"])


@dataclass(frozen=True, kw_only=True)
class Domain:
    """A domain: its data, its model, and how its programs are shown."""

    name: str
    settings: type
    """A frozen dataclass whose fields, all with defaults, are the settings."""
    load: Callable[[Any], Dataset]
    """(settings): the data that the settings ask for."""
    build: Callable[[Any, Any, Any], Any]
    """(key, settings, observations): an untrained `Model` for such data."""
    show: Callable[[Any], str] = str
    """(program as NumPy arrays): the program in a line."""
    words: Callable[[Any], Any] = lambda x: x.tolist()
    """(observation as NumPy arrays): the observation as something that JSON can carry."""
    picture: Callable[[Any, Any, list[tuple[Any, float]], Any], None] | None = None
    """(figure, observation, [(program, probability)], evaluator): draws them on a Matplotlib figure."""
    programs: Callable[[Any, Any], Any] = lambda settings, data: None
    """(settings, observations): every program, or None where there are too many to list."""
    remarks: Callable[[Any, Any], str] | None = None
    """(observation, program): what else is to be said of them."""
    film: Callable[[Any, Any, Path], Path] | None = None
    """(evaluator, program, path): writes an animated GIF of how the program is carried out."""
    shipped: Path | None = None
    """A trained model that comes with the package."""
    observation: Any = None
    """The named tuple that an observation is, where it is not one array."""
    data_setting: str = "data"
    """The setting that names a file of the user's own."""
    explainer: Explainer | None = None
    """How a file is explained; by default with the model that ships, or one that learns from the file."""

    def configure(self, given: dict[str, Any]) -> Any:
        """Returns the settings with the given ones, words turned into the type of the default."""
        known = {f.name: f for f in fields(self.settings)}
        for name in given:
            if name not in known:
                raise Refusal(
                    f"{self.name} has no setting {quoted(name)}; its settings are {', '.join(known)} "
                    f"(see: wakesleep domains {self.name})."
                )
        return self.settings(**{k: _parse(k, v, known[k].default) for k, v in given.items()})


def _parse(name: str, value: Any, default: Any) -> Any:
    """Returns the value in the type of the default; only a path has the default None."""
    kind = Path if default is None or isinstance(default, Path) else type(default)
    if (value is None and default is None) or (isinstance(value, kind) and not isinstance(value, bool)):
        return value
    if kind is bool:
        words = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
        if str(value).lower() in words:
            return words[str(value).lower()]
        raise Refusal(f"{name} must be true or false, but {quoted(value)} was given.")
    try:
        parsed = kind(value)
    except (TypeError, ValueError, OverflowError):
        parsed = None
    if parsed is None or value is None or (kind is int and isinstance(value, float) and parsed != value):
        expected = {int: "a whole number", float: "a number", str: "a word"}.get(kind, kind.__name__)
        raise Refusal(f"{name} must be {expected}, but {quoted(value)} was given.")
    return parsed
