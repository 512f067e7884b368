"""The page of a drawing: strokes replayed in order, with the ink that remains, and others in the same style."""

import base64
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wakesleep.domains.characters.explain import EXPLAINER
from wakesleep.domains.pages import Asked, Page
from wakesleep.errors import Refusal

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image

FOLDER = Path(__file__).parent
PROGRAMS_SHOWN = 5
PICTURE_PIXELS = 112
LEAST_DARKNESS = 0.3
"""Darkness from which a pixel of a frame counts as drawn."""
REACH_PIXELS = 1
"""A pixel of the drawing is explained where a stroke passes at most this far from it."""


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
    yield {"programs": rows[0]["programs"], "frames": _replayed(upload.path, frames)}


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


def more(asked: Asked) -> dict[str, Any]:
    """Answers new drawings from the learned prior, each by a program drawn anew; of an alphabet where it has some."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    import numpy as np
    from PIL import Image

    from wakesleep.core.keys import fused
    from wakesleep.core.model import dream
    from wakesleep.domains.characters.domain import DOMAIN
    from wakesleep.domains.learned import shipped

    known, count = shipped(DOMAIN), int(asked.number("count", 8, 1, 24))
    alphabets = int(getattr(known.model.prior, "alphabets", 0) or 0)
    alphabet = int(asked.number("alphabet", 0, 0, max(alphabets - 1, 0)))
    c = jnp.full(count, alphabet) if alphabets else None
    seed = int(asked.number("seed", 0, 0, 2**31 - 1))
    _, x = jax.device_get(eqx.filter_jit(dream)(known.model, fused(jax.random.key(seed)), c, count))
    paper = (255 * (1 - np.clip(np.asarray(x), 0, 1))).astype(np.uint8)
    pictures = [Image.fromarray(one).resize((PICTURE_PIXELS, PICTURE_PIXELS)) for one in paper]
    return {"pictures": [_png(p) for p in pictures], "alphabets": alphabets}


DRAWING_PAGE = Page(
    name="Drawing",
    idea="Draw a character with mouse or finger: see the strokes that explain it, in their order.",
    folder=FOLDER,
    scripts=("drawing.js",),
    context=context,
    answers={"more": more},
    streams={"explain": explain},
    opens=True,
)
