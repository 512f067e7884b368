"""Numbers of known ranges, as parts of values: hours, days, months, weeks, minutes, years."""

import math

from wakesleep.domains.strings.columns.concepts import Concept, concept
from wakesleep.domains.strings.columns.nodes import Node
from wakesleep.domains.strings.columns.numbers import Number
from wakesleep.domains.strings.columns.slot import (
    AFTER_COLON,
    AFTER_HOURS,
    AFTER_Q,
    AFTER_W,
    BEFORE_COLON,
    BEFORE_DEGREE,
    BETWEEN_COLONS,
    Slot,
)

FEWEST_NUMBERS, FEWEST_YEARS = 4, 3
"""Different texts from which a range is proposed."""
NO_CONTEXT_NATS = -4.0
"""For a range that nothing beside the number tells of."""
IN_PLACE = {
    AFTER_COLON: ("minute or second",), BEFORE_COLON: ("hour",), BETWEEN_COLONS: ("minute or second", "hour"),
    AFTER_W: ("week",),
}  # fmt: skip
RANGES_ANYWHERE = ("month number", "day of the month")
"""Ranges of two digits that are proposed where nothing beside the number tells of clocks."""


CONTEXT_NATS = 3.0
"""For a range that a sign or letter beside the number tells of."""
WHOLE_PLACES = {
    AFTER_Q: (("quarter", Number(1, 4)),),
    BEFORE_DEGREE: (("degree", Number(0, 90)), ("degree", Number(0, 90, 2)), ("degree", Number(0, 180)),
                    ("degree", Number(0, 180, 3))),
    AFTER_HOURS: (("minute or second", Number(0, 59, 2)), ("minutes", Number(0, 59))),
}  # fmt: skip
"""Ranges that the place alone tells of, with or without leading zeros."""


BOUNDS = (59, 90, 100, 180, 255, 360)
"""Greatest numbers of clocks, angles, percentages and bytes."""
FEWEST_BOUNDED, BOUND_SLACK = 8, 2.5
"""Different numbers from which a bound is proposed; the greatest seen is below it by at most this share of a gap."""


def _bounded(slot: Slot) -> list[Node]:
    """Returns numbers from 0 to the least bound that holds all, if the greatest comes near it and none is padded."""
    if len(slot.table) < FEWEST_BOUNDED or any(t[0] == "0" and len(t) > 1 for t in slot.table):
        return []
    most = max(map(int, slot.table))
    bound = next((b for b in BOUNDS if most <= b), None)
    if bound is None or most < bound * (1 - BOUND_SLACK / len(slot.table)):
        return []
    return [Number(0, bound)]


def _writes_all(body: Number, slot: Slot) -> bool:
    return all(body.log_prob(t) > -math.inf for t in slot.table)


def ranges_of(slot: Slot) -> list[tuple[Node, float]]:
    """Returns ranges that hold all texts of a slot, each with nats for or against it."""
    if not all(t.isdecimal() and t.isascii() for t in slot.table):
        return []
    if slot.place in WHOLE_PLACES and len(slot.table) >= FEWEST_YEARS:
        return [(Concept(n, body), CONTEXT_NATS) for n, body in WHOLE_PLACES[slot.place] if _writes_all(body, slot)]
    if len(slot.lengths) > 1:
        return [(node, NO_CONTEXT_NATS) for node in _bounded(slot)]
    width = min(slot.lengths)
    if width == 4:
        return [(node, 0.0) for node in _years(slot)]
    if len(slot.table) < FEWEST_NUMBERS or width != 2:
        return []
    here = IN_PLACE.get(slot.place)
    bonus = dict.fromkeys(here, 0.0) if here else dict.fromkeys(RANGES_ANYWHERE, NO_CONTEXT_NATS)
    numbers = sorted(map(int, slot.table))
    return [(c, bonus[n]) for n in bonus if _holds(c := concept(n), numbers[0], numbers[-1], width)]


def _holds(found: Concept, least: int, most: int, width: int) -> bool:
    body = found.body
    return isinstance(body, Number) and body.width == width and body.low <= least and most <= body.high


def _years(slot: Slot) -> list[Node]:
    """Returns years, with the range of those seen as the usual one."""
    known = concept("year").body
    numbers = sorted(map(int, slot.table))
    if len(numbers) < FEWEST_YEARS or not isinstance(known, Number):
        return []
    if not known.low <= numbers[0] <= numbers[-1] <= known.high:
        return []
    share = (len(slot.texts) + 1) / (len(slot.texts) + 2)
    seen = Number(known.low, known.high, 4, (numbers[0], numbers[-1]), share)
    return [concept("year"), Concept("year", seen, fitted=True)]
