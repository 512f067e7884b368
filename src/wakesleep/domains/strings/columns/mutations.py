"""Small changes of a program: branches dropped, habits frozen, literals loosened."""

from collections.abc import Iterator
from dataclasses import replace

from wakesleep.domains.strings.columns.characters import covering
from wakesleep.domains.strings.columns.choices import Either
from wakesleep.domains.strings.columns.counts import exactly
from wakesleep.domains.strings.columns.nodes import Literal, Node, Run
from wakesleep.domains.strings.columns.reading import tokens
from wakesleep.domains.strings.columns.sequences import Series, series

MOST_MUTANTS = 12
HABITUAL = 0.9


def mutated(node: Node, generality: str) -> list[Node]:
    """Returns programs one change away."""
    found: list[Node] = []
    for mutant in _mutants(node, generality):
        if mutant not in found:
            found.append(mutant)
        if len(found) == MOST_MUTANTS:
            break
    return found


def _mutants(node: Node, generality: str) -> Iterator[Node]:
    match node:
        case Either(branches, weights):
            for i in range(len(branches)):
                kept = branches[:i] + branches[i + 1 :]
                mass = weights[:i] + weights[i + 1 :]
                if len(kept) == 1:
                    yield kept[0]
                else:
                    yield Either(kept, tuple(w / sum(mass) for w in mass))
        case Series(parts):
            for i, part in enumerate(parts):
                for changed in _mutants(part, generality):
                    yield series(*parts[:i], changed, *parts[i + 1 :])
        case Literal(text):
            yield from _loosened(text)
        case Run(_, counts, habit) if habit:
            if counts.fixed and len(habit) == counts.low:
                yield Literal(habit)
            elif counts.fixed and generality == "narrow":
                rest = counts.low - len(habit)
                yield series(habit, replace(node, counts=replace(counts, low=rest, high=rest), habit="", habitual=0.0))
            yield replace(node, habit="", habitual=0.0)


def _loosened(text: str) -> Iterator[Node]:
    """Returns the literal with one of its words or numbers as a run that is habitually so."""
    _, pieces = tokens(text, "letters")
    for i, piece in enumerate(pieces):
        if piece.isalnum() and piece.isascii():
            members = min(covering(frozenset(piece)), key=lambda c: c.size)
            run = Run(members, exactly(len(piece)), piece, HABITUAL)
            yield series("".join(pieces[:i]), run, "".join(pieces[i + 1 :]))
