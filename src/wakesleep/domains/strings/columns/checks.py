# ruff: noqa: D102, overridden methods are explained in `Node`
"""Numbers with check digits: the check characters follow from the rest, so they cost nothing and must be right."""

import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from wakesleep.domains.strings.columns.characters import Chars, chars
from wakesleep.domains.strings.columns.check_families import FAMILIES, values_of
from wakesleep.domains.strings.columns.nodes import Ends, Node, union


def _digits(text: str) -> list[int]:
    return [int(c) for c in text if c.isdigit()]


def luhn(payload: str) -> str:
    """Returns the digit that makes a number pass Luhn's test (cards, IMEI)."""
    total = sum(d if i % 2 else (2 * d - 9 * (d > 4)) for i, d in enumerate(reversed(_digits(payload))))
    return str(-total % 10)


def ean(payload: str) -> str:
    """Returns the check digit of EAN-8, EAN-13, UPC and ISBN-13: weights 3 and 1 from the right."""
    return str(-sum(d * (1 if i % 2 else 3) for i, d in enumerate(reversed(_digits(payload)))) % 10)


def isbn10(payload: str) -> str:
    """Returns the check character of ISBN-10, X for ten."""
    check = -sum(d * (i + 2) for i, d in enumerate(reversed(_digits(payload)))) % 11
    return "X" if check == 10 else str(check)


def iban(payload: str) -> str:
    """Returns the two check digits of an IBAN, from its country and account."""
    moved = payload[2:] + payload[:2] + "00"
    number = int("".join(str(int(c, 36)) for c in moved if c.isalnum()))
    return f"{98 - number % 97:02d}"


def isin(payload: str) -> str:
    """Returns the check digit of an ISIN: Luhn's, letters counted from 10."""
    return luhn("".join(str(int(c, 36)) for c in payload if c.isalnum() and c.isascii()))


def mod11_2(payload: str) -> str:
    """Returns the check character of ORCID and ISNI (ISO 7064, 11-2), X for ten."""
    total = 0
    for d in _digits(payload):
        total = (total + d) * 2
    check = (12 - total % 11) % 11
    return "X" if check == 10 else str(check)


def routing(payload: str) -> str:
    """Returns the check digit of a bank's routing number: weights 3, 7 and 1 from the left."""
    return str(-sum(d * (3, 7, 1)[i % 3] for i, d in enumerate(_digits(payload))) % 10)


def cusip(payload: str) -> str:
    """Returns the check digit of a CUSIP: every second character doubled, digit sums added."""
    doubled = [int(c, 36) * (1 + i % 2) for i, c in enumerate(payload) if c.isalnum() and c.isascii()]
    return str(-sum(k // 10 + k % 10 for k in doubled) % 10)


def dni(payload: str) -> str:
    """Returns the letter of a Spanish identity number."""
    digits = _digits(payload)
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int("".join(map(str, digits)) or "0") % 23]


def nie(payload: str) -> str:
    """Returns the letter of a Spanish resident's number, its first letter X, Y or Z counted as 0, 1 or 2."""
    return dni(str("XYZ".find(payload[:1]) % 3) + payload[1:])


def cpf(payload: str) -> str:
    """Returns the two check digits of a Brazilian taxpayer's number."""
    digits = _digits(payload)
    for _ in range(2):
        check = -sum(d * (i + 2) for i, d in enumerate(reversed(digits))) % 11
        digits.append(check % 10)
    return f"{digits[-2]}{digits[-1]}"


def cnpj(payload: str) -> str:
    """Returns the two check digits of a Brazilian company: weights 2 to 9 from the right, again and again."""
    digits = _digits(payload)
    for _ in range(2):
        check = -sum(d * (2 + i % 8) for i, d in enumerate(reversed(digits))) % 11
        digits.append(check % 10)
    return f"{digits[-2]}{digits[-1]}"


def mod97_10(payload: str) -> str:
    """Returns the two check digits of a legal entity (ISO 7064, 97-10), letters counted from 10."""
    number = int("".join(map(str, values_of(payload, True))) + "00" or "0")
    return f"{98 - number % 97:02d}"


def mod97(payload: str) -> str:
    """Returns the two digits by which a number falls short of a multiple of 97 (Belgium)."""
    return f"{97 - int(''.join(map(str, _digits(payload))) or '0') % 97:02d}"


def mod11_10(payload: str) -> str:
    """Returns the check digit of ISO 7064, 11-10 (Germany, Croatia)."""
    product = 10
    for d in _digits(payload):
        product = 2 * ((product + d) % 10 or 10) % 11
    return str((11 - product) % 10)


def container(payload: str) -> str:
    """Returns the check digit of a freight container (ISO 6346): weights are powers of two, letters skip 11, 22, 33."""
    values = [v + (v - 1) // 10 if v > 9 else v for v in values_of(payload, True)]
    return str(sum(v << i for i, v in enumerate(values)) % 11 % 10)


_VIN = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"), strict=True))
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 9, 8, 7, 6, 5, 4, 3, 2)


def vin(payload: str) -> str:
    """Returns the ninth character of a vehicle identification number, from the sixteen others."""
    values = [int(c) if c.isdecimal() else _VIN.get(c, 0) for c in payload]
    check = sum(v * w for v, w in zip(values, _VIN_WEIGHTS, strict=False)) % 11
    return "X" if check == 10 else str(check)


_QUARTER = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)


def verhoeff(payload: str) -> str:
    """Returns Verhoeff's check digit (India's Aadhaar): products in the symmetries of the pentagon."""

    def times(a: int, b: int) -> int:
        turned = (a + b if a < 5 else a - b) % 5
        return turned + 5 * ((a < 5) != (b < 5))

    product = 0
    for i, digit in enumerate(reversed(_digits(payload)), 1):
        turned = digit
        for _ in range(i % 8):
            turned = _QUARTER[turned]
        product = times(product, turned)
    return str(product if product > 4 else -product % 5)


CHECKS: dict[str, tuple[Callable[[str], str], int, int]] = {
    "luhn": (luhn, -1, 1),
    "ean": (ean, -1, 1),
    "isbn10": (isbn10, -1, 1),
    "iban": (iban, 2, 2),
    "isin": (isin, -1, 1),
    "mod11_2": (mod11_2, -1, 1),
    "routing": (routing, -1, 1),
    "cusip": (cusip, -1, 1),
    "dni": (dni, -1, 1),
    "nie": (nie, -1, 1),
    "cpf": (cpf, -1, 2),
    "cnpj": (cnpj, -1, 2),
    "mod97_10": (mod97_10, -1, 2),
    "mod97": (mod97, -1, 2),
    "mod11_10": (mod11_10, -1, 1),
    "container": (container, -1, 1),
    "vin": (vin, 8, 1),
    "verhoeff": (verhoeff, -1, 1),
    **{name: (family, -1, 1) for name, family in FAMILIES.items()},
}
"""What computes the check characters, where they stand (-1: at the end), and how many they are."""


@dataclass(frozen=True)
class Checked(Node):
    """A payload with its check characters: p(x) is p(payload) if they are right, and zero if not."""

    payload: Node
    check: str
    least: int
    most: int
    """Least and greatest length, check characters included."""
    plain: str
    """A regex that accepts every such text, and others with wrong check characters."""
    exact = False

    @cached_property
    def _reader(self) -> re.Pattern[str]:
        return re.compile(self.plain)

    def _split(self, x: str) -> tuple[str, str]:
        _, place, size = CHECKS[self.check]
        place = len(x) - size if place < 0 else place
        return x[:place] + x[place + size :], x[place : place + size]

    def log_prob(self, x: str) -> float:
        if not self._reader.fullmatch(x):
            return -math.inf
        payload, given = self._split(x)
        return self.payload.log_prob(payload) if CHECKS[self.check][0](payload) == given else -math.inf

    def ends(self, x: str, i: int) -> Ends:
        found: Ends = {}
        for j in range(i + self.least, min(i + self.most, len(x)) + 1):
            log_p = self.log_prob(x[i:j])
            if log_p > -math.inf:
                found[j] = log_p
        return found

    def sample(self, rng: random.Random) -> str:
        payload = self.payload.sample(rng)
        make, place, _ = CHECKS[self.check]
        place = len(payload) if place < 0 else place
        return payload[:place] + make(payload) + payload[place:]

    @property
    def regex(self) -> str:
        """Wider than the support: any check characters."""
        return self.plain

    @property
    def alphabet(self) -> Chars | None:
        return union([self.payload.alphabet, chars("upper digit", extra=" -")])

    @property
    def fixed(self) -> bool:
        return self.least == self.most

    def writes(self, c: str) -> bool:
        return c.isalnum() or self.payload.writes(c)

    def parts_below(self) -> Sequence[Node]:
        return (self.payload,)
