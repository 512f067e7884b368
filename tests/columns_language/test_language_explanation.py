"""Explanations: what is found, shown, matched, stored; hostile input."""

import json
import math
import random
import subprocess
import sys

import numpy as np
import pytest

from wakesleep.domains.strings.columns import explain, restore
from wakesleep.domains.strings.columns.background import background, bigrams
from wakesleep.domains.strings.columns.explanation import LONGEST_VALUE
from wakesleep.domains.strings.columns.posterior import infer
from wakesleep.domains.strings.columns.prior import GROUPS, shipped
from wakesleep.domains.strings.columns.repetition import count_rows, log_partition, pitman_yor
from wakesleep.errors import Refusal

ORDERS = [f"ORD-104{k:02d}" for k in (3, 17, 22, 48, 51, 60, 77, 99)]
NAMES = ["John Smith", "Mary Jones", "Peter Miller", "Anna Lee", "Bob Dylan", "Ringo Starr", "Paul Simon", "Al Green"]


@pytest.mark.parametrize(
    ("values", "regex", "description"),
    [
        (ORDERS, "^ORD-[0-9]{5}$", "`ORD-` then 5 digits"),
        (["a3f90c", "0bd7e1", "99aa12", "ff00e1", "7c6d21", "4e9aa0"], "^[0-9a-f]{6}$", "6 hexadecimal digits"),
        (["shipped", "open", "returned"] * 6, "^(?:shipped|open|returned)$", "one of shipped, open, returned"),
        (list("YNYYNYNN"), "^[NY]$", "one of Y, N"),
        (["2021-03-05", "2020-11-30", "2019-07-14", "2023-01-01"], None, "ISO date"),
        (["$12.99", "$5.00", "$129.95", "$7.25", "$19.99"], r"^\$(?:0|[1-9][0-9]{0,3})\.[0-9]{2}$", "amount of money"),
        (["192.168.0.1", "10.0.0.254", "8.8.8.8", "172.16.31.7"], None, "IPv4 address"),
        (["low", "high", "low", "medium", "high", "low", "medium", "high"], "^(?:low|high|medium)$", None),
        (["0x1f3a", "0x00b2", "0x9c4d", "0xffe0", "0x17a5", "0xbeef"], "^0x[0-9a-f]{4}$", None),
        (["12C", "4A", "31F", "8B", "22D", "17A", "9E", "40C"], "^(?:0|[1-9][0-9]?)[A-Z]$", None),
        (["12 items", "40 items", "31 items", "22 items"], "^[0-9]{1,2} items$", None),
        (["1:23.456", "1:07.113", "2:41.902", "1:55.070", "2:30.611", "1:12.345"], None, None),
        (["4006381333931", "9780306406157", "5901234123457", "4012345678901"], "^[0-9]{13}$", "EAN-13"),
    ],
)
def test_columns_are_named_and_matched(values, regex, description):
    found = explain(values)
    best = found.patterns[0]
    assert description is None or best.description == description
    assert regex is None or best.regex == regex
    assert best.coverage == 1.0 and found.matches(values).all()
    assert sum(p.probability for p in found.patterns) <= 1 + 1e-9
    assert all(found.matches(best.samples))


def test_accidents_are_noted_and_not_frozen():
    found = explain(ORDERS)
    assert found.patterns[0].notes == ("so far all begin with `104`",)
    assert found.matches(["ORD-99999"]).all() and not found.matches(["ORD-1044l", "ORD-1044", "ord-10443"]).any()


def test_years_and_seconds_are_known_in_parts_of_values():
    laps = explain(["1:23.456", "1:07.113", "2:41.902", "1:55.070", "2:30.611", "1:12.345", "1:48.230", "2:03.954"])
    assert laps.matches(["1:59.000"]).all() and not laps.matches(["1:60.000", "1:5.000"]).any()
    years = explain(["1950-1961", "1999-2004", "1987-1990", "2001-2015", "1975-1999"])
    assert years.matches(["1984-2010"]).all() and not years.matches(["1984-7710", "1984-210"]).any()


def test_numbers_in_codes_are_not_a_closed_list():
    draw = random.Random(0)
    batches = [f"L{draw.randint(18, 24)}-{draw.randint(1000, 9999)}" for _ in range(24)]
    assert explain(batches).matches([f"L{k}-4711" for k in range(18, 25)]).all()


def test_check_digits_and_calendars_are_part_of_the_rule():
    isbn = explain(["4006381333931", "9780306406157", "5901234123457", "4012345678901"])
    assert not isbn.patterns[0].exact
    assert isbn.matches(["4006381333931"]).all() and not isbn.matches(["4006381333932"]).any()
    dates = explain(["2021-03-05", "2020-11-30", "2019-07-14", "2023-01-01"])
    assert not dates.matches(["2021-02-30", "2021-13-01"]).any()


def test_generality_widens_and_narrows():
    narrow, wide = explain(NAMES, generality="narrow"), explain(NAMES, generality="wide")
    long_name = ["Maximiliana Featherstonehaugh"]
    assert wide.matches(long_name).all() and not narrow.matches(long_name).any()


def test_counter_examples_change_the_rule():
    values = ["12", "7", "33", "5", "48", "90"]
    assert explain(values).matches(["123"]).any() or explain(values).matches(["00"]).any()
    closed = explain(["A", "B", "A", "C", "B", "A", "C"], reject=["D", "E"])
    assert not closed.matches(["D", "E"]).any() and closed.matches(["A", "B", "C"]).all()


def test_nulls_and_marks_are_counted():
    found = explain(["12.5", None, "13.7", "-4.2", "NA", "0.3", float("nan"), "7.75", "NA", "12.1", ""])
    assert (found.rows, found.nulls, found.null_marks, found.distinct) == (11, 3, ("NA",), 7)
    assert found.matches(["NA", None, "8.1"]).all() and not found.matches(["N/A"]).any()
    assert not explain(["a", "b"]).matches([None]).any()


def test_white_space_at_the_ends_is_seen():
    found = explain(["$4,000 ", "$2,800 ", "$2,700 ", "$150 ", "$12,000 "])
    assert not found.matches(["$4,000", " $4,000 "]).any() and found.matches(["$9,999 "]).all()


@pytest.mark.parametrize(
    "values",
    [
        ["Zürich", "São Paulo", "Ångström"],
        ["Москва", "Киев", "Минск", "Рига"],
        ["北京", "上海", "广州"],
        ["🙂", "🙃", "ok"],
        ["\ud800", "a"],
        ["a\nb", "c\nd"],
        ["x" * LONGEST_VALUE, "y" * 5],
        ["", "a"],
        ["a"],
        [" ", "  "],
        ["(((", "[[[", "\\\\"],
        ["https://example.org/" + "a/" * 300, "https://example.org/b"],
    ],
)
def test_any_text_is_explained(values):
    found = explain(values)
    texts = [v for v in values if v]
    assert found.accepts(texts).all()
    assert np.isfinite(found.log_prob(texts)).all()
    assert len(repr(found)) < 400 and "<table>" in found._repr_html_()
    json.dumps(found.as_dict())


def test_bad_requests_are_refused():
    for bad in ("text", [1, 2], [], [None], ["a" * (LONGEST_VALUE + 1)]):
        with pytest.raises(Refusal):
            explain(bad)
    with pytest.raises(Refusal):
        explain(["a"], effort="endless")
    with pytest.raises(Refusal):
        explain(["a"], generality="huge")


def test_what_is_stored_comes_back():
    for values in (ORDERS, NAMES, list("YNYYNYNN"), ["12.5", "NA", "-3.1", "7.25", "8.5"]):
        found = explain(values)
        again = restore(json.loads(json.dumps(found.as_dict())))
        others = [*values, "ORD-55555", "zzz", "Y", "12"]
        assert [p.regex for p in again.patterns] == [p.regex for p in found.patterns]
        np.testing.assert_allclose(again.log_prob(others), found.log_prob(others))
        assert (again.matches(others) == found.matches(others)).all()
        assert (again.accepts(others) == found.accepts(others)).all()


def test_a_constant_column_is_closed():
    found = explain(["USA"] * 30)
    assert found.patterns[0].regex == "^USA$" and not found.matches(["UK", "usa"]).any()


@pytest.mark.parametrize(
    "change", [{"programs": []}, {"counts": 3}, {"programs": [{"program": {"kind": "os"}}]}, {"rows": "x"}]
)
def test_damaged_stores_are_refused(change):
    stored = explain(ORDERS).as_dict() | change
    with pytest.raises(Refusal):
        restore(stored)


def test_the_same_seed_gives_the_same_explanation():
    assert explain(NAMES).patterns == explain(NAMES).patterns
    assert explain(NAMES).sample(5, seed=3) == explain(NAMES).sample(5, seed=3)


def test_the_predictive_probability_of_a_closed_column_sums_to_one_with_its_strays_left_out():
    posterior = infer(["a", "b", "a", "c", "b", "a", "c", "a"])
    total = sum(math.exp(p) for p in posterior.log_prob([chr(c) for c in range(32, 127)]))
    assert 0.9 < total <= 1 + 1e-9


def test_the_background_sums_to_one_a_step_and_the_prior_a_group():
    np.testing.assert_allclose(np.exp(bigrams()).sum(1), 1.0)
    assert background(["abc", "", "é"]).max() < 0
    weights = shipped()
    for group in GROUPS.values():
        assert sum(math.exp(weights[c]) for c in group) == pytest.approx(1.0)


def test_pitman_yor_partitions_sum_to_one():
    partitions = {(3,): 1, (2, 1): 3, (1, 1, 1): 1}
    for d, t in ((0.0, 1.0), (0.5, 0.3), (0.9, 10.0)):
        assert sum(k * math.exp(log_partition(s, d, t)) for s, k in partitions.items()) == pytest.approx(1.0)
    varied = random.Random(0).choices("abc", k=200)
    assert pitman_yor(count_rows(varied)).chance < 0.05 < pitman_yor(count_rows([str(i) for i in range(50)])).chance


def test_the_package_starts_without_jax():
    code = (
        "import sys, wakesleep.domains.strings.columns; "
        "sys.exit(any(m in sys.modules for m in ('jax', 'polars', 'rich')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
