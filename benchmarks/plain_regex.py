"""The probability of a string under a probabilistic regex in plain Python: an oracle for tests, a peer for speed.

P(tree, i, j) is the probability that a tree writes text[i:j], summed over every way to divide it.
"""

from functools import cache

from wakesleep.domains.strings.language import (
    CHARACTERS,
    FIRST_CLASS,
    OPTIONAL,
    STAR,
    Atom,
    Either,
    Repeat,
    Sequence,
    Tree,
)


def probability(
    tree: Tree, text: str, optional: float, repeat: float, either: float, emissions: list[list[float]]
) -> float:
    """p(text | tree) with the probabilities of the operators and of each class's characters."""

    @cache
    def span(tree: Tree, i: int, j: int) -> float:
        match tree:
            case Atom(token):
                return character(token, text[i]) if j == i + 1 else 0.0
            case Sequence(()):
                return float(i == j)
            case Sequence(parts):
                rest = Sequence(parts[1:])
                return sum(span(parts[0], i, k) * span(rest, k, j) for k in range(i, j + 1))
            case Either(branches):
                others = branches[1] if len(branches) == 2 else Either(branches[1:])
                return either * span(branches[0], i, j) + (1 - either) * span(others, i, j)
            case Repeat(part, operator):
                if operator == OPTIONAL:
                    return optional * span(part, i, j) + (1 - optional) * (i == j)
                some = plus(part, i, j)
                return repeat * some + (1 - repeat) * (i == j) if operator == STAR else some

    @cache
    def plus(part: Tree, i: int, j: int) -> float:
        """`E+`: E, and then `E*`; where E is empty it stands on both sides of the equation, which is solved."""
        nothing = span(part, i, i)
        known = nothing * (1 - repeat) * (i == j)
        for k in range(i + 1, j + 1):
            known += span(part, i, k) * (repeat * plus(part, k, j) + (1 - repeat) * (k == j))
        return known / (1 - repeat * nothing)

    def character(token: int, c: str) -> float:
        if token < FIRST_CLASS:
            return float(CHARACTERS[token - 1] == c)
        return emissions[token - FIRST_CLASS][CHARACTERS.index(c)]

    return span(tree, 0, len(text))
