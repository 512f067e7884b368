"""Values cut into tokens at several granularities, and grouped by form."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

GRANULARITIES = {
    "titles": re.compile(r"Aa+|A+|a+|x+|9+|[\s\S]"),
    "letters": re.compile(r"[Aax]+|9+|[\s\S]"),
    "alphanumeric": re.compile(r"[Aax9]+|[\s\S]"),
    "words": re.compile(r"[^\s]+|\s"),
}
"""Tokens in a mask: capitalised words and runs of one kind; letters; letters and digits; all but white space."""
RUNS = "runs"
MASK_CUTS = {**GRANULARITIES, RUNS: re.compile(r"A+|a+|x+|9+|[\s\S]")}
"""The granularities, and runs of one kind, which tell more forms apart."""
MASKS = {**dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "A"), **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", "a")}
MASKS |= dict.fromkeys("0123456789", "9")


class _Mask(dict[int, str]):
    """Kinds of characters for `str.translate`; symbols stand for themselves."""

    def __missing__(self, code: int) -> str:
        c = chr(code)
        if c in MASKS:
            kind = MASKS[c]
        elif c.isupper():
            kind = "A"
        elif c.islower():
            kind = "a"
        else:
            kind = "x" if c.isalnum() and not c.isdecimal() else c
        self[code] = kind
        return kind


_MASK = _Mask()


@lru_cache(maxsize=20_000)
def mask(value: str) -> str:
    """Returns the value with its capitals as A, small letters as a, other letters as x, digits as 9."""
    return value.translate(_MASK)


def tokens(value: str, level: str) -> tuple[tuple[str, ...], list[str]]:
    """Returns the kinds of a value's tokens (a symbol's kind is itself), and their texts."""
    kinds, texts = [], []
    masked = mask(value)
    for match in MASK_CUTS[level].finditer(masked):
        piece = match[0]
        if level == "words":
            kinds.append(piece if piece.isspace() else "w")
        elif len(piece) > 1 or piece in "Aax9":
            kinds.append(_kind(piece, level))
        else:
            kinds.append(piece)
        texts.append(value[match.start() : match.end()])
    return tuple(kinds), texts


def _kind(piece: str, level: str) -> str:
    """Returns T for a capitalised word, the kind of a run of one kind, w for a mixture."""
    if level == RUNS:
        return piece[0]
    if level == "titles":
        return "T" if piece[0] == "A" and piece[-1] == "a" else piece[0]
    return "9" if level == "letters" and not piece.strip("9") else "w"


_SIGNED = re.compile(r"(?:^|[\s,;:=(\[])[-+](?=[0-9])")
SIGN = "sign"
LETTER_KINDS = ("T", "A", "a", "x", "w")
Forms = dict[tuple[str, ...], list[list[str]]]
"""The texts of the tokens of each value, by the kinds of the tokens."""


def signed(kinds: tuple[str, ...], texts: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Puts a sign, perhaps empty, before every number that starts the value or follows a space or comma."""
    out_kinds: list[str] = []
    out_texts: list[str] = []
    for kind, text in zip(kinds, texts, strict=True):
        if kind == "9":
            before = out_kinds[-1] if out_kinds else ""
            earlier = out_kinds[-2] if len(out_kinds) > 1 else ""
            if before in ("-", "+") and (not earlier or earlier in " ,;:=([\t"):
                out_kinds[-1] = SIGN
            elif not before or before in " ,;:=([\t":
                out_kinds.append(SIGN)
                out_texts.append("")
        out_kinds.append(kind)
        out_texts.append(text)
    return tuple(out_kinds), out_texts


def by_form(values: Sequence[str], level: str) -> Forms:
    """Returns the tokens of values that have the same kinds, the most frequent form first; signs are optional."""
    found: dict[tuple[str, ...], list[list[str]]] = {}
    signs = level in ("titles", "letters") and any(map(_SIGNED.search, values))
    for value in values:
        kinds, texts = tokens(value, level)
        if signs:
            kinds, texts = signed(kinds, texts)
        found.setdefault(kinds, []).append(texts)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def settled(items: Sequence[object]) -> bool:
    """Returns whether the second half of the items, in their order, brings nothing that the first half has not."""
    half = (len(items) + 1) // 2
    return set(items[half:]) <= set(items[:half])


FEWEST_SHUFFLED, SHUFFLED_SHARE = 6, 0.25
"""Items from which their order is told, and the least share of steps in either direction."""


def shuffled(items: Sequence[str]) -> bool:
    """Returns whether items go up about as often as they go down: they are not in order."""
    ups = sum(a < b for a, b in pairwise(items))
    steps = len(items) - 1
    return len(items) >= FEWEST_SHUFFLED and min(ups, steps - ups) >= SHUFFLED_SHARE * steps


MOST_INCOMPLETE, MOST_INCOMPLETE_OF_TWO = 0.2, 0.1
"""Chance of a set with one more member from which the set seen is not taken for all; sets of two are oftener larger."""


def complete(kinds: int, times: int) -> bool:
    """Returns whether so many kinds are all: of one more, each alike, one would hardly be missed in so many draws."""
    most = MOST_INCOMPLETE if kinds > 2 else MOST_INCOMPLETE_OF_TWO
    return (kinds + 1) * (kinds / (kinds + 1)) ** times <= most


def changes(items: Sequence[str]) -> list[str]:
    """Returns the items without those that repeat the one before: a sorted column has as many as it has values."""
    return [item for i, item in enumerate(items) if not i or item != items[i - 1]]


def _is_number(text: str) -> bool:
    return text.isdecimal() and text.isascii() and (len(text) == 1 or text[0] != "0")


LENGTHS_OF_NUMBERS = 3
"""Different numbers of digits from which digits are a number rather than a code."""


def numbers_among(kinds: Sequence[str], slots: Sequence[tuple[str, ...]]) -> list[bool]:
    """Returns which slots hold numbers rather than codes.

    No leading zeros, and a sign, a currency, decimals or a word after a space beside them, or two slots of digits whose
    lengths vary.
    """
    plain = [k in ("9", "w") and all(map(_is_number, s)) for k, s in zip(kinds, slots, strict=True)]
    vary = [p and len({len(t) for t in s}) > 1 for p, s in zip(plain, slots, strict=True)]
    several = sum(vary) >= 1 and sum(plain) >= 2
    found = []
    for i, is_plain in enumerate(plain):
        before = kinds[i - 1] if i else ""
        after = tuple(kinds[i + 1 : i + 3])
        point = after in ((".", kinds[i]), (",", kinds[i])) and tuple(kinds[i + 3 : i + 5]) != (after[0], kinds[i])
        beside = before in (SIGN, "$", "€", "£") or point
        fraction = before in (".", ",") and i > 1 and kinds[i - 2] == kinds[i]
        counted = len(after) == 2 and after[0] == " " and after[1] in LETTER_KINDS and (vary[i] or len(slots[i][0]) < 4)
        varied = len({len(t) for t in slots[i]}) >= LENGTHS_OF_NUMBERS
        found.append(
            is_plain
            and not fraction
            and (varied or beside or counted or (several and (vary[i] or len(slots[i][0]) < 4)))
        )
    return found


MOST_MARKS = 3


def marks_among(texts: Sequence[str], values: Sequence[str]) -> bool:
    """Returns whether a few texts without digits stand among values with digits: words that replace a number."""
    if len(texts) > MOST_MARKS or any(c.isdecimal() for t in texts for c in t):
        return False
    return 2 * sum(any(map(str.isdecimal, v)) for v in values) > len(values)


def columns_of(rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Returns the texts at each place of tokens of one form."""
    return list(zip(*rows, strict=True))


SEPARATORS = (", ", "; ", " ", ",", ";", "|", "/", "-", "_", ".", ":", "+", "&")


MOST_SEPARATORS = 3


def separators_of(values: Sequence[str]) -> list[str]:
    """Returns separators in at least a third of the values, not at their ends, in numbers that vary; the first few."""
    found: list[str] = []
    for separator in SEPARATORS:
        holding = [v for v in values if separator in v]
        at_ends = any(v.startswith(separator) or v.endswith(separator) for v in holding)
        vary = len({v.count(separator) for v in values}) > 1
        if 3 * len(holding) >= len(values) and vary and not at_ends:
            found.append(separator)
    return found[:MOST_SEPARATORS]
