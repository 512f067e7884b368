"""Values cut into tokens at several granularities, and grouped by form."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

LEVELS = {
    "runs": re.compile(r"A+|a+|x+|9+|[\s\S]"),
    "letters": re.compile(r"[Aax]+|9+|[\s\S]"),
    "alphanumeric": re.compile(r"[Aax9]+|[\s\S]"),
    "words": re.compile(r"[^\s]+|\s"),
}
"""Tokens in a mask: runs of one kind of letter or digit, all letters, letters and digits, all but white space."""
KINDS = {**{c: "A" for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}, **{c: "a" for c in "abcdefghijklmnopqrstuvwxyz"}}
KINDS |= {c: "9" for c in "0123456789"}


class _Mask(dict[int, str]):
    """Kinds of characters for `str.translate`; symbols stand for themselves."""

    def __missing__(self, code: int) -> str:
        c = chr(code)
        if c in KINDS:
            kind = KINDS[c]
        elif c.isupper():
            kind = "A"
        elif c.islower():
            kind = "a"
        else:
            kind = "x" if c.isalnum() and not c.isdecimal() else c
        self[code] = kind
        return kind


_MASK = _Mask()


@lru_cache(maxsize=20_000)
def mask(value: str) -> str:
    """The value with its capitals as A, small letters as a, other letters as x, digits as 9."""
    return value.translate(_MASK)


def tokens(value: str, level: str) -> tuple[tuple[str, ...], list[str]]:
    """The kinds of a value's tokens (a symbol's kind is itself), and their texts."""
    kinds, texts = [], []
    masked = mask(value)
    for match in LEVELS[level].finditer(masked):
        piece = match[0]
        if level == "words":
            kinds.append(piece if piece.isspace() else "w")
        elif len(piece) > 1 or piece in "Aax9":
            kinds.append(piece[0] if level == "runs" else "9" if not piece.strip("9") and level == "letters" else "w")
        else:
            kinds.append(piece)
        texts.append(value[match.start() : match.end()])
    return tuple(kinds), texts


def by_form(values: Iterable[str], level: str) -> dict[tuple[str, ...], list[list[str]]]:
    """The tokens of values that have the same kinds, the most frequent form first."""
    found: dict[tuple[str, ...], list[list[str]]] = {}
    for value in values:
        kinds, texts = tokens(value, level)
        found.setdefault(kinds, []).append(texts)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def columns_of(rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The texts at each place of tokens of one form."""
    return list(zip(*rows, strict=True))


SEPARATORS = (", ", "; ", " ", ",", ";", "|", "/", "-", "_", ".", ":", "+", "&")


def separators_of(values: Sequence[str]) -> list[str]:
    """Separators in at least a third of the values, not at their ends."""
    found = []
    for separator in SEPARATORS:
        holding = [v for v in values if separator in v]
        if 3 * len(holding) >= len(values) and not any(v.startswith(separator) or v.endswith(separator) for v in holding):
            found.append(separator)
    return found
