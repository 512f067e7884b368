"""What a check found: values and columns that do not fit, counted, named and capped."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wakesleep.domains.contract import Explanation, Rows
from wakesleep.domains.contract import Table as Shown

ROWS_NAMED = 20
"""Rows that are named of each value."""
ROWS_SHOWN, LONGEST_SHOWN, LONGEST_EXPECTED = 5, 60, 60


@dataclass(frozen=True)
class Fault:
    """A value that does not fit, with its rows, or something wrong with a whole column."""

    column: str
    why: str
    expected: str
    value: str | None = None
    count: int = 0
    """Rows that have the value; 0 where the column as a whole is meant."""
    rows: Sequence[int] = ()
    """The first of these rows, from one below the header."""
    tolerated: bool = False

    def as_row(self) -> dict[str, Any]:
        """Returns the fault for JSON."""
        return {
            "column": self.column,
            "value": self.value,
            "rows": self.count,
            "first": list(self.rows),
            "why": self.why,
            "expected": self.expected,
            "tolerated": self.tolerated,
        }


@dataclass(frozen=True)
class Verdict(Explanation):
    """The answer of a check."""

    faults: tuple[Fault, ...]
    height: int
    """Rows that were judged."""
    alarms: int
    """Rows that have a fault, tolerated or not."""
    unlisted: int = 0
    """Different values that do not fit and are counted alone, since there are too many."""
    expected_alarms: float | None = None
    """The share of rows with alarms to expect where the table goes on in its order."""
    expected_words: str = ""
    """What is said of it, and of rows drawn at random."""

    @property
    def fits(self) -> bool:
        """Whether all fits, but for what is tolerated."""
        return not self.code()

    def code(self) -> int:
        """Returns 1 where something does not fit that is not tolerated."""
        return int(any(not f.tolerated for f in self.faults))

    def rows(self, most: int = 5) -> Rows:
        """Returns one object: whether the table fits, how many rows do not, and every fault that is listed."""
        return [
            {
                "fits": self.fits,
                "rows": self.height,
                "alarms": self.alarms,
                "expected_alarms": self.expected_alarms,
                "unlisted": self.unlisted,
                "faults": [f.as_row() for f in self.faults],
            }
        ]

    def table(self, most: int = 5, width: int = 80) -> list[Shown]:
        """Returns the faults, at most so many of a column, and a line with the sum."""
        shown: list[tuple[str, ...]] = []
        of_column: dict[str, list[Fault]] = {}
        for fault in self.faults:
            of_column.setdefault(fault.column, []).append(fault)
        for name, faults in of_column.items():
            shown += [_line(f) for f in faults[:most]]
            if len(faults) > most:
                rows = sum(f.count for f in faults[most:])
                shown.append((cut(visible(name)), "", f"and {len(faults) - most:,} more ({rows:,} rows)", "", ""))
        header = ("column", "rows", "value", "why", "expected")
        return [Shown(self.summary, header, shown)] if shown else [Shown(self.summary, ("fits",), [("yes",)])]

    @property
    def summary(self) -> str:
        """Returns the sum in one line."""
        if not self.faults:
            return f"All {self.height:,} rows fit." if self.height else "The columns fit; the table has no rows."
        said = f"{self.alarms:,} of {self.height:,} rows have an alarm"
        if whole := len({f.column for f in self.faults if not f.count}):
            said += f", and {whole:,} column{'s' * (whole > 1)} as a whole"
        said += "; all of it is tolerated" * (not self.code())
        return said + (f" (false alarms to expect: {self.expected_words})." if self.expected_words else ".")


def _line(fault: Fault) -> tuple[str, ...]:
    rows = ", ".join(f"{r:,}" for r in fault.rows[:ROWS_SHOWN]) + ", ..." * (fault.count > ROWS_SHOWN)
    value = "" if fault.value is None else f"`{cut(escaped(fault.value))}`"
    why = fault.why + " (tolerated)" * fault.tolerated
    return cut(visible(fault.column)), rows, value, why, cut(visible(fault.expected), LONGEST_EXPECTED)


def visible(text: str) -> str:
    """Returns a text with what cannot be seen spelled out; a backslash stays as it is, as patterns need it."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def escaped(text: str) -> str:
    """Returns a value with what cannot be seen spelled out, and its own backslashes doubled."""
    return visible(text.replace("\\", "\\\\"))


def cut(text: str, longest: int = LONGEST_SHOWN) -> str:
    """Returns the beginning of a long text."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
