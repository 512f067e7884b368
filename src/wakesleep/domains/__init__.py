"""The registry of domains: those built in, those of installed packages, and a user's own by reference.

A package offers a domain by an entry point of the group `wakesleep.domains`. Each is imported when it is asked for.
"""

from dataclasses import MISSING, fields
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from wakesleep.domains import references
from wakesleep.domains.contract import Command, Domain, Explainer
from wakesleep.domains.pages import Page
from wakesleep.errors import Refusal

GROUP = "wakesleep.domains"
BUILT_IN = {
    "clusters": "small groups of points; a program is a clustering (section 4.1 of the paper)",
    "characters": "drawings of 28 x 28 pixels; a program is a sequence of strokes (section 4.2 of the paper)",
    "strings": "columns of short text; a program is a regular expression (section 4.3 of the paper)",
    "timeseries": "series of numbers; a program is a kernel of a Gaussian process (the paper's appendix)",
    "automata": "two-coloured images grown cell by cell; a program is the rule (section 4.4 of the paper)",
}

COMMANDS: dict[str, tuple[str, str]] = {
    "forecast": ("timeseries.commands", "Forecast the series of a table, with bands."),
    "backtest": ("timeseries.commands", "Score forecasts of the past of a table's series, beside other tools."),
    "catalogue": ("strings.lake.commands", "Describe every table below a folder, a row for each column."),
    "like": ("strings.lake.commands", "Find the columns of a catalogue that some values would fit."),
    "draft": ("strings.table.commands", "Draft a contract for a table"),
    "check": ("strings.table.commands", "Check every row of a table against a contract"),
    "compare": ("strings.table.commands", "Compare two tables"),
    "export": ("strings.table.commands", "Export a contract to another tool"),
    "redraw": ("characters.commands", "Draw new examples of a drawing, as a hand would vary it."),
    "invent": ("characters.commands", "Draw new characters in the style of some drawings."),
}
"""The verbs that built-in domains bring to the command line: the module that defines each, and its help.

The module has a mapping `COMMANDS` from verbs to `Command`; it is imported when the verb is used.
"""

PAGES = ("strings", "timeseries", "characters", "clusters", "automata")
"""The built-in domains that bring pages to the explorer: `PAGES` of their module `page`, in the order of the menu."""


def known() -> dict[str, str]:
    """Returns the domains by name, each with what it is."""
    return BUILT_IN | {name: f"from {point.value}" for name, point in _installed().items()}


def is_reference(word: str) -> bool:
    """Returns whether a word names a domain: by its name, or as a module or file with a name in it."""
    return word in BUILT_IN or word in _installed() or (":" in word and not Path(word).exists())


def domain(reference: str, given: bool = True) -> Domain:
    """Returns the domain that a reference names; `given` is False where the reference comes from a file."""
    if reference in BUILT_IN:
        found = import_module(f"wakesleep.domains.{reference}.domain").DOMAIN
    elif reference in _installed():
        found = _installed()[reference].load()
    elif ":" in reference:
        found = references.load(reference, given)
    else:
        raise Refusal(
            f"domain must be one of {', '.join(known())}, or {references.REFERENCE_FORMS}, but {reference!r} was given."
        )
    if not isinstance(found, Domain):
        raise Refusal(f"{reference} is not a Domain, but a {type(found).__name__}.")
    return found


def settings_of(reference: str) -> list[dict[str, Any]]:
    """Returns the settings of a domain with their defaults."""
    found = fields(domain(reference).settings)
    return [{"setting": f.name, "default": None if f.default is MISSING else f.default} for f in found]


def explainer(reference: str) -> Explainer:
    """Returns how a domain explains; of a built-in one no more is imported than that."""
    if reference in BUILT_IN:
        found: Explainer = import_module(f"wakesleep.domains.{reference}.explain").EXPLAINER
        return found
    from wakesleep.domains import learned

    one = domain(reference)
    return one.explainer or learned.from_domain(one)


def command(verb: str) -> Command:
    """Returns the command that a verb names; no more is imported than its module."""
    found: Command = import_module(f"wakesleep.domains.{COMMANDS[verb][0]}").COMMANDS[verb]
    return found


def pages() -> dict[str, Page]:
    """Returns the pages of the explorer by their address."""
    found = (page for name in PAGES for page in import_module(f"wakesleep.domains.{name}.page").PAGES)
    return {page.address: page for page in found}


def opener(path: str) -> Page:
    """Returns the page on which a file is opened: that of the domain that is the surest to read it."""
    name = surest(path)
    here = import_module(f"wakesleep.domains.{name}.page").PAGES if name in PAGES else ()
    for page in here:
        if page.opens:
            return page
    raise Refusal(f"{path} is read as {name}, which has no page that opens a file: use `wakesleep explain {path}`.")


def surest(path: str) -> str:
    """Returns the domain whose explainer is the surest that it reads a file."""
    sure = {name: explainer(name).reads(Path(path)) for name in known()}
    best = max(sure, key=lambda name: sure[name])
    if sure[best] <= 0:
        raise Refusal(f"No domain reads {path}: name one with --as, one of {', '.join(sure)}.")
    return best


def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in BUILT_IN}
