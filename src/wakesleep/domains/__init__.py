"""The domains, by name; one is imported only when it is asked for."""

from importlib import import_module
from typing import TYPE_CHECKING

from wakesleep.errors import require_one_of

if TYPE_CHECKING:
    from wakesleep.domains.contract import Domain

DOMAINS = {
    "clusters": "small groups of points; a program is a clustering (section 4.1 of the paper)",
    "characters": "drawings of 28 x 28 pixels; a program is a sequence of strokes (section 4.2 of the paper)",
    "strings": "columns of short text; a program is a regular expression (section 4.3 of the paper)",
    "timeseries": "series of numbers; a program is a kernel of a Gaussian process (the paper's appendix)",
    "automata": "two-coloured images grown cell by cell; a program is the rule (section 4.4 of the paper)",
}


def domain(name: str) -> "Domain":
    """The domain of that name."""
    require_one_of("domain", name, tuple(DOMAINS))
    found: Domain = import_module(f"wakesleep.domains.{name}").DOMAIN
    return found
