"""Sets of characters: a lattice of named classes, single characters read off a column, and their unions."""

import unicodedata
from dataclasses import dataclass
from functools import cache, cached_property

DIGITS = "0123456789"
UPPERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWERS = "abcdefghijklmnopqrstuvwxyz"
CODE_POINTS = 0x110000
CLASS_SIZES = {"14.0.0": {"any letter": 132887, "any word": 133548, "any visible": 1114083}}
"""Code points in the classes of Unicode, by version of the tables; for other versions they are counted when needed."""


@dataclass(frozen=True)
class Named:
    """A named class: the inside of its brackets in a regex, its words, its parts among the disjoint atoms."""

    body: str
    one: str
    many: str
    members: str = ""
    """All members; empty for the classes that are too large to list."""
    blocks: tuple[tuple[int, int], ...] = ()
    """Ranges of code points, both ends included, of a class too large to list."""


def _span(first: int, last: int) -> str:
    return "".join(map(chr, range(first, last + 1)))


_LATIN_UPPER = _span(0xC0, 0xD6) + _span(0xD8, 0xDE)
_LATIN_LOWER = _span(0xDF, 0xF6) + _span(0xF8, 0xFF)
_VISIBLE = _span(0x21, 0x7E)

NAMED_CLASSES: dict[str, Named] = {
    "digit": Named("0-9", "digit", "digits", DIGITS),
    "upper": Named("A-Z", "capital letter", "capital letters", UPPERS),
    "lower": Named("a-z", "small letter", "small letters", LOWERS),
    "hex lower": Named("0-9a-f", "hexadecimal digit", "hexadecimal digits", DIGITS + "abcdef"),
    "hex upper": Named("0-9A-F", "hexadecimal digit", "hexadecimal digits", DIGITS + "ABCDEF"),
    "hex": Named("0-9A-Fa-f", "hexadecimal digit", "hexadecimal digits", DIGITS + "ABCDEFabcdef"),
    "letter": Named("A-Za-z", "letter", "letters", UPPERS + LOWERS),
    "upper digit": Named("0-9A-Z", "capital letter or digit", "capital letters or digits", DIGITS + UPPERS),
    "lower digit": Named("0-9a-z", "small letter or digit", "small letters or digits", DIGITS + LOWERS),
    "alnum": Named("0-9A-Za-z", "letter or digit", "letters or digits", DIGITS + UPPERS + LOWERS),
    "word": Named("0-9A-Z_a-z", "word character", "word characters", DIGITS + UPPERS + "_" + LOWERS),
    "visible": Named("!-~", "visible character", "visible characters", _VISIBLE),
    "printable": Named(" -~", "printable character", "printable characters", " " + _VISIBLE),
    "latin upper": Named("A-ZÀ-ÖØ-Þ", "capital letter", "capital letters", UPPERS + _LATIN_UPPER),
    "latin lower": Named("a-zß-öø-ÿ", "small letter", "small letters", LOWERS + _LATIN_LOWER),
    "latin": Named("A-Za-zÀ-ÖØ-öø-ÿ", "Latin letter", "Latin letters", UPPERS + LOWERS + _LATIN_UPPER + _LATIN_LOWER),
    "latin extended": Named(
        "A-Za-zÀ-ÖØ-öø-\u024fḀ-\u1eff",
        "Latin letter",
        "Latin letters",
        UPPERS + LOWERS + _LATIN_UPPER + _LATIN_LOWER + _span(0x100, 0x24F) + _span(0x1E00, 0x1EFF),
    ),
    "cyrillic": Named("Ѐ-ӿ", "Cyrillic letter", "Cyrillic letters", _span(0x400, 0x4FF)),
    "greek": Named("Ͱ-Ͽ", "Greek letter", "Greek letters", _span(0x370, 0x3FF)),
    "arabic": Named("؀-ۿ", "Arabic character", "Arabic characters", _span(0x600, 0x6FF)),
    "hebrew": Named("֐-׿", "Hebrew character", "Hebrew characters", _span(0x590, 0x5FF)),
    "han": Named("一-鿿", "Chinese character", "Chinese characters", "", ((0x4E00, 0x9FFF),)),
    "kana": Named("぀-ヿ", "Japanese kana", "Japanese kana", _span(0x3040, 0x30FF)),
    "hangul": Named("가-힣", "Hangul syllable", "Hangul syllables", "", ((0xAC00, 0xD7A3),)),
    "any letter": Named(r"^\W\d_", "letter of any script", "letters of any script"),
    "any word": Named(r"\w", "letter, digit or _ of any script", "letters, digits or _ of any script"),
    "any visible": Named(r"\S", "character other than space", "characters other than spaces"),
    "any": Named(r"\s\S", "character", "characters", "", ((0, CODE_POINTS - 1),)),
}
ALONE = ("any letter", "any word", "any visible", "any")
"""Classes that are decided by the Unicode tables; they stand alone in their brackets."""


def _holds_unicode(name: str, c: str) -> bool:
    if name == "any letter":
        return c.isalnum() and not c.isdecimal()
    if name == "any word":
        return c.isalnum() or c == "_"
    return name == "any" or not c.isspace()


@cache
def class_size(name: str) -> int:
    """Returns the number of code points in a class."""
    named = NAMED_CLASSES[name]
    if named.members:
        return len(named.members)
    if named.blocks:
        return sum(last - first + 1 for first, last in named.blocks)
    if unicodedata.unidata_version in CLASS_SIZES:
        return CLASS_SIZES[unicodedata.unidata_version][name]
    return sum(_holds_unicode(name, chr(i)) for i in range(CODE_POINTS))


@cache
def _members(name: str) -> frozenset[str]:
    return frozenset(NAMED_CLASSES[name].members)


def class_holds(name: str, c: str) -> bool:
    """Returns whether a class has that character."""
    named = NAMED_CLASSES[name]
    if named.members:
        return c in _members(name)
    if named.blocks:
        return any(first <= ord(c) <= last for first, last in named.blocks)
    return _holds_unicode(name, c)


ESCAPED = set("\\]^-[.|")
"""What has a backslash inside brackets: ECMAScript knows no others, and a set never has another one twice."""


def escape_inside(c: str) -> str:
    """Returns a character as it is written inside brackets; the dot is escaped, lest it is taken for any character."""
    if c in ESCAPED:
        return "\\" + c
    return {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\0": r"\x00"}.get(c, c)


@dataclass(frozen=True)
class Chars:
    """A set of characters: the union of disjoint classes and of single characters outside them."""

    classes: tuple[str, ...] = ()
    extra: str = ""
    """Sorted, each once, none of them in the classes."""

    @cached_property
    def size(self) -> int:
        """The number of characters."""
        return sum(class_size(n) for n in self.classes) + len(self.extra)

    def holds(self, c: str) -> bool:
        """Returns whether the character is in the set."""
        return c in self.extra or any(class_holds(n, c) for n in self.classes)

    @cached_property
    def regex(self) -> str:
        """A regex of one character."""
        if not self.classes and len(self.extra) == 1:
            return escape(self.extra)
        if self.classes == ("any",):
            return r"[\s\S]"
        if "any letter" in self.classes and self.extra:
            return f"(?:[{NAMED_CLASSES['any letter'].body}]|{Chars((), self.extra).regex})"
        return f"[{''.join(NAMED_CLASSES[n].body for n in self.classes)}{_ranges(self.extra)}]"

    @cached_property
    def listed(self) -> frozenset[str] | None:
        """All the characters; None where a class is too large to list."""
        if any(not NAMED_CLASSES[n].members for n in self.classes):
            return None
        return frozenset(self.extra).union(*(_members(n) for n in self.classes))

    @cached_property
    def ordered(self) -> tuple[str, ...]:
        """All the characters of a set that can be listed, in order."""
        return tuple(sorted(self.listed or ()))

    def disjoint(self, other: "Chars") -> bool:
        """Returns whether the two sets certainly share no character; False where that is not easily seen."""
        if self.listed is not None:
            return not any(other.holds(c) for c in self.listed)
        return other.listed is not None and other.disjoint(self)

    def named(self, count: int) -> str:
        """Returns the set in words, in the plural where `count` is not one."""
        parts = [NAMED_CLASSES[n].one if count == 1 else NAMED_CLASSES[n].many for n in self.classes]
        if self.extra:
            parts.append(" ".join("space" if c == " " else f"`{c}`" for c in self.extra))
        if not self.classes:
            return f"of `{_ranges(self.extra)}`"
        return " or ".join(parts)


def _ranges(characters: str) -> str:
    """Returns characters as they stand inside brackets; three neighbouring letters or digits become a range."""
    found, i = [], 0
    while i < len(characters):
        j = i
        while (
            j + 1 < len(characters) and ord(characters[j + 1]) == ord(characters[j]) + 1 and characters[j + 1].isalnum()
        ):
            j += 1
        if j - i >= 2 and characters[i].isalnum():
            found.append(f"{characters[i]}-{characters[j]}")
        else:
            found += [escape_inside(c) for c in characters[i : j + 1]]
        i = j + 1
    return "".join(found)


SPECIAL = set(r"\.^$*+?{}[]|()")


def escape(text: str) -> str:
    """Returns a text as a regex; only what must be escaped is."""
    return "".join("\\" + c if c in SPECIAL else {"\n": r"\n", "\t": r"\t", "\r": r"\r"}.get(c, c) for c in text)


def chars(*names: str, extra: str = "") -> Chars:
    """Returns the union of named classes, which must be disjoint, and of some characters."""
    return Chars(names, "".join(sorted({c for c in extra if not any(class_holds(n, c) for n in names)})))


NARROWEST_FIRST = (
    "digit", "upper", "lower", "hex lower", "hex upper", "letter", "hex", "upper digit", "lower digit", "alnum", "word",
    "latin upper", "latin lower", "latin", "latin extended", "cyrillic", "greek", "hebrew", "arabic", "kana", "hangul",
    "han", "any letter", "any word", "visible", "any visible", "printable", "any",
)  # fmt: skip
"""Classes in the order in which they are tried."""


def covering(seen: frozenset[str]) -> list[Chars]:
    """Returns sets that hold every character seen: classes, narrowest first, and one with other characters."""
    found = [Chars((n,)) for n in NARROWEST_FIRST if _fits(n, seen)]
    plain = _plain_union(seen)
    return ([] if any(f.classes == plain.classes and not plain.extra for f in found) else [plain]) + found


def _fits(name: str, seen: frozenset[str]) -> bool:
    """Returns whether the class holds all characters; hexadecimal digits need a letter and a digit among them."""
    if NAMED_CLASSES[name].members:
        if not seen <= _members(name):
            return False
        return not name.startswith("hex") or (any(c.isdigit() for c in seen) and any(c.isalpha() for c in seen))
    return all(class_holds(name, c) for c in seen)


def _plain_union(seen: frozenset[str]) -> Chars:
    """Returns the narrowest class that holds the letters and digits seen, with the other characters listed."""
    core = frozenset(c for c in seen if c.isalnum())
    if not core:
        return chars(extra="".join(seen))
    for n in NARROWEST_FIRST:
        if n not in ("word", "visible", "printable", "any visible") and _fits(n, core):
            return chars(n, extra="".join(seen))
    raise AssertionError("the class of any character holds them all")
