"""Date and time formats read off a column whose values share one form."""

import math
from collections.abc import Iterator, Sequence

from wakesleep.domains.strings.columns.concepts import Concept
from wakesleep.domains.strings.columns.dates import MONTHS, WEEKDAYS, fit_date
from wakesleep.domains.strings.columns.reading import by_form, columns_of
from wakesleep.domains.strings.columns.slot import Slot

ORDERS = ("Ymd", "mdY", "dmY", "mdy", "dmy", "ymd", "Ym", "mY", "my", "md", "dm")
COMPACT = {8: ("%Y%m%d", "%d%m%Y", "%m%d%Y"), 6: ("%y%m%d", "%d%m%y", "%H%M%S"), 14: ("%Y%m%d%H%M%S",)}
FIELD_NAMES = {
    "Y": "year", "y": "two-digit year", "m": "month", "n": "month", "b": "month's name", "B": "month's full name",
    "U": "MONTH's name", "d": "day", "e": "day", "a": "weekday", "A": "weekday", "H": "hour", "k": "hour", "I": "hour",
    "l": "hour", "M": "minute", "S": "second", "p": "AM or PM", "P": "am or pm", "z": "zone", "Z": "zone",
}  # fmt: skip
NAMED_FORMATS = {
    "%Y-%m-%d": "ISO date",
    "%Y%m%d": "date in eight digits",
    "%H:%M": "time of day, hour:minute",
    "%H:%M:%S": "time of day, hour:minute:second",
    "%d%m%Y": "date in eight digits, day first",
    "%m%d%Y": "date in eight digits, month first",
    "%y%m%d": "date in six digits",
    "%d%m%y": "date in six digits, day first",
    "%H%M%S": "time of day in six digits",
    "%Y%m%d%H%M%S": "date with time in fourteen digits",
}
MOST_TOKENS, MOST_FORMATS = 24, 6
FEWEST_DATES = 4
"""Different texts from which digits inside values are taken for dates."""
Slots = Sequence[tuple[str, ...]]


def date_concepts(values: Sequence[str]) -> list[Concept]:
    """Returns dates, times and dates with times that the most frequent form of the values may be."""
    kinds, rows = next(iter(by_form(values, "letters").items()))
    if len(kinds) > MOST_TOKENS:
        return []
    slots = columns_of(rows)
    if kinds == ("9",):
        lengths = {len(t) for t in slots[0]}
        forms = list(COMPACT.get(lengths.pop(), ())) if len(lengths) == 1 else []
    elif "9" in kinds:
        forms = ["".join(p) for p in _assigned(kinds, slots, 0, ()) if _sensible(p)][:MOST_FORMATS]
    else:
        forms = []
    return [Concept(date_name(f), fit_date(f, values), fitted=True) for f in forms]


def dates_of(slot: Slot) -> list[Concept]:
    """Returns dates in digits that all texts of a slot are; none where the texts are few or of another length."""
    if len(slot.lengths) > 1 or min(slot.lengths) not in COMPACT or len(slot.table) < FEWEST_DATES:
        return []
    if not all(t.isdecimal() and t.isascii() for t in slot.table):
        return []
    found = [Concept(date_name(f), fit_date(f, slot.table), fitted=True) for f in COMPACT[min(slot.lengths)]]
    return [c for c in found if all(c.log_prob(t) > -math.inf for t in slot.table)]


def date_name(form: str) -> str:
    """Returns a date format in words."""
    if form in NAMED_FORMATS:
        return NAMED_FORMATS[form]
    if form.startswith(("%Y-%m-%dT%H", "%Y-%m-%d %H")):
        return "ISO date with time"
    pieces = form.replace("%%", "%").split("%")
    words = pieces[0] + "".join(FIELD_NAMES.get(p[0], f"{p[0]} digits") + p[1:] for p in pieces[1:])
    return f"{'date' if any(f in form for f in ('%d', '%e', '%Y', '%y')) else 'time'} as {words}"


def _assigned(kinds: Sequence[str], slots: Slots, i: int, before: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Returns every way to read the tokens from i on as fields and literals."""
    if i == len(kinds):
        yield before
        return
    zone = _zone(kinds, slots, i, before)
    if zone is not None:
        field, used = zone
        yield from _assigned(kinds, slots, i + used, (*before, field))
        return
    for field in _fields(kinds, slots, i, before):
        if field[0] != "%" or field not in before:
            yield from _assigned(kinds, slots, i + 1, (*before, field))


def _zone(kinds: Sequence[str], slots: Slots, i: int, before: tuple[str, ...]) -> tuple[str, int] | None:
    """Returns a zone such as +01:00 after the time, and its number of tokens."""
    if kinds[i] not in "+-" or "%M" not in before or tuple(kinds[i + 1 : i + 2]) != ("9",):
        return None
    if tuple(kinds[i + 2 : i + 4]) == (":", "9"):
        return "%Z", 4
    return ("%z", 2) if all(len(t) == 4 for t in slots[i + 1]) else None


def _fields(kinds: Sequence[str], slots: Slots, i: int, before: tuple[str, ...]) -> list[str]:
    texts = slots[i]
    distinct = set(texts)
    if kinds[i] == "9":
        return _number_fields(kinds, i, texts, before)
    if kinds[i] == "w":
        for field, words in _WORDS.items():
            if distinct <= words:
                return [field]
        return list(distinct) if distinct in ({"T"}, {"Z"}, {"UTC"}, {"GMT"}) else []
    return [kinds[i]] if kinds[i] != "%" else []


_WORDS = {
    "%b": frozenset(m[:3] for m in MONTHS),
    "%B": frozenset(MONTHS),
    "%U": frozenset(m[:3].upper() for m in MONTHS),
    "%a": frozenset(d[:3] for d in WEEKDAYS),
    "%A": frozenset(WEEKDAYS),
    "%p": frozenset(("AM", "PM")),
    "%P": frozenset(("am", "pm")),
}


def _number_fields(kinds: Sequence[str], i: int, texts: tuple[str, ...], before: tuple[str, ...]) -> list[str]:
    """Returns the fields that the numbers at a place may be, by their neighbours, lengths and ranges."""
    previous = kinds[i - 1] if i else ""
    if previous == ":" and "%M" in before:
        return ["%S"] if _within(texts, 59, True) else []
    if previous == ":":
        return ["%M"] if _within(texts, 59, True) else []
    if previous in (".", ",") and before[-2:-1] == ("%S",):
        lengths = {len(t) for t in texts}
        return [f"%{lengths.pop()}"] if len(lengths) == 1 and len(texts[0]) <= 9 else []
    if tuple(kinds[i + 1 : i + 2]) == (":",):
        half = any(k == "w" for k in kinds[i:])
        return [f for f, low, high, padded in _HOURS if (low == 0 or half) and _within(texts, high, padded, low)]
    return [f for f, low, high, padded in _DATE_NUMBERS if _within(texts, high, padded, low)] + (
        ["%Y"] if all(len(t) == 4 and t[0] != "0" for t in texts) else []
    )


_HOURS = (("%I", 1, 12, True), ("%l", 1, 12, False), ("%H", 0, 23, True), ("%k", 0, 23, False))
_DATE_NUMBERS = (
    ("%m", 1, 12, True), ("%n", 1, 12, False), ("%d", 1, 31, True), ("%e", 1, 31, False), ("%y", 0, 99, True),
)  # fmt: skip


def _within(texts: tuple[str, ...], high: int, padded: bool, low: int = 0) -> bool:
    """Returns whether all are whole numbers of a range, of two digits or without a leading zero."""
    for t in texts:
        if len(t) > 2 or (padded and len(t) != 2) or (not padded and len(t) == 2 and t[0] == "0"):
            return False
        if not low <= int(t) <= high:
            return False
    return padded or any(len(t) == 1 for t in texts)


def _sensible(fields: tuple[str, ...]) -> bool:
    """Returns whether the fields are those of a date, a time or both, in an order that people write."""
    names = [f[1] for f in fields if f[0] == "%"]
    plain = {"n": "m", "b": "m", "B": "m", "U": "m", "e": "d"}
    order = "".join(plain.get(f, f) for f in names if f in "YymnbBUde")
    half = [f for f in names if f in "Il"]
    if bool(half) != any(f in "pP" for f in names):
        return False
    timed = any(f in "HkIl" for f in names)
    return (order in ORDERS and (len(order) > 2 or "b" in names or "B" in names or "Y" in names or timed)) or (
        not order and timed
    )
