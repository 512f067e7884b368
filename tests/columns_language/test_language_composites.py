"""Known things inside values, numbers without leading zeros, codes read place by place."""

import math
import random

import pytest

from wakesleep.domains.strings.columns import explain
from wakesleep.domains.strings.columns.characters import covering
from wakesleep.domains.strings.columns.composites import composites
from wakesleep.domains.strings.columns.concepts import whole_number
from wakesleep.domains.strings.columns.counts import Counts, between, fit_counts
from wakesleep.domains.strings.columns.positions import positional, symbols_vary
from wakesleep.domains.strings.columns.posterior import infer
from wakesleep.domains.strings.columns.prior import shipped
from wakesleep.domains.strings.columns.reading import complete, marks_among, shuffled
from wakesleep.domains.strings.columns.records import as_record, from_record
from wakesleep.domains.strings.columns.slot import Slot
from wakesleep.domains.strings.columns.slots import Reading, first_characters

from .test_language_probabilities import brute, texts
from .test_language_regexes import agree

READING = Reading(shipped(), shuffled=True)


@pytest.mark.parametrize(
    ("values", "right", "wrong"),
    [
        (
            ["10.0.3.4:8080", "192.168.12.7:443", "172.16.254.1:5432", "8.8.8.8:53", "10.1.20.33:9092"],
            "1.2.3.255:80",
            ("1.2.3.256:80", "1.2.3:80", "1.2.3.4:080"),
        ),
        (
            ["2024-01-03/2024-02-05", "2023-11-03/2024-01-05", "2022-05-30/2022-06-15", "2024-07-13/2024-07-15"],
            "2021-02-28/2021-12-31",
            ("2021-02-30/2021-12-31", "2021-02-28-2021-12-31", "2021-13-01/2021-12-31"),
        ),
        (
            ["a_20240103.csv", "b_20231113.csv", "a_20220530.csv", "c_20240719.csv"],
            "d_20200229.csv",
            ("d_20210229.csv",),
        ),
        (["09:00-17:30", "08:15-12:00", "13:30-22:00", "07:45-16:15"], "00:00-23:59", ("09:00-24:00", "09:60-10:00")),
        (["4.7 kOhm", "22 kOhm", "8.2 kOhm", "390 kOhm", "33 kOhm", "1.5 kOhm"], "68 kOhm", ("4. kOhm", ".7 kOhm")),
    ],
)
def test_things_inside_values_are_valid_ones(values, right, wrong):
    program = infer(values).entries[0].program
    assert program.log_prob(right) > -math.inf
    assert all(program.log_prob(w) == -math.inf for w in wrong)
    agree(program, 300)
    assert from_record(as_record(program)) == program


def test_composites_hold_no_mark_and_equal_brute_force():
    found = composites(["(4.7)", "(22)", "(8.2)", "(390)", "(33)", "(1.5)"], READING)
    assert found
    for node in found:
        assert not any(0xE000 <= ord(c) <= 0xF8FF for c in node.regex)
        for x in ("(68)", "(6.8)", "(06)", "68", "(0)"):
            assert math.exp(node.log_prob(x)) == pytest.approx(brute(node, x), rel=1e-9)


@pytest.mark.parametrize("counts", [between(1, 3), fit_counts([1, 2, 2, 3], 1, 3), Counts(2, 3), fit_counts([2], 1, 3)])
def test_whole_numbers_sum_to_one_have_no_leading_zeros_and_equal_brute_force(counts):
    node, total = whole_number(counts), 0.0
    for x in texts("0123456789", 3):
        p = math.exp(node.log_prob(x))
        assert p == pytest.approx(brute(node, x), abs=1e-12)
        assert (p > 0) == (bool(x) and counts.low <= len(x) and (x[0] != "0" or x == "0")), x
        total += p
    assert total == pytest.approx(1.0)
    agree(node, 500)


def test_counts_shifted_have_the_probabilities_of_the_others():
    for counts in (between(1, 4), fit_counts([1, 3], 1, 5), Counts(1, None, ((1, 0.5), (4, 0.5)), 0.3, 2.0)):
        for k in range(1, 30):
            assert counts.shifted(-1).log_prob(k - 1) == counts.log_prob(k)


def test_codes_are_read_place_by_place_and_few_constants_are_no_accident():
    rng = random.Random(0)
    modes = tuple("".join(rng.choice(c + "-") for c in "drwxrwxrwx") for _ in range(30))
    assert symbols_vary(modes)
    node = positional(Slot(modes), lambda seen: covering(seen)[0])
    assert node is not None and all(node.log_prob(m) > -math.inf for m in modes)
    assert node.log_prob("drwxrwxrxw") == -math.inf
    phones = tuple(f"07{rng.randrange(10**9):09d}" for _ in range(10))
    assert infer(phones).entries[0].program.log_prob("17123456789") == -math.inf
    in_order = [f"{n}" for n in range(10400, 10440)]
    assert infer(in_order).entries[0].program.log_prob("20400") > -math.inf
    assert positional(Slot(("AFG", "ALD", "ALB", "ALG", "ASA", "AND", "ANG")), lambda seen: covering(seen)[0]) is None


def test_a_set_is_complete_where_another_member_would_hardly_be_missed():
    assert not complete(2, 8) and complete(2, 12) and not complete(9, 30) and complete(5, 30)
    assert first_characters(Slot(tuple("01234567" * 12))).extra == "01234567"
    assert first_characters(Slot(tuple("0123"))) is None
    assert first_characters(Slot(tuple("KQRBN" * 10))) is None


def test_values_are_in_order_or_not():
    assert not shuffled(["a", "b", "c", "d", "e", "f", "g"]) and not shuffled(list("gfedcba"))
    assert shuffled(list("dbfaecg")) and not shuffled(["b", "a", "c"])


def test_a_word_that_replaces_numbers_is_a_branch_of_its_own():
    assert marks_among(["unch"], ["+1 bp", "-2 bp", "unch"]) and not marks_among(["a", "b"], ["a", "b", "c1"])
    values = [f"+{n} bp" for n in (3, 17, 4, 120, 8, 66, 25, 9, 31)] + ["unch", "unch", "unch"]
    found = explain(values)
    assert found.matches(["unch", "+5 bp", "unchanged", "+05 bp"]).tolist() == [True, True, False, False]
