"""Numbers with check digits read off a column: if all values pass a check, the check characters need no explanation."""

from collections.abc import Callable, Sequence

from wakesleep.domains.strings.columns.checks import CHECKS, Checked
from wakesleep.domains.strings.columns.concepts import Concept
from wakesleep.domains.strings.columns.nodes import Node
from wakesleep.domains.strings.columns.sequences import series
from wakesleep.domains.strings.columns.slot import Slot
from wakesleep.domains.strings.columns.slots import Reading, fit_slot

FEWEST_CHECKED_VALUES, FEWEST_CHECKED_CHARACTERS = 4, 8
"""Values and characters below which passing a check may be chance."""
CHECK_NAMES = {
    "luhn": "number with Luhn's check digit",
    "ean": "number with an EAN check digit",
    "isbn10": "number with a check character modulo 11",
}
LENGTH_NAMES = {
    ("ean", 13): "EAN-13", ("ean", 8): "EAN-8", ("ean", 12): "UPC", ("luhn", 16): "card number",
    ("isbn10", 10): "ISBN-10", ("isbn10", 9): "ISSN",
}  # fmt: skip
READ = ("luhn", "ean", "isbn10", "iban")
"""Checks for which payloads of any form are read off; the others have one form and are concepts."""
Aligned = Callable[[Sequence[str]], Node | None]


def checked_concepts(values: Sequence[str], aligned: Aligned, reading: Reading) -> list[Concept]:
    """Returns concepts whose check every value passes, with payloads read off the column."""
    if (
        len(values) < FEWEST_CHECKED_VALUES
        or min(map(len, values)) < FEWEST_CHECKED_CHARACTERS
        or not all(v.isascii() and v[-1].isalnum() for v in values)
    ):
        return []
    found = []
    for check in READ:
        make, place, size = CHECKS[check]
        if not all(_passes(v, make, place, size) for v in values):
            continue
        lengths = [len(v) for v in values]
        if check == "iban":
            country = fit_slot(Slot(tuple(v[:2] for v in values)), reading)[0]
            account = fit_slot(Slot(tuple(v[4:] for v in values)), reading)[0]
            payload: Node | None = series(country, account)
            plain = f"{country.regex}[0-9]{{2}}{account.regex}"
        else:
            payload = aligned([v[:-1] for v in values])
            plain = "" if payload is None else f"{payload.regex}{'[0-9X]' if check == 'isbn10' else '[0-9]'}"
        if payload is not None:
            node = Checked(payload, check, min(lengths), max(lengths), plain)
            found.append(Concept(_name(check, values), node, fitted=True))
    return found


def _passes(value: str, make: Callable[[str], str], place: int, size: int) -> bool:
    digits = sum(c.isdigit() for c in value)
    if place < 0:
        return digits >= 7 and value[:-1].replace("-", "").replace(" ", "").isdigit() and make(value[:-1]) == value[-1]
    if len(value) < 15 or not value[:2].isupper() or not value.replace(" ", "").isalnum():
        return False
    return make(value[:place] + value[place + size :]) == value[place : place + size]


def _name(check: str, values: Sequence[str]) -> str:
    if check == "iban":
        return "IBAN"
    if check == "ean" and all(v.startswith(("978", "979")) for v in values) and len(values[0]) >= 13:
        return "ISBN-13"
    lengths = {len(v) for v in values}
    return LENGTH_NAMES.get((check, lengths.pop()), CHECK_NAMES[check]) if len(lengths) == 1 else CHECK_NAMES[check]
