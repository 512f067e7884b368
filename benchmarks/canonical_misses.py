"""Near misses: values with a small error that makes them wrong."""

import random
import re
from collections.abc import Callable

from canonical_columns import DIGITS, LOWER, Draw, Right


def near_misses(draw: Draw, right: Right, r: random.Random, count: int) -> list[str]:
    """Small errors in values, those that happen to be right left out."""
    found: list[str] = []
    for _ in range(60 * count):
        wrong = r.choice(ERRORS)(draw(r), r)
        if wrong and not right(wrong) and wrong not in found:
            found.append(wrong)
        if len(found) == count:
            break
    return found


def _swap(v: str, r: random.Random) -> str:
    i = r.randrange(max(len(v) - 1, 1))
    return v[:i] + v[i + 1 : i + 2] + v[i] + v[i + 2 :]


def _at(v: str, r: random.Random, change: Callable[[str], str]) -> str:
    i = r.randrange(len(v))
    return v[:i] + change(v[i]) + v[i + 1 :]


def _digit_to_letter(v: str, r: random.Random) -> str:
    places = [i for i, c in enumerate(v) if c.isdigit()]
    i = r.choice(places) if places else 0
    return v[:i] + {"0": "O", "1": "l"}.get(v[i], "x") + v[i + 1 :]


ERRORS: list[Callable[[str, random.Random], str]] = [
    lambda v, r: v + " ",
    lambda v, r: " " + v,
    _swap,
    _digit_to_letter,
    lambda v, r: _at(v, r, lambda c: ""),
    lambda v, r: _at(v, r, lambda c: c + c),
    lambda v, r: v[: -r.randint(1, 3)],
    lambda v, r: v.swapcase(),
    lambda v, r: re.sub(
        r"[-/.:_ ]", lambda m: {"-": "/", "/": "-", ".": ",", ":": ".", "_": "-", " ": "_"}[m[0]], v, count=1
    ),
    lambda v, r: r.choice(["N/A", "null", "-", "?", "NaN", "None", "unknown"]),
    lambda v, r: v + r.choice(DIGITS + LOWER),
    lambda v, r: re.sub(r"\d\d", "77", v, count=1),
]
