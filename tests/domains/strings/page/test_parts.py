"""The reading of a text by parts is the most probable one, as enumeration finds it."""

import math

import pytest

from wakesleep.domains.strings.columns.characters import chars
from wakesleep.domains.strings.columns.choices import Either, Listing, Maybe
from wakesleep.domains.strings.columns.counts import Counts, between
from wakesleep.domains.strings.columns.explanation import explain
from wakesleep.domains.strings.columns.nodes import Literal, Run
from wakesleep.domains.strings.columns.sequences import Series
from wakesleep.domains.strings.page.parts import LONGEST_READ, Piece, Reader

LOWER = Run(chars("lower"), between(1, 4))
DIGITS = Run(chars("digit"), between(1, 3))
MIXED = Run(chars("lower digit"), between(1, 3))


def test_each_character_has_the_part_that_wrote_it():
    reader = Reader(Series((Literal("K"), DIGITS, Maybe(Series((Literal("-"), LOWER)), 0.3))))
    assert reader.read("K12-ab") == [Piece("K", 0), Piece("12", 1), Piece("-", 2), Piece("ab", 3)]
    assert reader.read("K12") == [Piece("K", 0), Piece("12", 1)]
    assert reader.read("12") == []


def test_an_ambiguous_text_is_read_in_the_most_probable_way():
    reader = Reader(Series((LOWER, MIXED)))
    text = "abc1"
    scores = {i: LOWER.log_prob(text[:i]) + MIXED.log_prob(text[i:]) for i in range(1, len(text))}
    best = max(scores, key=lambda i: scores[i])
    assert math.isfinite(scores[best])
    assert reader.read(text) == [Piece(text[:best], 0), Piece(text[best:], 1)]


def test_alternatives_and_lists_are_read_by_their_own_parts():
    either = Reader(Either((Series((Literal("a"), DIGITS)), Series((Literal("b"), LOWER))), (0.5, 0.5)))
    assert [piece.part for piece in either.read("a12")] == [0, 1]
    assert [piece.part for piece in either.read("bcd")] == [2, 3]
    listing = Reader(Listing(DIGITS, Literal(","), Counts(1, 3)))
    assert [piece.text for piece in listing.read("1,22,3")] == ["1", ",", "22", ",", "3"]


def test_a_long_text_is_not_read():
    assert Reader(Run(chars("lower"), Counts(1, None))).read("a" * (LONGEST_READ + 1)) == []


@pytest.mark.parametrize("values", [
    [f"ORD-{i:05d}" for i in range(20)],
    [f"user{i}@mail{i % 3}.example.org" for i in range(20)],
    [f"2024-{1 + i % 12:02d}-{1 + i:02d}" for i in range(20)],
    ["red;green", "blue", "red;blue;green", "green", "blue;red"],
    [f"{i * 7},{i:02d} EUR" for i in range(20)],
])  # fmt: skip
def test_what_the_best_program_can_write_is_read_whole(values):
    program = explain(values).posterior.entries[0].program
    reader = Reader(program)
    for value in values:
        if program.log_prob(value) > -math.inf:
            assert "".join(piece.text for piece in reader.read(value)) == value
