r"""Probabilistic regexes: their tokens, their trees, and the one spelling that each has.

A program is an array of tokens: the 95 printable characters, the classes `.` `\w` `\d` `\u` `\l` `\s`, the
operators `?` `*` `+` `|` and brackets. In text a character that could be read otherwise has a backslash before it.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from wakesleep.core.networks import END, Grammar, grammar
from wakesleep.errors import Refusal

CHARACTERS = "".join(map(chr, range(32, 127)))
CLASSES = {
    ".": CHARACTERS,
    r"\w": "".join(c for c in CHARACTERS if c.isalnum()),
    r"\d": "0123456789",
    r"\u": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    r"\l": "abcdefghijklmnopqrstuvwxyz",
    r"\s": " ",
}
OPERATORS = ("?", "*", "+", "|", "(", ")")
SPELLINGS = ["", *(("\\" + c) if c in r".?*+|()\ ".strip() else c for c in CHARACTERS), *CLASSES, *OPERATORS]
TOKEN = {spelling: token for token, spelling in enumerate(SPELLINGS)}
FIRST_CLASS = 1 + len(CHARACTERS)
OPTIONAL, STAR, PLUS, BAR, OPEN, CLOSE = range(FIRST_CLASS + len(CLASSES), len(SPELLINGS))
SPACE, WHITE = TOKEN[" "], TOKEN[r"\s"]
ANY, WORD, DIGIT, UPPER, LOWER = (TOKEN[name] for name in (".", r"\w", r"\d", r"\u", r"\l"))
GENERAL = (".+", ".*", r"\w+")
"""Regexes for strings of which nothing is known."""
DEPTH = 3
"""Brackets may stand in each other this deep."""


@dataclass(frozen=True)
class Atom:
    """A character or a class, by its token."""

    token: int


@dataclass(frozen=True)
class Sequence:
    """Parts one after another."""

    parts: tuple["Tree", ...]


@dataclass(frozen=True)
class Either:
    """One of several branches."""

    branches: tuple["Tree", ...]


@dataclass(frozen=True)
class Repeat:
    """A part under `?`, `*` or `+`."""

    part: "Tree"
    operator: int


Tree = Atom | Sequence | Either | Repeat


def tokens_of(text: str) -> list[int]:
    """The tokens that a text spells."""
    tokens, i = [], 0
    while i < len(text):
        width = 2 if text[i] == "\\" else 1
        spelling = text[i : i + width]
        if width == 2 and spelling not in TOKEN and not spelling[1:].isalnum():
            spelling = spelling[1:]  # a backslash that was not needed
        if spelling not in TOKEN:
            raise Refusal(f"{spelling!r} in the regex {text!r} is not one of its characters, classes and operators.")
        tokens.append(TOKEN[spelling])
        i += width
    return tokens


def text_of(tokens: list[int]) -> str:
    """The text that tokens spell."""
    return "".join(SPELLINGS[t] for t in tokens)


def parse(text: str) -> Tree:
    """The tree of a regex in the paper's notation."""
    return tree_of(tokens_of(text))


def tree_of(tokens: list[int]) -> Tree:
    """The tree of a sequence of tokens; what comes after an end token must be end tokens."""
    body = tokens[: tokens.index(END)] if END in tokens else tokens
    if any(tokens[len(body) :]):
        raise Refusal("Tokens follow the end of a regex.")
    tree, place = _either(body, 0)
    if place < len(body):
        raise Refusal(f"The regex {text_of(body)!r} closes a bracket that it does not open.")
    return tree


def _either(tokens: list[int], place: int) -> tuple[Tree, int]:
    branch, place = _sequence(tokens, place)
    branches = [branch]
    while place < len(tokens) and tokens[place] == BAR:
        branch, place = _sequence(tokens, place + 1)
        branches.append(branch)
    if len(branches) > 1 and Sequence(()) in branches:
        raise Refusal(f"The regex {text_of(tokens)!r} has an empty branch: make the whole optional with '?' instead.")
    return (branches[0] if len(branches) == 1 else Either(tuple(branches))), place


def _sequence(tokens: list[int], place: int) -> tuple[Tree, int]:
    parts: list[Tree] = []
    while place < len(tokens) and tokens[place] not in (BAR, CLOSE):
        token, place = tokens[place], place + 1
        if token == OPEN:
            part, place = _either(tokens, place)
            if place == len(tokens) or part == Sequence(()):
                raise Refusal(f"The regex {text_of(tokens)!r} has an empty or an unclosed bracket.")
            parts.append(part)
            place += 1
        elif token in (OPTIONAL, STAR, PLUS):
            if not parts:
                raise Refusal(f"The regex {text_of(tokens)!r} has nothing before {SPELLINGS[token]!r}.")
            parts.append(Repeat(parts.pop(), token))
        else:
            parts.append(Atom(token))
    return (parts[0] if len(parts) == 1 else Sequence(tuple(parts))), place


def canonical(tree: Tree) -> Tree:
    r"""The one spelling of a regex: no redundant brackets, no stacked operators, `\s` for a space.

    `E**` becomes `E*`: the same strings, though not with the same probabilities.
    """
    match tree:
        case Atom(token):
            return Atom(WHITE if token == SPACE else token)
        case Sequence(parts):
            flat = [q for p in map(canonical, parts) for q in (p.parts if isinstance(p, Sequence) else (p,))]
            return flat[0] if len(flat) == 1 else Sequence(tuple(flat))
        case Either(branches):
            wide = [q for b in map(canonical, branches) for q in (b.branches if isinstance(b, Either) else (b,))]
            return Either(tuple(wide))
        case Repeat(part, operator):
            inner = canonical(part)
            if isinstance(inner, Repeat):
                return Repeat(inner.part, operator if operator == inner.operator else STAR)
            return Repeat(inner, operator)


def flatten(tree: Tree) -> list[int]:
    """The tokens of a tree, with the brackets it needs."""
    match tree:
        case Atom(token):
            return [token]
        case Sequence(parts):
            return [t for p in parts for t in (_bracketed(p) if isinstance(p, Either | Sequence) else flatten(p))]
        case Either(branches):
            inner = [_bracketed(b) if isinstance(b, Either) else flatten(b) for b in branches]
            return inner[0] + [t for b in inner[1:] for t in (BAR, *b)]
        case Repeat(part, operator):
            simple = isinstance(part, Atom | Repeat)
            return [*(flatten(part) if simple else _bracketed(part)), operator]


def _bracketed(tree: Tree) -> list[int]:
    return [OPEN, *flatten(tree), CLOSE]


def program(text: str, length: int) -> Int[np.ndarray, "t"]:
    """The program of a regex in the paper's notation, in its one spelling."""
    tokens = flatten(canonical(parse(text)))
    if len(tokens) > length:
        raise Refusal(f"The regex {text!r} has {len(tokens)} tokens, but a program has at most {length}.")
    return np.array(tokens + [END] * (length - len(tokens)), np.int32)


# The rules of decoding: only regexes in their one spelling are written, so that no two programs mean the same.
# A state is what the last token left to be done and, for each open bracket and the outside of all,
# how many parts the branch has (up to two) and whether a bar came before.
ENDS, ATOM, POSTFIX, BRANCHES, OPENS, CLOSES = range(6)
SETTLED, REPEATABLE, UNFINISHED, CHOICE = "settled", "repeatable", "unfinished", "choice"
State = tuple[str, tuple[tuple[int, bool], ...]]


def _move(state: State, kind: int) -> State | None:  # noqa: PLR0911, one line a rule
    tail, levels = state
    parts, bars = levels[-1]
    if kind == POSTFIX:
        return None if tail == SETTLED else (SETTLED, levels)
    if tail == UNFINISHED:  # `(ab)` without an operator is `ab`
        return None
    more = (*levels[:-1], (min(parts + 1, 2), bars))
    if kind == ATOM:
        return REPEATABLE, more
    if kind == OPENS:
        return (SETTLED, (*more, (0, False))) if len(levels) <= DEPTH else None
    if parts == 0 or (parts == 1 and tail == CHOICE):  # a branch is not empty, nor a bracketed choice alone
        return None
    if kind == BRANCHES:
        return SETTLED, (*levels[:-1], (0, True))
    if kind == CLOSES:  # `(a)` is `a`, and `(a+)?` is `a*`
        return (CHOICE if bars else UNFINISHED, levels[:-1]) if len(levels) > 1 and (bars or parts > 1) else None
    return state if len(levels) == 1 else None


def _kinds() -> list[int]:
    kinds = [ENDS] + [ATOM] * (OPTIONAL - 1) + [POSTFIX] * 3 + [BRANCHES, OPENS, CLOSES]
    kinds[SPACE] = CLOSES + 1  # spelled `\s`; no state takes this kind
    return kinds


def _move_or_refuse(state: State, kind: int) -> State | None:
    return None if kind > CLOSES else _move(state, kind)


RULES: Grammar = grammar(_kinds(), (SETTLED, ((0, False),)), _move_or_refuse)
