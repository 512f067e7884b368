"""Near duplicates and steps of characters against direct definitions."""

import itertools
import math
import random

import numpy as np
import pytest

from wakesleep.domains.strings.columns.judge.keys import read_keys
from wakesleep.domains.strings.columns.judge.near import Beginnings, Neighbours, deletions
from wakesleep.domains.strings.columns.judge.ngrams import Steps
from wakesleep.domains.strings.columns.judge.texts import Flat, Table, hash_texts


def one_edit(a, b):
    """Whether one insertion, deletion, substitution or swap of neighbours turns one text into the other."""
    letters = set(a + b)
    edits = {a[:i] + a[i + 1 :] for i in range(len(a))}
    edits |= {a[:i] + c + a[i:] for i in range(len(a) + 1) for c in letters}
    edits |= {a[:i] + c + a[i + 1 :] for i in range(len(a)) for c in letters}
    edits |= {a[:i] + a[i + 1] + a[i] + a[i + 2 :] for i in range(len(a) - 1)}
    return b in edits


def neighbours(texts):
    return Neighbours(Flat.of(list(texts)))


def near(known, text):
    return neighbours(known).near(Flat.of([text]))[0]


def test_every_single_edit_is_near():
    texts = ["".join(t) for t in itertools.product("ab", repeat=4)]
    for a, b in itertools.combinations(texts, 2):
        if one_edit(a, b):
            assert near([a], b), (a, b)


def test_texts_two_substitutions_apart_are_not_near():
    assert not near(["Colton"], "Calten")
    assert not near(["abc"], "xyz")


def test_a_known_text_is_near_another_as_if_it_were_left_out():
    draw = random.Random(0)
    texts = sorted({"".join(draw.choices("abc", k=draw.randint(3, 5))) for _ in range(30)})
    found = neighbours(texts).near_another(Flat.of(texts))
    for text, is_near in zip(texts, found, strict=True):
        assert is_near == near([t for t in texts if t != text], text), text


def test_deletions_of_short_and_long_texts_are_none():
    assert not len(deletions(Flat.of(["ab", "x" * 31])).hashes)
    assert deletions(Flat.of(["ab", "abbc"])).hashes.tolist() == hash_texts(["bbc", "abc", "abb"]).tolist()


@pytest.mark.parametrize("text", ["Col", "Colton", "Coltonia", "X", "", "A"])
def test_beginnings_agree_with_startswith(text):
    known = ["Colton", "Coltonia", "Dover", "Col"]
    begins, continues = Beginnings(Flat.of(known)).around(Flat.of([text]))
    assert begins[0] == any(k != text and k.startswith(text) for k in known if text)
    assert continues[0] == any(text.startswith(k) and k != text for k in known)


def test_scores_of_steps_follow_their_formula():
    pairs, triples = (Table(*zip_sorted(x)) for x in ({"\x02a": 4, "ab": 3}, {"\x02ab": 3, "ab\x03": 1}))
    first, last = math.log(3.05 / 4.5), math.log(1.05 / 3.5)
    forms = read_keys(["ab", ""], grouped=False).forms
    counts = pairs.find(forms.bags["pair"].hashes), triples.find(forms.bags["triple"].hashes)
    found = Steps(triples, pairs).scores(forms, *counts)
    assert found[0] == pytest.approx(((first + last) / 2, min(first, last), last))
    assert found[1].tolist() == [0, 0, 0]


def zip_sorted(counts):
    hashes = hash_texts(list(counts))
    order = np.argsort(hashes)
    return hashes[order], np.array(list(counts.values()))[order]
