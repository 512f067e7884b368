"""Columns for `benchmarks/regexes.py`: real ones, and ones made so that regexes for them are slow or hard to write."""

import json
import random
import string
from collections.abc import Iterator
from pathlib import Path

from canonical import COLUMNS

from wakesleep.domains.strings.columns.judge.sources import MOST_SOURCE_ROWS, read_concepts, read_tables

ROWS, LONG = 30, 300
SETS = {
    "lower": string.ascii_lowercase,
    "upper": string.ascii_uppercase,
    "letters": string.ascii_letters,
    "digits": string.digits,
    "alphanumeric": string.ascii_letters + string.digits,
    "hexadecimal": "0123456789abcdef",
    "words": string.ascii_lowercase + "_",
    "dotted": string.ascii_lowercase + ".-_",
    "one letter": "a",
    "accents": "äöüéèçñøåß",
    "greek": "αβγδεζηθικλμν",
    "han": "漢字仮名交文日本語",
    "arabic digits": "٠١٢٣٤٥٦٧٨٩",
    "emoji": "😀😁😂🤣😃",
    "regex": r"\.^$*+?{}[]|()",
    "brackets": "[]^-\\&~",
    "quotes": "'\"`",
    "control": "\x00\x01\x07\x1b\x7f",
    "newlines": "\n\r\t ",
    "spaces": " \u00a0\u2003\u3000",
    "right to left": "\u202eab\u200f",
}
SEPARATORS = ("", "-", " ", ".", ", ", "|", "/", "_", "\n", "--")


def real(folder: Path) -> Iterator[list[str]]:
    """The columns of the tables, the string concepts and the canonical columns."""
    for _, table in read_tables(folder / "tables"):
        yield from (values[:MOST_SOURCE_ROWS] for values in table.values() if values)
    for line in (folder / "string_concepts" / "paper" / "novel.jsonl").read_text(encoding="utf-8").splitlines():
        concept = json.loads(line)
        yield [*concept["train"], *concept["test"]]
    yield from read_concepts(folder / "string_concepts")[::10]
    for name, (draw, _) in COLUMNS.items():
        r = random.Random(name)
        yield [draw(r) for _ in range(ROWS)]


def adversarial() -> Iterator[list[str]]:
    """Runs of sets that overlap, with separators that may be missing, of lengths that vary without bound."""
    r = random.Random(0)
    names = list(SETS)
    for one in names:
        yield [_run(r, one, 1, LONG) for _ in range(ROWS)]
        for two in r.sample(names, 9):
            separator = r.choice(SEPARATORS)
            yield [_run(r, one, 1, 40) + separator + _run(r, two, 0, 40) for _ in range(ROWS)]
            yield [separator.join(_run(r, one, 1, 9) for _ in range(r.randint(1, 12))) for _ in range(ROWS)]
            yield [_maybe(r, one) + _maybe(r, two) + _maybe(r, one) + _run(r, two, 1, 9) for _ in range(ROWS)]
            yield [_run(r, r.choice((one, two)), 1, LONG) for _ in range(ROWS)]


def _run(r: random.Random, name: str, low: int, high: int) -> str:
    return "".join(r.choice(SETS[name]) for _ in range(r.randint(low, high)))


def _maybe(r: random.Random, name: str) -> str:
    return _run(r, name, 1, 30) + r.choice(SEPARATORS) if r.random() < 0.5 else ""
