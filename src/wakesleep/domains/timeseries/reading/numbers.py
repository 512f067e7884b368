"""A column of numbers as people write them: thousands, decimal commas, currencies, per cent, brackets for minus."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

MISSING = frozenset(
    ["", "na", "n/a", "nan", "<na>", "nat", "null", "none", "-", "--", "?", ".", "..", "...", "#n/a", "missing"]
)
MONEY_SIGNS = "$€£¥₹₩₽₺₫₴₦฿₿¢"
CODES = "USD|EUR|GBP|JPY|CHF|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|BRL|MXN|ZAR|KRW|US|A|C|R"
MONEY = rf"(?:(?:{CODES})? ?[{MONEY_SIGNS}]|(?:{CODES}))"
WRITTEN = re.compile(
    rf"(?P<open>\()?(?P<sign>[+-])? ?(?P<money>{MONEY})? ?(?P<sign2>[+-])?"
    rf"(?P<digits>[0-9][0-9.,' ]*|[.,][0-9]+|inf(?:inity)?)(?P<power>[eE][+-]?[0-9]{{1,4}})?"
    rf" ?(?P<money2>{MONEY})?(?P<per_cent> ?%)?(?P<close>\))?",
    re.IGNORECASE | re.ASCII,
)
PLAIN_FORM = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?", re.ASCII)
GROUPED = {
    mark: re.compile(rf"[0-9]{{1,3}}(?:{re.escape(mark)}[0-9]{{2,3}})*{re.escape(mark)}[0-9]{{3}}") for mark in ",.' "
}
LONGEST_CELL_CHARACTERS = 60
SPACES = str.maketrans({"\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2019": "'", "\u2212": "-", "\u2013": "-"})


class Numbers(NamedTuple):
    """A column read as numbers: NaN where one is missing; no values where a cell is not a number."""

    values: Float[np.ndarray, "n"] | None
    bad: int = -1
    """The place of the first cell that is not a number."""
    why: str = ""
    """What is wrong with that cell."""
    notes: tuple[str, ...] = ()


def is_missing(text: str | None) -> bool:
    """Returns whether a cell stands for a value that is not there."""
    return text is None or (not text[:1].isdigit() and text.strip().lower() in MISSING)


def read_numbers(texts: Sequence[str | None]) -> Numbers:
    """Returns the numbers of a column, whose commas and points the column as a whole decides."""
    cells = [None if is_missing(text) else text.translate(SPACES).strip() for text in texts]  # type: ignore[union-attr]
    if all(cell is None or PLAIN_FORM.fullmatch(cell) for cell in cells):
        return Numbers(np.array([float("nan" if cell is None else cell) for cell in cells]))
    found = [None if cell is None or len(cell) > LONGEST_CELL_CHARACTERS else WRITTEN.fullmatch(cell) for cell in cells]
    for place, (cell, match) in enumerate(zip(cells, found, strict=True)):
        if cell is not None and (match is None or bool(match["open"]) != bool(match["close"])):
            return Numbers(None, place, "is not a number")
    mixed = _mixed(found)
    if mixed is not None:
        return mixed
    return _convert(found)


def _mixed(found: list[re.Match[str] | None]) -> Numbers | None:
    """Returns the refusal of a column in which some cells are per cent, or of another currency, and others not."""
    kinds = [None if m is None else (bool(m["per_cent"]), _money(m)) for m in found]
    there = [kind for kind in kinds if kind is not None]
    for place, kind in enumerate(kinds):
        if kind is not None and kind[0] != there[0][0]:
            return Numbers(None, place, "mixes per cent with other numbers")
        if kind is not None and kind[1] and kind[1] != next(k[1] for k in there if k[1]):
            return Numbers(None, place, "mixes currencies")
    return None


def _money(match: re.Match[str]) -> str:
    return (match["money"] or match["money2"] or "").upper().replace(" ", "")


def _convert(found: list[re.Match[str] | None]) -> Numbers:
    """Returns the values of cells that are all written as numbers."""
    digits = [None if m is None else m["digits"].strip() for m in found]
    decimal, note = _decimal_mark([d for d in digits if d is not None])
    values = np.full(len(found), np.nan)
    for place, (match, text) in enumerate(zip(found, digits, strict=True)):
        if match is None or text is None:
            continue
        plain = _without_groups(text, decimal)
        if plain is None:
            return Numbers(None, place, "is not a number")
        negative = bool(match["open"]) or "-" in (match["sign"], match["sign2"])
        values[place] = (-1 if negative else 1) * float(plain + (match["power"] or ""))
    notes = [note] * bool(note)
    first = next((m for m in found if m is not None), None)
    if first is not None and first["per_cent"]:
        notes.append(f"per cent read as it is written, {first.group()!r} as {values[found.index(first)]:g}")
    money = next((m.group() for m in found if m is not None and _money(m)), "")
    if money:
        notes.append(f"the currency of {money!r} left out")
    return Numbers(values, notes=tuple(notes))


def _decimal_mark(digits: list[str]) -> tuple[str, str]:
    """Returns the decimal mark that explains all cells, and a note where another would too."""
    both = next((d for d in digits if "," in d and "." in d), None)
    if both is not None:
        return ("," if both.rindex(",") > both.rindex(".") else "."), ""
    commas = [d for d in digits if "," in d]
    if not commas:
        return ("," if any(d.count(".") > 1 for d in digits) else "."), ""
    if any("." in d for d in digits) or any(d.count(",") > 1 for d in commas):
        return ".", ""
    if all(GROUPED[","].fullmatch(d) and not d.startswith("0") for d in commas):
        return ".", f"commas read as marks of thousands, {commas[0]!r} as {commas[0].replace(',', '')}"
    return ",", f"commas read as decimal points, {commas[0]!r} as {commas[0].replace(',', '.')}"


def _without_groups(text: str, decimal: str) -> str | None:
    """Returns the digits with a decimal point and without marks of thousands, or None where these are misplaced."""
    if text.lower().startswith("inf"):
        return "inf"
    whole, _, rest = text.partition(decimal)
    if decimal in rest or any(mark in rest for mark in ",.' "):
        return None
    marks = {mark for mark in ",.' " if mark in whole}
    if len(marks) > 1 or any(not GROUPED[mark].fullmatch(whole) for mark in marks):
        return None
    for mark in marks:
        whole = whole.replace(mark, "")
    return f"{whole or 0}.{rest or 0}"
