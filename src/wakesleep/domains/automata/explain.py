"""Images explained by the rule that grew them; the noise is learned from the user's files."""

from pathlib import Path

from wakesleep.data.sniff import colours
from wakesleep.domains import learned
from wakesleep.domains.contract import Domain, files_of


def reads(path: Path) -> float:
    """Says how surely a file is an image of an automaton: exactly two colours, and both are common."""
    share = colours(path)
    return 0.6 if share is not None and len(share) == 2 and min(share) > 0.2 else 0.0


def _domain() -> Domain:
    from wakesleep.domains.automata.domain import DOMAIN

    return DOMAIN


EXPLAINER = learned.from_scratch(_domain, files=files_of(True), reads=reads, what="an image grown by a rule")
