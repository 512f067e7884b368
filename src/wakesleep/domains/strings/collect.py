"""A set of string concepts from any folder of CSV files, by the rules of the paper's appendix.

Kept are columns of at least ten different values that are not only numbers and have no words of more than five letters
and no common names: one column drawn from each file, and no more than three with the same header.
"""

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from wakesleep.data.tables import Column, read_table
from wakesleep.domains.strings.data import in_alphabet
from wakesleep.errors import Refusal

STRINGS, LONGEST_COLLECTED, SAME_HEADER = 10, 25, 3
NUMBER_LIKE = re.compile(r"[+-]?[\d.,]+([eE][+-]?\d+)?%?")
LONG_WORD = re.compile(r"[A-Za-z]{6,}")
VOWELS = set("aeiouyAEIOUY")
PERSON_NAMES = frozenset(
    """
    james mary robert patricia john jennifer michael linda david elizabeth william barbara richard susan joseph jessica
    thomas sarah charles karen christopher lisa daniel nancy matthew betty anthony sandra mark ashley steven emily paul
    andrew donna joshua carol kenneth amanda kevin melissa brian deborah george laura edward ronald timothy jason
    jeffrey ryan jacob gary eric anna peter smith johnson williams brown jones garcia miller davis rodriguez martinez
    hernandez lopez gonzalez wilson anderson taylor moore jackson martin lee perez thompson white harris sanchez clark
    ramirez lewis robinson walker young allen king wright scott torres nguyen hill flores green adams nelson baker hall
    rivera campbell mitchell carter roberts
    """.split()  # noqa: SIM905, a list of names reads better so
)


def collect(folder: Path, words: frozenset[str] | None = None, seed: int = 0) -> Iterator[dict]:
    """The concepts, as lines of the usual files: id, header, train and test strings."""
    if not folder.is_dir():
        raise Refusal(f"{folder} is not a folder.")
    files = sorted(p for p in folder.rglob("*") if _is_table(p))
    if not files:
        raise Refusal(f"{folder} has no CSV files.")
    draw, headers = random.Random(seed), Counter[str]()
    draw.shuffle(files)
    for path in files:
        try:
            columns = read_table(path, rows="sample", seed=seed).columns
        except Refusal:
            continue  # a folder may hold files that are no tables
        good = [c for c in columns if admissible(c, words) and headers[c.name.lower()] < SAME_HEADER]
        if good:
            column = draw.choice(good)
            headers[column.name.lower()] += 1
            strings = draw.sample(sorted(_strings(column)), STRINGS)
            half = STRINGS // 2
            number = sum(headers.values()) - 1
            yield {"id": f"c{number:04d}", "header": column.name, "train": strings[:half], "test": strings[half:]}


def _is_table(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv", ".tab"))


def admissible(column: Column, words: frozenset[str] | None = None) -> bool:
    """Whether a column is a concept by the rules."""
    values = _strings(column)
    return (
        len(values) >= STRINGS
        and all(in_alphabet(v) and len(v) <= LONGEST_COLLECTED for v in values)
        and not all(NUMBER_LIKE.fullmatch(v) for v in values)
        and not any(_has_word(v, words) or _has_name(v) for v in values)
    )


def _strings(column: Column) -> set[str]:
    """The distinct values of a column, without the white space around them, by which no concept differs."""
    return {text for value in column.present if (text := value.strip())}


def _has_word(value: str, words: frozenset[str] | None) -> bool:
    """By a list of words if there is one; else what could be spoken counts as a word."""
    return any(w.lower() in words if words is not None else _can_be_spoken(w) for w in LONG_WORD.findall(value))


def _can_be_spoken(word: str) -> bool:
    """Small letters (after the first), two vowels at least, and never four consonants in a row."""
    shape = "".join("v" if c in VOWELS else "c" for c in word)
    return word[1:].islower() and shape.count("v") >= 2 and "cccc" not in shape


def _has_name(value: str) -> bool:
    return any(w.lower() in PERSON_NAMES for w in re.findall(r"[A-Z][a-z]{2,}", value))


def write(folder: Path, output: Path, words: Path | None = None, seed: int = 0) -> int:
    """Writes the concepts of a folder, and says how many there are."""
    if output.exists():
        raise Refusal(f"{output} exists: remove it, or choose another name.")
    known = frozenset(words.read_text().lower().split()) if words is not None else None
    lines = [json.dumps(concept) for concept in collect(folder, known, seed)]
    if not lines:
        raise Refusal(f"No column of the files in {folder} is a concept by the rules.")
    output.write_text("\n".join(lines) + "\n")
    return len(lines)


def main() -> None:
    """Reads FOLDER, OUTPUT and, if given, a list of words; prints how many concepts were found."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("folder", type=Path)
    words.add_argument("output", type=Path)
    words.add_argument("--words", type=Path, help="a list of words, instead of what could be spoken")
    words.add_argument("--seed", type=int, default=0)
    given = words.parse_args()
    try:
        print(f"{write(given.folder, given.output, given.words, given.seed)} concepts in {given.output}")
    except Refusal as refusal:
        words.error(str(refusal))


if __name__ == "__main__":
    main()
