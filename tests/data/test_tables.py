"""Tables are read from files of every kind, cells as they stand, in all rows or in a sample."""

import datetime
import gzip
import io
import sys
import zipfile
from collections import Counter

import polars as pl
import pytest

from tests.data.spreadsheets import write_xlsx
from wakesleep.data import limits
from wakesleep.data.tables import Column, few_shot, read_table, stream_columns
from wakesleep.errors import Refusal

ROWS_OF_TEXT = 'code,"the, name"\nA1,"x, y"\nB2,\nC3,"two\nlines"\n'


def columns(path, rows="all", **given):
    return [(c.name, list(c.values)) for c in read_table(path, rows=rows, **given).columns]


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_csv_with_quotes_and_gaps(tmp_path):
    path = write(tmp_path / "t.csv", ROWS_OF_TEXT)
    for rows in ("sample", "all"):
        assert columns(path, rows) == [("code", ["A1", "B2", "C3"]), ("the, name", ["x, y", None, "two\nlines"])]
        assert columns(path, rows, column="code") == [("code", ["A1", "B2", "C3"])]
    with pytest.raises(Refusal, match="no column 'colour'; it has code"):
        read_table(path, rows="all", column="colour")


def test_which_rows_are_read_must_be_said(tmp_path):
    path = write(tmp_path / "t.csv", ROWS_OF_TEXT)
    with pytest.raises(TypeError):
        read_table(path)
    with pytest.raises(Refusal, match="rows must be one of sample, all"):
        read_table(path, rows="some")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_encodings_with_and_without_a_mark(tmp_path, encoding):
    path = write(tmp_path / "t.csv", "code;näme\nA1;Zoë\nB2;日本\nC3;x\n".encode(encoding))
    assert columns(path) == [("code", ["A1", "B2", "C3"]), ("näme", ["Zoë", "日本", "x"])]


def test_bytes_that_are_not_utf_8_are_read_one_by_one_and_that_is_said(tmp_path):
    late = b"name\n" + b"x\n" * 3_000_000
    table = read_table(write(tmp_path / "t.csv", late + "café €\n".encode("cp1252")), rows="all")
    assert table.columns[0].values[-1] == "café €"
    assert "cp1252" in table.notes[0]
    assert columns(write(tmp_path / "t.csv", b"name\ncaf\xe9\n\x81\n"))[0][1] == ["café", "\x81"]
    with pytest.raises(Refusal, match="cannot be read as such to its end"):
        read_table(write(tmp_path / "t.csv", "a\nb\n".encode("utf-16") + b"\x00\xd8\x00"), rows="all")


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("t.tsv", "a\tb\n1,2\tx\n", [("a", ["1,2"]), ("b", ["x"])]),
        ("t.csv", "a;b\n1,2;x\n", [("a", ["1,2"]), ("b", ["x"])]),
        ("t.csv", "a|b\n1,2|x\n", [("a", ["1,2"]), ("b", ["x"])]),
        ("t.csv", "a;b\r\n1,2;x\r\n", [("a", ["1,2"]), ("b", ["x"])]),
        ("t.csv", "a;b\r1,2;x\r", [("a", ["1,2"]), ("b", ["x"])]),
        ("t.csv", "a,b;b\n1;x\n2;y\n3;z\n", [("a,b", ["1", "2", "3"]), ("b", ["x", "y", "z"])]),
        ("t.csv", "text\nyes, no\nno\n", [("text", ["yes, no", "no"])]),
        ("t.csv", "a;b\n1\x002;x\n", [("a", ["1\x002"]), ("b", ["x"])]),
        ("t.csv", "a,b\n x ,\ty\n", [("a", [" x "]), ("b", ["\ty"])]),
    ],
)
def test_delimiters_and_cells_as_they_stand(tmp_path, name, content, found):
    assert columns(write(tmp_path / name, content)) == found


def test_rows_are_numbered_below_the_header_and_empty_ones_count_except_at_the_end(tmp_path):
    path = write(tmp_path / "t.csv", "\n\ncode\nA1\n\nB2\n\n\n")
    for rows in ("sample", "all"):
        (column,) = read_table(path, rows=rows).columns
        assert list(column.values) == ["A1", None, "B2"]
        assert list(column.numbers) == [1, 2, 3]
        assert column.rows == 3
        assert column.present == ["A1", "B2"]


def test_rows_that_are_too_short_or_too_long(tmp_path):
    table = read_table(write(tmp_path / "t.csv", "a,b\n1,x\n2\n3,y,,\n4,z,more\n"), rows="all")
    assert [list(c.values) for c in table.columns] == [["1", "2", "3", "4"], ["x", None, "y", "z"]]
    assert table.notes == (
        "1 rows have more cells than there are columns, the first of them row 4; what is beyond the last column was "
        "left out",
    )


def test_names_that_are_empty_or_repeated_are_made_distinct(tmp_path):
    table = read_table(write(tmp_path / "t.csv", "a,,a,a_2,a\n1,2,3,4,5\n1,2,3,4,5\n"), rows="all")
    assert table.names == ["a", "column 2", "a_3", "a_2", "a_4"]
    assert [c.values[0] for c in table.columns] == list("12345")
    assert len(table.notes) == 2
    unnamed = read_table(write(tmp_path / "t.csv", "x,y\nr1,1,2\nr2,3,4\n"), rows="all")
    assert unnamed.names == ["column 1", "x", "y"]


def test_parquet_reads_as_the_same_table_in_csv(tmp_path):
    frame = pl.DataFrame({"code": ["A1", None, "B2"], "n": [1, 2, 3], "x": [0.5, float("nan"), 2.0]})
    frame.write_parquet(tmp_path / "t.parquet")
    expected = [("code", ["A1", None, "B2"]), ("n", ["1", "2", "3"]), ("x", ["0.5", None, "2.0"])]
    assert columns(tmp_path / "t.parquet") == expected == columns(tmp_path / "t.parquet", "sample")
    write(tmp_path / "t.csv", "code,n,x\nA1,1,0.5\n,2,\nB2,3,2.0\n")
    assert columns(tmp_path / "t.csv") == expected


def test_parquet_of_every_type_is_streamed_as_it_is_read(tmp_path):
    day, second = datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 10, 0, 1)
    kinds = {"n": 3, "x": 1e20, "b": True, "d": day, "s": second, "l": [1, 2], "k": {"a": 1}, "y": b"x", "e": None}
    for name, value in kinds.items():
        pl.DataFrame({name: [value, None]}).write_parquet(tmp_path / "t.parquet")
        expected = [None if value is None else str(value), None]
        assert columns(tmp_path / "t.parquet") == columns(tmp_path / "t.parquet", "sample") == [(name, expected)]
        assert [list(c.values) for (c,) in stream_columns(tmp_path / "t.parquet")] == [expected]
    pl.DataFrame({"a": [], "b": []}).write_parquet(tmp_path / "t.parquet")
    assert columns(tmp_path / "t.parquet") == columns(tmp_path / "t.parquet", "sample") == [("a", []), ("b", [])]


def test_a_spreadsheet(tmp_path):
    path = write_xlsx(tmp_path / "t.xlsx", [["code", "n", "day"], ["A1", 7, 2.5], [], ["", 8, 3]])
    assert columns(path) == [("code", ["A1", None, None]), ("n", ["7", None, "8"]), ("day", ["2.5", None, "3"])]
    assert columns(path, "sample") == columns(path)


def test_json_lines_keep_the_spelling_of_numbers_and_may_gain_columns(tmp_path):
    lines = '{"a": 1.50, "b": "x"}\n\n{"b": null, "c": [1, {"d": 2}], "a": 10000000000000000000000}\n{"a": NaN}\n'
    for name in ("t.jsonl", "t.ndjson"):
        path = write(tmp_path / name, lines)
        assert columns(path) == [
            ("a", ["1.50", None, "10000000000000000000000", None]),
            ("b", ["x", None, None, None]),
            ("c", [None, None, '[1, {"d": 2}]', None]),
        ]
        assert columns(path, "sample") == columns(path)


def test_names_of_json_lines_stay_as_they_were_given(tmp_path):
    path = write(tmp_path / "t.jsonl", '{"a": 1, "a ": 2}\n{"a_2": 3, "": 4, " a": 5}\n{"column 4": 6}\n')
    assert read_table(path, rows="all").names == ["a", "a_2", "a_2_2", "column 4", "a_3", "column 4_2"]


def test_reading_json_lines_of_many_names_is_linear_in_them(tmp_path):
    def calls(count):
        """How many functions are called to read that many names, one more on each line."""
        path, seen = write(tmp_path / f"{count}.jsonl", "".join(f'{{"k{i}": 1}}\n' for i in range(count))), Counter()
        sys.setprofile(lambda frame, event, what: seen.update([event]))
        try:
            read_table(path, rows="all")
        finally:
            sys.setprofile(None)
        return seen.total()

    assert calls(800) < 3 * calls(400)


def test_archives_of_one_table(tmp_path):
    packed = gzip.compress(ROWS_OF_TEXT.encode())
    expected = columns(write(tmp_path / "t.csv", ROWS_OF_TEXT))
    assert columns(write(tmp_path / "t.csv.gz", packed)) == expected
    assert columns(write(tmp_path / "any name", packed)) == expected
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("folder/t.csv", ROWS_OF_TEXT)
        archive.writestr("__MACOSX/._t.csv", "x")
    assert columns(tmp_path / "t.zip") == expected
    pl.DataFrame({"code": ["A1"]}).write_parquet(tmp_path / "t.parquet")
    assert columns(write(tmp_path / "t.gz", gzip.compress((tmp_path / "t.parquet").read_bytes()))) == [("code", ["A1"])]


@pytest.mark.parametrize("text", ["A1\nB2\n\nC3\n\n", "A1\r\nB2\r\n\r\nC3"])
def test_lines_on_standard_input(monkeypatch, text):
    for stdin in (io.StringIO(text), io.TextIOWrapper(io.BytesIO(text.encode("utf-16")))):
        monkeypatch.setattr(sys, "stdin", stdin)
        assert columns("-", "sample") == [("lines", ["A1", "B2", None, "C3"])]


def test_a_stream_gives_all_rows_in_order_and_holds_few(tmp_path):
    rows = 3 * limits.CHUNK_ROWS + 5
    text = "code,n\n" + "".join(f"A{i},{i % 7}\n" for i in range(rows))
    write(tmp_path / "t.csv", text)
    pl.read_csv(tmp_path / "t.csv").write_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        parts = [c for (c,) in stream_columns(tmp_path / name, columns=["code"])]
        assert max(len(c.values) for c in parts) <= 8 * limits.CHUNK_ROWS
        assert [v for c in parts for v in c.values] == [f"A{i}" for i in range(rows)]
        assert [n for c in parts for n in c.numbers] == list(range(1, rows + 1))
        assert parts[-1].rows == rows
    with pytest.raises(Refusal, match="no column 'z'; it has code, n"):
        list(stream_columns(tmp_path / "t.csv", columns=["z"]))
    assert [[c.name for c in part] for part in stream_columns(write(tmp_path / "t.csv", "a,b\n"))] == [["a", "b"]]


def test_of_a_long_table_the_same_sample_is_kept_whatever_the_file(tmp_path):
    path, rows = tmp_path / "t.csv", 20 * limits.SAMPLE_ROWS
    write(path, "n\n" + "".join(f"x{i}\n" for i in range(1, rows + 1)))
    pl.read_csv(path).write_parquet(tmp_path / "t.parquet")
    (column,) = read_table(path, rows="sample").columns
    assert len(column.values) == limits.SAMPLE_ROWS
    assert column.rows == rows
    assert list(column.values) == [f"x{number}" for number in column.numbers]
    assert list(column.numbers) == sorted(set(column.numbers))
    assert 0.45 < sum(n <= rows / 2 for n in column.numbers) / limits.SAMPLE_ROWS < 0.55
    for other in (path, tmp_path / "t.parquet", pl.read_csv(path)):
        assert columns(other, "sample") == [("n", list(column.values))]
    assert columns(path, "sample", seed=1) != [("n", list(column.values))]


def test_a_long_cell_is_cut_in_a_sample_and_whole_otherwise(tmp_path):
    path = write(tmp_path / "t.csv", "a\n" + "x" * 10_000 + "\n")
    table = read_table(path, rows="sample")
    assert len(table.columns[0].values[0]) == 2000
    assert table.notes == ("1 cells were cut to 2,000 characters",)
    assert len(columns(path)[0][1][0]) == 10_000


def test_a_column_without_numbers_is_whole():
    column = Column("a", ["x", None])
    assert (list(column.numbers), column.rows, column.present) == ([1, 2], 2, ["x"])


def test_few_shots_are_distinct():
    assert sorted(few_shot(["a", "b", "a", "c"], 5)) == ["a", "b", "c"]
    assert len(set(few_shot([str(i) for i in range(50)], 5))) == 5
