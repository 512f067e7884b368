"""Regexes made from others."""

import numpy as np
import pytest

from wakesleep.domains.strings.explain.variants import branches, distinct, divided, join, wider
from wakesleep.domains.strings.language import canonical, flatten, program, text_of, tree_of

LENGTH = 12


def programs(*texts: str) -> np.ndarray:
    return np.stack([program(t, LENGTH) for t in texts])


def texts(found: np.ndarray) -> list[str]:
    return [text_of(z) for z in found.tolist()]


def test_strings_are_divided_by_their_commonest_shape():
    assert divided(["9.5%", "NA", "12.7%"]) == [["9.5%", "12.7%"], ["NA"]]
    assert divided(["A1", "B22"]) == []
    assert divided(["A1", "b", "?"]) == []
    assert divided([f"A{i}" for i in range(30)] + ["x"]) == []


def test_two_sides_are_joined_where_they_fit():
    assert texts(join(programs(r"\d+%"), programs("NA"))) == [r"\d+%|NA", r"NA|\d+%"]
    assert len(join(programs("a" * 6), programs("b" * 6))) == 0
    assert len(join(programs("a|b"), programs("c"))) == 0


@pytest.mark.parametrize(
    ("text", "parts"),
    [("ab", ["ab"]), ("a|b+|c", ["a", "b+", "c"]), ("(a|b)c", ["(a|b)c"]), ("(a|b)c|d", ["(a|b)c", "d"])],
)
def test_branches_are_those_outside_of_brackets(text, parts):
    assert [text_of(b) for b in branches(program(text, LENGTH).tolist())] == parts


def test_wider_forms_replace_characters_and_counts():
    found = texts(wider(programs(r"YR20\d\d")))
    assert {r"\u\u\d\d\d\d", r"YR\d0\d\d", r"\u+\d+", r"\w+"} <= set(found)
    for z in wider(programs(r"(a|\d)x?", r"A\d*-\d")).tolist():
        body = [t for t in z if t]
        assert flatten(canonical(tree_of(body))) == body


def test_each_program_is_kept_once_in_order():
    assert texts(distinct(programs("b", "a", "b"))) == ["b", "a"]
