"""Codes of one length read place by place: a constant, one of a few characters, or a class at each."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

from wakesleep.domains.strings.columns.characters import Chars, chars
from wakesleep.domains.strings.columns.counts import exactly
from wakesleep.domains.strings.columns.nodes import Literal, Node, Run
from wakesleep.domains.strings.columns.reading import complete, settled
from wakesleep.domains.strings.columns.sequences import series
from wakesleep.domains.strings.columns.slot import Slot

FEWEST_FOR_POSITIONS, LONGEST_POSITIONED = 6, 24
"""Texts from which codes are read place by place, and the longest such code."""
MOST_IN_PLACE = 8
"""Different characters of a place that may be all."""
FEWEST_FREE, FROZEN_PER_FREE = 3, 0.7
"""Digits or letters that must vary before others are taken for constants, and constants for each that varies."""
FREE_IN_PLACE = 4
"""Different characters at a place from which it varies freely."""
LEAST_SURPRISE = 0.002
"""Chance below which it is no accident that a place of a mixed code has characters of one class only."""
DIGIT_SET = frozenset("0123456789")
Cover = Callable[[frozenset[str]], Chars]


def positional(slot: Slot, cover: Cover) -> Node | None:
    """Returns a program by places for texts of one length in no order; None where that tells no more than a run."""
    width = min(slot.lengths)
    if len(slot.lengths) > 1 or not 1 < width <= LONGEST_POSITIONED or len(slot.table) < FEWEST_FOR_POSITIONS:
        return None
    columns = [tuple(c) for c in zip(*slot.table, strict=True)]
    whole = cover(frozenset(c for c in slot.seen if c.isalnum()) or slot.seen)
    fixed = next((i for i, c in enumerate(columns) if len(set(c)) > 1), 0)
    kinds = [_place(c, i <= fixed, cover, whole) for i, c in enumerate(columns)]
    for alike in (str.isdecimal, str.isalpha):
        mine = [i for i, c in enumerate(columns) if all(map(alike, c))]
        if not _told([columns[i] for i in mine], [kinds[i] for i in mine]):
            own = cover(frozenset(c for i in mine for c in columns[i]))
            kinds = [own if i in mine and _is_constant(k) else k for i, k in enumerate(kinds)]
    found = _joined(kinds)
    return None if len(found) == 1 else series(*found)


def symbols_vary(values: Sequence[str]) -> bool:
    """Returns whether values of one length have different symbols, or a symbol and a letter, at the same place."""
    if len({len(v) for v in values}) > 1 or len(values[0]) > LONGEST_POSITIONED:
        return False
    places = (set(c) for c in zip(*values, strict=True))
    return any(len(seen) > 1 and not all(map(str.isalnum, seen)) for seen in places)


def _place(texts: Sequence[str], first: bool, cover: Cover, whole: Chars) -> Chars:
    """Returns the characters seen at a place if they are all, else their class, or that of the whole code."""
    table = Counter(texts)
    seen = frozenset(table)
    if len(table) == 1 or (_all_seen(table, texts) and (first or not seen & DIGIT_SET)):
        return chars(extra="".join(table))
    own = cover(seen)
    mixed = not any(map(str.isalnum, seen)) or len(texts) * math.log(own.size / whole.size) < math.log(LEAST_SURPRISE)
    return own if own.size >= whole.size or mixed else whole


def _all_seen(table: Counter[str], texts: Sequence[str]) -> bool:
    return (
        len(table) <= MOST_IN_PLACE and min(table.values()) > 1 and settled(texts) and complete(len(table), len(texts))
    )


def _is_constant(kind: Chars) -> bool:
    return not kind.classes and (len(kind.extra) == 1 or kind.extra.isdecimal())


def _told(columns: Sequence[Sequence[str]], kinds: Sequence[Chars]) -> bool:
    """Returns whether constant digits or letters are no accident: enough others of their kind vary freely."""
    fixed = sum(map(_is_constant, kinds))
    free = sum(len(set(c)) >= FREE_IN_PLACE for c, k in zip(columns, kinds, strict=True) if k.classes)
    alone = fixed == len(kinds) and not any(map(str.isdecimal, columns[0] if columns else ""))
    return not fixed or alone or (free >= FEWEST_FREE and fixed <= FROZEN_PER_FREE * free)


def _joined(kinds: Sequence[Chars]) -> list[Node]:
    """Returns constants as literals, and neighbouring places with the same characters as one run."""
    found: list[Node] = []
    for kind in kinds:
        if not kind.classes and len(kind.extra) == 1:
            found.append(Literal(kind.extra))
        elif found and isinstance(found[-1], Run) and found[-1].chars == kind:
            found[-1] = Run(kind, exactly(found[-1].counts.low + 1))
        else:
            found.append(Run(kind, exactly(1)))
    return found
