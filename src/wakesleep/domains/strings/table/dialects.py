"""Patterns in the regex dialects of other tools, each of which accepts exactly the same values.

`whole(pattern, dialect)` has the anchors of the dialect. Counts that a dialect does not allow are written out in
parts, and sets of Unicode that it does not know as ranges of characters, by the Unicode tables of this Python.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from wakesleep.domains.strings.table.characters import DIGIT_CHARACTERS, Characters, Ranges
from wakesleep.domains.strings.table.pattern import Choice, Part, Repeat, Sequence, parse
from wakesleep.errors import require_one_of

SPECIAL_CHARACTERS = frozenset("\\.^$*+?{}[]|()")
SPECIAL_INSIDE = frozenset("\\]^[-")
LAST_ASCII, MOST_LISTED_CHARACTERS = 0x7F, 1000
SHORT_ESCAPES = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}
PROPERTIES = {"word": r"\p{L}\p{N}_", "letter": r"\p{L}\p{Nl}\p{No}"}
PYTHON = {"word": r"\w", "letter": r"[^\W\d_]"}


def _python_code(i: int) -> str:
    return f"\\x{i:02x}" if i < 0x100 else f"\\u{i:04x}" if i < 0x10000 else f"\\U{i:08x}"


def _postgres_code(i: int) -> str:
    return f"\\u{i:04x}" if i < 0x10000 else f"\\U{i:08x}"


def _shared_code(i: int) -> str:
    """Returns a character as RE2, Rust, Python and ECMAScript read it; they share no escape of more than two digits."""
    return f"\\x{i:02x}" if i < 0x100 else chr(i)


@dataclass(frozen=True)
class Dialect:
    """How a tool writes regexes."""

    says: str
    """Which tools read it, and what must be known to use it there."""
    code: Callable[[int], str]
    """A character that is not printed, by its code point."""
    start: str = "^(?:"
    end: str = ")$"
    group: str = "(?:"
    everything: str = r"[\s\S]"
    named: str = "ranges"
    """How sets of Unicode are written: by "properties", as "python" does, or as "ranges"."""
    most_repeats: int = 1000
    nested: bool = False
    """Whether the product of counts inside of counts is held to `most_repeats` too, as RE2 does."""


DIALECTS = {
    "python": Dialect("Python's re; use fullmatch or match", _python_code, end=r")\Z", named="python"),
    "rust": Dialect("Rust's regex, Polars, ripgrep", "\\x{{{:x}}}".format, named="properties"),
    "re2": Dialect(
        "RE2, DuckDB, BigQuery, Arrow, Go", "\\x{{{:x}}}".format, end=r")\z", named="properties", nested=True
    ),
    "ecmascript": Dialect("ECMAScript with the flag u", "\\u{{{:x}}}".format, named="properties"),
    "postgres": Dialect("PostgreSQL's ~ in a UTF-8 database", _postgres_code, everything=".", most_repeats=255),
    "posix": Dialect(
        "POSIX extended regexes (regcomp with REG_EXTENDED) in a UTF-8 locale", chr,
        start="^(", group="(", everything=".", most_repeats=255,
    ),
    "portable": Dialect(
        "Python, RE2, Rust and ECMAScript alike; where $ also stands before a newline at the end (Python), a value "
        "that ends in a newline has to be refused beside it", _shared_code, nested=True,
    ),
    "standard": Dialect("ECMAScript with the flag u, and RE2", _shared_code, named="properties", nested=True),
}  # fmt: skip
DIALECT_NAMES = tuple(name for name in DIALECTS if name != "standard")
"""Those that patterns are exported to; the other is of the Open Data Contract Standard and its checker."""


@lru_cache(maxsize=4096)
def whole(pattern: str, dialect: str) -> str:
    """Returns a pattern in a dialect, with anchors."""
    require_one_of("dialect", dialect, tuple(DIALECTS))
    d = DIALECTS[dialect]
    return f"{d.start}{_Printer(d).inner(parse(pattern))}{d.end}"


def with_any_digits(pattern: str) -> str:
    """Returns a pattern that has any digit wherever the given one has some."""
    return _Printer(DIALECTS["python"]).inner(_any_digits(parse(pattern)))


def _any_digits(part: Part) -> Part:
    if isinstance(part, Characters):
        some = not part.names and all(first >= ord("0") and last <= ord("9") for first, last in part.ranges)
        return DIGIT_CHARACTERS if some else part
    if isinstance(part, Repeat):
        return Repeat(_any_digits(part.part), part.low, part.high)
    if isinstance(part, Choice):
        branches = tuple(dict.fromkeys(map(_any_digits, part.parts)))
        return Choice(branches) if len(branches) > 1 else branches[0]
    return Sequence(tuple(_joined(map(_any_digits, part.parts))))


def _joined(parts: Iterable[Part]) -> list[Part]:
    """Returns the parts of a sequence, neighbouring digits as one part."""
    found: list[Part] = []
    for part in parts:
        runs = [p if isinstance(p, Repeat) else Repeat(p, 1, 1) for p in (*found[-1:], part)]
        if len(runs) == 2 and all(r.part == DIGIT_CHARACTERS for r in runs):
            a, b = runs
            high = None if a.high is None or b.high is None else a.high + b.high
            found[-1] = Repeat(DIGIT_CHARACTERS, a.low + b.low, high)
        else:
            found.append(part)
    return found


def ends_in_newline(pattern: str) -> bool:
    """Returns whether a value that fits the pattern may end in a newline."""
    return _may_end(parse(pattern))[0]


def _may_end(part: Part) -> tuple[bool, bool]:
    """Returns whether a part may end in a newline, and whether it may be empty."""
    if isinstance(part, Characters):
        return part.holds("\n"), False
    if isinstance(part, Choice):
        found = [_may_end(p) for p in part.parts]
        return any(f[0] for f in found), any(f[1] for f in found)
    if isinstance(part, Repeat):
        newline, empty = _may_end(part.part)
        return newline and part.high != 0, empty or part.low == 0
    for last in reversed(part.parts):
        newline, empty = _may_end(last)
        if newline or not empty:
            return newline, False
    return False, True


class _Printer:
    def __init__(self, dialect: Dialect):
        self.d, self.posix = dialect, dialect.group == "("

    def inner(self, part: Part) -> str:
        """Returns a part as it stands in a group."""
        return "|".join(self.text(p) for p in part.parts) if isinstance(part, Choice) else self.text(part)

    def text(self, part: Part) -> str:
        """Returns a part as it stands alone."""
        if isinstance(part, Characters):
            return self._set(part)
        if isinstance(part, Choice):
            return f"{self.d.group}{self.inner(part)})"
        if isinstance(part, Repeat):
            return self._repeat(part)
        return "".join(self.text(p) for p in part.parts)

    def _repeat(self, part: Repeat) -> str:
        single = isinstance(part.part, Characters | Choice)
        inner = self.text(part.part) if single else f"{self.d.group}{self.text(part.part)})"
        low, high = part.low, part.high
        most = max(self.d.most_repeats // _nested(part.part), 1) if self.d.nested else self.d.most_repeats
        simple = {(0, 1): "?", (0, None): "*", (1, None): "+"}
        if high == 0:
            return ""
        if (low, high) in simple:
            return inner + simple[low, high]
        found = ""
        while max(low, high or 0) > most:
            take = min(low, most)
            upto = take if high is None else min(high, most) if take < most else most
            found += inner + (f"{{{take}}}" if take == upto else f"{{{take},{upto}}}")
            low, high = low - take, None if high is None else high - upto
        if (low, high) == (0, 0):
            return found
        if (low, high) in simple:
            return found + inner + simple[low, high]
        return found + inner + (_exact(low) if low == high else f"{{{low},{'' if high is None else high}}}")

    def _set(self, given: Characters) -> str:
        if given.everything:
            return self.d.everything
        ranges = given.ranges
        if self.d.named == "ranges" and given.names:
            ranges = given.all_ranges
        elif self.d.named == "python" and "letter" in given.names:
            rest = Characters(ranges, tuple(n for n in given.names if n != "letter"))
            return f"(?:{PYTHON['letter']}|{self._set(rest)})" if rest.ranges or rest.names else PYTHON["letter"]
        names = "" if self.d.named == "ranges" else "".join(self._named(n) for n in given.names)
        if not names and len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            return self._literal(chr(ranges[0][0]))
        outside = Characters(ranges).complement.ranges
        if not names and len(outside) < len(ranges) and len(outside) < 20:
            return f"[^{self._inside(outside)}]"
        return f"[{names}{self._inside(ranges)}]"

    def _named(self, name: str) -> str:
        return (PROPERTIES if self.d.named == "properties" else PYTHON)[name]

    def _literal(self, c: str) -> str:
        return "\\" + c if c in SPECIAL_CHARACTERS else self._character(c)

    def _character(self, c: str) -> str:
        if self.posix:
            return c
        return SHORT_ESCAPES.get(c) or (c if c.isprintable() else self.d.code(ord(c)))

    def _inside(self, ranges: Ranges) -> str:
        if self.posix:
            return _posix_inside(ranges)
        return "".join(self._range(first, last) for first, last in ranges)

    def _range(self, first: int, last: int) -> str:
        ends = [self._member(i) for i in (first, last)]
        return ends[0] if first == last else "".join(ends) if last == first + 1 else "-".join(ends)

    def _member(self, i: int) -> str:
        return "\\" + chr(i) if chr(i) in SPECIAL_INSIDE else self._character(chr(i))


def _nested(part: Part) -> int:
    """Returns the largest product of counts inside of counts."""
    if isinstance(part, Characters):
        return 1
    if isinstance(part, Repeat):
        return _nested(part.part) * max(part.high or part.low, 1)
    return max(map(_nested, part.parts), default=1)


def _exact(count: int) -> str:
    return "" if count == 1 else f"{{{count}}}"


def _posix_inside(ranges: Ranges) -> str:
    """Returns the inside of brackets in which a backslash is a character: `]` first, then `^` and `-` at the end.

    Ranges beyond ASCII mean nothing in POSIX, so their characters are listed, or are the letters of the locale.
    """
    found, edges = [], set()
    for first, last in ranges:
        low, high = max(first, 1), min(last, LAST_ASCII)  # POSIX texts have no null character
        while low <= high and chr(low) in "]^-":
            edges.add(chr(low))
            low += 1
        while low <= high and chr(high) in "]^-":
            edges.add(chr(high))
            high -= 1
        if low <= high:
            found.append(chr(low) if low == high else f"{chr(low)}-{chr(high)}")
    beyond = _beyond_ascii(ranges)
    found += ["[:alpha:]"] if beyond is None else beyond
    start = "]" * ("]" in edges) + "".join(found)
    ends = "^" * ("^" in edges), "-" * ("-" in edges)
    return start + "".join(ends if start else ends[::-1])


def _beyond_ascii(ranges: Ranges) -> list[str] | None:
    """Returns the characters of a set that are not ASCII; None where they are too many to be listed."""
    parts = [range(max(first, LAST_ASCII + 1), last + 1) for first, last in ranges]
    return None if sum(map(len, parts)) > MOST_LISTED_CHARACTERS else [chr(i) for part in parts for i in part]


def posix_is_exact(pattern: str) -> bool:
    """Returns whether POSIX says the same as a pattern, rather than leaving letters to the locale."""
    return "[:alpha:]" not in whole(pattern, "posix")
