"""How the bytes of a text file are decoded: by a mark, by where zeros stand, as UTF-8, or byte by byte."""

import codecs
import io
from pathlib import Path
from typing import NamedTuple

from wakesleep.data.kinds import require_text
from wakesleep.errors import Refusal

HEAD_BYTES = 1 << 16
SCAN_BYTES = 1 << 22
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
UNDEFINED_IN_CP1252 = b"\x81\x8d\x8f\x90\x9d"


class Encoding(NamedTuple):
    """A codec's name, and a note for the user where the file does not make it certain."""

    name: str
    note: str = ""


def encoding_of(path: Path, title: str) -> Encoding:
    """The encoding of a text file; every byte of a file without a mark is looked at."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    for mark, name in MARKS:
        if head.startswith(mark):
            return Encoding(name)
    if wide := _wide(head):
        return Encoding(wide, f"read as {wide.upper()}, which it has no mark of")
    require_text(title, head)
    return _narrow(path)


def _wide(head: bytes) -> str:
    """UTF-32 or UTF-16 without a mark: most characters of a table are below 256, so that their other bytes are zero."""
    for width, order, place in ((4, "le", 0), (4, "be", 3), (2, "le", 0), (2, "be", 1)):
        part = head[: len(head) // width * width]
        if len(part) < 2 * width:
            continue
        zeros = [part[i::width].count(0) / (len(part) // width) for i in range(width)]
        if zeros[place] < 0.05 and all(z > 0.7 for i, z in enumerate(zeros) if i != place):
            return f"utf-{8 * width}-{order}"
    return ""


def _narrow(path: Path) -> Encoding:
    decoder = codecs.getincrementaldecoder("utf-8")()
    undefined = False
    bad = -1
    with path.open("rb") as file:
        while block := file.read(SCAN_BYTES):
            if bad < 0 and not (block.isascii() and not decoder.getstate()[0]):
                try:
                    decoder.decode(block)
                except UnicodeDecodeError as error:
                    bad = error.object[error.start]
            undefined = undefined or len(block.translate(None, UNDEFINED_IN_CP1252)) < len(block)
    if bad < 0 and not decoder.getstate()[0]:
        return Encoding("utf-8")
    name = "latin-1" if undefined else "cp1252"
    return Encoding(name, f"read as {name}, since it is not UTF-8")


def open_text(path: Path, encoding: str) -> io.TextIOWrapper:
    """The file as text, its line ends as they are."""
    return io.TextIOWrapper(path.open("rb"), encoding=encoding, errors="strict", newline="")


def undecodable(title: str, error: UnicodeError) -> Refusal:
    """What is said of a file with a mark that its bytes do not keep to."""
    what = getattr(error, "encoding", "").upper() or "text"
    return Refusal(f"{title} begins as {what} but cannot be read as such to its end: save it again as UTF-8.")
