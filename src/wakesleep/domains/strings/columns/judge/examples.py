"""Training examples: features of legitimate later values and of mistakes, from real columns cut in many ways."""

import json
import random
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from wakesleep.domains.strings.columns.judge import mistakes
from wakesleep.domains.strings.columns.judge.column import Column
from wakesleep.domains.strings.columns.judge.judge import MOST_BACKTESTED, features_of
from wakesleep.domains.strings.columns.judge.program import Program
from wakesleep.domains.strings.columns.judge.sources import MOST_SOURCE_ROWS, Table, is_text
from wakesleep.domains.strings.columns.posterior import infer

MOST_LATER = 120
"""Later rows of a column that are judged."""
BLIND = 0.25
"""Share of columns that are described without programs, so that the judge works without a posterior."""
PLAIN_WAYS = ("half", "ten", "random half")
"""Ways that are always described with programs: those that are reported and calibrated on."""
MORE_WAYS = 2
"""Other ways in which a column of a gathered table is cut."""
STRANGER = "stranger"
DERIVED = "derived of"
STRANGERS = 12


@dataclass(frozen=True)
class Examples:
    """The examples of one column fitted in one way.

    `weights` are the shares of the later rows that each legitimate value stands for: rows that repeat a value
    fitted on are known without the network, and are left out.
    """

    table: str
    column: str
    way: str
    legitimate: np.ndarray
    weights: np.ndarray
    wrong: np.ndarray
    kinds: list[str]
    rows: int
    later: np.ndarray
    later_weights: np.ndarray
    once: np.ndarray
    once_weights: np.ndarray
    """The column's own values for its offset: those new in its second half, and those seen once."""


def describe(
    names: tuple[str, str, str], fitted: Sequence[str], later: Sequence[str], wrong: list[tuple[str, str]], blind: bool
) -> Examples:
    """Fits a column on values and computes the features of later rows and of mistakes; `blind` without programs."""
    column = Column.fit(fitted)
    program = None if blind else Program.fit(infer(fitted), column.rows.values)
    new: dict[str, float] = {}
    for value in later:
        if not column.knows(value):
            new[value] = new.get(value, 0.0) + 1 / len(later)
    features = features_of(column, program, [*new, *(text for _, text in wrong)])
    weights = np.array(list(new.values()), np.float32)
    kinds = [kind for kind, _ in wrong]
    once, _ = column.seen_once()
    some = once[:: 1 + len(once) // MOST_BACKTESTED]
    own = (
        *column.backtest(MOST_BACKTESTED),
        some,
        np.full(len(some), len(once) / max(len(some), 1) / column.rows.total),
    )
    return Examples(*names, features[: len(new)], weights, features[len(new) :], kinds, column.total, *own)


def ways(values: list[str], draw: random.Random) -> Iterator[tuple[str, list[str], list[str]]]:
    """Returns a column cut into values to fit and later values, by name of the way: halves, few values, windows."""
    half = len(values) // 2
    before, later = values[:half], values[half:]
    shuffled = draw.sample(values, len(values))
    yield "half", before, later
    yield "ten", list(dict.fromkeys(before))[:10], later
    yield "random half", shuffled[:half], shuffled[half:]
    yield "reversed", values[::-1][:half], values[::-1][half:]
    number = draw.choice([10, 20, 50])
    if number <= half:
        yield f"random {number}", shuffled[:number], shuffled[half:]
    size = draw.choice([3, 5, 20, 50, 200])
    if size < 0.7 * half:
        end = draw.randrange(half - size + 1) + size
        after = draw.choice([later, values[end : end + 3 * max(size, 50)]])
        yield f"window {size}", values[end - size : end], after
    few, distinct = draw.choice([2, 3, 5, 10, 20]), list(dict.fromkeys(shuffled))
    if len(distinct) > 2 * few:
        yield f"few {few}", distinct[:few], distinct[few:]


def derived(columns: Table, draw: random.Random) -> Table:
    """Makes new columns of those of a table: in one case, with a prefix, one word of each value, two columns joined."""
    found = {}
    for name, values in columns.items():
        made = _changed(values, draw.choice(list(columns.values())), draw)
        if is_text(made) and made != values:
            found[f"{DERIVED} {name}"] = made
    return found


def _changed(values: list[str], others: list[str], draw: random.Random) -> list[str]:
    """Returns the values changed in one of eight ways."""
    mark, prefix, way = draw.choice("-_/: "), draw.choice(["ID", "x", "No. ", "A-", "2020/"]), draw.randrange(8)
    if way == 7:
        return [a + mark + b for a, b in zip(values, others, strict=False)]
    makers: tuple[Callable[[str], str], ...] = (
        str.upper,
        str.lower,
        lambda v: v.replace(" ", mark),
        lambda v: prefix + v,
        lambda v: v.split()[0] if v.split() else v,
        lambda v: v.split()[-1] if v.split() else v,
        lambda v: v[:8],
    )
    return list(map(makers[way], values))


def of_tables(tables: dict[str, Table], concepts: list[list[str]], gathered: Container[str] = ()) -> Iterator[Examples]:
    """Returns the examples of every text column of every table, and of a column derived of each in one way.

    Those of `gathered` are many, so each of their columns is cut in fewer ways, and none is derived of it.
    """
    for table, columns in tables.items():
        draw = random.Random(f"examples of {table}")
        many = table in gathered
        for name, whole in (columns if many else columns | derived(columns, draw)).items():
            cut = list(ways(whole[:MOST_SOURCE_ROWS], draw))
            if many:
                plain = [c for c in cut if c[0] in PLAIN_WAYS]
                cut = plain + draw.sample(cut[len(plain) :], min(MORE_WAYS, len(cut) - len(plain)))
            for way, fitted, later in cut if name in columns else draw.sample(cut, 1):
                if len(set(fitted)) < 2 or not later:
                    continue
                some = draw.sample(later, min(MOST_LATER, len(later)))
                others = [v for n, v in columns.items() if n != name]
                own = set(whole)
                wrong = mistakes.make(own, some, others, draw, closed=True, number=6)
                strange = (_stranger(table, tables, concepts, draw) for _ in range(STRANGERS))
                wrong += [(STRANGER, v) for v in strange if v not in own]
                names = (table, name, way if name in columns else f"derived, {way}")
                yield describe(names, fitted, some, wrong, draw.random() < BLIND and way not in PLAIN_WAYS)


def _stranger(table: str, tables: dict[str, Table], concepts: list[list[str]], draw: random.Random) -> str:
    """Returns a value of a column of another table, or of a concept."""
    others = [t for t in tables if t != table]
    if draw.random() < 0.5 or not others:
        return draw.choice(draw.choice(concepts))
    return draw.choice(draw.choice(list(tables[draw.choice(others)].values())))


def of_concepts(concepts: list[list[str]], seed: int = 5) -> Iterator[Examples]:
    """Returns the examples of the string concepts, each fitted on two numbers of its ten values."""
    draw = random.Random(seed)
    for i, concept in enumerate(concepts):
        own = set(concept)
        for size in draw.sample([2, 3, 5, 7], 1 + i % 2):
            values = draw.sample(concept, len(concept))
            others = [draw.choice(concepts) for _ in range(10)]
            wrong = mistakes.make(own, values[size:], others, draw, closed=False, number=3)
            strange = (draw.choice(draw.choice(concepts)) for _ in range(STRANGERS + 5))
            wrong += [(STRANGER, v) for v in strange if v not in own]
            names = ("", f"concept {i}", f"few {size}")
            yield describe(names, values[:size], values[size:], wrong, draw.random() < BLIND)


def write_examples(path: Path, examples: Sequence[Examples]) -> None:
    """Writes examples to an .npz file: arrays end to end, their lengths, and the rest as JSON."""
    arrays = [f.name for f in fields(Examples) if f.type is np.ndarray]
    parts = {name: np.concatenate([getattr(e, name) for e in examples]) for name in arrays}
    lengths = np.array([[len(getattr(e, name)) for name in arrays] for e in examples])
    rest = [[e.table, e.column, e.way, e.kinds, e.rows] for e in examples]
    np.savez(path, allow_pickle=False, lengths=lengths, rest=np.array(json.dumps(rest)), **parts)


def read_examples(path: Path) -> list[Examples]:
    """Returns the examples that `write_examples` wrote."""
    arrays = [f.name for f in fields(Examples) if f.type is np.ndarray]
    with np.load(path, allow_pickle=False) as given:
        ends = np.cumsum(given["lengths"], axis=0)[:-1]
        parts = [np.split(given[name], ends[:, i]) for i, name in enumerate(arrays)]
        rest = json.loads(str(given["rest"]))
    found = []
    for i, (table, column, way, kinds, rows) in enumerate(rest):
        own = {name: part[i] for name, part in zip(arrays, parts, strict=True)}
        found.append(Examples(table=table, column=column, way=way, kinds=kinds, rows=rows, **own))
    return found
