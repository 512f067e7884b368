"""What a column of a table holds: its type, nulls, uniqueness, range, and for text the programs that explain it."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from wakesleep.domains.strings.columns.concepts import Concept
from wakesleep.domains.strings.columns.dates import Date
from wakesleep.domains.strings.columns.explanation import Explanation as Explained
from wakesleep.domains.strings.columns.nodes import Node
from wakesleep.domains.strings.columns.posterior import null_marks
from wakesleep.domains.strings.table.rules import INTEGER, NUMBER_REGEX
from wakesleep.domains.strings.table.spelling import instant

BOOLEANS = frozenset({"true", "false", "yes", "no", "t", "f", "y", "n"})
TYPED_SHARE = 0.98
"""Share of the values that have to be numbers, or dates, in a column of such."""
FEWEST_WITH_ONE_OTHER = 10
FEWEST_UNIQUE = 20
"""Values from which all being different says something."""
MOST_LISTED = 250
MOST_COMMON, BARS = 8, 12
EMPTY = "empty"
"""The type of a column without values."""
_NUMBER, _WHOLE, _PADDED = re.compile(NUMBER_REGEX), re.compile(INTEGER), re.compile(r"[+-]?0[0-9]")


@dataclass(frozen=True)
class Description:
    """A column in figures."""

    name: str
    type: str
    rows: int
    nulls: int
    missing: tuple[str, ...]
    """Texts that stand for a missing value; they are among the nulls."""
    distinct: int
    key: bool
    """Whether the values are of the kind that names rows, and none occurs twice: a contract asks for that."""
    low: float | str | None
    """The least number, or the first date as ISO writes it."""
    high: float | str | None
    form: str
    """The format of dates."""
    explained: Explained | None
    common: tuple[tuple[str, int], ...]
    """The most frequent values with their counts."""
    bars: tuple[int, ...]
    """A histogram, of numbers over their range, of texts over their lengths."""
    lengths: tuple[int, int]
    """The characters of the shortest and of the longest value."""

    @property
    def unique(self) -> bool:
        """Whether there are several values, and none occurs twice."""
        return 1 < self.distinct == self.rows - self.nulls

    @property
    def null_share(self) -> float:
        """The share of rows without a value."""
        return self.nulls / self.rows if self.rows else 0.0

    @property
    def closed(self) -> bool:
        """Whether the column is explained by a list of all its values."""
        return self.explained is not None and self.explained.patterns[0].closed and self.distinct <= MOST_LISTED


def describe(
    name: str, values: Sequence[str | None], explain: Callable[[Sequence[str | None]], Explained], form: str = ""
) -> Description:
    """Describes a column; `explain` is called unless it is empty, numbers or booleans. `form`: of typed dates."""
    counts = Counter(v for v in values if v)
    marks = tuple(null_marks(list(counts)))
    kept = Counter({v: k for v, k in counts.items() if v not in marks})
    plain = plain_type(kept)
    explained = explain(values) if kept and not plain else None
    return described(name, values, explained, form)


def described(name: str, values: Sequence[str | None], explained: Explained | None, form: str = "") -> Description:
    """Describes a column of which the explanation is known, where it needs one, and the format if it is of dates."""
    counts = Counter(v for v in values if v)
    marks = tuple(null_marks(list(counts)))
    kept = Counter({v: k for v, k in counts.items() if v not in marks})
    type_ = (plain_type(kept) or "text") if kept else EMPTY
    if not form and type_ == "text" and explained is not None:
        form = date_form(explained, kept)
    if form and kept:
        type_ = "date"
    elif type_ == "text" and explained is not None and explained.patterns[0].closed and len(kept) <= MOST_LISTED:
        type_ = "category"
    low, high, bars = _spread(type_, kept, form)
    total = sum(kept.values())
    tokens = type_ == "integer" or (type_ == "text" and not any(" " in v for v in kept))
    key = tokens and len(kept) == total >= FEWEST_UNIQUE
    lengths = min(map(len, kept), default=0), max(map(len, kept), default=0)
    return Description(
        name, type_, len(values), len(values) - total, marks, len(kept), key, low, high, form, explained,
        tuple(kept.most_common(MOST_COMMON)), bars, lengths,
    )  # fmt: skip


def plain_type(counts: Mapping[str, int]) -> str:
    """Returns boolean, integer or number where the spelling of the values says so, else nothing."""
    total = sum(counts.values())
    if not total:
        return ""
    if len(counts) == 2 and all(v.casefold() in BOOLEANS for v in counts):
        return "boolean"
    numbers = {v: k for v, k in counts.items() if _NUMBER.fullmatch(v) and not _PADDED.match(v)}
    if not nearly_all(sum(numbers.values()), total) or any(_PADDED.match(v) for v in counts):
        return ""
    return "integer" if all(_WHOLE.fullmatch(v) for v in numbers) else "number"


def nearly_all(some: int, total: int) -> bool:
    """Whether some are nearly all; among few values one may be otherwise."""
    return some >= min(TYPED_SHARE * total, total - (total >= FEWEST_WITH_ONE_OTHER))


def core(program: Node) -> Node:
    """Returns a program without the name of its concept."""
    while isinstance(program, Concept):
        program = program.body
    return program


def date_form(explained: Explained, counts: Mapping[str, int]) -> str:
    """Returns the format by which nearly all values are dates, of those that were found, or nothing."""
    total = sum(counts.values())
    for entry in explained.posterior.entries:
        program = core(entry.program)
        if isinstance(program, Date) and re.search("%[Yy]", program.form) and re.search("%[mnbBU]", program.form):
            fits = sum(k for v, k in counts.items() if program.log_prob(v) > -math.inf)
            if nearly_all(fits, total):
                return program.form
    return ""


def _spread(
    type_: str, counts: Mapping[str, int], form: str
) -> tuple[float | str | None, float | str | None, tuple[int, ...]]:
    """Returns the ends of the range, where there is one, and the bars of a histogram."""
    if type_ in ("integer", "number"):
        numbers = {float(v): k for v, k in counts.items() if _NUMBER.fullmatch(v)}
        return min(numbers), max(numbers), histogram(numbers)
    if type_ == "date":
        times = {t: k for v, k in counts.items() if (t := instant(v, form)) is not None}
        if times:
            days = Counter[float]()
            for t, k in times.items():
                days[(t - datetime(1970, 1, 1)).total_seconds()] += k
            return _iso(min(times)), _iso(max(times)), histogram(days)
        return None, None, ()
    lengths = Counter[float]()
    for v, k in counts.items():
        lengths[float(len(v))] += k
    return None, None, histogram(lengths)


def _iso(time: datetime) -> str:
    return time.isoformat(" ").removesuffix(" 00:00:00")


def histogram(counts: Mapping[float, int]) -> tuple[int, ...]:
    """Returns the rows in each of a few stretches of equal length."""
    if not counts:
        return ()
    low, high = min(counts), max(counts)
    width = (high - low) / BARS
    if not width > 0 or not math.isfinite(width):
        return (sum(counts.values()),)
    found = [0] * BARS
    for x, k in counts.items():
        found[min(int((x - low) / width), BARS - 1)] += k
    return tuple(found)
