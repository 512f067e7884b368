"""Regexes read off strings."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.regexes import standard
from wakesleep.domains.strings.explain.templates import MOST, templates
from wakesleep.domains.strings.language import CHARACTERS, text_of, tree_of

LENGTH = 24


def found(*strings: str) -> list[str]:
    return [text_of(z) for z in templates(strings, LENGTH).tolist()]


@pytest.mark.parametrize(
    ("strings", "expected"),
    [
        (("(212) 555-0188", "(503) 555-0135"), [r"\(\d\d\d\)\s555-01\d\d", r"\(\d\d\d\)\s\d\d\d-\d\d\d\d"]),
        (("HF11", "HF7"), [r"HF\d+", r"\u\u\d+", r"\w+"]),
        (("ab", "ab1"), ["ab1*", r"\w+"]),
        (("#7f83d4", "#3435fd"), [r"#\w\w\w\w\w\w", r"#\w+"]),
        (("a.b", "c.d"), [r"\l\.\l"]),
    ],
)
def test_what_is_shared_is_written_out(strings, expected):
    assert set(expected) <= set(found(*strings))


def test_strings_of_other_shapes_and_long_ones_have_none():
    assert found("9.5%", "NA") == []
    assert found("-" * (LENGTH + 1)) == []


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.text(CHARACTERS, min_size=1, max_size=6), min_size=1, max_size=4))
def test_every_template_writes_every_string(strings):
    made = templates(strings, LENGTH).tolist()
    assert len(made) <= MOST
    for z in made:
        pattern = standard(tree_of(z))
        assert all(re.fullmatch(pattern, s) for s in strings), (text_of(z), strings)
