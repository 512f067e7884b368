"""The styles that ship: one for each alphabet of Omniglot, learned from one drawing of each of its characters.

python -m wakesleep.domains.characters.hand.alphabets src/wakesleep/domains/characters/styles.safetensors
"""

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from wakesleep.domains.characters.hand.fit import Hand
from wakesleep.domains.characters.hand.prior import Prior
from wakesleep.domains.characters.hand.search import search
from wakesleep.domains.characters.hand.style import Style, style
from wakesleep.errors import Refusal

STYLES_FILE = Path(__file__).parents[1] / "styles.safetensors"
PROBABILITIES_OF_A_PRIOR = ("decide", "opening", "following", "relation")
ONE_DRAWER = 1
"""All drawings of an alphabet that its style is learned from are by this one of its 20 people."""


def learn_styles(hand: Hand, data: Any, seed: int = 0) -> dict[str, Style]:
    """Returns the style of each alphabet of Omniglot by its name."""
    found = {}
    for number, name in enumerate(data.names):
        rows = np.flatnonzero((data.alphabet == number) & (data.drawer == ONE_DRAWER)).tolist()
        programs = [f.program for x in data.images(rows) for f in search(hand, x, 1, seed)[:1]]
        found[name.replace("_", " ")] = style(hand.prior, programs, np.random.default_rng(seed))
    return found


def save(path: Path, styles: dict[str, Style], card: dict[str, Any]) -> Path:
    """Writes styles and a card to a file of arrays."""
    from safetensors.numpy import save_file

    arrays = {}
    for name, one in styles.items():
        for part, array in {**one.prior._asdict(), "sizes": np.array(one.sizes)}.items():
            arrays[f"{name}/{part}"] = np.ascontiguousarray(array, np.float32)
    save_file(arrays, path, {"card": json.dumps(card)})
    return path


def load(path: Path) -> dict[str, Style]:
    """Returns the styles in a file by their names, in the order of the alphabet."""
    from safetensors import SafetensorError, safe_open

    given: dict[str, dict[str, np.ndarray]] = {}
    try:
        with safe_open(path, framework="numpy") as file:
            for key in sorted(file.keys()):
                name, _, part = key.rpartition("/")
                given.setdefault(name, {})[part] = np.asarray(file.get_tensor(key), float)
    except (SafetensorError, OSError) as error:
        raise Refusal(f"{path} cannot be read as styles ({error}).") from None
    return {name: _style(path, parts) for name, parts in given.items()}


def _style(path: Path, parts: dict[str, np.ndarray]) -> Style:
    """Returns one style of a file, or refuses the file."""
    if set(parts) != {*Prior._fields, "sizes"} or not all(np.isfinite(a).all() for a in parts.values()):
        raise Refusal(f"{path} is damaged: its numbers are not those of styles.")
    least, most = (float(size) for size in parts.pop("sizes"))
    for name in PROBABILITIES_OF_A_PRIOR:  # 32 bits sum to 1 but roughly
        parts[name] /= parts[name].sum(axis=-1, keepdims=True)
    return Style(Prior(**parts), (least, most))


@cache
def shipped() -> dict[str, Style]:
    """Returns the styles of the 50 alphabets of Omniglot."""
    return load(STYLES_FILE)


if __name__ == "__main__":
    from wakesleep.domains.characters import omniglot
    from wakesleep.domains.characters.explain import HAND
    from wakesleep.domains.characters.hand import files

    known, whole = files.load(HAND), omniglot.load()
    made = {"data": "Omniglot, one drawing of each of 1,623 characters", "licence": "MIT", "hand": files.digest(known)}
    save(Path(sys.argv[1]), learn_styles(known, whole), made)
