"""Regexes made from others: two joined by alternation, and wider ones, which the examples alone do not call for.

A search keeps the best regexes, and these are narrow: all of five years began with 20 by chance or for a reason.
What the wider ones are worth, their probability decides; without them a value that is a little different has none.
"""

import itertools
from collections import Counter

import numpy as np
from jaxtyping import Int

from wakesleep.core.networks import END
from wakesleep.domains.strings.explain.membership import shape
from wakesleep.domains.strings.language import (
    BAR,
    CHARACTERS,
    CLOSE,
    DIGIT,
    FIRST_CLASS,
    LOWER,
    OPEN,
    OPTIONAL,
    PLUS,
    STAR,
    UPPER,
    WORD,
    canonical,
    flatten,
    tree_of,
)

Programs = Int[np.ndarray, "_ t"]
MANY = (OPTIONAL, STAR, PLUS)
FEW = 0.1
"""Values of other shapes are strays, and not a concept of their own, where they are fewer than this share."""


def divided(strings: list[str]) -> list[list[str]]:
    """The strings of the commonest shape, and the others; nothing if no shape is shared, or the others are few."""
    shapes = [shape(s) for s in strings]
    common, count = Counter(shapes).most_common(1)[0]
    if count == 1 or len(strings) - count < max(1, FEW * len(strings)):
        return []
    pairs = list(zip(strings, shapes, strict=True))
    return [[s for s, shape in pairs if shape == common], [s for s, shape in pairs if shape != common]]


def join(left: Int[np.ndarray, "j t"], right: Int[np.ndarray, "k t"]) -> Int[np.ndarray, "n t"]:
    """Every `E1|E2` and `E2|E1` that fits the length, of regexes that are no unions themselves."""
    length, found = left.shape[1], []
    for one, other in itertools.product(left.tolist(), right.tolist()):
        bodies = [_body(one), _body(other)]
        if sum(map(len, bodies)) < length and len(branches(one)) == len(branches(other)) == 1:
            for a, b in (bodies, bodies[::-1]):
                found.append(_filled([*a, BAR, *b], length))
    return np.array(found, np.int32).reshape(-1, length)


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
            behind = itertools.dropwhile(lambda t: t in MANY, z[i + 1 :])
            bodies = map(_body, branches([*z[:start], *behind]))
            rest = [t for body in bodies if body for t in (BAR, *body)][1:]
            found.append(_filled(rest, len(z)))
    return found


def wider(programs: Programs) -> Programs:
    """Wider forms of each program: characters as classes, runs of any length, classes as the class of both."""
    length, found = programs.shape[1], []
    for z in programs.tolist():
        if body := _body(z):
            plain = [_widen(t) for t in body]
            one = [[*body[:i], _widen(t), *body[i + 1 :]] for i, t in enumerate(body)]
            loose = _loosen(plain)
            either = _loosen([WORD if t in (DIGIT, UPPER, LOWER) else t for t in plain])
            found += [plain, *one, _loosen(body), *map(_loosen, one), loose, either]
    return written(found, length)


def written(bodies: list[list[int]], length: int) -> Programs:
    """Regexes in their one spelling, each once, as programs of that length; those that are longer are left out."""
    kept = [flatten(canonical(tree_of(body))) for body in bodies]
    fitting = [_filled(body, length) for body in kept if len(body) <= length]
    return distinct(np.array(fitting, np.int32).reshape(-1, length))


def distinct(programs: Programs) -> Programs:
    """Each program once, in the order in which they come."""
    _, places = np.unique(programs, axis=0, return_index=True)
    return programs[np.sort(places)]


def _body(z: list[int]) -> list[int]:
    return [t for t in z if t != END]


def _filled(body: list[int], length: int) -> list[int]:
    return body + [END] * (length - len(body))


def _widen(token: int) -> int:
    """The class of a letter or a digit; other tokens as they are."""
    if not 0 < token < FIRST_CLASS:
        return token
    c = CHARACTERS[token - 1]
    return DIGIT if c.isdigit() else UPPER if c.isupper() else LOWER if c.islower() else token


def _loosen(body: list[int]) -> list[int]:
    """Runs of the same class, repeated or not, as one or more of it."""
    found: list[int] = []
    for token in body:
        if token in (DIGIT, UPPER, LOWER, WORD) and found[-2:] == [token, PLUS]:
            continue
        if token in MANY and found[-1:] == [PLUS]:
            continue
        found += [token, PLUS] if token in (DIGIT, UPPER, LOWER, WORD) else [token]
    return found
