"""Levels at which a value may be news: each maps a value to one key, or to a set of keys."""

import re
import unicodedata
from collections.abc import Hashable, Iterable
from hashlib import blake2b
from itertools import groupby
from typing import Any, NamedTuple

Key = Hashable

CHARACTERS_LOOKED_AT = 400
"""Characters of a value that are looked at; the length itself is taken of the whole value."""

LITTLE, CAPITAL, NINE, CASELESS = "a", "A", "9", "o"
WORD_CLASSES = LITTLE + CAPITAL + NINE + CASELESS
HEAD, TAIL = "\x02", "\x03"
"""Marks of the ends of a value."""
MOST_FIELDS, MOST_PLACES = 8, 12
"""Fields and characters from the start of a value that are looked at by their places."""


class _Classes(dict[int, str]):
    """Maps a code point to the letter of its class; other characters stand for themselves."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char.isdigit():
            found = NINE
        elif char.isupper() or char.istitle():
            found = CAPITAL
        elif char.islower():
            found = LITTLE
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
        found = NINE if char.isdigit() else char
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
    """Returns the text with each run of one character written once."""
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
    """Returns the keys of a value at every level."""
    short = value[:CHARACTERS_LOOKED_AT]
    form, digits = form_of(short), masked(short)
    marked, bounded = f"{HEAD}{digits}{TAIL}", f"{HEAD}{form}{TAIL}"
    runs = collapsed(form)
    fields = _WORD_FORM.sub("w", form)
    words, tokens = _WORD.findall(short), _TOKEN.findall(short) or [""]
    folded = short.casefold()
    squeezed = _NOT_WORD.sub("", folded)
    letters = f" {' '.join(words)} ".casefold()
    single = (
        value if len(value) <= CHARACTERS_LOOKED_AT else f"{short}{TAIL}{digest(value)}",
        folded, digits, _NINES.sub(NINE, digits),
        form, runs, fields, collapsed(form.translate(_ONE_CASE)), "".join(sorted(set(form))), len(value), form[:2],
        form[-2:], short[:1], value[-1:], short[:3], value[-3:], tokens[0], tokens[-1],
        fields.replace("w", ""), fields.count("w"), spaces_of(short), squeezed, "".join(sorted(squeezed)),
        collapsed(squeezed), lookalike_of(short),
    )  # fmt: skip
    sets = (
        set(short), set(words), {marked[i : i + 2] for i in range(len(marked) - 1)},
        {marked[i : i + 3] for i in range(len(marked) - 2)}, {bounded[i : i + 2] for i in range(len(bounded) - 1)},
        set(_WORD_FORM.findall(runs)), set(enumerate(_WORDS_AND_DIGITS.findall(short)[:MOST_FIELDS])),
        set(enumerate(short[:MOST_PLACES])), {letters[i : i + 4] for i in range(len(letters) - 3)},
        set(letters.split()),
    )  # fmt: skip
    return Keys(single, sets, marked)


def form_of(text: str) -> str:
    """Returns the text with the class of each letter and digit instead of it."""
    return text.translate(_CLASSES)


def masked(text: str) -> str:
    """Returns the text with every digit as 9."""
    return text.translate(_DIGITS)


def lookalike_of(text: str) -> str:
    """Returns the text with one character for all that look alike."""
    return text.translate(_LOOKALIKES)


def spaces_of(text: str) -> str:
    """Returns the white space of a text other than single spaces inside it."""
    return "|".join(_ENDS.findall(text))


def digest(value: str) -> str:
    """Returns a short hash by which a long value is known again."""
    return blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


_NULLS = frozenset((
    "na", "n/a", "n.a.", "n.a", "nan", "null", "none", "nil", "-", "--", "---", "?", "??", "..", "#ref!", "#n/a", "#na",
    "#value!", "#div/0!", "#name?", "#null!", "undefined", "missing", "void", "empty", "blank", "tbd", "tba", "n\\a",
    "\\n", "(null)", "<null>", "<na>", "-99", "-999",
))  # fmt: skip


LONGEST_MARK = 12
"""Characters of the longest value that may be a mark of a missing value, white space at its ends included."""


def is_null_mark(value: str) -> bool:
    """Returns whether a value is one of the usual marks of a missing value."""
    return null_marks([value])[0]


def null_marks(values: Iterable[str]) -> list[bool]:
    """Returns whether each of some values, but for white space at the ends, is a mark of a missing value."""
    return [v.casefold() in _NULLS or v.strip().casefold() in _NULLS for v in values]


def words_of(value: str) -> list[str]:
    """Returns the runs of letters of a value."""
    return _WORD.findall(value)
