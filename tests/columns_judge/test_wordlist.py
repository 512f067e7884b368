"""The list of words by hashes, and what is said of new words that it does not hold."""

import math

import numpy as np
import pytest

from wakesleep.domains.strings.columns.judge import fit, wordlist
from wakesleep.domains.strings.columns.judge.keys import read_keys
from wakesleep.domains.strings.columns.judge.near import choose
from wakesleep.domains.strings.columns.judge.texts import Flat, hash_texts
from wakesleep.domains.strings.columns.judge.unlisted import UNLISTED, Unlisted
from wakesleep.errors import Refusal


def chosen(values, words):
    """The words of values that are among some."""
    forms = read_keys(values, grouped=False).forms
    return choose(forms, np.isin(forms.bags["folded word"].hashes, hash_texts(words)))


def test_a_list_holds_its_words_and_hardly_any_others(tmp_path):
    words = [f"w{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(676)]
    wordlist.learn([w.upper() for w in words]).write(tmp_path / "w.npz")
    found = wordlist.read_wordlist(tmp_path / "w.npz")
    assert found.holds(hash_texts(words)).all()
    assert found.holds(hash_texts([f"x{i}" for i in range(10_000)])).mean() < 0.001


def test_the_shipped_list_holds_common_words_names_and_places():
    found = wordlist.shipped()
    assert found.holds(hash_texts(["house", "water", "smith", "maria", "denver", "colton"])).all()
    others = hash_texts([f"{a}q{b}x{c}zk" for a in "abcdefghij" for b in "klmnopqrst" for c in "abcdefghij"])
    assert found.holds(others).mean() < 0.04


def test_a_file_that_is_no_list_is_refused(tmp_path):
    (tmp_path / "w.npz").write_text("x")
    with pytest.raises(Refusal, match="list of words"):
        wordlist.read_wordlist(tmp_path / "w.npz")
    zero = np.array([[3, 0, 1], [0] * 3, [0] * 3, [0] * 3], np.uint8)
    far = np.array([[255]] * 4, np.uint8)
    for planes in (zero, far, zero[:3], zero.astype(np.uint32)):
        np.savez(tmp_path / "v.npz", words=planes, cuts=planes)
        with pytest.raises(Refusal, match="list of words"):
            wordlist.read_wordlist(tmp_path / "v.npz")


def edits(word):
    """All texts made of a word by leaving out a letter or by swapping different neighbours."""
    left_out = {word[:i] + word[i + 1 :] for i in range(len(word))}
    return left_out | {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)} - {word}


def test_misprints_and_cuts_are_those_found_by_brute_force():
    listed = ["denver", "dover", "boston", "colton", "anna", "mississippi"]
    known = wordlist.learn(listed)
    words = sorted(
        {e for w in listed for e in edits(w)} | {w + w[-1] for w in listed} | {"xyzzy", "colto", "missis", "denv"}
    )
    flat = Flat.of(words)
    misprint = [len(w) >= wordlist.SHORTEST_MISPRINT and bool(edits(w) & set(listed)) for w in words]
    cut = [
        len(w) >= wordlist.SHORTEST_CUT and any(v.startswith(w) and 1 <= len(v) - len(w) <= 3 for v in listed)
        for w in words
    ]
    assert known.is_misprint(flat).tolist() == misprint and any(misprint)
    assert known.is_cut(flat).tolist() == cut and any(cut)


def test_new_words_are_counted_by_kind_and_weighed_by_the_column():
    known = wordlist.learn(["denver", "dover"])
    own = chosen(["Denver", "Dover", "Xyzzy", "Denver 2"], ["dover", "xyzzy"])
    column = Unlisted(own, known)
    words = ["colotn", "ddover", "denve", "dover", "ab"]
    found = dict(zip(UNLISTED, column.features(chosen([" ".join(words)], words))[0], strict=True))
    rate, never = -math.log(1.5 / 5), -math.log(0.5 / 5)
    assert found["listed"] == pytest.approx(math.log(2))
    assert found["unlisted"] == pytest.approx(math.log(4))
    assert (found["misprint"], found["cut"]) == pytest.approx((math.log(2), math.log(2)))
    assert (found["rate unlisted"], found["rate listed"], found["usual"]) == pytest.approx((rate, 0, rate))
    assert (found["rate misprint"], found["rate cut"]) == pytest.approx((never, never))
    assert column.inside[:, UNLISTED.index("unlisted")].tolist() == pytest.approx([0, 0, math.log(2), 0])


def test_a_misprinted_city_is_less_likely_than_a_new_one():
    cities = ["Denver", "Dover", "Boston", "Chicago", "Houston", "Phoenix", "Dallas", "Austin", "Seattle", "Portland"]
    judge = fit(cities)
    good, bad = judge.evidence(["Colton", "Atlanta", "Memphis"]), judge.evidence(["Colotn", "Atlatna", "Memphsi"])
    assert (good > bad + 0.5).all()
