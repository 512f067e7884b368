"""Drawings explained by strokes, with the model that ships."""

from pathlib import Path

from wakesleep.data.sniff import colours
from wakesleep.domains import learned
from wakesleep.domains.contract import files_of


def reads(path: Path) -> float:
    """Says how surely a file is a drawing: an image of more than one colour."""
    share = colours(path)
    return 0.5 if share is not None and len(share) > 1 else 0.0


def _shipped() -> learned.Trained:
    from wakesleep.domains.characters.domain import DOMAIN

    return learned.shipped(DOMAIN)


EXPLAINER = learned.by_model(
    _shipped, learned.NoOptions, files=files_of(True, filmed=True), reads=reads, what="a drawing"
)
