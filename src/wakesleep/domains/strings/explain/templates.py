"""Regexes read off the strings themselves: what all share is written out, and where they differ stands a class.

A search that goes token by token seldom comes upon a long regex by itself; from here it has only to be improved.
"""

import itertools
import re
from collections.abc import Callable, Sequence

from wakesleep.domains.strings.explain.variants import Programs, written
from wakesleep.domains.strings.language import (
    ANY,
    CHARACTERS,
    CLASSES,
    DIGIT,
    LOWER,
    PLUS,
    STAR,
    UPPER,
    WORD,
)

FINE, COARSE = r"[A-Z]+|[a-z]+|[0-9]+|.", r"[A-Za-z0-9]+|."
ORDER = {DIGIT: r"\d", UPPER: r"\u", LOWER: r"\l", WORD: r"\w", ANY: "."}
"""The classes that may stand where strings differ, the narrowest first."""
MOST = 8

Write = Callable[[Sequence[str]], list[int]]


def templates(strings: Sequence[str], length: int) -> Programs:
    """At most `MOST` programs, all of which write all of the strings; none where they have too little in common."""
    bodies = [_by_place(strings)] if len(set(map(len, strings))) == 1 else []
    for pieces in (FINE, COARSE):
        runs = [re.findall(pieces, s) for s in strings]
        if len({tuple(map(_kind, run)) for run in runs}) == 1:
            columns = list(zip(*runs, strict=True))
            bodies += [[t for column in columns for t in write(column)] for write in (_narrow, _classes, _loose)]
    return written([body for body in bodies if body], length)[:MOST]


def _kind(run: str) -> str:
    """What runs must share to stand in one place: letters or digits of any kind, or a mark itself."""
    return "word" if run.isalnum() else run


def _by_place(texts: Sequence[str]) -> list[int]:
    """Texts of one length, place by place."""
    return [_atom(set(place)) for place in zip(*texts, strict=True)]


def _atom(characters: set[str]) -> int:
    """The one character, or the narrowest class."""
    return _literal(*characters) if len(characters) == 1 else _class(characters)


def _class(characters: set[str]) -> int:
    return next(token for token, name in ORDER.items() if characters <= set(CLASSES[name]))


def _literal(character: str) -> int:
    return 1 + CHARACTERS.index(character)


def _narrow(texts: Sequence[str]) -> list[int]:
    """As much as possible written out: place by place, or where lengths differ what all begin with and the rest."""
    if len(set(map(len, texts))) == 1:
        return _by_place(texts)
    start = next(i for i in itertools.count() if len({t[: i + 1] for t in texts}) > 1)
    rest = [t[start:] for t in texts]
    return [*map(_literal, texts[0][:start]), _atom(set("".join(rest))), STAR if "" in rest else PLUS]


def _classes(texts: Sequence[str]) -> list[int]:
    """Classes, as many as the texts are long where that is one length."""
    if not texts[0].isalnum():
        return [_literal(c) for c in texts[0]]
    token = _class(set("".join(texts)))
    return [token] * len(texts[0]) if len(set(map(len, texts))) == 1 else [token, PLUS]


def _loose(texts: Sequence[str]) -> list[int]:
    """One or more of a class."""
    return [_class(set("".join(texts))), PLUS] if texts[0].isalnum() else [_literal(c) for c in texts[0]]
