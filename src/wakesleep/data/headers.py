"""Whether the first row of a table names its columns, why that is thought, and the names made unique."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from wakesleep.errors import quoted

NUMERAL = re.compile(r"[+-]?([0-9]+([.,][0-9]+)*|[.,][0-9]+)([eE][+-]?[0-9]+)?%?")
HEADER_ROWS = 200
"""So many rows are looked at to tell a header from values."""
VALUE_SHARE, OFTEN = 0.8, 0.5
FEWEST_HEADER_VALUES = 2
FIRST_YEAR, LAST_YEAR = 1500, 2200


class Header(NamedTuple):
    """The verdict on the first row."""

    present: bool
    reason: str


def find_header(rows: Sequence[Sequence[str]]) -> Header:
    """Whether the first of some rows is a header, by votes of the columns; a header is usual, so a tie is one."""
    first, below = rows[0], rows[1:]
    repeated = len(first) > 1 and any(row == first for row in below)
    years = _are_years([cell.strip() for cell in first])
    votes = []
    for i, cell in enumerate(first):
        values = [row[i].strip() for row in below if i < len(row) and row[i].strip()]
        if cell.strip() and len(values) >= FEWEST_HEADER_VALUES and not (years and cell.strip().isdigit()):
            votes.append(_vote(cell.strip(), values, repeated))
    names, data = votes.count(1), votes.count(-1)
    if data > names:
        return Header(False, f"no header: {data} of {len(first)} cells of the first row look like the values below")
    if names:
        return Header(True, f"the first row is the header: {names} of {len(first)} cells differ from the values below")
    return Header(True, "the first row is taken as the header, as is usual: nothing speaks against it")


def _vote(cell: str, values: list[str], repeated: bool) -> int:
    """1 where a cell differs from the values below it as a name does, -1 where it is one of them, 0 otherwise."""
    numbers = sum(NUMERAL.fullmatch(v) is not None for v in values) / len(values)
    forms = Counter(map(form, values))
    own, (usual, count) = form(cell), forms.most_common(1)[0]
    if numbers >= VALUE_SHARE:
        return -1 if NUMERAL.fullmatch(cell) else 1
    if "9" in own and forms[own] >= OFTEN * len(values):
        return -1
    if cell in values and not repeated:
        return -1
    return int("9" in usual and count >= VALUE_SHARE * len(values) and own not in forms)


def form(text: str) -> str:
    """A text with each run of capitals as A, of other letters as a, of digits as 9."""
    return re.sub(r"([A-Z]+)|([^\W\d_]+)|([0-9]+)", lambda run: "A" if run[1] else "a" if run[2] else "9", text)


def _are_years(cells: list[str]) -> bool:
    """Whether the cells that are numbers are at least two years in order, as in a table with a column a year."""
    numbers = [cell for cell in cells if NUMERAL.fullmatch(cell)]
    years = [int(n) for n in numbers if n.isascii() and n.isdigit() and len(n) == 4]
    in_order = len(set(years)) == len(years) and years in (sorted(years), sorted(years)[::-1])
    return len(years) == len(numbers) >= 2 and in_order and all(FIRST_YEAR <= y <= LAST_YEAR for y in years)


def column_names(cells: Sequence[str]) -> tuple[list[str], list[str]]:
    """Distinct names for the cells of a header, and notes on those that were empty or repeated."""
    names = [cell.strip() or f"column {i + 1}" for i, cell in enumerate(cells)]
    empty = sum(not cell.strip() for cell in cells)
    taken, times, repeated = set(names), Counter[str](), []
    for i, name in enumerate(names):
        times[name] += 1
        if times[name] > 1:
            repeated.append(name)
            names[i] = numbered(name, taken, times)
    notes = [f"{empty} columns have no name and are called by their place"] if empty else []
    if repeated:
        notes.append(f"the name {quoted(repeated[0])} is repeated; such columns have _2 and so on behind it")
    return names, notes


def numbered(name: str, taken: set[str], times: Counter[str]) -> str:
    """Returns the name with a number behind it that is not taken, and takes it; `times` counts how often it came."""
    times[name] = max(times[name], 2)
    while (new := f"{name}_{times[name]}") in taken:
        times[name] += 1
    taken.add(new)
    return new
