"""The page of a drawing: its strokes replayed with the ink that remains, drawn again, and new ones in a style."""

import base64
import io
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wakesleep.domains.characters.explain import EXPLAINER
from wakesleep.domains.pages import Asked, Page
from wakesleep.errors import Refusal

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image

    from wakesleep.domains.characters.hand.fit import Hand
    from wakesleep.domains.characters.hand.style import Style

FOLDER = Path(__file__).parent
PROGRAMS_SHOWN = 5
PICTURE_PIXELS = 112
ANY_STYLE, OWN_STYLE = "any", "own"
"""Words of the page for characters of all alphabets, and for those in the style of the user's own drawings."""
LEAST_DARKNESS = 0.3
"""Darkness from which a pixel of a frame counts as drawn."""
REACH_PIXELS = 1
"""A pixel of the drawing is explained where a stroke passes at most this far from it."""


class Drawn(NamedTuple):
    """An explained drawing on the shelf."""

    explanation: Any


def context(asked: Asked) -> dict[str, Any]:
    """Returns the file that was opened, if any."""
    file = asked.word("file")
    return {"file": file, "name": asked.upload().name if file else ""}


def explain(asked: Asked) -> Iterator[dict[str, Any]]:
    """Streams what is being done, then the programs, the strokes and the ink that each leaves unexplained."""
    upload = asked.upload()
    yield {"said": "Reading the drawing; the first one takes some seconds more, while the model is loaded ..."}
    given = EXPLAINER.read(str(upload.path), EXPLAINER.options())
    if asked.stopped():
        return
    yield {"said": "Searching for strokes ..."}
    found = EXPLAINER.explain(given, EXPLAINER.options(), lambda standing: _unless_stopped(asked))
    rows = found.rows(PROGRAMS_SHOWN)
    if not rows or not rows[0]["programs"]:
        raise Refusal("No strokes were found that could have drawn this.")
    with tempfile.TemporaryDirectory() as folder:
        frames = _frames(found.write("film", Path(folder) / "film.gif"))
    kept = asked.shelf.keep(Drawn(found))
    yield {"programs": rows[0]["programs"], "frames": _replayed(upload.path, frames), "explained": kept}


def _unless_stopped(asked: Asked) -> None:
    if asked.stopped():
        raise Refusal("Stopped.")


def _frames(path: Path) -> "list[Image.Image]":
    """Returns the frames of a film."""
    from PIL import Image, ImageSequence

    with Image.open(path) as film:
        return [frame.convert("RGB") for frame in ImageSequence.Iterator(film)]


def _replayed(drawing: Path, frames: "list[Image.Image]") -> list[dict[str, Any]]:
    """Returns each frame as a PNG, with the share of the drawing's ink that no stroke so far explains."""
    from wakesleep.domains.characters.drawings import read_image

    given = read_image(drawing) > 0
    return [{"png": _png(frame), "remaining": _remaining(given, frame)} for frame in frames]


def _remaining(given: "np.ndarray", frame: "Image.Image") -> float:
    """Returns the share of the drawing's ink that lies farther than `REACH_PIXELS` from what a frame shows."""
    import numpy as np
    from scipy.ndimage import binary_dilation

    side = given.shape[0]
    shown = np.asarray(frame.resize((side, side)), float).min(axis=2) / 255
    near = binary_dilation(shown < 1 - LEAST_DARKNESS, np.ones((3, 3)), REACH_PIXELS)
    return float((given & ~near).sum() / max(int(given.sum()), 1))


def _png(frame: "Image.Image") -> str:
    kept = io.BytesIO()
    frame.save(kept, "PNG")
    return base64.b64encode(kept.getvalue()).decode()


def like(asked: Asked) -> dict[str, Any]:
    """Answers further examples of the drawing: its strokes, each time moved as a hand would."""
    import numpy as np

    from wakesleep.domains.characters.hand.compare import shaded
    from wakesleep.domains.characters.hand.redraw import Redrawing, redrawn

    drawn = _kept(asked, asked.word("explained"))
    rng = np.random.default_rng(int(asked.number("seed", 0, 0, 2**31 - 1)))
    hand, program = drawn.explanation.hand, drawn.explanation.found[0].programs[0]
    made = [shaded(hand.nib, redrawn(Redrawing(), program, rng)) for _ in range(_count(asked))]
    return {"pictures": [_picture(shade) for shade in made]}


def styles(asked: Asked) -> dict[str, Any]:
    """Answers the names of the alphabets whose style is known."""
    from wakesleep.domains.characters.hand.alphabets import shipped

    return {"styles": list(shipped())}


def more(asked: Asked) -> dict[str, Any]:
    """Answers new characters: of any style, in that of an alphabet, or in that of the drawings explained so far."""
    import numpy as np

    from wakesleep.domains.characters.hand.compare import shaded

    rng = np.random.default_rng(int(asked.number("seed", 0, 0, 2**31 - 1)))
    hand = _hand()
    made = _style(asked, hand, rng).draw(_count(asked), rng)
    return {"pictures": [_picture(shaded(hand.nib, program)) for program in made]}


def _style(asked: Asked, hand: "Hand", rng: "np.random.Generator") -> "Style":
    """Returns the style that is asked for."""
    from wakesleep.domains.characters.hand.alphabets import shipped
    from wakesleep.domains.characters.hand.style import Style, style

    wanted = asked.word("style", ANY_STYLE)
    if wanted == ANY_STYLE:
        return Style(hand.prior, (0.0, float("inf")))
    if wanted == OWN_STYLE:
        drawn = [_kept(asked, word) for word in asked.words("explained")]
        return style(hand.prior, [one.explanation.found[0].programs[0] for one in drawn], rng)
    if wanted not in shipped():
        raise Refusal(f"There is no alphabet {wanted[:40]!r}; there are {', '.join(shipped())[:200]}, ...")
    return shipped()[wanted]


@cache
def _hand() -> "Hand":
    """Returns the hand that ships."""
    from wakesleep.domains.characters.explain import HAND
    from wakesleep.domains.characters.hand.files import load

    return load(HAND)


def _kept(asked: Asked, word: str) -> Drawn:
    """Returns an explained drawing of the shelf, or refuses another thing."""
    drawn = asked.shelf.kept(word)
    if not isinstance(drawn, Drawn):
        raise Refusal("No drawing is explained yet: draw one first.")
    return drawn


def _count(asked: Asked) -> int:
    return int(asked.number("count", 8, 1, 24))


def _picture(ink: Any) -> str:
    """Returns an image of numbers from 0, paper, to 1, ink, as a PNG."""
    import numpy as np
    from PIL import Image

    paper = np.rint(255 * (1 - np.clip(np.asarray(ink, float), 0, 1))).astype(np.uint8)
    return _png(Image.fromarray(paper).resize((PICTURE_PIXELS, PICTURE_PIXELS)))


DRAWING_PAGE = Page(
    name="Drawing",
    idea="Draw a character with mouse or finger: see the strokes that explain it, in their order.",
    folder=FOLDER,
    scripts=("drawing.js",),
    context=context,
    answers={"like": like, "more": more, "styles": styles},
    streams={"explain": explain},
    opens=True,
)
