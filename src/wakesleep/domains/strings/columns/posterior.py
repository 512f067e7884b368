"""The posterior over programs for a column: candidates of all sources, scored and kept in a memory of the best."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wakesleep.domains.strings.columns.background import background, flat
from wakesleep.domains.strings.columns.candidates import STRAY_RATE, read_off, rest_of, single_run, stray_scores
from wakesleep.domains.strings.columns.choices import Either
from wakesleep.domains.strings.columns.codes import NULLS
from wakesleep.domains.strings.columns.composites import composites
from wakesleep.domains.strings.columns.concepts import Concept
from wakesleep.domains.strings.columns.known import known_programs
from wakesleep.domains.strings.columns.mutations import mutated
from wakesleep.domains.strings.columns.nodes import Node
from wakesleep.domains.strings.columns.numbers import Number
from wakesleep.domains.strings.columns.prior import Weights, free_parameters, log_prior, shipped
from wakesleep.domains.strings.columns.reading import marks_among, mask, shuffled
from wakesleep.domains.strings.columns.repetition import News, Rows, count_rows, log_closed, may_be_closed, pitman_yor
from wakesleep.domains.strings.columns.slots import Reading
from wakesleep.domains.strings.columns.words import Words

EFFORTS = {"quick": (60, 4), "usual": (120, 5), "thorough": (1000, 10)}
"""Distinct values that programs are scored on, and programs kept."""
FEW_VALUES = 30
"""Values on which all candidates are scored; those that do well are scored on all."""
CLOSED_NEWS = {"narrow": 3.0, "usual": 1.0, "wide": 0.3}
"""Factor on the rate of news below which a column may be closed."""
REJECTED = -50.0
"""Nats for each counter-example that a program accepts."""
MOST_CLOSED = 400
FEWEST_OF_RANGE, ROWS_OF_NUMBER = 5, 20
"""Whole numbers from which a closed list is their range; rows for each below which a list with gaps stays open."""
CONCEPT, READ_OFF, REST, MUTATION, ENUMERATION = PROPOSERS = ("concept", "read off", "rest", "mutation", "enumeration")
"""Sources of proposals: named concepts, the column itself, what the best leave over, changes of the best, its list."""
FEWEST_BESIDE_MARKS = 8
"""Different values of a column in which a word that comes again stands for a number."""
HOPELESS_NATS = 1.0
"""How far a program must be below those that are kept before the rest of the values are left unread."""


@dataclass(frozen=True)
class Entry:
    """A program of the memory. `program` writes values not seen; a closed column has none of those."""

    program: Node
    log_joint: float
    source: str
    closed: bool = False


@dataclass(frozen=True)
class Posterior:
    """Programs with their weights; together with the counts of rows they give p(next row)."""

    entries: tuple[Entry, ...]
    weights: tuple[float, ...]
    rows: Rows
    news: News

    def log_prob(self, values: Sequence[str]) -> np.ndarray:
        """Returns log p(next row = value): seen values by frequency, others by the programs; strays are flat."""
        base = self.log_program(values)
        total, discount, chance = self.rows.total, self.news.discount, self.news.chance
        kept = total - discount * len(self.rows.counts)
        seen = np.array([max(self.rows.counts.get(v, 0) - discount, 0.0) / kept for v in values]) * (1 - chance)
        return np.logaddexp(np.log(np.maximum(seen, 1e-300)), math.log(chance) + base)

    def log_program(self, values: Sequence[str]) -> np.ndarray:
        """Returns log p(value | programs), frequencies of whole values left aside; strays are flat."""
        mixed = self.log_supported(values) + math.log1p(-STRAY_RATE)
        return np.logaddexp(mixed, np.array([flat(v) for v in values]) + math.log(STRAY_RATE))

    def log_supported(self, values: Sequence[str]) -> np.ndarray:
        """Returns log p(value | programs) without strays; minus infinity where no program can write the value."""
        found = np.full(len(values), -np.inf)
        for entry, weight in zip(self.entries, self.weights, strict=True):
            if weight > 0:
                found = np.logaddexp(found, np.array(entry.program.log_probs(values)) + math.log(weight))
        return found

    def log_background(self, values: Sequence[str]) -> np.ndarray:
        """Returns log p(value) under the character model of columns in general."""
        return background(values)


def infer(
    values: Sequence[str], effort: str = "usual", generality: str = "usual", reject: Sequence[str] = (),
    weights: Weights | None = None, without: Collection[str] = (),
) -> Posterior:  # fmt: skip
    """Returns the posterior for the rows of a column, nulls left out; `without` are sources of proposals left out."""
    judged, memory_size = EFFORTS[effort]
    rows = count_rows(values)
    distinct = list(rows.counts)
    reading = Reading(weights or shipped(), generality, shuffled(distinct))
    sample = distinct[:: math.ceil(len(distinct) / judged)]
    marks = null_marks(distinct) + word_marks(rows)
    entries = open_entries(sample, marks, reading, memory_size, without)
    news = pitman_yor(rows)
    entries = _with_closed(entries, rows, news, reading.generality)
    if ENUMERATION in without:
        entries = [e for e in entries if not e.closed]
    entries = [_penalised(e, rows, reject) for e in entries]
    best = sorted(entries, key=lambda e: -e.log_joint)[:memory_size]
    mass = [math.exp(e.log_joint - best[0].log_joint) for e in best]
    return Posterior(tuple(best), tuple(m / sum(mass) for m in mass), rows, news)


def null_marks(distinct: Sequence[str]) -> list[str]:
    """Returns values that stand for nothing: marks whose form no other value has."""
    marks = [v for v in distinct if v in NULLS]
    if not marks or len(marks) == len(distinct):
        return []
    forms = {mask(v) for v in distinct if v not in NULLS}
    return [m for m in marks if mask(m) not in forms]


def word_marks(rows: Rows) -> list[str]:
    """Returns a few texts without digits that come again and again among values with digits."""
    words = [v for v in rows.counts if not any(map(str.isdecimal, v)) and v not in NULLS]
    often = words and all(rows.counts[w] > 1 for w in words)
    return words if often and len(rows.counts) >= FEWEST_BESIDE_MARKS and marks_among(words, list(rows.counts)) else []


def open_entries(
    sample: Sequence[str], marks: Sequence[str], reading: Reading, memory_size: int, without: Collection[str] = ()
) -> list[Entry]:
    """Returns scored programs of every source but those left out, the best first, each once; marks are a branch."""
    values = [v for v in sample if v not in marks]
    few = values[:: -(-len(values) // FEW_VALUES)]
    strays = stray_scores(values)
    roughly: dict[Node, Entry] = {}
    scores: list[float] = []

    def add(source: str, node: Node) -> None:
        if node not in roughly:
            least = sorted(scores)[-2 * memory_size] if len(scores) >= 2 * memory_size else -math.inf
            scores.append(log_joint_of(node, few, strays, reading, least))
            roughly[node] = Entry(node, scores[-1], source)

    for source, node in _first_proposals(values, reading, without):
        add(source, node)
    for entry in _best(roughly, 2) if REST not in without else ():
        rest = rest_of(entry.program, values, reading)
        if rest is not None:
            add(REST, rest)
    for entry in _best(roughly, 2) if MUTATION not in without else ():
        for node in mutated(entry.program, reading.generality):
            add(MUTATION, node)
    wide = _best(roughly, 2 * memory_size)
    if len(few) < len(values):
        wide = [replace(e, log_joint=log_joint_of(e.program, values, strays, reading)) for e in wide]
    kept = sorted(wide, key=lambda e: -e.log_joint)[:memory_size]
    return [_with_marks(e, marks, len(values)) for e in kept] if marks else kept


def _first_proposals(values: Sequence[str], reading: Reading, without: Collection[str]) -> list[tuple[str, Node]]:
    """Returns concepts and programs read off the values; one run of characters is always proposed."""
    known = known_programs(values, reading) if CONCEPT not in without else []
    if READ_OFF in without:
        return [*known, *((READ_OFF, node) for node in single_run(values, reading))]
    if CONCEPT not in without:
        known += [(CONCEPT, node) for node in composites(values, reading)]
    return known + read_off(values, reading)


def _best(found: dict[Node, Entry], count: int) -> list[Entry]:
    return sorted(found.values(), key=lambda e: -e.log_joint)[:count]


def _with_marks(entry: Entry, marks: Sequence[str], others: int) -> Entry:
    """Returns the program, or a null mark."""
    share = len(marks) / (len(marks) + others)
    words = Words(tuple(marks), (1 / len(marks),) * len(marks))
    return Entry(Either((entry.program, words), (1 - share, share)), entry.log_joint, entry.source)


def log_joint_of(
    node: Node, values: Sequence[str], strays: dict[str, float], reading: Reading, least: float = -math.inf
) -> float:
    """Returns log p(program) + log p(distinct values | program or stray), less half a log for each fitted parameter.

    A program that cannot reach `least` is not read to the end: some number below `least` is returned.
    """
    own = log_prior(node, reading.weights) - 0.5 * free_parameters(node) * math.log(len(values) + 1)
    log_p = 0.0
    for v in values:
        a, b = node.log_prob(v), strays[v]
        log_p += max(a, b) + math.log1p(math.exp(-abs(a - b)))
        if own + log_p < least - HOPELESS_NATS:
            break
    return log_p + own


def _with_closed(entries: list[Entry], rows: Rows, news: News, generality: str) -> list[Entry]:
    """Returns each program as an open column, the best as a closed one if news is rare, finite concepts by all rows."""
    found = [Entry(e.program, e.log_joint + news.evidence, e.source) for e in entries]
    found += [finite for e in entries if (finite := _finite(e, rows)) is not None]
    k = len(rows.counts)
    if k > MOST_CLOSED or not may_be_closed(rows, CLOSED_NEWS[generality]):
        return found
    program = _closed_program(rows)
    if program is None:
        return found
    score = entries[0].log_joint + log_closed(rows) + math.lgamma(k + 1)
    return [*found, Entry(program, score, ENUMERATION, True)]


def _closed_program(rows: Rows) -> Node | None:
    """Returns the list of all values; of many whole numbers their range, or None where the range has gaps."""
    k, n = len(rows.counts), rows.total
    if k >= FEWEST_OF_RANGE and all(v.isdecimal() and v.isascii() and str(int(v)) == v for v in rows.counts):
        low, high = min(map(int, rows.counts)), max(map(int, rows.counts))
        if high - low + 1 == k:
            return Number(low, high)
        if n < ROWS_OF_NUMBER * k:
            return None
    return Words(tuple(rows.counts), tuple((c + 0.5) / (n + 0.5 * k) for c in rows.counts.values()))


def _finite(entry: Entry, rows: Rows) -> Entry | None:
    """Returns a concept that is a list of words, with every row drawn from it, rather than every value once."""
    if not (isinstance(entry.program, Concept) and isinstance(entry.program.body, Words)):
        return None
    each = [(entry.program.log_prob(v), c) for v, c in rows.changes.items()]
    if any(p == -math.inf for p, _ in each):
        return None
    return Entry(entry.program, entry.log_joint + sum((c - 1) * p for p, c in each), entry.source)


def _penalised(entry: Entry, rows: Rows, reject: Sequence[str]) -> Entry:
    wrong = sum(entry.program.log_prob(r) > -math.inf for r in reject)
    if not wrong:
        return entry
    return Entry(entry.program, entry.log_joint + REJECTED * wrong, entry.source, entry.closed)
