"""Regexes taken apart."""

import pytest

from wakesleep.domains.strings.language import program, text_of
from wakesleep.domains.strings.structure import branches, without_brackets

LENGTH = 12


@pytest.mark.parametrize(
    ("text", "parts"),
    [("ab", ["ab"]), ("a|b+|c", ["a", "b+", "c"]), ("(a|b)c", ["(a|b)c"]), ("(a|b)c|d", ["(a|b)c", "d"])],
)
def test_branches_are_those_outside_of_brackets(text, parts):
    assert [text_of(b) for b in branches(program(text, LENGTH).tolist())] == parts


@pytest.mark.parametrize(("text", "left"), [("ab", []), ("a(bc)?d", ["ad"]), ("(ab)+", [""]), ("(a|b)c|d", ["c|d"])])
def test_a_bracket_is_left_out_with_what_repeats_it(text, left):
    assert [text_of(z) for z in without_brackets(program(text, LENGTH).tolist())] == left
