"""Levels at which a value may be news: each maps a value to one key, or to a set of keys."""

import re
import unicodedata
from collections.abc import Hashable
from hashlib import blake2b
from itertools import groupby
from typing import Any, NamedTuple

Key = Hashable

LONGEST = 400
"""Characters of a value that are looked at; the length itself is taken of the whole value."""

SMALL, CAPITAL, DIGIT, CASELESS = "a", "A", "9", "o"
START, END = "\x02", "\x03"
"""Marks of the ends of a value."""


class _Classes(dict[int, str]):
    """Maps a code point to the letter of its class; other characters stand for themselves."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char.isdigit():
            found = DIGIT
        elif char.isupper() or char.istitle():
            found = CAPITAL
        elif char.islower():
            found = SMALL
        elif char.isalpha() or unicodedata.category(char)[0] == "M":
            found = CASELESS
        else:
            found = char
        if len(self) < 20_000:
            self[code] = found
        return found


class _Digits(dict[int, str]):
    """Maps digits to 9 and every other character to itself."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        found = DIGIT if char.isdigit() else char
        if len(self) < 20_000:
            self[code] = found
        return found


_CLASSES, _DIGITS = _Classes(), _Digits()
_ONE_CASE = str.maketrans("Ao", "aa")
_LOOKALIKES = str.maketrans("oOlIi|sSbBzZ", "001111558822")
_NINES = re.compile(r"9{2,}")
_WORD_FORM = re.compile(r"[Aa9o]+")
_WORD = re.compile(r"[^\W\d_]+")
_TOKEN = re.compile(r"\w+")
_NOT_WORD = re.compile(r"[\W_]+")
_WORDS_AND_DIGITS = re.compile(r"[^\W_]+")
_ENDS = re.compile(r"^\s+|\s+$|\s{2,}|[^\S ]")


def collapsed(text: str) -> str:
    """The text with each run of one character written once."""
    return "".join([c for c, _ in groupby(text)])


SINGLE = (
    "value", "folded", "digits", "numbers", "form", "runs", "fields", "letters", "classes", "length", "start form",
    "end form", "first", "last", "start", "end", "first word", "last word", "marks", "words", "space", "squeezed",
    "anagram", "undoubled", "lookalike",
)  # fmt: skip
"""Names of the levels with one key a value, in the order of `Keys.single`."""

MULTIPLE = (
    "characters", "word", "pair", "triple", "form pair", "word form", "field", "place", "four letters", "folded word",
)  # fmt: skip
"""Names of the levels with a set of keys a value, in the order of `Keys.sets`."""


class Keys(NamedTuple):
    """What the levels say of a value: a key at each of `SINGLE`, a set at each of `MULTIPLE`, its marked characters."""

    single: tuple[Key, ...]
    sets: tuple[set[Any], ...]
    marked: str


def keys_of(value: str) -> Keys:
    """The keys of a value at every level."""
    short = value[:LONGEST]
    form, digits = short.translate(_CLASSES), short.translate(_DIGITS)
    marked, bounded = f"{START}{digits}{END}", f"{START}{form}{END}"
    runs = collapsed(form)
    fields = _WORD_FORM.sub("w", form)
    words, tokens = _WORD.findall(short), _TOKEN.findall(short) or [""]
    folded = short.casefold()
    squeezed = _NOT_WORD.sub("", folded)
    letters = f" {' '.join(words)} ".casefold()
    ends = "|".join(_ENDS.findall(short)) if _ENDS.search(short) else ""
    single = (
        value if len(value) <= LONGEST else f"{short}{END}{digest(value)}", folded, digits, _NINES.sub(DIGIT, digits),
        form, runs, fields, collapsed(form.translate(_ONE_CASE)), "".join(sorted(set(form))), len(value), form[:2],
        form[-2:], short[:1], value[-1:], short[:3], value[-3:], tokens[0], tokens[-1],
        fields.replace("w", ""), fields.count("w"), ends, squeezed, "".join(sorted(squeezed)), collapsed(squeezed),
        short.translate(_LOOKALIKES),
    )  # fmt: skip
    sets = (
        set(short), set(words), {marked[i : i + 2] for i in range(len(marked) - 1)},
        {marked[i : i + 3] for i in range(len(marked) - 2)}, {bounded[i : i + 2] for i in range(len(bounded) - 1)},
        set(_WORD_FORM.findall(runs)), set(enumerate(_WORDS_AND_DIGITS.findall(short)[:8])), set(enumerate(short[:12])),
        {letters[i : i + 4] for i in range(len(letters) - 3)}, set(letters.split()),
    )  # fmt: skip
    return Keys(single, sets, marked)


def digest(value: str) -> str:
    """A short hash by which a long value is known again."""
    return blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


_NULLS = frozenset((
    "na", "n/a", "n.a.", "n.a", "nan", "null", "none", "nil", "-", "--", "---", "?", "??", "..", "#ref!", "#n/a", "#na",
    "#value!", "#div/0!", "#name?", "#null!", "undefined", "missing", "void", "empty", "blank", "tbd", "tba", "n\\a",
    "\\n", "(null)", "<null>", "<na>", "-99", "-999",
))  # fmt: skip


def is_null_mark(value: str) -> bool:
    """Whether a value is one of the usual marks of a missing value."""
    return value.strip().casefold() in _NULLS


def words_of(value: str) -> list[str]:
    """The runs of letters of a value."""
    return _WORD.findall(value)
