"""Patterns of contracts: the part of regexes that every tool shares, parsed; anything else is refused.

Literals, `[...]`, `(...)`, `(?:...)`, `|`, `?`, `*`, `+`, `{2}`, `{2,}`, `{2,5}`, and `\\d` (0 to 9), `\\w`, `\\s`,
`\\D`, `\\W`, `\\S`. A pattern always speaks of the whole value, so `^` at its start and `$` at its end say nothing.
"""

import re
from dataclasses import dataclass

from wakesleep.domains.strings.table.characters import (
    DIGIT_CHARACTERS,
    LAST,
    SPACE_CHARACTERS,
    Characters,
    single,
    union,
)
from wakesleep.errors import Refusal

LONGEST_PATTERN, DEEPEST_GROUP, MOST_PATTERN_REPEATS = 100_000, 50, 1000
LETTER = r"[^\W\d_]"
"""How Python writes the letters of all scripts."""
ESCAPES = {
    "d": DIGIT_CHARACTERS,
    "D": DIGIT_CHARACTERS.complement,
    "s": SPACE_CHARACTERS,
    "S": SPACE_CHARACTERS.complement,
    "w": Characters((), ("word",)),
}
CONTROL_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}
HEXADECIMAL = {"x": 2, "u": 4, "U": 8}
_COUNT = re.compile(r"\{([0-9]{1,9})(,([0-9]{0,9}))?\}")


@dataclass(frozen=True)
class Sequence:
    """Parts one after the other."""

    parts: tuple["Part", ...]


@dataclass(frozen=True)
class Choice:
    """One of several parts."""

    parts: tuple["Part", ...]


@dataclass(frozen=True)
class Repeat:
    """A part `low` to `high` times; None is any number of times."""

    part: "Part"
    low: int
    high: int | None


Part = Characters | Sequence | Choice | Repeat


def parse(pattern: str) -> Part:
    """Returns the parts of a pattern."""
    if len(pattern) > LONGEST_PATTERN:
        raise Refusal(f"A pattern of {len(pattern):,} characters was given; at most {LONGEST_PATTERN:,} are read.")
    body = pattern.removeprefix("^")
    for end in (r"\Z", r"\z"):
        body = body.removesuffix(end)
    if body.endswith("$") and (len(body) - len(body[:-1].rstrip("\\"))) % 2:
        body = body[:-1]
    reader = _Reader(body, pattern)
    found = reader.choice(0)
    if reader.at < len(body):
        raise reader.refusal("a bracket is closed that was not opened")
    return found


class _Reader:
    def __init__(self, body: str, pattern: str):
        self.body, self.pattern, self.at = body, pattern, 0

    def refusal(self, why: str) -> Refusal:
        shown = self.pattern if len(self.pattern) <= 80 else self.pattern[:79] + "…"
        return Refusal(f"The pattern {shown!r} cannot be read: {why} (character {self.at + 1}).")

    def peek(self, text: str) -> bool:
        return self.body.startswith(text, self.at)

    def take(self) -> str:
        if self.at >= len(self.body):
            raise self.refusal("it ends too early")
        self.at += 1
        return self.body[self.at - 1]

    def choice(self, depth: int) -> Part:
        if depth > DEEPEST_GROUP:
            raise self.refusal(f"groups are nested more than {DEEPEST_GROUP} deep")
        branches = [self.sequence(depth)]
        while self.peek("|"):
            self.at += 1
            branches.append(self.sequence(depth))
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def sequence(self, depth: int) -> Part:
        parts: list[Part] = []
        while self.at < len(self.body) and not self.peek("|") and not self.peek(")"):
            parts.append(self.counted(self.atom(depth)))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def atom(self, depth: int) -> Part:
        if self.peek(LETTER):
            self.at += len(LETTER)
            return Characters((), ("letter",))
        c = self.take()
        if c == "(":
            if self.peek("?") and not self.peek("?:"):
                raise self.refusal("of groups with a question mark only (?:...) is known")
            self.at += 2 * self.peek("?:")
            inside = self.choice(depth + 1)
            if not self.peek(")"):
                raise self.refusal("a bracket is not closed")
            self.at += 1
            return inside
        if c == "[":
            return self.characters()
        if c == ".":
            return single("\n").complement
        if c in "^$":
            raise self.refusal(f"{c} stands inside; a pattern always speaks of the whole value")
        if c in "*+?{":
            raise self.refusal("there is nothing to repeat")
        return self.escaped() if c == "\\" else single(c)

    def escaped(self) -> Characters:
        c = self.take()
        if c in ESCAPES:
            return ESCAPES[c]
        if c == "W":
            return ESCAPES["w"].complement
        if c in CONTROL_ESCAPES:
            return single(CONTROL_ESCAPES[c])
        if c in HEXADECIMAL:
            digits = self.body[self.at : self.at + HEXADECIMAL[c]]
            if not re.fullmatch(r"[0-9A-Fa-f]+", digits) or len(digits) < HEXADECIMAL[c] or int(digits, 16) > LAST:
                raise self.refusal(f"\\{c} needs {HEXADECIMAL[c]} hexadecimal digits of a character")
            self.at += len(digits)
            return single(chr(int(digits, 16)))
        if c.isalnum():
            raise self.refusal(f"\\{c} is not known")
        return single(c)

    def characters(self) -> Characters:
        """Reads a set after its opening bracket."""
        negated = self.peek("^")
        self.at += negated
        found: list[Characters] = []
        while not self.peek("]") or not found:
            first = self._member()
            if self.peek("-") and not self.peek("-]"):
                self.at += 1
                last = self._member()
                if not (_alone(first) and _alone(last)) or first.ranges > last.ranges:
                    raise self.refusal("a range has no first and last character in order")
                first = Characters(((first.ranges[0][0], last.ranges[0][0]),))
            found.append(first)
        self.at += 1
        return union(found).complement if negated else union(found)

    def _member(self) -> Characters:
        c = self.take()
        return self.escaped() if c == "\\" else single(c)

    def counted(self, part: Part) -> Part:
        """Returns the part with the count that follows it."""
        simple = {"?": (0, 1), "*": (0, None), "+": (1, None)}
        c = self.body[self.at : self.at + 1]
        if c in simple and c:
            self.at += 1
            low, high = simple[c]
        elif c == "{":
            match = _COUNT.match(self.body, self.at)
            if match is None:
                raise self.refusal(r"a { begins no count; \{ is the character")
            low = int(match[1])
            high = low if match[2] is None else int(match[3]) if match[3] else None
            self.at = match.end()
        else:
            return part
        if max(low, high or 0) > MOST_PATTERN_REPEATS or (high is not None and high < low):
            raise self.refusal(f"a count must rise and be at most {MOST_PATTERN_REPEATS}")
        if self.body[self.at : self.at + 1] in ("?", "+", "*", "{") and self.at < len(self.body):
            raise self.refusal("a count follows a count")
        return Repeat(part, low, high)


def _alone(one: Characters) -> bool:
    return not one.names and len(one.ranges) == 1 and one.ranges[0][0] == one.ranges[0][1]
