"""Keys, tables and features computed in arrays against plain Python: sets and dictionaries, value by value."""

import random
from collections import Counter

import numpy as np
import pytest

from wakesleep.domains.strings.columns.judge import levels
from wakesleep.domains.strings.columns.judge.alike import Alike
from wakesleep.domains.strings.columns.judge.column import COUNTED_LEVELS, LEVELS, Column, feature_names
from wakesleep.domains.strings.columns.judge.keys import read_keys
from wakesleep.domains.strings.columns.judge.levels import CHARACTERS_LOOKED_AT
from wakesleep.domains.strings.columns.judge.near import EVENTS, SHORTEST_NEAR, choose
from wakesleep.domains.strings.columns.judge.texts import Flat, Table, hash_texts
from wakesleep.domains.strings.columns.posterior import infer

STRANGE = "ßİǅ²٣日é É\t\n_\u00a0\x00\ud800\U0001f600Σς\u017f-.9Aa"
DRAW = random.Random(3)
TEXTS = [
    "", " ", "x", "A-1", "Ann Smith", "ann  smith ", "x" * 450, "ORD-10441", "a_b c-12.5", "Straße", "strasse",
    *("".join(DRAW.choices(STRANGE, k=DRAW.randint(1, 9))) for _ in range(60)),
    *("".join(DRAW.choices("ab 1-", k=DRAW.randint(1, 6))) for _ in range(60)),
]  # fmt: skip
FITTED, NEW = TEXTS[::2], [t for t in dict.fromkeys(TEXTS[1::2]) if t not in TEXTS[::2]]


def plain_keys(value):
    found = levels.keys_of(value)
    return dict(zip(LEVELS, [*({k} for k in found.single), *found.sets], strict=True))


def plain_deletions(text):
    return {text[:i] + text[i + 1 :] for i in range(len(text))} if 3 <= len(text) <= 30 else set()


def plain_near(text, known):
    around = {d for k in known for d in plain_deletions(k)}
    return len(text) >= SHORTEST_NEAR and (text in around or bool(plain_deletions(text) & (around | set(known))))


@pytest.fixture(scope="module")
def column():
    return Column.fit(FITTED)


@pytest.mark.parametrize("grouped", [False, True])
def test_keys_are_equal_where_those_of_single_values_are(grouped):
    read = read_keys(TEXTS, grouped)
    keys = [plain_keys(t) for t in TEXTS]
    for level in LEVELS:
        of, at = (read.own, np.arange(len(TEXTS))) if level in (*read.own.single, *read.own.bags) else (
            read.forms, read.group
        )  # fmt: skip
        if level in of.single:
            hashes = of.single[level][at].tolist()
            assert len(set(zip(hashes, (k[level].copy().pop() for k in keys), strict=True))) == len(set(hashes)), level
            assert len(set(hashes)) == len({k[level].copy().pop() for k in keys}), level
        else:
            bag = of.bags[level]
            sets = [frozenset(bag.hashes[bag.owner == i].tolist()) for i in at]
            assert [len(s) for s in sets] == [len(k[level]) for k in keys], level
            assert len(set(zip(sets, (frozenset(k[level]) for k in keys), strict=True))) == len(set(sets)), level


def test_shared_keys_of_a_column_equal_those_counted_in_sets(column):
    keys = [plain_keys(t) for t in dict.fromkeys(FITTED)]
    for i, level in enumerate(LEVELS):
        counts = Counter(k for own in keys for k in own[level])
        expected = [min((counts[k] for k in own[level]), default=len(keys)) for own in keys]
        np.testing.assert_array_equal(column.shared[:, i], expected, err_msg=level)


def test_news_and_counts_of_new_values_equal_those_of_sets(column):
    known = {x: Counter(k for t in dict.fromkeys(FITTED) for k in plain_keys(t)[x]) for x in LEVELS}
    for value in NEW:
        mine = plain_keys(value)
        assert column.new_levels(value) == {x for x in LEVELS if not mine[x] <= known[x].keys()}, repr(value)
    found = column.features(NEW)
    start = feature_names().index(f"new: {COUNTED_LEVELS[0]}")
    for j, level in enumerate(COUNTED_LEVELS):
        expected = [np.log1p(len(plain_keys(v)[level] - known[level].keys())) for v in NEW]
        np.testing.assert_allclose(found[:, start + j], expected, rtol=1e-6, err_msg=level)


def test_events_equal_their_plain_definitions(column):
    distinct = list(dict.fromkeys(FITTED))
    words = {w for t in distinct for w in plain_keys(t)["folded word"]}
    cuts = {w[:-k] for w in words for k in (1, 2, 3) if len(w) - k >= SHORTEST_NEAR}
    read = read_keys(NEW, True)
    asked = choose(read.forms, ~column.known["folded word"].holds(read.forms.bags["folded word"].hashes))
    found = column.near.events(read.flat, asked, read.group)
    order = [t for t in distinct if len(t) <= CHARACTERS_LOOKED_AT]
    for value, events in zip(NEW, found.tolist(), strict=True):
        new = [w for w in plain_keys(value)["folded word"] if w not in words]
        short = len(value) <= CHARACTERS_LOOKED_AT
        expected = (
            plain_near(value, distinct),
            any(plain_near(w, [x for x in words if len(x) > SHORTEST_NEAR]) for w in new if len(w) > SHORTEST_NEAR),
            short and value != "" and any(t.startswith(value) and t != value for t in order),
            short and any(value.startswith(t) and t != value for t in order if t),
            any(w in cuts for w in new),
        )
        assert tuple(map(bool, events)) == expected, (value, EVENTS)


def test_features_do_not_depend_on_the_company_or_the_cut(column, monkeypatch):
    whole = column.features(NEW)
    np.testing.assert_array_equal(whole, np.concatenate([column.features([v]) for v in NEW]))
    monkeypatch.setattr("wakesleep.domains.strings.columns.judge.column.CHARACTERS_A_BATCH", 40)
    np.testing.assert_array_equal(whole, column.features(NEW))


def test_a_table_finds_what_a_dictionary_holds():
    draw = np.random.default_rng(0)
    for size in (0, 1, 2, 17, 3000):
        hashes = draw.integers(0, 2**64, size, dtype=np.uint64)
        hashes[: size // 2] >>= np.uint64(30)  # many in the first slots
        given = np.repeat(hashes, draw.integers(1, 4, size))
        table, counts = Table.counting(given), Counter(given.tolist())
        asked = np.concatenate([hashes, draw.integers(0, 2**64, 100, dtype=np.uint64), np.zeros(1, np.uint64)])
        assert table.find(asked).tolist() == [counts[h] for h in asked.tolist()]
        assert len(table) == len(counts)


def test_parts_have_the_hash_of_their_text():
    flat = Flat.of(["Ann Smith", "", "日本 x"])
    np.testing.assert_array_equal(flat.parts(np.array([4, 10]), np.array([9, 12])), hash_texts(["Smith", "本 "]))
    np.testing.assert_array_equal(flat.grams(2)[0][-2:], hash_texts(["本 ", " x"]))


@pytest.mark.parametrize(
    "values",
    [
        [f"ORD-{i}" for i in range(10_400, 10_500)],
        [f"{a} {b}" for a in ("Ann", "Eve", "Bob") for b in ("Smith", "Jones", "Hall")],
        ["open", "closed", "open", "held"] * 9,
        [f"2021-{m:02d}-0{d}" for m in range(1, 13) for d in range(1, 9)],
        [f"{w}.{w[::-1]}@example.org" for w in ("anna", "bertha", "carl", "dora", "emil")],
    ],
)
def test_values_that_programs_cannot_tell_apart_have_equal_probabilities(values):
    nodes = [e.program for e in infer(values).entries]
    draw = random.Random(1)
    asked = [v[:i] + draw.choice("059aZxé -") + v[i + 1 :] for v in values for i in (0, len(v) // 2, len(v) - 1)]
    asked += ["", "x" * 500, "y" * 500, "\U0001f600", *values]
    some, group = Alike(nodes).groups(asked)
    for node in nodes:
        log_p = np.array(node.log_probs(some))[group]
        np.testing.assert_array_equal(log_p, node.log_probs(asked))


def test_many_values_of_one_form_are_read_once():
    nodes = [e.program for e in infer([f"ORD-{i}" for i in range(10_400, 10_500)]).entries]
    some, _ = Alike(nodes).groups([f"ORD-{i}" for i in range(10_000, 20_000)])
    assert len(some) < 400
