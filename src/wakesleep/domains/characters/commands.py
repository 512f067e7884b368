"""The verbs that drawings bring to the command line: redraw and invent."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakesleep.domains.contract import Command, Explanation, Report, option
from wakesleep.errors import Refusal

MOST_DRAWN = 200
FILE_HELPS = {
    "picture": "Draw the given drawings and the new ones to this PNG.",
    "svg": "Write the strokes of the new drawings to this SVG.",
}


@dataclass(frozen=True)
class Options:
    """The options of both verbs."""

    number: int = option(8, "The number of new drawings.", short="-n")
    seed: int = option(0, "The seed of what is drawn.")

    def __post_init__(self) -> None:
        """Refuses numbers that make no sense."""
        if not 1 <= self.number <= MOST_DRAWN:
            raise Refusal(f"number must be 1 to {MOST_DRAWN}, but {self.number} was given.")
        if self.seed < 0:
            raise Refusal(f"seed must be at least 0, but {self.seed} was given.")


@dataclass(frozen=True)
class InventOptions(Options):
    """The options of invent."""

    alphabet: str | None = option(None, "Take the drawings of this alphabet of Omniglot, by its name or number.")


def redraw(words: Sequence[str], options: Options, report: Report) -> Explanation:
    """Reads drawings and draws new examples of each."""
    from wakesleep.domains.characters.hand.style import redrawings

    names, images = _read(words[0])
    return redrawings(_hand(), images, names, options.number, options.seed, report)


def invent(words: Sequence[str], options: InventOptions, report: Report) -> Explanation:
    """Reads the drawings of a folder, or of an alphabet, and draws new characters in their style."""
    from wakesleep.domains.characters.hand.style import inventions

    if bool(words) == (options.alphabet is not None):
        raise Refusal("Give either a folder of drawings or an alphabet (--alphabet), whose style is to be learned.")
    if options.alphabet is not None:
        whole = _omniglot()
        if whole is None:
            return _of_shipped_style(options.alphabet, options)
        names, images = _alphabet(whole, options.alphabet)
    else:
        found = [_read(word) for word in words]
        names, images = [n for ns, _ in found for n in ns], [x for _, xs in found for x in xs]
    return inventions(_hand(), images, names, options.number, options.seed, report)


def _hand() -> Any:
    from wakesleep.domains.characters.explain import HAND
    from wakesleep.domains.characters.hand.files import load

    return load(HAND)


def _read(path: str) -> tuple[list[str], list[Any]]:
    from wakesleep.data.images import read_images
    from wakesleep.domains.characters.drawings import drawing

    pictures = read_images(Path(path))
    return [p.name for p in pictures], [drawing(p.name, p.pixels) for p in pictures]


def _omniglot() -> Any:
    """Returns Omniglot, or nothing where it is not at hand."""
    from wakesleep.domains.characters import omniglot

    try:
        return omniglot.load()
    except Refusal:
        return None


def _alphabet(whole: Any, word: str) -> tuple[list[str], list[Any]]:
    """Returns one drawing of each character of an alphabet, all by one person."""
    from wakesleep.domains.characters import omniglot

    number = omniglot.alphabet(whole, word)
    rows = [r for r in range(len(whole.drawer)) if whole.alphabet[r] == number and whole.drawer[r] == 1]
    return [f"{whole.names[number]} {whole.character[r]}" for r in rows], list(whole.images(rows))


def _of_shipped_style(word: str, options: Options) -> Explanation:
    """Returns new characters in the style of an alphabet as it ships, for which Omniglot is not needed."""
    from wakesleep.domains.characters.hand.alphabets import shipped
    from wakesleep.domains.characters.hand.style import of_style
    from wakesleep.domains.characters.omniglot import named

    styles = shipped()
    name = list(styles)[named(list(styles), word)]
    return of_style(styles[name], name, options.number, options.seed)


COMMANDS = {
    "redraw": Command(
        help="Draw new examples of a drawing, as a hand would vary it.",
        arguments={"FILE": "A drawing, or a folder of them."},
        options=Options,
        run=redraw,
        files=FILE_HELPS,
        shown="Drawings shown in the terminal.",
    ),
    "invent": Command(
        help="Draw new characters in the style of some drawings, or of an alphabet of Omniglot.",
        arguments={"FILE...": "Drawings of one style: files, or a folder of them."},
        options=InventOptions,
        run=invent,
        files=FILE_HELPS,
        shown="Drawings shown in the terminal.",
    ),
}
