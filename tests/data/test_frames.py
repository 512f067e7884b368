"""Data frames of several libraries read as the same table in a file."""

import datetime
import decimal

import numpy as np
import polars as pl
import pytest

from wakesleep.data import limits
from wakesleep.data.tables import read_table, stream_columns
from wakesleep.errors import Refusal

CODES = ["A1", None, " B2", ""]
EXPECTED = [
    ("code", ["A1", None, " B2", None]),
    ("n", ["1", "2", None, "4"]),
    ("x", ["0.5", None, "2.0", None]),
    ("day", ["2024-01-31", "2024-02-01", None, "2024-02-02"]),
]
DAYS = [datetime.date(2024, 1, 31), datetime.date(2024, 2, 1), None, datetime.date(2024, 2, 2)]
PLAIN = {"code": CODES, "n": [1, 2, None, 4], "x": [0.5, float("nan"), 2.0, None], "day": DAYS}


def columns(frame, rows="all"):
    return [(c.name, list(c.values)) for c in read_table(frame, rows=rows).columns]


def test_dictionaries_and_polars():
    for frame in (PLAIN, pl.DataFrame(PLAIN), pl.LazyFrame(PLAIN), {k: tuple(v) for k, v in PLAIN.items()}):
        assert columns(frame) == EXPECTED == columns(frame, "sample")


def test_pandas_of_every_kind_of_missing_value():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(PLAIN)
    assert frame["n"].dtype == float
    assert columns(frame) == EXPECTED == columns(frame, "sample")
    assert columns(frame["code"]) == EXPECTED[:1]
    typed = frame.assign(n=frame["n"].astype("Int64"), code=frame["code"].astype("category"), extra=pandas.NaT)
    assert columns(typed) == [*EXPECTED, ("extra", [None] * 4)]
    times = pandas.Series(pandas.to_datetime(["2024-01-31 10:00", None]), name="when")
    assert columns(times) == [("when", ["2024-01-31 10:00:00", None])]
    late = pandas.Series(pandas.to_datetime(["2024-01-31", None, "2024-02-01"]), name="when")
    assert columns(late) == [("when", ["2024-01-31", None, "2024-02-01"])]
    twice = pandas.concat([frame[["n"]], frame[["n"]]], axis=1)
    assert [name for name, _ in columns(twice)] == ["n", "n_2"]


def test_arrow_tables_and_columns():
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table(PLAIN)
    assert columns(table) == EXPECTED == columns(table, "sample")
    assert columns(table["code"]) == [("values", EXPECTED[0][1])]
    assert columns(arrow.array(CODES)) == [("values", EXPECTED[0][1])]
    assert columns(table.to_reader()) == EXPECTED == columns(table.to_batches()[0])
    twice = arrow.table([CODES, PLAIN["n"]], names=["x", "x"])
    assert columns(twice) == [("x", EXPECTED[0][1]), ("x_2", EXPECTED[1][1])]


def test_a_relation_is_known_by_its_methods():
    """As DuckDB's has them, where that library is not there to try."""

    class Relation:
        __module__ = "duckdb"
        columns = ("code", "n")

        def __init__(self, rows):
            self.rows = rows

        def fetchall(self):
            return self.rows

    assert columns(Relation([("A1", 1), (None, 2)])) == [("code", ["A1", None]), ("n", ["1", "2"])]
    assert columns(Relation([])) == [("code", []), ("n", [])]


def test_a_duckdb_relation():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select * from (values ('A1', 1), (null, 2)) as t(code, n)")
    assert columns(relation) == [("code", ["A1", None]), ("n", ["1", "2"])]
    broken = duckdb.sql("select error('no such row') as x")
    with pytest.raises(Refusal, match=r"cannot be read .*no such row"):
        columns(broken)


def test_pandas_with_columns_of_arrow():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    zone = datetime.UTC
    frame = pandas.DataFrame(PLAIN).convert_dtypes(dtype_backend="pyarrow")
    assert columns(frame) == EXPECTED == columns(frame, "sample")
    times = pandas.DataFrame(
        {
            "midnight": [datetime.datetime(2024, 1, 31), None],
            "zoned": [datetime.datetime(2024, 1, 31, tzinfo=zone), None],
        }
    )
    told = [("midnight", ["2024-01-31", None]), ("zoned", ["2024-01-31 00:00:00+00:00", None])]
    assert columns(times) == told == columns(times.convert_dtypes(dtype_backend="pyarrow"))


def test_columns_of_dates_and_times_are_known_by_their_type(tmp_path):
    when = [datetime.datetime(2024, 1, 31, 10), None]
    day = [None, datetime.date(2024, 1, 31)]
    plain = {"when": when, "day": day, "text": ["2024-01-31", None], "n": [1, 2]}
    frame = pl.DataFrame(plain)
    frame.write_parquet(tmp_path / "t.parquet")
    sources = [plain, frame, tmp_path / "t.parquet"]
    try:
        import duckdb

        sources += [duckdb.sql(f"select * from '{tmp_path}/t.parquet'"), frame.to_pandas()]
    except ImportError:
        pass
    for source in sources:
        (stretch,) = stream_columns(source)
        assert [c.instants for c in stretch] == [True, True, False, False], type(source)


@pytest.mark.parametrize("make", [list, tuple, pl.Series, np.array])
def test_single_columns(make):
    values = {"a": make(["A1", "B2"])} if make is np.array else make(["A1", "B2"])
    assert columns(values)[0][1] == ["A1", "B2"]


def test_values_of_odd_kinds_become_text():
    odd = [decimal.Decimal("1.50"), decimal.Decimal("NaN"), True, b"x", [1], np.float64("nan"), np.int64(3)]
    assert columns({"a": odd}) == [("a", ["1.50", None, "True", "b'x'", "[1]", None, "3"])]


def test_a_frame_is_streamed_with_row_numbers():
    frame = pl.DataFrame({"a": [f"x{i}" for i in range(2 * limits.CHUNK_ROWS + 3)]})
    parts = [c for (c,) in stream_columns(frame)]
    assert len(parts) == 3
    assert [v for c in parts for v in c.values] == frame["a"].to_list()
    assert [n for c in parts for n in c.numbers] == list(range(1, frame.height + 1))


def test_what_is_no_frame_is_refused():
    for bad in (3, object(), {"a": "text"}, {"a": [1], "b": [1, 2]}):
        with pytest.raises(Refusal):
            read_table(bad, rows="all")
