"""Drawings explained by strokes: by the hand that ships, or by the paper's model with its bank of strokes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakesleep.data.sniff import colours
from wakesleep.domains import learned
from wakesleep.domains.contract import Explainer, Explanation, Report, check_options, files_of, option

HAND = Path(__file__).parent / "hand.safetensors"
SVG = {"svg": "Write the strokes of a hand to this SVG."}


@dataclass(frozen=True)
class Options:
    """The options of explaining a drawing."""

    model: str = option(
        "hand", "hand: arcs with free ends and bends; bank: the paper's model, strokes of a bank.", ("hand", "bank")
    )

    def __post_init__(self) -> None:
        """Refuses a model that is not known."""
        check_options(self)


def reads(path: Path) -> float:
    """Says how surely a file is a drawing: an image of more than one colour."""
    share = colours(path)
    return 0.5 if share is not None and len(share) > 1 else 0.0


def _shipped() -> learned.Trained:
    from wakesleep.domains.characters.domain import DOMAIN

    return learned.shipped(DOMAIN)


BANK = learned.by_model(_shipped, learned.NoOptions, files=files_of(True, filmed=True))


def read(path: str, options: Options) -> Any:
    """Reads the drawings of a file or a folder."""
    from wakesleep.data.images import read_images
    from wakesleep.domains.characters.drawings import drawing

    if options.model == "bank":
        return BANK.read(path, learned.NoOptions())
    pictures = read_images(Path(path))
    return [p.name for p in pictures], [drawing(p.name, p.pixels) for p in pictures], Path(path).name


def explain(given: Any, options: Options, report: Report) -> Explanation:
    """Returns the strokes of the drawings."""
    from wakesleep.domains.characters.drawings import DRAWN

    if options.model == "bank":
        return BANK.explain(given, learned.NoOptions(), report)
    from wakesleep.domains.characters.hand.explanation import explain_images
    from wakesleep.domains.characters.hand.files import load

    names, images, source = given
    many = f"{len(images)} image{'s' * (len(images) > 1)}"
    note = f"{many} from {source}, each scaled to {DRAWN} pixels and centred"
    return explain_images(load(HAND), images, names, note, report)


def propose(model: Any, data: Any, report: Report) -> Any:
    """Returns programs of the bank that a search finds for the drawings."""
    from wakesleep.domains.characters import beam

    return beam.propose(model, data, report)


EXPLAINER = Explainer(
    options=Options,
    reads=reads,
    read=read,
    explain=explain,
    propose=propose,
    files=files_of(True, filmed=True) | SVG,
    what="a drawing",
)
