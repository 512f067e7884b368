"""Families of check digits: a weighted sum of the digits before them, modulo a number."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

LETTER_VALUES = {c: i for i, c in enumerate("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")}


def values_of(payload: str, letters: bool) -> list[int]:
    """Returns digits as numbers, and capital letters from 10 where they count; other characters are left out."""
    return [LETTER_VALUES[c] for c in payload if (c.isdecimal() and c.isascii()) or (letters and c in LETTER_VALUES)]


@dataclass(frozen=True)
class WeightedSum:
    """check = sign sum_i weight_i value_i modulo a number; `ten` is written where that is ten."""

    weights: tuple[int, ...]
    """Repeated as often as needed."""
    from_right: bool
    modulus: int
    sign: int
    ten: str = ""
    letters: bool = False

    def __call__(self, payload: str) -> str:
        """Returns the check character of a payload."""
        values = values_of(payload, self.letters)
        if self.from_right:
            values.reverse()
        k = len(self.weights)
        check = self.sign * sum(v * self.weights[i % k] for i, v in enumerate(values)) % self.modulus
        return self.ten if check == 10 else str(check)

    @property
    def name(self) -> str:
        """The name of the check among all."""
        side = "right" if self.from_right else "left"
        weights = " ".join(map(str, self.weights))
        more = f", ten as {self.ten}" if self.ten else ""
        more += ", letters from 10" if self.letters else ""
        return f"{'minus ' if self.sign < 0 else ''}weights {weights} from the {side} modulo {self.modulus}{more}"


RUT_WEIGHTS = (2, 3, 4, 5, 6, 7)
"""Chile's, where ten is written K; elsewhere it is X."""
RIGHT_WEIGHTS = (RUT_WEIGHTS, tuple(range(2, 10)), tuple(range(2, 20)), tuple(range(1, 20)), (3, 1), (9, 7, 3, 1))
LEFT_WEIGHTS = (
    (7, 3, 1), (3, 7, 1), (1, 3, 7, 9), (1, 3, 9, 7), (3, 1, 9, 7), tuple(range(1, 20)), (1, 3, 1, 7, 3, 9),
    (8, 6, 4, 2, 3, 5, 9, 7), (6, 5, 7, 2, 3, 4, 5, 6, 7), (8, 9, 2, 3, 4, 5, 6, 7), (3, 2, 7, 6, 5, 4, 3, 2),
)  # fmt: skip
"""Weights that authorities use: ISBN, RUT, CAS, EAN, PESEL, SEDOL, REGON, NIP, postal items, banks' routing numbers."""


def _families() -> dict[str, WeightedSum]:
    sides = [*((w, True) for w in RIGHT_WEIGHTS), *((w, False) for w in LEFT_WEIGHTS)]
    found = []
    for (weights, right), sign, letters in product(sides, (1, -1), (False, True)):
        found.append(WeightedSum(weights, right, 10, sign, "", letters))
        if not letters:
            found += [
                WeightedSum(weights, right, 11, sign, ten) for ten in ("KX0" if weights == RUT_WEIGHTS else "X0K")
            ]
    found += [WeightedSum((1,), False, modulus, sign) for modulus in (9, 10) for sign in (1, -1)]
    return {family.name: family for family in found}


FAMILIES: dict[str, Callable[[str], str]] = dict(_families())
