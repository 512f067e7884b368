"""Random regexes for tests, and the same regexes for Python's `re`."""

import re

import numpy as np
from hypothesis import strategies as st

from wakesleep.domains.strings.language import (
    CHARACTERS,
    CLOSE,
    DEPTH,
    OPEN,
    OPTIONAL,
    PLUS,
    SPELLINGS,
    STAR,
    TOKEN,
    Atom,
    Either,
    Repeat,
    Sequence,
    flatten,
)

LENGTH = 12
ATOMS = [TOKEN[s] for s in ("a", "b", "1", r"\s", ".", r"\w", r"\d", r"\l", r"\u")]


def standard(tree) -> str:
    """The same regex for Python's `re`."""
    named = {r"\u": "[A-Z]", r"\l": "[a-z]", r"\w": "[A-Za-z0-9]", r"\s": "[ ]", r"\d": "[0-9]", ".": "[ -~]"}
    match tree:
        case Atom(token):
            spelling = SPELLINGS[token]
            return named[spelling] if spelling in named else re.escape(CHARACTERS[token - 1])
        case Sequence(parts):
            return "".join(f"(?:{standard(p)})" for p in parts)
        case Either(branches):
            return "|".join(f"(?:{standard(b)})" for b in branches)
        case Repeat(part, operator):
            return f"(?:{standard(part)}){SPELLINGS[operator]}"


def trees(depth: int = 2):
    """Regexes of every kind, redundant ones and nullable loops included."""
    atoms = st.sampled_from(ATOMS).map(Atom)
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(lambda p: Sequence(tuple(p))),
            st.lists(inner, min_size=2, max_size=2).map(lambda b: Either(tuple(b))),
            st.tuples(inner, st.sampled_from((OPTIONAL, STAR, PLUS))).map(lambda r: Repeat(*r)),
        ),
        max_leaves=5,
    ).filter(fits)


def fits(tree) -> bool:
    tokens = flatten(tree)
    depth = np.cumsum([(t == OPEN) - (t == CLOSE) for t in tokens]).max()
    return len(tokens) <= LENGTH and depth <= DEPTH
