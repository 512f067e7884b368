"""A hand in a file: safetensors, which holds arrays and text and nothing that runs."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from wakesleep.domains.characters.hand.fit import Hand
from wakesleep.domains.characters.hand.pen import Nib
from wakesleep.domains.characters.hand.prior import Prior
from wakesleep.errors import Refusal


def save(path: Path, hand: Hand, card: dict[str, Any]) -> Path:
    """Writes a hand and its card: data, licence, steps and figures."""
    save_file(_arrays(hand), path, {"card": json.dumps(card)})
    return path


def _arrays(hand: Hand) -> dict[str, np.ndarray]:
    """Returns the numbers of a hand as a file holds them."""
    arrays = {name: np.ascontiguousarray(a, np.float32) for name, a in hand.prior._asdict().items()}
    return arrays | {"nib": np.array(hand.nib, np.float32)}


def digest(hand: Hand) -> str:
    """Returns a fingerprint of the numbers of a hand, which a results file can be compared by."""
    return hashlib.sha256(b"".join(a.tobytes() for _, a in sorted(_arrays(hand).items()))).hexdigest()[:16]


def load(path: Path) -> Hand:
    """Returns the hand in a file, or refuses the file."""
    try:
        with safe_open(path, framework="numpy") as file:
            arrays = {name: np.asarray(file.get_tensor(name), float) for name in file.keys()}  # noqa: SIM118, a file is no mapping
    except (SafetensorError, OSError) as error:
        raise Refusal(f"{path} cannot be read as a hand ({error}).") from None
    wanted = {*Prior._fields, "nib"}
    if set(arrays) != wanted:
        raise Refusal(f"{path} holds other arrays than a hand has: {', '.join(sorted(set(arrays) ^ wanted)[:3])}.")
    nib = arrays.pop("nib")
    strokes = len(arrays["mean"])
    shapes = {"mean": (strokes, 3), "whiten": (strokes, 3, 3), "opening": (strokes,), "following": (strokes, strokes)}
    wrong = [name for name, shape in shapes.items() if arrays[name].shape != shape]
    if wrong or nib.shape != (len(Nib._fields),) or not all(np.isfinite(a).all() for a in [nib, *arrays.values()]):
        raise Refusal(f"{path} is damaged: its numbers are not those of a hand.")
    for name in ("decide", "opening", "following", "relation"):  # 32 bits sum to 1 but roughly
        arrays[name] /= arrays[name].sum(axis=-1, keepdims=True)
    return Hand(Prior(**arrays), Nib(*(float(v) for v in nib)))


def card(path: Path) -> dict[str, Any]:
    """Returns what a file says about its hand."""
    with safe_open(path, framework="numpy") as file:
        found: dict[str, Any] = json.loads((file.metadata() or {}).get("card", "{}"))
    return found
