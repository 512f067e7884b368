"""How the bytes of a text file are decoded: by a mark, by where zeros stand, as UTF-8, or by what is probable."""

import codecs
import io
import re
from pathlib import Path
from typing import NamedTuple

from wakesleep.data.kinds import require_text
from wakesleep.data.scripts import likely_encoding
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
EVERY_BYTE = ("cp1252", "latin-1")
"""What a file is read as if its likely encoding does not hold to its end; one of them always does."""
JUDGED_BYTES = 1 << 14
LONGEST_WORD_BYTES = 400
BOUNDARY = re.compile(rb"[\x00-\x2f]+")
"""White space and signs that no encoding has as a part of another character."""


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
    """UTF-8 if every byte is of it, else the most probable of the usual encodings in which every byte can be read."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    valid, undefined, seen = True, False, bytearray()
    with path.open("rb") as file:
        while block := file.read(SCAN_BYTES):
            if block.isascii() and not (valid and decoder.getstate()[0]):
                continue
            try:
                decoder.decode(block) if valid else None
            except UnicodeDecodeError:
                valid = False
            undefined = undefined or len(block.translate(None, UNDEFINED_IN_CP1252)) < len(block)
            seen += _words_beyond_ascii(block, JUDGED_BYTES - len(seen))
    if valid and not decoder.getstate()[0]:
        return Encoding("utf-8")
    name = likely_encoding(bytes(seen))
    if name == "cp1252" and undefined:
        name = "latin-1"
    if name not in EVERY_BYTE and not _decodes(path, name):
        name = "latin-1" if undefined else "cp1252"
    return Encoding(name, f"read as {name}, since it is not UTF-8")


def _words_beyond_ascii(block: bytes, most: int) -> bytes:
    """Words of a block that have bytes beyond ASCII, until these are many; no character of theirs is cut."""
    found = bytearray()
    for word in BOUNDARY.split(block) if most > 0 else ():
        if not word.isascii() and len(word) <= LONGEST_WORD_BYTES:
            found += word + b"\n"
            if len(found) >= most:
                break
    return bytes(found)


def _decodes(path: Path, name: str) -> bool:
    """Whether a whole file can be read in an encoding."""
    decoder = codecs.getincrementaldecoder(name)()
    try:
        with path.open("rb") as file:
            while block := file.read(SCAN_BYTES):
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def open_text(path: Path, encoding: str) -> io.TextIOWrapper:
    """The file as text, its line ends as they are."""
    return io.TextIOWrapper(path.open("rb"), encoding=encoding, errors="strict", newline="")


def undecodable(title: str, error: UnicodeError) -> Refusal:
    """What is said of a file with a mark that its bytes do not keep to."""
    what = getattr(error, "encoding", "").upper() or "text"
    return Refusal(f"{title} begins as {what} but cannot be read as such to its end: save it again as UTF-8.")
