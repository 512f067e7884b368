"""Parts of values that are known before a column is seen: ranges of numbers, and words that belong together."""

import math
import random
from collections import Counter

import pytest

from wakesleep.domains.strings.columns.concepts import concept, is_known
from wakesleep.domains.strings.columns.numbers import Number
from wakesleep.domains.strings.columns.posterior import infer
from wakesleep.domains.strings.columns.records import as_record, from_record
from wakesleep.domains.strings.columns.vocabulary import holding, vocabularies
from wakesleep.errors import Refusal

from .test_language_regexes import agree

LOG_MONTHS = ("Mar", "Nov", "Jul", "Jan", "Feb", "May", "Oct")
YEARS = Number(1900, 2099, 4, (2012, 2024), 0.9)


def test_a_number_with_a_usual_range_sums_to_one_and_equals_its_formula():
    total = 0.0
    for n in range(10_000):
        p = math.exp(YEARS.log_prob(f"{n:04d}"))
        assert p == pytest.approx((0.9 / 13 if 2012 <= n <= 2024 else 0.0) + 0.1 / 200 if 1900 <= n <= 2099 else 0.0)
        total += p
    assert total == pytest.approx(1.0)


def test_samples_of_a_number_with_a_usual_range_match_its_probabilities():
    rng, count = random.Random(1), 5_000
    drawn = Counter(YEARS.sample(rng) for _ in range(count))
    for x, k in drawn.items():
        p = math.exp(YEARS.log_prob(x))
        assert abs(k / count - p) < 5 * math.sqrt(p * (1 - p) / count), x
    agree(YEARS, 1_000)


def test_a_number_with_a_usual_range_is_stored_and_wrong_ranges_are_refused():
    assert from_record(as_record(YEARS)) == YEARS
    for wrong in ({"usual": [1800, 2024]}, {"usual": [2024, 2012]}, {"share": 1.0}):
        with pytest.raises(Refusal):
            from_record({**as_record(YEARS), **wrong})


@pytest.mark.parametrize("name", sorted(vocabularies()))
def test_a_list_of_words_is_a_concept_that_sums_to_one(name):
    words = vocabularies()[name]
    assert is_known(name) and name in holding(words)
    assert sum(math.exp(concept(name).log_prob(w)) for w in words) == pytest.approx(1.0)
    agree(concept(name), 20)


def test_words_of_no_list_or_of_two_lists_belong_to_none():
    assert holding(["Monday", "Xonday"]) == []
    assert holding(["Monday", "January"]) == []
    assert holding(["N", "SW"]) == ["compass point", "compass direction"]


@pytest.mark.parametrize(
    ("values", "right", "wrong"),
    [
        (["2019-W03", "2020-W41", "2016-W52", "2021-W18", "2018-W27"], "2022-W53", ("2022-W77", "7720-W12")),
        (["08:30-12:15", "09:45-17:30", "10:05-14:50", "13:20-22:10"], "23:59-00:00", ("24:00-12:00", "12:00-13:60")),
        (
            [
                f"{d:02d}/{m}/{y} x"
                for d, m, y in zip((12, 3, 28, 17, 5, 21, 9), LOG_MONTHS, range(2014, 2021), strict=True)
            ],
            "31/Dec/2022 x",
            ("77/Mar/2019 x", "12/Mai/2019 x", "12/Mar/7719 x"),
        ),
        (["low", "high", "low", "medium"], "low", ("lwo", "med")),
    ],
)
def test_a_first_program_knows_ranges_and_words(values, right, wrong):
    program = infer(values).entries[0].program
    assert program.log_prob(right) > -math.inf
    assert all(program.log_prob(w) == -math.inf for w in wrong)
