"""Near duplicates and steps of characters against direct definitions."""

import itertools
import math
import random

import pytest

from wakesleep.domains.strings.columns.judge.near import Beginnings, Neighbours, deletions
from wakesleep.domains.strings.columns.judge.ngrams import Steps


def one_edit(a, b):
    """Whether one insertion, deletion, substitution or swap of neighbours turns one text into the other."""
    letters = set(a + b)
    edits = {a[:i] + a[i + 1 :] for i in range(len(a))}
    edits |= {a[:i] + c + a[i:] for i in range(len(a) + 1) for c in letters}
    edits |= {a[:i] + c + a[i + 1 :] for i in range(len(a)) for c in letters}
    edits |= {a[:i] + a[i + 1] + a[i] + a[i + 2 :] for i in range(len(a) - 1)}
    return b in edits


def test_every_single_edit_is_near():
    texts = ["".join(t) for t in itertools.product("ab", repeat=4)]
    for a, b in itertools.combinations(texts, 2):
        if one_edit(a, b):
            assert Neighbours([a]).near(b), (a, b)


def test_texts_two_substitutions_apart_are_not_near():
    assert not Neighbours(["Colton"]).near("Calten")
    assert not Neighbours(["abc"]).near("xyz")


def test_a_known_text_is_near_another_as_if_it_were_left_out():
    draw = random.Random(0)
    texts = sorted({"".join(draw.choices("abc", k=draw.randint(3, 5))) for _ in range(30)})
    whole = Neighbours(texts)
    for text in texts:
        assert whole.near_another(text) == Neighbours(t for t in texts if t != text).near(text), text


def test_deletions_of_short_and_long_texts_are_none():
    assert deletions("ab") == set()
    assert deletions("x" * 31) == set()


@pytest.mark.parametrize("text", ["Col", "Colton", "Coltonia", "X", "", "A"])
def test_beginnings_agree_with_startswith(text):
    known = ["Colton", "Coltonia", "Dover", "Col"]
    order = Beginnings(known)
    assert order.begins(text) == any(k != text and k.startswith(text) for k in known if text)
    if text not in known:
        assert order.continues(text) == any(text.startswith(k) and k != text for k in known)


def test_scores_of_steps_follow_their_formula():
    steps = Steps({"\x02ab": 3, "ab\x03": 1}, {"\x02a": 4, "ab": 3})
    first, last = math.log(3.05 / 4.5), math.log(1.05 / 3.5)
    assert steps.scores("\x02ab\x03") == pytest.approx(((first + last) / 2, min(first, last), last))
