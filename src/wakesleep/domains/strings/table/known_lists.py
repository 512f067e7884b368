"""Lists of words that are known by name, such as country codes: a contract names them, rather than spell them out."""

import difflib
from functools import cache

from wakesleep.errors import Refusal

LONGEST_SPELLED = 110
"""Characters of a pattern that a contract spells out, though it is a known list."""


@cache
def list_pattern(name: str) -> str:
    """Returns the pattern of a known list."""
    from wakesleep.domains.strings.columns.vocabulary import vocabularies
    from wakesleep.domains.strings.columns.words import words_regex

    known = vocabularies()
    if name not in known:
        near = ", ".join(repr(n) for n in difflib.get_close_matches(name, known, 3, 0.0))
        raise Refusal(f"{name[:80]!r} is no list that is known; the nearest are {near}")
    return words_regex(known[name])


def list_name(pattern: str, says: str) -> str:
    """Returns the name of the known list that a long pattern spells out, or nothing."""
    if len(pattern) <= LONGEST_SPELLED or not says:
        return ""
    try:
        return says if list_pattern(says) == pattern else ""
    except Refusal:
        return ""
