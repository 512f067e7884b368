"""The errors that validators of tables are judged on, made of values of a column's second half."""

import random
from collections.abc import Callable, Sequence
from datetime import datetime

Wrong = list[tuple[str, str]]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
STRUCK_INSTEAD = dict(zip(LETTERS, "svxfrghjokklnmpowtdyibecux", strict=True))
DATE_FORMS = (
    "%Y-%m-%d", "%m/%d/%Y", "%m/%d/%y", "%Y/%m/%d", "%d.%m.%Y", "%b %d %Y", "%Y-%m-%d %H:%M:%S", "%Y.%m.%d",
)  # fmt: skip
NULL_MARKS = ("N/A", "null", "-", "?", "NaN", "None", "#REF!")
WORDS_NOT_IN_SET = ("Other", "Pending", "Maybe", "Blue", "Unspecified", "Test")
MOST_IN_SET = 12
"""Distinct values up to which a column is taken for a closed set."""
VALUES_DAMAGED = 8
SWAPPED, DOUBLED = 0.35, 0.6
"""Cumulative probabilities of a typo being a swap or a doubled character; else it is a key struck beside."""


def typo(value: str, draw: random.Random) -> str | None:
    if len(value) < 3:
        return None
    i, kind = draw.randrange(len(value)), draw.random()
    before, here, after = value[:i], value[i], value[i + 1 :]
    if kind < SWAPPED and after:
        return before + after[0] + here + after[1:]
    if kind < DOUBLED:
        return before + here + here + after
    struck = STRUCK_INSTEAD.get(here.lower(), "")
    return before + (struck.upper() if here.isupper() else struck) + after


def cut(value: str, draw: random.Random) -> str | None:
    return value[: -draw.randint(1, min(3, len(value) - 2))].rstrip() if len(value) >= 4 else None


def spaced(value: str, draw: random.Random) -> str:
    inside = value.replace(" ", "  ", 1) if " " in value else value + " "
    return draw.choice([value + " ", " " + value, inside])


def letter_for_digit(value: str, draw: random.Random) -> str | None:
    if "0" in value:
        return value.replace("0", "O", 1)
    return value.replace("1", "l", 1) if "1" in value else None


def other_case(value: str, draw: random.Random) -> str | None:
    if value.swapcase() == value:
        return None
    return value.lower() if value != value.lower() else value.upper()


def other_date_form(value: str, draw: random.Random) -> str | None:
    for form in DATE_FORMS:
        try:
            date = datetime.strptime(value, form)
        except ValueError:
            continue
        return date.strftime(draw.choice([f for f in DATE_FORMS if f != form]))
    return None


KINDS: dict[str, Callable[[str, random.Random], str | None]] = {
    "typo": typo,
    "cut": cut,
    "space": spaced,
    "O for 0": letter_for_digit,
    "case": other_case,
    "date form": other_date_form,
}
HELD_OUT = ("cut", "case", "date form", "null mark", "not in set")
"""Kinds that were not looked at while the settings of the judge were chosen."""


def make_errors(
    values: Sequence[str], later: Sequence[str], others: Sequence[Sequence[str]], draw: random.Random
) -> Wrong:
    """Errors (kind, text) of eight later values and, in closed sets, of strange words; none occurs in the column."""
    own, distinct = set(values), list(dict.fromkeys(later))
    found: list[tuple[str, str | None]] = []
    enough = len(distinct) >= VALUES_DAMAGED
    for value in draw.sample(distinct, VALUES_DAMAGED) if enough else draw.choices(distinct, k=VALUES_DAMAGED):
        found += [(kind, make(value, draw)) for kind, make in KINDS.items()]
        if others:
            found.append(("other column", draw.choice(draw.choice(others))))
        found.append(("null mark", draw.choice(NULL_MARKS)))
    if len(own) <= MOST_IN_SET:
        found += [("not in set", _in_the_case_of(own, word)) for word in WORDS_NOT_IN_SET]
    return [(kind, text) for kind, text in found if text and text not in own]


def _in_the_case_of(own: set[str], word: str) -> str:
    if all(v == v.upper() for v in own):
        return word.upper()
    return word.lower() if all(v == v.lower() for v in own) else word
