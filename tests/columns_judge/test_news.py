"""Rates of news against counting row by row."""

import random
from functools import cache

import numpy as np
import pytest

from wakesleep.domains.strings.columns.judge import levels
from wakesleep.domains.strings.columns.judge.column import LEVELS, Column
from wakesleep.domains.strings.columns.judge.news import ROW_CUTS, rate, read_rows, thinned

COLUMNS = {
    "codes": [f"A{i % 7}-{i:03d}" for i in range(60)],
    "states": random.Random(0).choices(["open", "closed", "on hold"], k=50),
    "names": [
        a + b for a, b in zip(random.Random(1).choices(["Ann", "Bob", "Eve ", ""], k=40), "abcdefgh" * 5, strict=True)
    ],
    "two": ["x", "y"],
    "one": ["only"],
}


@cache
def keys_of(value):
    found = levels.keys_of(value)
    return [*({k} for k in found.single), *found.sets]


def counted_rates(values):
    """The three rates of every level by comparing sets of keys, as the docstring of Rates says it."""
    rows, distinct = [keys_of(v) for v in values], list(dict.fromkeys(values))
    starts = sorted({max(1, round(c * len(values))) for c in ROW_CUTS})
    found = {"fresh": [], "rows": [], "alone": []}
    for level in range(len(LEVELS)):
        fresh = new = by_row = after = 0
        for h in starts:
            seen = set().union(*(r[level] for r in rows[:h]))
            late = [v for v in distinct if v not in values[:h]]
            new += len(late)
            fresh += sum(not keys_of(v)[level] <= seen for v in late)
            by_row += sum(not r[level] <= seen for r in rows[h:])
            after += len(values) - h
        alone = 0
        for v in distinct:
            others = set().union(*(keys_of(o)[level] for o in distinct if o != v))
            alone += not keys_of(v)[level] <= others
        n = len(starts)
        found["fresh"].append(rate(fresh / n, new / n))
        found["rows"].append(rate(by_row / n, after / n))
        found["alone"].append(rate(alone, len(distinct)))
    return found


@pytest.mark.parametrize("name", COLUMNS)
def test_rates_equal_those_counted_by_comparing_sets(name):
    rates = Column.fit(COLUMNS[name]).rates
    for kind, expected in counted_rates(COLUMNS[name]).items():
        np.testing.assert_allclose(getattr(rates, kind), expected, err_msg=kind)


def test_rows_keep_order_counts_and_first_rows():
    rows = read_rows(["b", "a", "b", "c"])
    assert rows.values == ["b", "a", "c"]
    assert rows.first.tolist() == [0, 1, 3]
    assert rows.counts.tolist() == [2, 1, 1]
    assert rows.places.tolist() == [0, 1, 0, 2]


def test_thinned_rows_keep_all_rows_of_the_values_kept():
    values = [str(i % 50) for i in range(500)]
    rows = thinned(read_rows(values), 10)
    assert len(rows.values) == 10
    assert rows.counts.tolist() == [10] * 10
    assert rows.values[0] == "0" and rows.values[-1] == "49"


def test_features_are_finite_for_hostile_values():
    column = Column.fit(["a", "", "\x00", "é" * 2000, "\U0001f600", "١٢٣", "a\nb"])
    found = column.features(["", " ", "\ud800", "x" * 100_000, "\x02\x03", "ǅ", "日本語"])
    assert np.isfinite(found).all()
    assert np.isfinite(column.seen_once()[0]).all()
    assert np.isfinite(column.backtest(5)[0]).all()


def test_leaving_one_out_equals_fitting_without_it():
    values = [
        f"{c}{i:02d} {w}" for i, (c, w) in enumerate(zip("ABCDEFGH" * 3, ["red", "blue", "green"] * 8, strict=True))
    ]
    column = Column.fit(values)
    for i in (0, 5, 23):
        rest = Column.fit(values[:i] + values[i + 1 :])
        news = rest.features([values[i]])[0, : len(LEVELS)] > 0
        np.testing.assert_array_equal(news, column.shared[i] == 1)
