"""Programs in words, short enough to be read at once."""

from wakesleep.domains.strings.columns.characters import Chars
from wakesleep.domains.strings.columns.choices import Either, Listing, Maybe
from wakesleep.domains.strings.columns.concepts import Concept
from wakesleep.domains.strings.columns.dates import Date
from wakesleep.domains.strings.columns.nodes import Literal, Node, Run
from wakesleep.domains.strings.columns.numbers import Number
from wakesleep.domains.strings.columns.sequences import Series
from wakesleep.domains.strings.columns.words import Words

MOST_WORDS_NAMED, LONGEST_DESCRIPTION = 8, 200
SENTENCE_CHARACTERS_SHOWN = 24
"""Characters above which the words of a list are sentences, of which one is shown."""
SEPARATOR_WORDS = {
    " ": "spaces",
    ",": "commas",
    ", ": "commas",
    "-": "hyphens",
    "_": "underscores",
    ".": "dots",
    "/": "slashes",
}


def describe(node: Node) -> str:
    """Returns what a program writes; "free text" where saying it would take a paragraph."""
    found = _said(node)
    if len(found) <= LONGEST_DESCRIPTION:
        return found
    return "free text" if is_free(node) else found[: LONGEST_DESCRIPTION - 1].rsplit(" ", 1)[0] + " …"


def is_free(node: Node) -> bool:
    """Returns whether a program has no more form than words between spaces, or more than four forms."""
    match node:
        case Either(branches, _):
            return len(branches) > 4 or any(map(is_free, branches))
        case Listing(_, Literal(" "), _):
            return True
        case Run(members, counts, _):
            return counts.high is None and (
                " " in members.extra or "any" in members.classes or "printable" in members.classes
            )
    return False


def _said(node: Node) -> str:  # noqa: PLR0911, one return for each kind of node
    match node:
        case Literal(text):
            return f"`{text}`" if text.strip() else "a space" if text == " " else f"{len(text)} spaces"
        case Run():
            return _run(node)
        case Words():
            return _words(node)
        case Series(parts):
            return _sequence(parts)
        case Maybe(part, _):
            return f"perhaps {_said(part)}"
        case Either(branches, _):
            return " or ".join(f"({_said(b)})" if isinstance(b, Series) else _said(b) for b in branches)
        case Listing(item, separator, counts):
            what = _said(item)
            by = (
                SEPARATOR_WORDS.get(separator.text, f"`{separator.text}`")
                if isinstance(separator, Literal)
                else _said(separator)
            )
            return f"{counts.words()} items between {by}, each {what}"
        case Number(low, high, width):
            return f"a number from {low} to {high}" + (f" in {width} digits" if width > 1 else "")
        case Concept(name):
            return name
        case Date(form):
            return f"date by {form}"
    return type(node).__name__


def _run(node: Run) -> str:
    count = node.counts.low if node.counts.fixed else 2
    if not node.chars.classes and count == 1:
        return "one " + _set(node.chars)
    if _is_text(node.chars):
        return "free text"
    what = _set(node.chars) if not node.chars.classes else node.chars.named(count)
    return f"{node.counts.words()} {what}" if node.chars.classes else f"{node.counts.words()} characters {what}"


def _is_text(members: Chars) -> bool:
    return " " in members.extra and bool(members.classes) and len(members.extra) > 3


def _set(members: Chars) -> str:
    return f"of {members.regex}"


def _words(node: Words) -> str:
    if node.other is not None:
        return _said(node.other)
    words = _in_order(node.words)
    if len(words) > 1 and sum(map(len, words)) > SENTENCE_CHARACTERS_SHOWN * len(words):
        return f"one of {len(words)} texts such as `{words[0]}`"
    return ("one of " if len(words) > 1 else "") + _named(words)


def _in_order(words: tuple[str, ...]) -> tuple[str, ...]:
    """Returns words as they are, and numbers from the least to the greatest."""
    return tuple(sorted(words, key=int)) if all(w.isdecimal() and w.isascii() for w in words) else words


def _named(words: tuple[str, ...]) -> str:
    shown = [f"`{w}`" if not w.strip() or w != w.strip() else w for w in words[:MOST_WORDS_NAMED]]
    rest = len(words) - len(shown)
    return ", ".join(shown) + (f" and {rest} other{'s' if rest > 1 else ''}" if rest else "")


def _sequence(parts: tuple[Node, ...]) -> str:
    """Returns parts joined by "then"; a capital and small letters become a capitalised word."""
    found: list[str] = []
    i = 0
    while i < len(parts):
        if i + 1 < len(parts) and _capitalised(parts[i], parts[i + 1]):
            found.append("a capitalised word")
            i += 2
        else:
            found.append(_said(parts[i]))
            i += 1
    return " then ".join(found)


def _capitalised(first: Node, rest: Node) -> bool:
    return (
        isinstance(first, Run) and isinstance(rest, Run) and first.counts.high == first.counts.low == 1
        and first.chars.classes[:1] in (("upper",), ("latin upper",)) and not rest.counts.fixed
        and rest.chars.classes[:1] in (("lower",), ("latin lower",), ("letter",), ("latin",))
    )  # fmt: skip


def notes(node: Node) -> list[str]:
    """Returns what all values had in common so far, without being part of the pattern."""
    found = []
    if isinstance(node, Run) and node.habit:
        found.append(
            f"so far all `{node.habit}`"
            if len(node.habit) == node.counts.high
            else f"so far all begin with `{node.habit}`"
        )
    if isinstance(node, Words) and node.other is not None:
        found.append(f"so far one of {_named(_in_order(node.words))}")
    if isinstance(node, Number) and node.usual:
        found.append("so far from {} to {}".format(*node.usual))
    if isinstance(node, Date) and node.years:
        found.append("so far in years {} to {}".format(*(f"{y:02d}" for y in node.years)))
    if isinstance(node, Date):
        named = {
            "Y": "year",
            "y": "year",
            "m": "month",
            "n": "month",
            "b": "month",
            "B": "month",
            "U": "month",
            "d": "day",
            "e": "day",
        }
        found += [f"so far all in {named[f]} {text}" for f, text in node.habits if f in named]
    for part in node.parts_below():
        found += notes(part)
    return list(dict.fromkeys(found))
