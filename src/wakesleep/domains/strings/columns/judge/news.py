"""How often later rows of a column are news at each level, given the earlier ones, in row order and at random."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wakesleep.domains.strings.columns.judge.keys import Bag
from wakesleep.domains.strings.columns.judge.texts import Table, distinct

ROW_CUTS = (0.5, 0.7, 0.85)
"""Shares of the rows after which the later ones are judged by the earlier ones."""


@dataclass(frozen=True)
class Rows:
    """The distinct values of a column in row order, the first row and the number of rows of each, and each row's."""

    values: list[str]
    first: np.ndarray
    counts: np.ndarray
    total: int
    places: np.ndarray


def read_rows(values: Sequence[str]) -> Rows:
    """Counts the distinct values and notes their first rows."""
    at: dict[str, int] = {}
    places = np.fromiter((at.setdefault(v, len(at)) for v in values), int, len(values))
    first = np.full(len(at), len(values))
    np.minimum.at(first, places, np.arange(len(values)))
    return Rows(list(at), first, np.bincount(places, minlength=len(at)), len(values), places)


def thinned(rows: Rows, most: int) -> Rows:
    """Returns at most `most` distinct values, evenly over the rows, with all of their rows."""
    if len(rows.values) <= most:
        return rows
    kept = np.linspace(0, len(rows.values) - 1, most).astype(int)
    chosen = np.zeros(len(rows.values), bool)
    chosen[kept] = True
    return read_rows([rows.values[i] for i in rows.places.tolist() if chosen[i]])


def rate(hits: Any, trials: Any) -> Any:
    """Returns the posterior mean of a rate under Jeffreys' prior."""
    return (hits + 0.5) / (trials + 1)


@dataclass(frozen=True)
class Known:
    """A level of a column: its keys with the number of distinct values that have them.

    For each distinct value of the column, `birth` is the row by which all its keys had been seen, `shared` the
    number of distinct values that have its rarest key.
    """

    keys: Table
    birth: np.ndarray
    shared: np.ndarray


def single_level(first: np.ndarray, keys: np.ndarray) -> Known:
    """Returns the level of one key a value, from the values' first rows, which rise, and the hashes of their keys."""
    known, born, places, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return Known(Table(known, counts), first[born][places], counts[places])


def bag_level(first: np.ndarray, bag: Bag) -> Known:
    """Returns the level of a bag of keys a value."""
    keys, born, places = np.unique(bag.hashes, return_index=True, return_inverse=True)
    pairs = distinct(bag.owner * max(len(keys), 1) + places)
    counts = np.bincount(pairs % max(len(keys), 1), minlength=len(keys))
    sizes = np.bincount(bag.owner, minlength=len(first))
    birth, shared = np.zeros(len(first), int), np.full(len(first), len(first))
    some = sizes > 0
    starts = (np.cumsum(sizes) - sizes)[some]
    if len(starts):
        birth[some] = np.maximum.reduceat(first[bag.owner[born]][places], starts)
        shared[some] = np.minimum.reduceat(counts[places], starts)
    return Known(Table(keys, counts), birth, shared)


def fewest(counts: np.ndarray, sizes: np.ndarray, otherwise: int) -> np.ndarray:
    """Returns the least count of the keys of each bag, of which `sizes` are the numbers of keys; else `otherwise`."""
    found, some = np.full(len(sizes), otherwise), sizes > 0
    if some.any():
        found[some] = np.minimum.reduceat(counts, (np.cumsum(sizes) - sizes)[some])
    return found


def count_new(counts: np.ndarray, bag: Bag, count: int) -> np.ndarray:
    """Returns for each of `count` bags the number of different keys whose counts are zero."""
    new = counts == 0
    hashes, owner = bag.hashes[new], bag.owner[new]
    order = np.lexsort((hashes, owner))
    hashes, owner = hashes[order], owner[order]
    again = np.zeros(len(owner), bool)
    again[1:] = (hashes[1:] == hashes[:-1]) & (owner[1:] == owner[:-1])
    return np.bincount(owner[~again], minlength=count)


@dataclass(frozen=True)
class Rates:
    """The rates of news at each level, and the mean number of distinct values that were new after a cut (`trials`).

    Rates are of those distinct values (`fresh`), of rows after a cut (`rows`), of values beside all others (`alone`).
    """

    fresh: np.ndarray
    rows: np.ndarray
    alone: np.ndarray
    trials: float

    def as_dict(self) -> dict[str, Any]:
        """Returns the rates as JSON."""
        return {k: getattr(self, k).tolist() for k in ("fresh", "rows", "alone")} | {"trials": self.trials}

    @classmethod
    def restore(cls, given: Mapping[str, Any], number: int) -> "Rates":
        """Returns the rates that `as_dict` described, which must be probabilities at `number` levels."""
        fresh, rows, alone = (np.array(given[k], float) for k in ("fresh", "rows", "alone"))
        trials = float(given["trials"])
        shaped = all(x.shape == (number,) and ((x > 0) & (x < 1)).all() for x in (fresh, rows, alone))
        if not shaped or not 0 <= trials < math.inf:
            raise ValueError("rates are not probabilities")
        return cls(fresh, rows, alone, trials)


def measure(rows: Rows, birth: np.ndarray, shared: np.ndarray) -> Rates:
    """Returns the rates of news of a column at each level."""
    starts = sorted({max(1, round(c * rows.total)) for c in ROW_CUTS})
    later = [rows.first >= h for h in starts]
    trials = sum(int(x.sum()) for x in later) / len(starts)
    after = sum(rows.total - h for h in starts) / len(starts)
    fresh = sum((birth[x] >= h).sum(0) for h, x in zip(starts, later, strict=True)) / len(starts)
    weights = [np.bincount(rows.places[h:], minlength=len(birth)).astype(float) for h in starts]
    by_row = sum(w @ (birth >= h) for h, w in zip(starts, weights, strict=True)) / len(starts)
    return Rates(rate(fresh, trials), rate(by_row, after), rate((shared == 1).sum(0), len(shared)), trials)
