"""Groups of points explained by clusterings; the model learns from the user's file."""

from pathlib import Path

from wakesleep.data.sniff import peek
from wakesleep.domains import learned
from wakesleep.domains.contract import Domain, files_of

GROUP_COLUMN = "group"


def reads(path: Path) -> float:
    """Says how surely a file is a table of points: it has a column of groups, and numbers in all others."""
    table = peek(path)
    if table is None or GROUP_COLUMN not in table:
        return 0.0
    return 0.9 if all(table[name].numeric for name in table if name != GROUP_COLUMN) and len(table) > 1 else 0.0


def _domain() -> Domain:
    from wakesleep.domains.clusters.domain import DOMAIN

    return DOMAIN


EXPLAINER = learned.from_scratch(_domain, files=files_of(True), reads=reads, what="groups of points")
