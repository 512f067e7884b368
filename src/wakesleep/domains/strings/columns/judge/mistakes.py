"""Realistic errors of values, made to train the judge: what goes wrong in columns, kind by kind."""

import random
from collections.abc import Callable, Sequence
from datetime import datetime

Mistake = Callable[[str, random.Random], str | None]

_BESIDE = dict(zip("qwertyuiopasdfghjklzxcvbnm1234567890", "wqretyuoipsadfhgjlkxzvcbmn2134569709", strict=True))
_LOOKALIKE = {"0": "O", "1": "l", "O": "0", "l": "1", "I": "1", "5": "S", "S": "5", "8": "B", "B": "8", "2": "Z"}
_DATE_FORMS = (
    "%Y-%m-%d", "%m/%d/%Y", "%m/%d/%y", "%d/%m/%Y", "%Y/%m/%d", "%d.%m.%Y", "%b %d %Y", "%d-%b-%Y", "%Y%m%d",
    "%Y-%m-%d %H:%M:%S", "%Y.%m.%d", "%B %d, %Y", "%d-%m-%Y", "%H:%M", "%H:%M:%S", "%I:%M %p",
)  # fmt: skip
NULL_MARKS = (
    "N/A", "null", "-", "?", "NaN", "None", "#REF!", "NA", "n/a", "NULL", "--", "#N/A", "none", "nan", "#VALUE!", "nil",
)  # fmt: skip
STRANGE_WORDS = (
    "Other", "Pending", "Maybe", "Blue", "Unspecified", "Test", "Yes", "Mixed", "Active", "Red", "Misc", "New", "Draft",
    "Unknown", "Foo", "Total", "Default", "Sample", "Temp", "Various", "Closed", "High", "North", "Z", "X1",
)  # fmt: skip


def typo(value: str, draw: random.Random) -> str | None:
    """Returns two characters swapped, one doubled, one left out, or one struck beside its key."""
    if len(value) < 3:
        return None
    i, kind = draw.randrange(len(value)), draw.random()
    if kind < 0.3 and i + 1 < len(value):
        return value[:i] + value[i + 1] + value[i] + value[i + 2 :]
    if kind < 0.5:
        return value[:i] + value[i] + value[i:]
    if kind < 0.7:
        return value[:i] + value[i + 1 :]
    near = _BESIDE.get(value[i].lower())
    if near is None:
        return value[:i] + value[i + 1 :]
    near = (
        near if draw.random() < 0.6 else draw.choice("abcdefghijklmnopqrstuvwxyz" if near.isalpha() else "0123456789")
    )
    return value[:i] + (near.upper() if value[i].isupper() else near) + value[i + 1 :]


def cut(value: str, draw: random.Random) -> str | None:
    """Returns the end of a value missing, at times its beginning."""
    if len(value) < 4:
        return None
    lost = draw.randint(1, min(3, len(value) - 2))
    return value[lost:].lstrip() if draw.random() < 0.1 else value[:-lost].rstrip()


def space(value: str, draw: random.Random) -> str:
    """Returns white space at an end or doubled inside."""
    inside = value.replace(" ", "  ", 1) if " " in value else value + " "
    return draw.choice([value + " ", " " + value, inside, value + "\t" if draw.random() < 0.2 else value + " "])


def lookalike(value: str, draw: random.Random) -> str | None:
    """Returns a digit written as the letter that looks like it, or a letter as a digit."""
    digits = [i for i, c in enumerate(value) if c in "01"]
    places = digits or [i for i, c in enumerate(value) if c in _LOOKALIKE]
    if not places:
        return None
    i = places[0] if draw.random() < 0.6 else draw.choice(places)
    return value[:i] + _LOOKALIKE[value[i]] + value[i + 1 :]


def case(value: str, draw: random.Random) -> str | None:
    """Returns the value in another case."""
    changed = value.lower() if value != value.lower() else value.upper()
    if draw.random() < 0.25:
        changed = draw.choice([value.title(), value.swapcase(), value.upper(), value.capitalize()])
    return changed if changed != value else None


def date_form(value: str, draw: random.Random) -> str | None:
    """Returns a date or time in another format."""
    if not 5 <= len(value) <= 20 or not any(c.isdigit() for c in value):
        return None
    for form in _DATE_FORMS:
        try:
            found = datetime.strptime(value, form)
        except ValueError:
            continue
        same = [f for f in _DATE_FORMS if f != form and ("%H" in f or "%I" in f) >= ("%d" not in form)]
        return found.strftime(draw.choice(same))
    return None


def null_mark(value: str, draw: random.Random) -> str:
    """Returns a mark of a missing value."""
    return draw.choice(NULL_MARKS)


def other_mark(value: str, draw: random.Random) -> str | None:
    """Returns the value with another separator, a mark too many or too few."""
    places = [i for i, c in enumerate(value) if not c.isalnum()]
    kind = draw.random()
    if places and kind < 0.6:
        i = draw.choice(places)
        return value[:i] + (draw.choice("-/._,: ;") if kind < 0.4 else "") + value[i + 1 :]
    return draw.choice([value + draw.choice(".,;*'"), f'"{value}"', f"({value})", "#" + value, value + "?"])


def joined(value: str, draw: random.Random) -> str:
    """Returns the value twice, or more than one field in one."""
    return value + draw.choice([value, "," + value, ";" + value, " (" + value + ")", " - test"])


SHARES: dict[str, tuple[float, Mistake]] = {
    "typo": (1.0, typo),
    "cut": (1.0, cut),
    "space": (1.0, space),
    "O for 0": (1.0, lookalike),
    "case": (1.0, case),
    "date form": (1.0, date_form),
    "null mark": (1.0, null_mark),
    "other mark": (0.4, other_mark),
    "joined": (0.1, joined),
}
"""Every kind made of a value by itself, and how often it is made."""
CHOOSING = ("typo", "space", "O for 0", "other column")
"""The kinds that are seen while settings are chosen."""


def make(
    own: set[str],
    later: Sequence[str],
    others: Sequence[Sequence[str]],
    draw: random.Random,
    closed: bool,
    number: int,
) -> list[tuple[str, str]]:
    """Returns mistakes (kind, text) made of values not fitted on, none of which occurs in the column."""
    distinct = list(dict.fromkeys(later))
    found: list[tuple[str, str | None]] = []
    for value in draw.sample(distinct, number) if len(distinct) >= number else draw.choices(distinct, k=number):
        found += [(kind, make_one(value, draw)) for kind, (share, make_one) in SHARES.items() if draw.random() < share]
        if others:
            found.append(("other column", draw.choice(draw.choice(others))))
    if len(own) <= 12 and closed:
        found += [("not in set", _as_written(w, own)) for w in draw.sample(STRANGE_WORDS, 5)]
    return [(kind, text) for kind, text in found if text and text not in own]


def _as_written(word: str, own: set[str]) -> str:
    """Returns a word in the case of all values of a column, if they have one case."""
    if all(v == v.upper() for v in own):
        return word.upper()
    return word.lower() if all(v == v.lower() for v in own) else word
