"""Parts of values that are known before a column is seen: ranges of numbers, and words that belong together."""

import math
import random
from collections import Counter

import pytest

from wakesleep.domains.strings.columns.concepts import Concept, concept, is_known
from wakesleep.domains.strings.columns.dates import Date, fit_date
from wakesleep.domains.strings.columns.numbers import Number
from wakesleep.domains.strings.columns.posterior import infer
from wakesleep.domains.strings.columns.records import _fits, as_record, from_record
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


def test_dates_with_a_usual_range_of_years_sum_to_one_and_samples_match():
    date = fit_date("%Y-%m", ["2017-02", "2019-11", "2018-05"])
    assert date.years == (2017, 2019) and not date.habits
    each = {y: math.exp(date.log_prob(f"{y:04d}-07")) for y in range(10_000)}
    assert 12 * sum(each.values()) == pytest.approx(1.0)
    assert each[2018] == pytest.approx((0.8 / 3 + 0.2 * 0.99 / 200) / 12)
    rng, count = random.Random(3), 4_000
    inside = sum(2017 <= int(date.sample(rng)[:4]) <= 2019 for _ in range(count)) / count
    assert abs(inside - 12 * sum(each[y] for y in (2017, 2018, 2019))) < 0.03
    assert from_record(as_record(date)) == date
    with pytest.raises(Refusal):
        from_record({**as_record(date), "years": [2019, 2017]})
    for form in ("%s", "%Y-%", 7):
        with pytest.raises(Refusal):
            from_record({**as_record(date), "form": form})


@pytest.mark.parametrize(
    ("value", "hint", "fits"),
    [
        (((1, 0.5),), tuple[tuple[int, float], ...], True),
        ((), tuple[tuple[int, float], ...], True),
        (((),), tuple[tuple[int, float], ...], False),
        ("", tuple[str, ...], False),
        ((2017, 2019), tuple[int, int] | None, True),
        ((2017,), tuple[int, int] | None, False),
        (None, tuple[int, int] | None, True),
        (True, int, False),
        (1, float, True),
        (math.inf, float, False),
        ("7", int | None, False),
    ],
)
def test_a_stored_value_is_of_the_type_that_its_part_declares(value, hint, fits):
    assert _fits(value, hint) == fits


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%n/%e/%y"])
def test_dates_of_few_years_are_dates_rather_than_numbers(form):
    rng = random.Random(0)
    days = [fit_date(form, ()).sample(rng) for _ in range(400)]
    year = "%Y" if "Y" in form else "%y"
    recent = [d for d in days if 10 <= int(d[:4] if year == "%Y" else d[-2:]) % 100 <= 20][:40]
    assert len(recent) >= 15
    program = infer(recent).entries[0].program
    assert isinstance(program, Concept) and isinstance(program.body, Date)
