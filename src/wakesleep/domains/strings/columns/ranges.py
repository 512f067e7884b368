"""Numbers of known ranges, as parts of values: hours, days, months, weeks, minutes, years."""

from wakesleep.domains.strings.columns.concepts import Concept, concept
from wakesleep.domains.strings.columns.nodes import Node
from wakesleep.domains.strings.columns.numbers import Number
from wakesleep.domains.strings.columns.slot import AFTER_COLON, AFTER_W, BEFORE_COLON, BETWEEN_COLONS, Slot

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


def ranges_of(slot: Slot) -> list[tuple[Node, float]]:
    """Returns ranges that hold all texts of a slot, each with nats for or against it."""
    if len(slot.lengths) > 1 or not all(t.isdecimal() and t.isascii() for t in slot.table):
        return []
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
