"""Regexes taken apart: their branches, and what is left without one of their brackets."""

import itertools

from wakesleep.core.networks import END
from wakesleep.domains.strings.language import BAR, CLOSE, OPEN, OPTIONAL, PLUS, STAR

QUANTIFIERS = (OPTIONAL, STAR, PLUS)


def branches(z: list[int]) -> list[list[int]]:
    """The branches of a program that has alternation outside of all brackets; else the program alone."""
    depth, cuts = 0, []
    for i, token in enumerate(z):
        depth += (token == OPEN) - (token == CLOSE)
        if token == BAR and depth == 0:
            cuts.append(i)
    edges = [-1, *cuts, len(z)]
    parts = [z[a + 1 : b] for a, b in itertools.pairwise(edges)]
    return [_filled(part, len(z)) for part in parts]


def without_brackets(z: list[int]) -> list[list[int]]:
    """The program with one of its outermost brackets left out, and what repeats it: one for each of them."""
    depth, start, found = 0, 0, []
    for i, token in enumerate(z):
        if token == OPEN and depth == 0:
            start = i
        depth += (token == OPEN) - (token == CLOSE)
        if token == CLOSE and depth == 0:
            behind = itertools.dropwhile(lambda t: t in QUANTIFIERS, z[i + 1 :])
            bodies = map(_body, branches([*z[:start], *behind]))
            rest = [t for body in bodies if body for t in (BAR, *body)][1:]
            found.append(_filled(rest, len(z)))
    return found


def _body(z: list[int]) -> list[int]:
    return [t for t in z if t != END]


def _filled(body: list[int], length: int) -> list[int]:
    return body + [END] * (length - len(body))
