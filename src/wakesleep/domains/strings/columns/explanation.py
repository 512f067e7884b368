"""A column explained: patterns with their probabilities, the rule they export, the judgement of other values."""

import html
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from wakesleep.data.values import is_missing
from wakesleep.domains.strings.columns.nodes import Node
from wakesleep.domains.strings.columns.posterior import EFFORTS, Entry, Posterior, infer, null_marks
from wakesleep.domains.strings.columns.records import UNREADABLE, as_record, from_record
from wakesleep.domains.strings.columns.repetition import Rows, pitman_yor
from wakesleep.domains.strings.columns.strays import strays_of
from wakesleep.domains.strings.columns.wording import describe, notes
from wakesleep.errors import Refusal, require_at_least, require_one_of

LONGEST_VALUE = 20_000
MOST_PATTERNS, LEAST_PATTERN_PROBABILITY, SAMPLES = 5, 0.005, 5
GENERALITIES = ("narrow", "usual", "wide")
MOST_OUTLIERS = 50
MOST_FITS = 3
"""A column is fitted again without its strays, and once more if others are seen then."""


@dataclass(frozen=True)
class Pattern:
    """A program found for a column, as others use it."""

    regex: str
    """Anchored, for Python's `fullmatch`: with `match`, `$` lets a newline at the end pass. Works elsewhere too
    where no class of Unicode is needed."""
    probability: float
    description: str
    notes: tuple[str, ...]
    """What all values had in common so far, without being required."""
    coverage: float
    """Share of the rows, nulls left out, that the regex accepts."""
    exact: bool
    """Whether the regex accepts exactly what the program can write; if not it is wider (check digits, calendars)."""
    closed: bool
    """Whether the pattern is a list of all values."""
    samples: tuple[str, ...]


@dataclass(frozen=True)
class Outlier:
    """A value that does not fit, with the rows in which it stands, counted from 0."""

    value: str
    rows: tuple[int, ...]
    why: str


class Rule:
    """What a program can write: its regex, then the program itself where the regex is wider."""

    def __init__(self, program: Node) -> None:
        self._fullmatch = re.compile(program.regex).fullmatch
        self._program = None if program.exact else program

    def accepts(self, value: str) -> bool:
        """Returns whether the program can write the value."""
        if self._fullmatch(value) is None:
            return False
        return self._program is None or self._program.log_prob(value) > -math.inf


@dataclass(frozen=True)
class Explanation:
    """What was found for a column."""

    patterns: tuple[Pattern, ...]
    posterior: Posterior
    judge: Any
    outliers: tuple[Outlier, ...]
    rows: int
    nulls: int
    null_marks: tuple[str, ...]
    disagreement: float
    """Share of the column's own rows at which `matches` and `accepts` differ."""
    stray_rows: int = 0
    """Rows that programs and judge were not fitted to."""

    @property
    def distinct(self) -> int:
        """The number of different values, nulls and strays left out."""
        return len(self.posterior.rows.counts)

    @cached_property
    def _rule(self) -> "Rule":
        return Rule(self.posterior.entries[0].program)

    def matches(self, values: Iterable[Any]) -> np.ndarray:
        """Returns whether the rule accepts each value: first pattern, check digits and calendars if it is not exact.

        Nulls, which are None, NaN and empty texts, pass where the column has some.
        """
        return np.array([self.nulls > 0 if not v else self._rule.accepts(v) for v in listed(values)], bool)

    def accepts(self, values: Iterable[Any], share: float | Literal["usual"] | None = "usual") -> np.ndarray:
        """Returns the full judgement: whether each value is a member, so that about `share` of true ones are."""
        given = listed(values)
        if given and all(given):
            verdicts: np.ndarray = self.judge.accepts(given, share)
            return verdicts
        found = np.full(len(given), self.nulls > 0)
        some = [i for i, v in enumerate(given) if v]
        if some:
            found[some] = self.judge.accepts([given[i] for i in some], share)
        return found

    @property
    def expected_alarms(self) -> float:
        """The share of true later values that `accepts` refuses where no share is given: more after few rows."""
        return float(self.judge.expected_alarms)

    def log_prob(self, values: Iterable[Any]) -> np.ndarray:
        """Returns log p(next row = value | column); nulls have minus infinity."""
        given = listed(values)
        found = np.full(len(given), -math.inf)
        some = [i for i, v in enumerate(given) if v]
        if some:
            found[some] = self.posterior.log_prob([given[i] or "" for i in some])
        return found

    def sample(self, count: int, seed: int = 0) -> list[str]:
        """Returns new values, each by a program drawn from the posterior."""
        require_at_least("count", count, 1)
        rng = random.Random(seed)
        drawn = rng.choices(self.posterior.entries, self.posterior.weights, k=count)
        return [e.program.sample(rng) for e in drawn]

    def as_dict(self) -> dict[str, Any]:
        """Returns everything that `restore` needs, for JSON."""
        return {
            "format": 1,
            "programs": [
                {"program": as_record(e.program), "log_joint": e.log_joint, "source": e.source, "closed": e.closed}
                for e in self.posterior.entries
            ],
            "counts": self.posterior.rows.counts,
            "changes": self.posterior.rows.changes,
            "late_news": self.posterior.rows.late_news,
            "judge": self.judge.as_dict(),
            "outliers": [[o.value, list(o.rows), o.why] for o in self.outliers],
            "rows": self.rows,
            "nulls": self.nulls,
            "disagreement": self.disagreement,
            "stray_rows": self.stray_rows,
        }

    def __repr__(self) -> str:
        best = self.patterns[0]
        sure = f"({best.probability:.0%})"
        return f"<{best.description}: {best.regex[:80]} {sure}, {self.rows} rows, {len(self.outliers)} outliers>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(p.description)}</td><td><code>{html.escape(p.regex[:200])}</code></td>"
            f"<td>{p.probability:.2f}</td><td>{p.coverage:.0%}</td></tr>"
            for p in self.patterns
        )
        head = "<tr><th>what</th><th>pattern</th><th>probability</th><th>rows</th></tr>"
        return f"<table>{head}{rows}</table>"


def listed(values: Iterable[Any]) -> list[str | None]:
    """Returns texts, with None for None and NaN; anything else is refused."""
    if isinstance(values, (str, bytes)):
        raise Refusal("A list of strings is expected, but a single string was given: put it in a list.")
    given = list(values)
    if set(map(type, given)) == {str} and max(map(len, given)) <= LONGEST_VALUE:
        return given
    found: list[str | None] = []
    for value in given:
        if value is None or (not isinstance(value, str) and is_missing(value)):
            found.append(None)
        elif not isinstance(value, str):
            raise Refusal(f"Every value must be a string or null, but {value!r} was given.")
        elif len(value) > LONGEST_VALUE:
            raise Refusal(f"A value of {len(value)} characters was given; at most {LONGEST_VALUE} are read: cut it.")
        else:
            found.append(value)
    return found


def explain(
    values: Iterable[Any],
    *,
    effort: str = "usual",
    generality: str = "usual",
    reject: Iterable[str] = (),
    seed: int = 0,
) -> Explanation:
    """Explains the rows of a column, in their order; None, NaN and empty texts are nulls."""
    require_one_of("effort", effort, tuple(EFFORTS))
    require_one_of("generality", generality, GENERALITIES)
    given = listed(values)
    texts = [v for v in given if v]
    if not texts:
        raise Refusal(f"None of the {len(given)} values is a text: at least one is needed.")
    unwanted = [r for r in listed(reject) if r is not None]
    return _finished(given, texts, lambda some: infer(some, effort, generality, unwanted), seed)


def _finished(
    given: list[str | None], texts: list[str], infer: Callable[[list[str]], Posterior], seed: int
) -> Explanation:
    """Explains the texts; strays are left out of what programs and judge are fitted to, and judged with the others."""
    from wakesleep.domains.strings.columns.judge import fit

    kept = texts
    for _ in range(MOST_FITS):
        posterior = infer(kept)
        judge = fit(kept, posterior)
        strays = strays_of(kept, posterior, judge.oddities, infer)
        if not strays:
            break
        kept = [t for t in kept if t not in strays]
    outliers, differ = _outliers(given, Counter(texts), posterior, judge)
    marks = tuple(null_marks(list(posterior.rows.counts)))
    stray_rows = len(texts) - posterior.rows.total
    patterns = patterns_of(posterior, seed, stray_rows)
    return Explanation(
        patterns, posterior, judge, outliers, len(given), len(given) - len(texts), marks, differ, stray_rows
    )


def _outliers(
    given: list[str | None], counts: dict[str, int], posterior: Posterior, judge: Any
) -> tuple[tuple[Outlier, ...], float]:
    """Returns the values that are not accepted, and the share of rows at which the rule says otherwise."""
    rule, distinct = Rule(posterior.entries[0].program), list(counts)
    verdicts = dict(zip(distinct, map(bool, judge.accepts(distinct)), strict=True))
    differ = sum(counts[v] for v, ok in verdicts.items() if ok != rule.accepts(v))
    places: dict[str, list[int]] = {v: [] for v in [v for v, ok in verdicts.items() if not ok][:MOST_OUTLIERS]}
    if places:
        for i, v in enumerate(given):
            if v in places:
                places[v].append(i)
    found = tuple(Outlier(v, tuple(rows), judge.why(v)) for v, rows in places.items())
    return found, differ / sum(counts.values())


def patterns_of(posterior: Posterior, seed: int, stray_rows: int = 0) -> tuple[Pattern, ...]:
    """Returns the programs of the posterior as patterns; those with the same regex are one, named by the best."""
    rng = random.Random(seed)
    found: dict[str, tuple[Entry, float]] = {}
    for entry, weight in zip(posterior.entries, posterior.weights, strict=True):
        regex = f"^{entry.program.regex}$"
        best, mass = found.get(regex, (entry, 0.0))
        found[regex] = (best, mass + weight)
    kept = [(r, e, w) for r, (e, w) in found.items() if w >= LEAST_PATTERN_PROBABILITY][:MOST_PATTERNS]
    total = posterior.rows.total + stray_rows
    return tuple(_pattern(regex, entry, weight, posterior, total, rng) for regex, entry, weight in kept)


def _pattern(regex: str, entry: Entry, weight: float, posterior: Posterior, total: int, rng: random.Random) -> Pattern:
    node: Node = entry.program
    rule = re.compile(regex)
    counts = posterior.rows.counts
    covered = sum(c for v, c in counts.items() if rule.fullmatch(v))
    samples = tuple(node.sample(rng) for _ in range(SAMPLES))
    said = describe(node)
    return Pattern(regex, weight, said, tuple(notes(node)), covered / total, node.exact, entry.closed, samples)


def restore(stored: dict[str, Any]) -> Explanation:
    """Returns the explanation that `as_dict` stored; anything else is refused."""
    from wakesleep.domains.strings.columns.judge import restore as restore_judge

    try:
        counts = {str(k): int(v) for k, v in stored["counts"].items()}
        changes = {str(k): int(v) for k, v in stored["changes"].items()}
        rows = Rows(counts, changes, int(stored["late_news"]))
        entries = tuple(
            Entry(from_record(p["program"]), float(p["log_joint"]), str(p["source"]), bool(p["closed"]))
            for p in stored["programs"]
        )
        if not entries or not counts:
            raise Refusal("The stored explanation cannot be read: it holds no program or no value.")
        mass = [math.exp(e.log_joint - entries[0].log_joint) for e in entries]
        posterior = Posterior(entries, tuple(m / sum(mass) for m in mass), rows, pitman_yor(rows))
        outliers = tuple(Outlier(str(v), tuple(map(int, r)), str(w)) for v, r, w in stored["outliers"])
        judge = restore_judge(stored["judge"])
        return Explanation(
            patterns_of(posterior, 0, stray_rows := int(stored["stray_rows"])), posterior, judge, outliers,
            int(stored["rows"]), int(stored["nulls"]), tuple(null_marks(list(counts))), float(stored["disagreement"]),
            stray_rows,
        )  # fmt: skip
    except UNREADABLE as fault:
        raise Refusal(f"The stored explanation cannot be read: {fault}.") from fault
