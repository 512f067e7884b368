"""Tables that are damaged, enormous or made to harm end in one sentence."""

import gzip
import os
import random
import zipfile

import polars as pl
import pytest

from tests.data.spreadsheets import write_xlsx
from wakesleep.data import limits
from wakesleep.data.parquet import ParquetSource
from wakesleep.data.tables import read_table, stream_columns
from wakesleep.errors import Refusal


def refusal(path, rows="all"):
    with pytest.raises(Refusal) as refused:
        read_table(path, rows=rows)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"\n\n", "has no header"),
        ("t.csv", b",,\n1,2,3\n", "has no header"),
        ("t.csv", b'a,b\n1,"x\n2,y\n', "quotation mark that opens after row 1"),
        ("t.csv", b"\x89PNG\r\n\x1a\n" + bytes(50), "is a PNG image, but a table was expected"),
        ("t.csv", b"%PDF-1.7\n", "is a PDF document"),
        ("t.csv", b"SQLite format 3\0", "is an SQLite database"),
        ("t.csv", b"\x80\x04\x95\x00", "is a pickle"),
        ("t.csv", b"\n<!DOCTYPE html><html>", "is an HTML page"),
        ("t.csv", b"\xef\xbb\xbf<?xml version='1.0'?><a/>", "is an XML document"),
        ("t.csv", b"{\\rtf1\\ansi}", "is an RTF document"),
        ("t.csv", b"-----BEGIN PRIVATE KEY-----\n", "is a key or a certificate"),
        ("t.csv", random.Random(0).randbytes(5000), "is a binary file of an unknown kind"),
        ("t.parquet", b"not parquet", "cannot be read as a Parquet file"),
        ("t.parquet", b"PAR1" + bytes(100) + b"PAR1", "cannot be read as a Parquet file"),
        ("t.xlsx", b"PK", "cannot be read as a spreadsheet"),
        ("t.xls", b"\xd0\xcf\x11\xe0" + bytes(600), "cannot be read as a spreadsheet"),
        ("t.zip", b"PK\x03\x04" + bytes(30), "cannot be expanded"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n" * 1000, mtime=0)[:50], "cannot be expanded"),
        ("t.csv.gz", gzip.compress(gzip.compress(b"a,b\n1,2\n", mtime=0), mtime=0), "archive inside of an archive"),
        ("t.jsonl", b'{"a": 1}\n[1]\n', "Line 2 of .* is not a JSON object"),
        ("t.jsonl", b'{"a": }\n', "Line 1 of .* is not JSON"),
        ("t.jsonl", b'{"a": ' + b"[" * 100_000 + b"\n", "Line 1 of .* is not JSON"),
    ],
)
@pytest.mark.parametrize("rows", ["sample", "all"])
def test_what_cannot_be_read_is_refused(tmp_path, name, content, sentence, rows):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(Refusal, match=sentence):
        read_table(path, rows=rows)
    with pytest.raises(Refusal, match=sentence):
        list(stream_columns(path))


def test_a_folder_or_nothing_or_something_else_is_refused(tmp_path):
    assert "is a folder" in refusal(tmp_path)
    assert "is not a file" in refusal(tmp_path / "none.csv")
    assert "cannot be read from int" in refusal(3)


def test_an_archive_of_several_tables_or_none_is_refused(tmp_path):
    for names, sentence in ((["a.csv", "b.csv"], "holds 2 files (a.csv, b.csv)"), ([], "holds no file")):
        with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
            for name in names:
                archive.writestr(name, "a\n1\n")
        assert sentence in refusal(tmp_path / "t.zip")


def test_a_zip_file_of_a_later_version_is_refused(tmp_path):
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("t.csv", "a\n1\n2\n")
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 6] = 84  # the version that is needed to read it
    path.write_bytes(content)
    assert "cannot be" in refusal(path)


def test_zip_and_gzip_bombs_are_refused_before_they_expand(tmp_path):
    block, blocks = b"a,b\n" * (1 << 18), 200
    with gzip.open(tmp_path / "t.csv.gz", "wb") as file:
        for _ in range(blocks):
            file.write(block)
    with zipfile.ZipFile(tmp_path / "t.zip", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("t.csv", "w") as file:
        for _ in range(blocks):
            file.write(block)
    for name in ("t.csv.gz", "t.zip"):
        assert "expands from" in refusal(tmp_path / name)
        assert limits.expanded_bytes((tmp_path / name).stat().st_size) < len(block) * blocks


def test_a_sheet_with_cells_far_apart_does_not_take_all_memory(tmp_path):
    far = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    path = write_xlsx(tmp_path / "t.xlsx", [far])
    assert path.stat().st_size < 5000
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "takes more than 2,048 MB of memory to be read as a spreadsheet" in refusal(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 200_000


def test_a_sheet_that_expands_without_end_is_refused(tmp_path):
    path = write_xlsx(tmp_path / "t.xlsx", [["a"], ["1"]], {"xl/media/zeros": bytes(100 << 20)})
    assert "a spreadsheet of its size may expand to" in refusal(path)


def test_a_sheet_that_repeats_one_long_text_is_refused(tmp_path):
    """Five thousand cells share one text of a megabyte, and each gets a copy of it."""
    text = "x" * 1_000_000
    strings = f'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>{text}</t></si></sst>'
    rows = ["<row>" + '<c t="s"><v>0</v></c>' * 100 + "</row>"] * 50
    path = write_xlsx(tmp_path / "t.xlsx", rows, {"xl/sharedStrings.xml": strings})
    assert path.stat().st_size < 5000
    assert "memory to be read as a spreadsheet" in refusal(path)


def test_a_parquet_file_that_repeats_one_long_text_is_streamed_in_small_parts(tmp_path):
    path, text = tmp_path / "t.parquet", "x" * 1_000_000
    pl.DataFrame({"a": [text] * 300}).write_parquet(path)
    assert path.stat().st_size < 300 * len(text) // 30
    sizes = [sum(map(len, c.values)) for (c,) in stream_columns(path)]
    assert sum(sizes) == 300 * len(text)
    assert max(sizes) <= 4 * limits.CHUNK_CHARACTERS
    table = read_table(path, rows="sample")
    assert {len(v) for v in table.columns[0].values} == {limits.SAMPLE_CELL_CHARACTERS}
    assert table.notes == ("300 cells were cut to 2,000 characters",)


def test_a_parquet_file_that_is_too_long_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    pl.select(pl.repeat(7, 3_000_000).alias("a")).write_parquet(path)
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(limits, "TABLE_CELLS", 2_999_999)
    monkeypatch.setattr(ParquetSource, "chunks", lambda self: pytest.fail("was read"))
    assert "has more than 2,999,999 cells" in refusal(path)
    assert read_table(path, rows="sample").rows == 3_000_000


@pytest.mark.parametrize(
    ("limit", "most", "content", "sentence"),
    [
        ("TABLE_COLUMNS", 3, "a,b,c,d\n1,2,3,4\n", "has 4 columns, but 3 is the most"),
        ("TABLE_CELLS", 10, "a,b\n" + "1,2\n" * 6, "more than 10 cells or"),
        ("LINE_CHARACTERS", 1000, "a\n" + "x" * 1001 + "\n", "a line of more than 1,000 characters"),
    ],
)
def test_limits_are_kept(tmp_path, monkeypatch, limit, most, content, sentence):
    (tmp_path / "t.csv").write_text(content)
    monkeypatch.setattr(limits, limit, most)
    assert sentence in refusal(tmp_path / "t.csv")


def test_a_table_of_100_000_columns_is_refused_by_the_limit_as_it_is(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{i}" for i in range(100_000)) + "\n" + ",".join("1" * 100_000) + "\n")
    assert "has 100,000 columns, but 16,384 is the most" in refusal(path)


def test_a_cell_that_never_ends_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n1,"' + "x\n" * (limits.CELL_CHARACTERS // 2 + 10))
    assert "quotation mark that opens after row" in refusal(tmp_path / "t.csv")


def test_files_cut_anywhere_or_with_bytes_changed_end_in_a_table_or_a_sentence(tmp_path):
    draw = random.Random(0)
    frame = pl.DataFrame({"code": [f"A{i}" for i in range(200)], "n": list(range(200))})
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_csv(tmp_path / "t.csv")
    write_xlsx(tmp_path / "t.xlsx", [["a", "b"], *([f"x{i}", i + 1] for i in range(20))])
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    frame.write_ndjson(tmp_path / "t.jsonl")
    for path in sorted(tmp_path.iterdir()):
        whole, some = path.read_bytes(), 5 if path.suffix == ".xlsx" else 40
        for _ in range(some):
            changed = bytearray(whole[: draw.randrange(1, len(whole) + 1)] if draw.random() < 0.5 else whole)
            for _ in range(draw.randrange(4)):
                changed[draw.randrange(len(changed))] = draw.randrange(256)
            path.write_bytes(changed)
            try:
                read_table(path, rows=draw.choice(["sample", "all"]))
            except Refusal as refused:
                assert "\n" not in str(refused), str(refused)


def test_a_panic_of_the_parquet_reader_is_a_sentence_and_nothing_else(tmp_path, monkeypatch, capfd):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": [1, 2]}).write_parquet(path)

    def panic(*given, **named):
        os.write(2, b"thread 'async-executor-0' panicked at page.rs:27\n")
        raise pl.exceptions.PanicException("a page is damaged")

    source = ParquetSource(path, "t.parquet")
    monkeypatch.setattr(pl.LazyFrame, "collect", panic)
    with pytest.raises(Refusal, match="cannot be read as a Parquet file: a page is damaged"):
        next(source.chunks())
    assert "cannot be read as a Parquet file: a page is damaged" in refusal(path)
    os.write(2, b"heard\n")
    assert capfd.readouterr().err == "heard\n"


def test_a_name_without_end_in_an_archive_is_not_repeated_whole(tmp_path):
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x" * 5000, "a\n1\n")
    path.write_bytes(path.read_bytes().replace(b"x" * 5000, b"y" * 5000, 1))
    assert len(refusal(path)) < 500 + len(str(path))
