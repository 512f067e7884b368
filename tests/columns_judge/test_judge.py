"""Verdicts, reasons and storage of the judge."""

import itertools
import json
import random

import numpy as np
import pytest

from wakesleep.domains.strings.columns.judge import fit, restore
from wakesleep.domains.strings.columns.posterior import infer
from wakesleep.errors import Refusal

DRAW = random.Random(4)
ORDERS = [f"ORD-{DRAW.randrange(10_000, 99_999)}" for _ in range(300)]
STATES = DRAW.choices(["open", "closed", "on hold"], k=400)
DATES = [f"2021-{m:02d}-{d:02d}" for m in range(1, 13) for d in range(1, 29)]


@pytest.fixture(scope="module")
def orders():
    return fit(ORDERS)


@pytest.fixture(scope="module")
def states():
    return fit(STATES)


def test_near_misses_of_a_code_are_refused_and_new_codes_accepted(orders):
    new = [f"ORD-{i}" for i in range(10_000, 99_999, 1117) if f"ORD-{i}" not in ORDERS]
    assert orders.accepts(new).mean() > 0.95
    wrong = [
        "ORD-1044l",
        "ORD-1O441",
        "ord-10441",
        "ORD-10441 ",
        " ORD-10441",
        "ORD10441",
        "N/A",
        "ORD-104411",
        "ORD-104",
    ]
    assert not orders.accepts(wrong).any()


def test_a_closed_set_refuses_other_words(states):
    assert states.accepts(["open", "closed", "on hold"]).all()
    assert not states.accepts(["pending", "Open", "open ", "clsoed", "on  hold", "?"]).any()


def test_names_stay_open():
    firsts, lasts = (
        ["Ann", "Robert", "Eve", "Maria", "John", "Peter"],
        ["Smith", "Miller", "Jones", "Baker", "Carter", "Hall"],
    )
    names = [f"{a} {b}" for a in firsts for b in lasts]
    judge = fit(names[:30])
    assert judge.accepts(names[30:]).all()


@pytest.mark.parametrize("values", [ORDERS, STATES, DATES, ["x", "y"], ["only"], ["a", "b", "a", "zz"]])
def test_values_fitted_on_are_accepted(values):
    assert fit(values).accepts(values).all()


def test_one_misprint_among_many_is_an_oddity():
    judge = fit([*STATES[:200], "clsoed", *STATES[200:]])
    assert not judge.accepts(["clsoed"])[0]
    assert judge.accepts(STATES).all()


def test_a_larger_share_accepts_no_less(orders):
    values = ["ORD-10441", "ORD-1044l", "ORD-104411", "ORX-10441", "ORD-99", "x"]
    accepted = [orders.accepts(values, share) for share in (0.5, 0.9, 0.97, 0.99, 0.999)]
    for fewer, more in itertools.pairwise(accepted):
        assert (fewer <= more).all()


def test_after_few_rows_an_asked_share_refuses_less_than_usual_and_the_judge_says_so():
    few, many = fit(ORDERS[:10]), fit(ORDERS)
    assert few.threshold(0.97) < few.threshold()
    assert many.threshold(0.97) == pytest.approx(many.threshold(), abs=0.5)
    assert few.expected_alarms > 0.05 > many.expected_alarms
    values = [*ORDERS[10:], "ORD-1044l", "ORD-104411", "x"]
    assert (few.accepts(values, 0.97) >= few.accepts(values)).all()


def test_no_share_separates_members_from_strangers():
    judge = fit(["KA10", "GP71", "RQ63", "CP79", "XE60"])
    assert judge.accepts(["GU65", "KR58", "CP64"], None).all()
    assert not judge.accepts(["2021-03-04", "hello world", "3.14", "A1XGSYVGKSVGLC"], None).any()


def test_a_stored_judge_judges_alike(orders, states):
    values = ["ORD-10441", "ORD-1044l", "open", "Open", "", "\ud800", "x" * 500, *ORDERS[:5]]
    for judge in (orders, states, fit([f"{i:x}" for i in range(5000)])):
        again = restore(json.loads(json.dumps(judge.as_dict())))
        np.testing.assert_allclose(again.evidence(values), judge.evidence(values), rtol=1e-5)
        assert again.threshold(0.97) == judge.threshold(0.97)
        assert again.expected_alarms == judge.expected_alarms
        assert [again.why(v) for v in values] == [judge.why(v) for v in values]


def test_a_judge_with_programs_is_stored_and_judges_alike():
    judge, values = fit(ORDERS, infer(ORDERS)), ["ORD-10441", "ORD-1044l", "x", ""]
    again = restore(json.loads(json.dumps(judge.as_dict())))
    np.testing.assert_allclose(again.evidence(values), judge.evidence(values), atol=0.01)
    assert judge.accepts(values).tolist() == [True, False, False, False]


def test_a_large_column_is_stored_in_bounded_size():
    judge = fit([f"user{i}@example.org" for i in range(40_000)])
    assert len(json.dumps(judge.as_dict())) < 600_000
    assert judge.accepts(["user0@example.org", "user39999@example.org"]).all()


def test_evidence_does_not_depend_on_the_company(orders):
    values = ["ORD-10441", "x", "ORD-1044l", "N/A"]
    alone = [fit(ORDERS).evidence([v])[0] for v in values]
    np.testing.assert_allclose(orders.evidence(values), alone, rtol=1e-4)


@pytest.mark.parametrize(
    ("values", "value", "phrase"),
    [
        (ORDERS, "ORD-1044l", "a character not seen before: l"),
        (ORDERS, "ORD-10441 ", "white space at the end"),
        (ORDERS, "n/a", "a mark of a missing value: n/a"),
        (ORDERS, "ORD-1044111", "longer than any of 300 values"),
        (STATES, "Open", "a known value in another case"),
        (STATES, "clsoed", "one character off a known value"),
        (STATES, "open", f"seen in {STATES.count('open')} of 400 rows"),
        (STATES, "nolsed", "not one of the 3 known values"),
    ],
)
def test_why_names_the_news(values, value, phrase):
    if values is ORDERS and phrase.startswith("longer"):
        phrase = f"longer than any of {len(set(ORDERS))} values"
    assert fit(values).why(value) == phrase


@pytest.mark.parametrize("given", [[], "text", [1, 2], ["a", None]])
def test_what_is_no_column_is_refused(given):
    with pytest.raises(Refusal):
        fit(given)


@pytest.mark.parametrize("change", [{"version": 9}, {"column": {}}, {"oddities": 3}, {"offset": "x"}])
def test_what_is_no_judge_is_refused(states, change):
    with pytest.raises(Refusal):
        restore(states.as_dict() | change)


def test_a_share_outside_zero_and_one_is_refused(states):
    with pytest.raises(Refusal, match="between 0 and 1"):
        states.accepts(["open"], 97.0)
