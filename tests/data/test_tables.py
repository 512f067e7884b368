"""Columns are read from files of every kind, and what cannot be read is refused with a sentence."""

import io
import sys
import zipfile

import polars as pl
import pytest

from wakesleep.data.tables import ROWS, few_shot, read_columns
from wakesleep.errors import Refusal

ROWS_OF_TEXT = 'code,"the, name"\nA1,"x, y"\nB2,\nC3,"two\nlines"\n'


def test_a_csv_with_quotes_and_gaps(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(ROWS_OF_TEXT)
    assert read_columns(path) == [("code", ["A1", "B2", "C3"]), ("the, name", ["x, y", "two\nlines"])]
    assert read_columns(path, "code") == [("code", ["A1", "B2", "C3"])]
    with pytest.raises(Refusal, match="no column 'colour'; it has code"):
        read_columns(path, "colour")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.tsv", b"a\tb\n1,2\tx\n"),
        ("t.csv", b"a;b\n1,2;x\n"),
        ("t.csv", "a;b\n1,2;x\n".encode("utf-16")),
        ("t.csv", b"\xef\xbb\xbfa|b\n1,2|x\n"),
        ("t.csv", b"a;b\n1,\x002;x\n"),
        ("t.csv", b"a;b\r\n1,2;x\r\nshort\r\n"[:-7]),
    ],
)
def test_delimiters_and_encodings(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    assert read_columns(path) == [("a", ["1,2"]), ("b", ["x"])]


def test_latin_1_is_read_where_utf_8_fails(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("name\ncaf\xe9\n".encode("latin-1"))
    assert read_columns(path)[0].values == ["caf\xe9"]


def test_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"code": ["A1", None, "B2"], "n": [1, 2, 3]}).write_parquet(path)
    assert read_columns(path) == [("code", ["A1", "B2"]), ("n", ["1", "2", "3"])]


def test_a_spreadsheet(tmp_path):
    path = tmp_path / "t.xlsx"
    names = "http://schemas.openxmlformats.org"
    cells = [["code", "n", "day"], ["A1", 7, 2.5], ["", 8, 3]]

    def cell(value):
        return f"<c><v>{value}</v></c>" if value and not isinstance(value, str) else f'<c t="str"><v>{value}</v></c>'

    rows = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in cells)
    sheet = f'<worksheet xmlns="{names}/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>'
    book = (
        f'<workbook xmlns="{names}/spreadsheetml/2006/main" xmlns:r="{names}/officeDocument/2006/relationships">'
        '<sheets><sheet name="one" sheetId="1" r:id="r1"/></sheets></workbook>'
    )

    def relation(kind, target):
        return (
            f'<Relationships xmlns="{names}/package/2006/relationships"><Relationship Id="r1" '
            f'Type="{names}/officeDocument/2006/relationships/{kind}" Target="{target}"/></Relationships>'
        )

    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_rels/.rels", relation("officeDocument", "xl/workbook.xml"))
        archive.writestr("xl/workbook.xml", book)
        archive.writestr("xl/_rels/workbook.xml.rels", relation("worksheet", "worksheets/sheet1.xml"))
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
    assert read_columns(path) == [("code", ["A1"]), ("n", ["7", "8"]), ("day", ["2.5", "3"])]


def test_lines_on_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("A1\nB2\n\n"))
    assert read_columns("-") == [("lines", ["A1", "B2"])]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"a,b\n", "no values"),
        ("t.csv", b"\n\n", "no header"),
        ("t.parquet", b"not parquet", "cannot be read as a Parquet file"),
        ("t.xlsx", b"PK", "cannot be read as a spreadsheet"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, name, content, sentence):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(Refusal, match=sentence):
        read_columns(path)


def test_a_folder_or_nothing_is_refused(tmp_path):
    with pytest.raises(Refusal, match="is a folder"):
        read_columns(tmp_path)
    with pytest.raises(Refusal, match="is not a file"):
        read_columns(tmp_path / "none.csv")


def test_of_a_long_file_a_sample_is_kept_from_all_of_it(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n\n" + "".join(f"x{i}\n" for i in range(20 * ROWS)))
    values = [int(v[1:]) for v in read_columns(path)[0].values]
    assert len(values) == ROWS
    assert values == sorted(values)
    assert 0.45 < sum(v < 10 * ROWS for v in values) / ROWS < 0.55
    assert read_columns(path) == read_columns(path)


def test_a_cell_of_ten_thousand_characters_is_cut(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "x" * 10_000 + "\n")
    assert len(read_columns(path)[0].values[0]) == 2000


def test_few_shots_are_distinct():
    assert sorted(few_shot(["a", "b", "a", "c"], 5)) == ["a", "b", "c"]
    assert len(set(few_shot([str(i) for i in range(50)], 5))) == 5
