"""Regexes in words."""

from itertools import groupby

from wakesleep.domains.strings.language import (
    CHARACTERS,
    FIRST_CLASS,
    OPTIONAL,
    PLUS,
    SPELLINGS,
    STAR,
    Atom,
    Either,
    Repeat,
    Sequence,
    Tree,
)

NAMES = {
    ".": ("character of any kind", "characters of any kind"),
    r"\w": ("letter or digit", "letters or digits"),
    r"\d": ("digit", "digits"),
    r"\u": ("upper-case letter", "upper-case letters"),
    r"\l": ("lower-case letter", "lower-case letters"),
    r"\s": ("space", "spaces"),
}
HOW_OFTEN = {OPTIONAL: "perhaps", STAR: "any number of times", PLUS: "one or more times"}
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def describe(tree: Tree) -> str:
    """What a regex says, in a line."""
    match tree:
        case Sequence(parts):
            return ", then ".join(_stretches(parts))
        case Either(branches):
            said = [describe(b) for b in branches]
            return " or ".join(f"({b})" if ", then " in b else b for b in said)
        case _:
            return ", then ".join(_stretches((tree,)))


def _stretches(parts: tuple[Tree, ...]) -> list[str]:
    """Literal text in quotes as a whole, classes with their number."""
    found = []
    for kind, group in groupby(parts, _kind):
        members = list(group)
        if kind == "text":
            found.append(f"'{''.join(_literal(m) for m in members)}'")
        elif kind == "part":
            found += [_part(m) for m in members]
        else:
            found.append(_count(kind, members))
    return found


def _kind(part: Tree) -> str:
    """The class that a part is of, repeated or not; "text" for a character, "part" for all else."""
    if isinstance(part, Atom):
        return "text" if part.token < FIRST_CLASS else SPELLINGS[part.token]
    inner = part.part if isinstance(part, Repeat) else None
    return SPELLINGS[inner.token] if isinstance(inner, Atom) and inner.token >= FIRST_CLASS else "part"


def _literal(part: Tree) -> str:
    assert isinstance(part, Atom)
    return CHARACTERS[part.token - 1]


def _count(spelling: str, members: list[Tree]) -> str:
    operators = [m.operator for m in members if isinstance(m, Repeat)]
    least = len(members) - sum(o != PLUS for o in operators)
    most = None if any(o != OPTIONAL for o in operators) else len(members)
    one, many = NAMES[spelling]
    if most == least:
        return f"{_number(least)} {one if least == 1 else many}"
    if least == 0 and most == 1:
        return f"perhaps a {one}".replace(" a u", " an u")
    if most is None:
        return f"any number of {many}" if least == 0 else f"{_number(least)} or more {many}"
    return f"{_number(least)} to {_number(most)} {many}"


def _part(part: Tree) -> str:
    if not isinstance(part, Repeat):
        return f"({describe(part)})"
    inner = f"({describe(part.part)})" if not isinstance(part.part, Atom) else describe(part.part)
    return f"{HOW_OFTEN[part.operator]} {inner}"


def _number(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else str(count)
