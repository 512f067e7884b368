"""Why a value is news in a column, as one short phrase."""

import math
from collections.abc import Callable

from wakesleep.domains.strings.columns.judge import levels
from wakesleep.domains.strings.columns.judge.column import LEVELS, Column
from wakesleep.domains.strings.columns.judge.texts import Flat, hash_texts, without_long

RAREST_NEWS = 0.12
"""The highest rate of news at which a level is named as the reason."""


def _shown(text: str) -> str:
    """Returns a short text as it is shown in a phrase."""
    short = text if len(text) <= 30 else text[:29] + "…"
    return short if short.isprintable() and short == short.strip() and short else repr(short)


def reason(column: Column, value: str) -> str:
    """Returns the phrase for a value: where it was seen, what it resembles, or the rarest news in it."""
    if value in column.counts:
        return f"seen in {column.counts[value]:,} of {column.total:,} rows"
    if column.knows(value):
        return f"seen before among {column.total:,} rows"
    new = column.new_levels(value)
    for find in (_blank, _resemblance, _news):
        if phrase := find(column, value, new):
            return phrase
    return "only the value itself is new"


def _blank(column: Column, value: str, new: frozenset[str]) -> str:
    """Returns a null mark, or white space as it was not seen before."""
    if not value.strip():
        return "blank"
    if levels.is_null_mark(value):
        return f"a mark of a missing value: {_shown(value)}"
    if "space" in new:
        if value != value.strip():
            return "white space at the " + ("start" if value[:1].isspace() else "end")
        return "white space as not seen before"
    return ""


def _resemblance(column: Column, value: str, new: frozenset[str]) -> str:
    """Returns a known value that differs in case, marks or look-alikes only, or by one edit."""
    likeness = {
        "folded": "a known value in another case",
        "squeezed": "a known value with other marks or spaces",
        "lookalike": "a known value with characters that look alike",
        "undoubled": "a known value but for a doubled character",
    }
    least = max(RAREST_NEWS, 1 / (column.distinct + 0.5))
    for level, phrase in likeness.items():
        if level not in new and 1 - column.rates.alone[LEVELS.index(level)] < least:
            return phrase
    flat = Flat.of(without_long([value], levels.CHARACTERS_LOOKED_AT))
    if column.near.values.near(flat)[0] and column.near.inside[:, 0].mean() < RAREST_NEWS:
        return "one character off a known value"
    if column.near.order.around(flat)[0][0] and column.near.inside[:, 2].mean() < RAREST_NEWS:
        return "the beginning of a known value, cut off"
    return ""


def _news(column: Column, value: str, new: frozenset[str]) -> str:
    """Returns the phrase of the first level, from the plainest, whose news is rare in the column."""
    rates = [max(a, b) for a, b in zip(column.rates.fresh, column.rates.alone, strict=True)]
    least = max(RAREST_NEWS, 1 / math.sqrt(column.distinct + 1))
    for level, phrase in PHRASES.items():
        if rates[LEVELS.index(level)] < least and level in new:
            return phrase(column, value)
    if column.rates.rows[0] < least:
        return f"not one of the {len(column.counts):,} known values"
    return ""


def _unknown(column: Column, level: str, texts: list[str], keys: list[str] | None = None) -> list[str]:
    """Returns the texts whose keys at a level are not known."""
    known = column.known[level].holds(hash_texts(texts if keys is None else keys)).tolist()
    return [text for text, is_known in zip(texts, known, strict=True) if not is_known]


def _characters(column: Column, value: str) -> str:
    new = _unknown(column, "characters", list(dict.fromkeys(value)))
    return f"a character not seen before: {_shown(new[0])}" if len(new) == 1 else (
        "characters not seen before: " + " ".join(_shown(c) for c in new[:5])
    )  # fmt: skip


def _length(column: Column, value: str) -> str:
    if len(value) > column.longest:
        return f"longer than any of {len(column.counts):,} values"
    if len(value) < column.shortest:
        return f"shorter than any of {len(column.counts):,} values"
    return f"a length not seen before: {len(value)}"


def _word(column: Column, value: str) -> str:
    words = levels.words_of(value[: levels.CHARACTERS_LOOKED_AT])
    new = _unknown(column, "folded word", words, [w.casefold() for w in words])
    return f"a word not seen before: {_shown(new[0])}" if new else "a word in another case"


PHRASES: dict[str, Callable[[Column, str], str]] = {
    "characters": _characters,
    "fields": lambda column, value: "new punctuation",
    "classes": lambda column, value: "new kinds of characters",
    "runs": lambda column, value: "new form",
    "word form": lambda column, value: "a word of a new form",
    "length": _length,
    "form": lambda column, value: "new form",
    "form pair": lambda column, value: "new form",
    "first": lambda column, value: f"begins as no other value: {_shown(value[:1])}",
    "last": lambda column, value: f"ends as no other value: {_shown(value[-1:])}",
    "word": _word,
    "start": lambda column, value: f"begins as no other value: {_shown(value[:3])}",
    "end": lambda column, value: f"ends as no other value: {_shown(value[-3:])}",
    "place": lambda column, value: "a character in a new place",
    "pair": lambda column, value: "characters in a new order",
    "triple": lambda column, value: "characters in a new order",
}
"""Levels from the plainest, and what is said of news there."""
