"""Numbers with check digits read off a column: if all values pass a check, the check characters need no explanation."""

import re
from collections.abc import Callable, Sequence

from wakesleep.domains.strings.columns.check_families import FAMILIES, values_of
from wakesleep.domains.strings.columns.checks import CHECKS, Checked
from wakesleep.domains.strings.columns.concepts import Concept
from wakesleep.domains.strings.columns.nodes import Node
from wakesleep.domains.strings.columns.sequences import series
from wakesleep.domains.strings.columns.slot import Slot
from wakesleep.domains.strings.columns.slots import Reading, fit_slot

FEWEST_CHECKED_VALUES, FEWEST_CHECKED_CHARACTERS = 4, 6
"""Values and characters below which passing a known check may be chance."""
FEWEST_PAYLOAD_VALUES = 4
"""Digits and letters before the check characters."""
FEWEST_OF_FAMILY, FEWEST_CHECK_CHARACTERS = 7, 3
"""Values from which one of the many families of checks is believed, and different check characters among them."""
CHECK_NAMES = {
    "luhn": "number with Luhn's check digit",
    "ean": "number with an EAN check digit",
    "isbn10": "number with a check character modulo 11",
    "cnpj": "Brazilian company",
    "mod97_10": "code with two check digits modulo 97",
    "mod97": "number with two check digits modulo 97",
    "mod11_10": "number with a check digit of ISO 7064",
    "mod11_2": "number with a check character of ISO 7064",
    "container": "freight container",
    "verhoeff": "number with Verhoeff's check digit",
    "routing": "routing number of a bank",
    "cpf": "Brazilian taxpayer",
}
LENGTH_NAMES = {
    ("ean", 13): "EAN-13", ("ean", 8): "EAN-8", ("ean", 12): "UPC", ("luhn", 16): "card number",
    ("isbn10", 10): "ISBN-10", ("isbn10", 9): "ISSN", ("mod97_10", 20): "legal entity identifier",
}  # fmt: skip
READ = ("luhn", "ean", "isbn10", "mod11_2", "mod11_10", "verhoeff", "cnpj", "cpf", "mod97", "mod97_10", "container")
"""Checks for which payloads of any form are read off; the others have one form and are concepts."""
_LAST = re.compile(r"[0-9A-Z](?:[ .,/-]?[0-9A-Z])+")
Read = Callable[[Sequence[str]], Sequence[Node]]


def checked_concepts(values: Sequence[str], read: Read, reading: Reading) -> list[Concept]:
    """Returns concepts whose check every value passes, with payloads read off the column."""
    if (
        len(values) < FEWEST_CHECKED_VALUES
        or min(map(len, values)) < FEWEST_CHECKED_CHARACTERS
        or not all(map(_LAST.fullmatch, values))
    ):
        return []
    found = [_iban(values, reading)] if _all_pass(values, "iban") else []
    for check in _passed(values):
        size = CHECKS[check][2]
        ends = f"[0-9]{{{size}}}" if size > 1 else f"[0-9{'X' if check in ('isbn10', 'mod11_2') else _ten(check)}]"
        lengths = [len(v) for v in values]
        for payload in read([v[:-size] for v in values]):
            node = Checked(payload, check, min(lengths), max(lengths), f"{payload.regex}{ends}")
            found.append(Concept(_name(check, values), node, fitted=True))
    return found


def _ten(check: str) -> str:
    """Returns the letter that a family writes for ten, if it has one."""
    ten: str = getattr(FAMILIES.get(check), "ten", "")
    return ten if ten.isalpha() else ""


def _passed(values: Sequence[str]) -> list[str]:
    """Returns the checks that every value passes; families only where none of the known ones is passed."""
    known = [check for check in READ if _all_pass(values, check)]
    ends = {v[-1] for v in values}
    if known or len(values) < FEWEST_OF_FAMILY or len(ends) < FEWEST_CHECK_CHARACTERS:
        return known
    letters = any(c.isalpha() for v in values for c in v[:-1])
    return [name for name in FAMILIES if ("letters" in name) == letters and _all_pass(values, name)][:1]


def _all_pass(values: Sequence[str], check: str) -> bool:
    return all(_passes(v, check) for v in values)


def _passes(value: str, check: str) -> bool:
    make, place, size = CHECKS[check]
    if place < 0:
        payload = value[:-size]
        if _has_letters(payload) and check not in WITH_LETTERS:
            return False
        return len(values_of(payload, True)) >= FEWEST_PAYLOAD_VALUES and make(payload) == value[-size:]
    if len(value) < 15 or not value[:2].isupper() or not value.replace(" ", "").isalnum():
        return False
    return make(value[:place] + value[place + size :]) == value[place : place + size]


WITH_LETTERS = frozenset(("mod97_10", "container", *(name for name in FAMILIES if "letters" in name)))
"""Checks to which letters contribute."""


def _has_letters(text: str) -> bool:
    return any(map(str.isalpha, text))


def _iban(values: Sequence[str], reading: Reading) -> Concept:
    country = fit_slot(Slot(tuple(v[:2] for v in values)), reading)[0]
    account = fit_slot(Slot(tuple(v[4:] for v in values)), reading)[0]
    lengths = [len(v) for v in values]
    plain = f"{country.regex}[0-9]{{2}}{account.regex}"
    return Concept("IBAN", Checked(series(country, account), "iban", min(lengths), max(lengths), plain), fitted=True)


def _name(check: str, values: Sequence[str]) -> str:
    if check == "ean" and all(v.startswith(("978", "979")) for v in values) and len(values[0]) >= 13:
        return "ISBN-13"
    lengths = {len(v) for v in values}
    usual = CHECK_NAMES.get(check, "number with a check digit")
    return LENGTH_NAMES.get((check, lengths.pop()), usual) if len(lengths) == 1 else usual
