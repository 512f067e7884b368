"""Dates and times by their formats: read, and written anew where a typed column spells them otherwise."""

import re
from collections.abc import Sequence
from datetime import datetime

from wakesleep.data.tables import Column

STRPTIME = {"n": "m", "e": "d", "k": "H", "l": "I", "U": "b", "P": "p", "Z": "z", **dict.fromkeys("123456789", "f")}
"""Fields of date formats that Python writes otherwise."""
UNPADDED = "nekl"
ISO_FORMS = {
    "0-0-0": "%Y-%m-%d",
    "0-0-0 0:0:0": "%Y-%m-%d %H:%M:%S",
    "0-0-0 0:0:0.0": "%Y-%m-%d %H:%M:%S.%6",
    "0-0-0 0:0:0+0:0": "%Y-%m-%d %H:%M:%S%Z",
    "0-0-0 0:0:0-0:0": "%Y-%m-%d %H:%M:%S%Z",
}
"""The formats of texts by their form, every number written as 0."""


def instant(text: str, form: str) -> datetime | None:
    """Returns the time that a text of a format names, or None; a zone is left out."""
    python = re.sub("%(.)", lambda m: "%" + STRPTIME.get(m[1], m[1]), form)
    try:
        return datetime.strptime(text, python).replace(tzinfo=None)
    except ValueError:
        return None


def iso_form(column: Column) -> str:
    """Returns the format in which the texts of a column of dates or times are; nothing where they are not alike."""
    forms = {re.sub("[0-9]+", "0", v) for v in column.present} if column.instants else set()
    return ISO_FORMS.get(forms.pop(), "") if len(forms) == 1 else ""


def written(time: datetime, form: str) -> str:
    """Returns a time in a format."""

    def field(match: re.Match[str]) -> str:
        name = match[1]
        text = time.strftime("%" + STRPTIME.get(name, name))
        if name in UNPADDED:
            return str(int(text))
        if name.isdigit():
            return text[: int(name)].ljust(int(name), "0")
        if name == "Z":
            return text[:3] + ":" + text[3:]
        return text.upper() if name in "Up" else text.lower() if name == "P" else text

    return re.sub("%(.)", field, form)


def respelled(values: Sequence[str | None], form: str) -> list[str | None]:
    """Returns times that ISO 8601 writes in a format, those of which nothing is lost by that; the others stay."""
    spelled = {text: text and _respelled(text, form) for text in set(values)}
    return [spelled[text] for text in values]


def _respelled(text: str, form: str) -> str:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return text
    if time.tzinfo is not None and not re.search("%[zZ]", form):
        return text
    found = written(time, form)
    return found if instant(found, form) == time.replace(tzinfo=None) else text
