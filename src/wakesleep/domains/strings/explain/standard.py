r"""A regex of the library as a standard one, such as `^[A-Z]{2}-\d+$`, that no input can make slow.

A backtracking matcher tries the walks of the automaton one by one. Where there are few of them for every text of
`ANY_TEXT` characters, the regex is written as it is; where there are few for `longest` characters, with that bound on
the length; else a wider one is written, which allows the same characters in any order.
"""

import itertools
import re
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from wakesleep.domains.strings.language import (
    CHARACTERS,
    CLASSES,
    FIRST_CLASS,
    OPTIONAL,
    PLUS,
    SPELLINGS,
    Atom,
    Either,
    Repeat,
    Sequence,
    Tree,
)

MOST_WALKS = 1_000_000
MOST_SETS = 200
ANY_TEXT = 1000
BRACKETS = {".": "[ -~]", r"\w": "[A-Za-z0-9]", r"\d": r"\d", r"\u": "[A-Z]", r"\l": "[a-z]", r"\s": " "}
SPECIAL = set(r".^$*+?{}[]\|()")


class Standard(NamedTuple):
    """An anchored regex for `re`, ECMA 262 and others, and whether it accepts exactly what the program writes."""

    pattern: str
    exact: bool


def standard(tree: Tree, longest: int) -> Standard:
    """The standard regex for texts of at most that many characters."""
    if walks(tree, ANY_TEXT) <= MOST_WALKS:
        return Standard(f"^{_write(tree)}$", True)
    if walks(tree, longest) <= MOST_WALKS:
        return Standard(f"^(?=.{{0,{longest}}}$){_write(tree)}$", True)
    return Standard(f"^{_wider(tree)}{{{_least(tree)},{longest}}}$", False)


class _Run(NamedTuple):
    """The same atom again and again: at least so many times, at most so many, None being no limit."""

    atom: str
    least: int
    most: int | None


def _write(tree: Tree) -> str:
    match tree:
        case Sequence(parts):
            return "".join(map(_spell, _runs(parts)))
        case Either(branches):
            return f"(?:{'|'.join(map(_write, branches))})"
        case _:
            return "".join(map(_spell, _runs((tree,))))


def _runs(parts: tuple[Tree, ...]) -> list[_Run]:
    r"""Equal neighbours gathered: `\d\d\d+` is at least three digits."""
    runs: list[_Run] = []
    for part in parts:
        run = _run(part)
        if runs and runs[-1].atom == run.atom:
            last = runs.pop()
            most = None if last.most is None or run.most is None else last.most + run.most
            run = _Run(run.atom, last.least + run.least, most)
        runs.append(run)
    return runs


def _run(part: Tree) -> _Run:
    match part:
        case Atom(token):
            return _Run(_atom(token), 1, 1)
        case Repeat(inner, operator):
            atom = _write(inner) if isinstance(inner, Atom | Either) else f"(?:{_write(inner)})"
            return _Run(atom, int(operator == PLUS), 1 if operator == OPTIONAL else None)
        case _:
            return _Run(_write(part), 1, 1)


def _atom(token: int) -> str:
    if token >= FIRST_CLASS:
        return BRACKETS[SPELLINGS[token]]
    character = CHARACTERS[token - 1]
    return "\\" + character if character in SPECIAL else character


def _spell(run: _Run) -> str:  # noqa: PLR0911, one line a case
    match run.least, run.most:
        case 1, 1:
            return run.atom
        case 0, 1:
            return run.atom + "?"
        case 0, None:
            return run.atom + "*"
        case 1, None:
            return run.atom + "+"
        case least, None:
            return f"{run.atom}{{{least},}}"
        case least, most if least == most:
            return min(run.atom * least, f"{run.atom}{{{least}}}", key=len)
        case least, most:
            return f"{run.atom}{{{least},{most}}}"


def _least(tree: Tree) -> int:
    """The fewest characters of a text."""
    match tree:
        case Atom():
            return 1
        case Sequence(parts):
            return sum(map(_least, parts))
        case Either(branches):
            return min(map(_least, branches))
        case Repeat(part, operator):
            return _least(part) if operator == PLUS else 0


def _wider(tree: Tree) -> str:
    """One set of all characters that a tree can write."""
    allowed = sorted(characters(tree))
    if len(allowed) == len(CHARACTERS):
        return "[ -~]"
    pieces: list[str] = []
    for first, last in _stretches(allowed):
        ends = [("\\" + c) if c in r"\]^-" else c for c in (first, last)]
        pieces.append(ends[0] if first == last else f"{ends[0]}-{ends[1]}")
    return f"[{''.join(pieces)}]"


def _stretches(ordered: list[str]) -> list[tuple[str, str]]:
    """Neighbouring characters as (first, last)."""
    found: list[tuple[str, str]] = []
    for c in ordered:
        if found and ord(c) == ord(found[-1][1]) + 1:
            found[-1] = (found[-1][0], c)
        else:
            found.append((c, c))
    return found


def characters(tree: Tree) -> set[str]:
    """The characters that a tree can write."""
    tokens = [atom.token for atom in _atoms(tree)]
    return {c for t in tokens for c in (CLASSES[SPELLINGS[t]] if t >= FIRST_CLASS else CHARACTERS[t - 1])}


def walks(tree: Tree, longest: int) -> float:
    """A bound on the walks that a matcher can try on any text of at most that many characters."""
    places, first, follow = _glushkov(tree)
    weight, total = first, 1.0
    for _ in range(longest):
        total += float(weight.sum())
        if total > MOST_WALKS:
            break
        weight = weight @ follow
    return total if total <= MOST_WALKS else _walks_by_letter(places, first, follow, longest)


def _walks_by_letter(
    places: list[set[str]], first: Float[np.ndarray, "p"], follow: Float[np.ndarray, "p p"], longest: int
) -> float:
    """The same, closer: texts that lead to the same set of places are taken together, at the most walks to each."""
    follow = np.vstack([first, follow])  # the place before the text comes first
    follow = np.pad(follow, ((0, 0), (1, 0)))
    masks = np.pad(_letters(places), ((0, 0), (1, 0)))
    steps = _steps(follow, masks)
    if not steps:
        return np.inf
    target, source, letter = np.array(steps).T
    reached, begins = np.unique(target, return_index=True)
    weight = np.zeros((1 + max(reached), len(follow)))
    weight[0, 0] = total = 1.0
    for _ in range(longest):
        onward = (weight @ follow)[source] * masks[letter]
        weight = np.zeros_like(weight)
        weight[reached] = np.maximum.reduceat(onward, begins)
        total += float(weight.sum(axis=1).max())
        if total > MOST_WALKS:
            return np.inf
    return total


def _letters(places: list[set[str]]) -> Float[np.ndarray, "c p"]:
    """At which places each letter is written; one that is written at fewer than another has no more walks."""
    letters = {frozenset(i for i, p in enumerate(places) if c in p) for c in set().union(*places)}
    widest = [letter for letter in letters if not any(letter < other for other in letters)]
    return np.array([[i in letter for i in range(len(places))] for letter in widest], float)


def _steps(follow: Float[np.ndarray, "p p"], masks: Float[np.ndarray, "c p"]) -> list[tuple[int, int, int]]:
    """Which set of places is reached from which by which letter, in order; none at all if there are too many sets."""
    start = (True, *[False] * (len(follow) - 1))
    sets, waiting, found = {start: 0}, [start], []
    for here in waiting:
        for letter, onward in enumerate((np.array(here) @ follow) * masks):
            there = tuple(onward > 0)
            if not any(there):
                continue
            if there not in sets:
                sets[there] = len(sets)
                waiting.append(there)
            found.append((sets[there], sets[here], letter))
        if len(sets) > MOST_SETS:
            return []
    return sorted(found)


def _glushkov(tree: Tree) -> tuple[list[set[str]], Float[np.ndarray, "p"], Float[np.ndarray, "p p"]]:
    """The characters of each place, and in how many ways a text starts there, and goes on from there to another."""
    places = [characters(atom) for atom in _atoms(tree)]
    n, numbers = len(places), itertools.count()
    follow = np.zeros((n, n))

    def visit(tree: Tree) -> tuple[float, Float[np.ndarray, "p"], Float[np.ndarray, "p"]]:
        """In how many ways it is empty, starts at each place and ends at each place."""
        match tree:
            case Atom():
                here = np.eye(n)[next(numbers)]
                return 0.0, here, here
            case Sequence(parts):
                empty, first, last = 1.0, np.zeros(n), np.zeros(n)
                for nothing, starts, ends in map(visit, parts):
                    follow[:] += np.outer(last, starts)
                    first, last, empty = first + empty * starts, ends + nothing * last, empty * nothing
                return empty, first, last
            case Either(branches):
                empties, firsts, lasts = zip(*map(visit, branches), strict=True)
                return sum(empties), np.sum(firsts, axis=0), np.sum(lasts, axis=0)
            case Repeat(part, operator):
                empty, first, last = visit(part)
                if operator != OPTIONAL:
                    follow[:] += np.outer(last, first) * (MOST_WALKS if empty else 1.0)  # endless empty rounds
                return empty + (operator != PLUS), first, last

    return places, visit(tree)[1], follow


def _atoms(tree: Tree) -> list[Atom]:
    match tree:
        case Atom():
            return [tree]
        case Sequence(parts) | Either(parts):
            return [atom for part in parts for atom in _atoms(part)]
        case Repeat(part):
            return _atoms(part)


def accepts(pattern: str, text: str) -> bool:
    """Whether a standard regex accepts a text."""
    return re.compile(pattern, re.ASCII).fullmatch(text) is not None
