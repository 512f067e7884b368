"""What kind of file a path holds, by its first bytes and its suffix; files that are no tables are refused by name."""

import codecs
import zipfile
from pathlib import Path

from wakesleep.errors import Refusal

BINARY_STARTS = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"ARROW1", "an Arrow file"),
    (b"ORC", "an ORC file"),
    (b"Obj\x01", "an Avro file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF\r\n", "an HDF5 file"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a", "a RAR archive"),
    (b"\x80\x02", "a pickle"),
    (b"\x80\x03", "a pickle"),
    (b"\x80\x04", "a pickle"),
    (b"\x80\x05", "a pickle"),
)
TEXT_STARTS = (
    (b"<!doctype html", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<?xml", "an XML document"),
    (b"{\\rtf", "an RTF document"),
    (b"-----begin ", "a key or a certificate"),
)
"""Beginnings, in small letters, of texts that are no tables."""
SPREADSHEET_SUFFIXES = (".xls", ".xlsx", ".xlsm", ".xlsb", ".ods")
PARQUET_SUFFIXES = (".parquet", ".pq")
JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp")
TEXT_SUFFIXES = (".csv", ".tsv", ".tab")
ARCHIVE_SUFFIXES = (".gz", ".gzip", ".zip")
TABLES = "CSV, TSV, Parquet, Excel, JSON lines, or one of these in gzip or zip"
CONTROL_BYTES = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1b"))
MOST_CONTROLS_SHARE = 0.05
"""Text has hardly any control characters; of random bytes a tenth are."""
FEW_CONTROLS = 4


def kind_of(path: Path, head: bytes, name: str, title: str) -> str:
    """The kind: gzip, zip, spreadsheet, parquet, json lines or text; `name` is that of the file before expansion."""
    suffix = Path(name).suffix.lower()
    if head.startswith(b"PAR1") or suffix in PARQUET_SUFFIXES:
        return "parquet"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "spreadsheet" if suffix in SPREADSHEET_SUFFIXES or _is_workbook(path) else "zip"
    if head.startswith(b"\xd0\xcf\x11\xe0") or suffix in SPREADSHEET_SUFFIXES:
        return "spreadsheet"
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    text = head[:64].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    for start, what in (*BINARY_STARTS, *TEXT_STARTS):
        if (text if (start, what) in TEXT_STARTS else head).startswith(start):
            raise Refusal(f"{title} is {what}, but a table was expected: {TABLES}.")
    return "json lines" if suffix in JSON_LINES_SUFFIXES else "text"


def is_table_name(name: str) -> bool:
    """Whether a file's name ends as that of a table, or as that of a table in an archive."""
    suffix = Path(name).suffix.lower()
    inner = Path(Path(name).stem).suffix.lower() if suffix in ARCHIVE_SUFFIXES else suffix
    return inner in (*TEXT_SUFFIXES, *JSON_LINES_SUFFIXES, *PARQUET_SUFFIXES, *SPREADSHEET_SUFFIXES)


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return not {"xl/workbook.xml", "xl/workbook.bin", "content.xml"}.isdisjoint(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def require_text(title: str, head: bytes) -> None:
    """Refuses bytes of which too many are control characters."""
    controls = len(head) - len(head.translate(None, CONTROL_BYTES))
    if controls > FEW_CONTROLS and controls > MOST_CONTROLS_SHARE * len(head):
        raise Refusal(f"{title} is a binary file of an unknown kind, but a table was expected: {TABLES}.")
