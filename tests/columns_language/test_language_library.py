"""Library learning: sub-programs that recur are found, priced as choices of the grammar, and make programs likelier."""

import math

import pytest

from wakesleep.domains.strings.columns.characters import chars
from wakesleep.domains.strings.columns.counts import exactly
from wakesleep.domains.strings.columns.learn import learn_prior
from wakesleep.domains.strings.columns.library import LIBRARY, key, log_shares, mine, pieces
from wakesleep.domains.strings.columns.nodes import Literal, Run
from wakesleep.domains.strings.columns.prior import (
    FIRST_GUESS,
    GROUPS,
    MORE_PARTS,
    log_prior,
    normalised,
    shipped,
    used,
)
from wakesleep.domains.strings.columns.sequences import Series, series

THREE, FOUR = Run(chars("digit"), exactly(3)), Run(chars("digit"), exactly(4))
PHONE = series("(", THREE, ") ", THREE, "-", FOUR)
PIECE = key([THREE.regex, "-", FOUR.regex])
PLAIN = normalised(FIRST_GUESS)
LEARNED = normalised({**FIRST_GUESS, LIBRARY: 3.0, PIECE: 2.0, key([THREE.regex]): 1.0})


def test_pieces_are_neighbouring_parts_and_runs_but_no_literals_alone():
    found = {key([p.regex for p in parts]) for parts in pieces(PHONE)}
    assert {PIECE, key([THREE.regex]), key(["-", FOUR.regex])} <= found
    assert key(["-"]) not in found and key(["\\("]) not in found


def test_a_sub_program_of_many_memories_is_mined_and_one_of_a_few_is_not():
    memories = [{series(c, THREE, "-", FOUR): 1.0} for c in "abcdefgh"] + [{series("x", FOUR, "/", FOUR): 1.0}] * 3

    def cost(parts):
        return -sum(log_prior(p, PLAIN) - MORE_PARTS for p in parts)

    found = mine(memories, cost)
    assert found[PIECE] == pytest.approx(8.0)
    assert key([FOUR.regex, "/", FOUR.regex]) not in found


def test_the_shares_of_the_library_sum_to_one_as_the_groups_of_the_grammar_do():
    for weights in (LEARNED, shipped()):
        for group in GROUPS.values():
            assert sum(math.exp(weights[c]) for c in group) == pytest.approx(1.0)
        assert sum(math.exp(v) for k, v in weights.items() if k.startswith(f"{LIBRARY}: ")) == pytest.approx(1.0)


def brute_cut(parts, weights):
    """The likeliest cut by trying all."""
    if not parts:
        return 0.0
    ways = [log_prior(parts[0], weights) + brute_cut(parts[1:], weights)]
    for j in range(2, len(parts) + 1):
        share = weights.get(key([p.regex for p in parts[:j]]))
        if share is not None:
            ways.append(weights[LIBRARY] + share + brute_cut(parts[j:], weights))
    return max(ways) - MORE_PARTS


def test_a_sequence_has_the_prior_of_its_likeliest_cut():
    assert isinstance(PHONE, Series)
    for weights in (PLAIN, LEARNED, shipped()):
        assert log_prior(PHONE, weights) == pytest.approx(weights["series"] + brute_cut(PHONE.parts, weights))
    without = {k: v for k, v in LEARNED.items() if not k.startswith(f"{LIBRARY}: ")}
    assert log_prior(PHONE, LEARNED) > log_prior(PHONE, without) + 1


def test_choices_used_are_those_of_the_likeliest_cut():
    assert used(PHONE, LEARNED)[PIECE] == 1 and used(PHONE, LEARNED)[LIBRARY] >= 1
    assert used(PHONE, PLAIN)["run"] == 3 and not used(PHONE, PLAIN)[LIBRARY]


def test_a_habit_is_not_hidden_by_the_library():
    habit = Run(chars("digit"), exactly(3), "55", 0.9)
    assert log_prior(habit, LEARNED) < log_prior(THREE, LEARNED) - math.log(10)
    assert log_shares({}) == {}


def test_learning_finds_what_columns_share():
    columns = [[f"{c}{a}-{b}" for a, b in ((555, 1234), (123, 9876), (907, 5550), (222, 4071))] for c in "QRSTUVWXYZ"]
    counts = learn_prior(columns, 1)
    assert counts[LIBRARY] == pytest.approx(sum(v for k, v in counts.items() if k.startswith(f"{LIBRARY}: ")))
    assert any(THREE.regex + "-" in k for k in counts if k.startswith(f"{LIBRARY}: "))
    assert LIBRARY not in learn_prior(columns, 1, with_library=False)
    assert isinstance(PHONE.parts[0], Literal)
