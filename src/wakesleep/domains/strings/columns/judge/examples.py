"""Training examples: features of legitimate later values and of mistakes, from real columns cut in many ways."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wakesleep.domains.strings.columns.judge import mistakes
from wakesleep.domains.strings.columns.judge.column import Column
from wakesleep.domains.strings.columns.judge.judge import MOST_BACKTESTED
from wakesleep.domains.strings.columns.judge.sources import MOST_ROWS, Table

MOST_LATER = 150
"""Later rows of a column that are judged."""
STRANGER = "stranger"
STRANGERS = 15


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
    backtest: np.ndarray
    backtest_weights: np.ndarray


def describe(
    names: tuple[str, str, str], fitted: Sequence[str], later: Sequence[str], wrong: list[tuple[str, str]]
) -> Examples:
    """Fits a column on values and computes the features of later rows and of mistakes."""
    column = Column.fit(fitted)
    new: dict[str, float] = {}
    for value in later:
        if not column.knows(value):
            new[value] = new.get(value, 0.0) + 1 / len(later)
    features = column.features([*new, *(text for _, text in wrong)])
    weights = np.array(list(new.values()), np.float32)
    kinds = [kind for kind, _ in wrong]
    backtest = column.backtest(MOST_BACKTESTED)
    return Examples(*names, features[: len(new)], weights, features[len(new) :], kinds, column.total, *backtest)


def ways(values: list[str], draw: random.Random) -> Iterator[tuple[str, list[str], list[str]]]:
    """A column cut into values to fit and later values, by name of the way: halves, few values, windows."""
    half = len(values) // 2
    before, later = values[:half], values[half:]
    shuffled = draw.sample(values, len(values))
    yield "half", before, later
    yield "ten", list(dict.fromkeys(before))[:10], later
    yield "random half", shuffled[:half], shuffled[half:]
    yield "reversed", values[::-1][:half], values[::-1][half:]
    for size in draw.sample([3, 5, 20, 50, 200], 2):
        if size < 0.7 * half:
            start = draw.randrange(half - size + 1)
            end = start + size
            yield f"window {size}", values[start:end], later if draw.random() < 0.5 else values[end : end + 3 * max(size, 50)]
    few, distinct = draw.choice([2, 3, 5, 10, 20]), list(dict.fromkeys(shuffled))
    if len(distinct) > 2 * few:
        yield f"few {few}", distinct[:few], distinct[few:]


def of_tables(tables: dict[str, Table], concepts: list[list[str]]) -> Iterator[Examples]:
    """The examples of every text column of every table."""
    for table, columns in tables.items():
        draw = random.Random(f"examples of {table}")
        for name, whole in columns.items():
            values, own = whole[:MOST_ROWS], set(whole)
            others = [v for n, v in columns.items() if n != name]
            for way, fitted, later in ways(values, draw):
                if len(set(fitted)) < 2 or not later:
                    continue
                some = draw.sample(later, min(MOST_LATER, len(later)))
                wrong = mistakes.make(own, some, others, draw, closed=True, number=6)
                strange = (_stranger(table, tables, concepts, draw) for _ in range(STRANGERS))
                wrong += [(STRANGER, v) for v in strange if v not in own]
                yield describe((table, name, way), fitted, some, wrong)


def _stranger(table: str, tables: dict[str, Table], concepts: list[list[str]], draw: random.Random) -> str:
    """A value of a column of another table, or of a concept."""
    others = [t for t in tables if t != table]
    if draw.random() < 0.5 or not others:
        return draw.choice(draw.choice(concepts))
    return draw.choice(draw.choice(list(tables[draw.choice(others)].values())))


def of_concepts(concepts: list[list[str]], seed: int = 5) -> Iterator[Examples]:
    """The examples of the string concepts, each fitted on two numbers of its ten values."""
    draw = random.Random(seed)
    for i, concept in enumerate(concepts):
        own = set(concept)
        for size in draw.sample([2, 3, 5, 7], 2):
            values = draw.sample(concept, len(concept))
            others = [draw.choice(concepts) for _ in range(10)]
            wrong = mistakes.make(own, values[size:], others, draw, closed=False, number=3)
            strange = (draw.choice(draw.choice(concepts)) for _ in range(STRANGERS + 5))
            wrong += [(STRANGER, v) for v in strange if v not in own]
            yield describe(("", f"concept {i}", f"few {size}"), values[:size], values[size:], wrong)
