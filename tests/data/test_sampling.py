"""Every set of rows is as likely as any other, and CSV files are read as they were written."""

import csv
from collections import Counter
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from wakesleep.data.sampling import draws, sample_rows
from wakesleep.data.tables import read_table, stream_columns


def test_every_set_of_rows_is_equally_likely():
    found = Counter(tuple(sample_rows(7, 3, seed)) for seed in range(7000))
    assert set(found) == set(combinations(range(7), 3))
    assert stats.chisquare(list(found.values())).pvalue > 1e-3


def test_a_short_table_is_taken_whole_and_a_long_one_needs_few_draws():
    assert sample_rows(3, 5, 0) == [0, 1, 2]
    assert sample_rows(0, 5, 0) == []
    taken = 0
    for row, place in draws(100, 0):
        assert 0 <= place < 100
        if row >= 10**9:
            break
        taken += 1
    assert taken < 3000


CELL = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from(',;\t|"\n\r'), max_size=6)


@settings(max_examples=200, deadline=None)
@given(rows=st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=8))
def test_what_a_writer_of_csv_wrote_is_read_back(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "written.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("a", "b", "c"), *rows])
    expected = [[cell or None for cell in column] for column in zip(*rows, strict=True)]
    for mode in ("sample", "all"):
        table = read_table(path, rows=mode, header=True)
        assert table.names == ["a", "b", "c"]
        assert [list(c.values) for c in table.columns] == expected
    (streamed,) = stream_columns(path, header=True)
    assert [list(c.values) for c in streamed] == expected
