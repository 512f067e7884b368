"""Descriptions and drafted contracts: types, ranges, ladders, alarms, the file and what it refuses."""

import math
import random
from pathlib import Path

import pytest

from wakesleep.data.tables import read_table
from wakesleep.domains.strings.columns.explanation import explain
from wakesleep.domains.strings.table.checking import check
from wakesleep.domains.strings.table.contract import Contract, parsed, read_contract
from wakesleep.domains.strings.table.description import describe, histogram, instant, plain_type
from wakesleep.domains.strings.table.dialects import with_any_digits
from wakesleep.domains.strings.table.drafting import draft, null_limit, text_rule
from wakesleep.domains.strings.table.ranges import expected_range, wider_ranges
from wakesleep.domains.strings.table.rules import Rule
from wakesleep.domains.strings.table.trials import BREAK_RATE, Alarms, Outcome
from wakesleep.errors import Refusal

EXAMPLE = Path(__file__).parents[4] / "examples" / "orders.csv"


@pytest.fixture(scope="module")
def drafted():
    return draft(read_table(EXAMPLE, rows="sample"), "orders.csv", explain)


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["1", "2", "-3"], "integer"),
        (["1.0", "2.5"], "number"),
        (["007", "008"], ""),
        (["yes", "no"], "boolean"),
        (["True", "False"], "boolean"),
        (["1", "x"], ""),
        (["1"] * 20 + ["x"], "integer"),
        (["\uff11", "\uff12"], ""),
    ],
)
def test_types_follow_the_spelling(values, type_):
    from collections import Counter

    assert plain_type(Counter(values)) == type_


def test_a_date_has_its_format_and_range():
    found = describe("d", [f"{d:02d}.03.2024" for d in range(1, 29)], explain)
    assert (found.type, found.form, found.low, found.high) == ("date", "%d.%m.%Y", "2024-03-01", "2024-03-28")
    assert instant("31.02.2024", "%d.%m.%Y") is None


def test_marks_of_missing_values_are_nulls():
    found = describe("x", ["1", "2", "N/A", None, "4"], explain)
    assert (found.type, found.missing, found.nulls) == ("integer", ("N/A",), 2)


def test_a_histogram_counts_every_row():
    assert sum(histogram({1.0: 3, 2.0: 4, 10.0: 5})) == 12
    assert histogram({5.0: 7}) == (7,)


def test_the_range_is_wider_than_what_was_seen_but_for_ends_that_are_reached_again():
    rng = random.Random(0)
    normal = [rng.gauss(50, 5) for _ in range(500)]
    low, high = expected_range(normal, False)
    assert 0 < low < min(normal) and max(normal) < high < 100
    assert expected_range([float(rng.randint(1, 10)) for _ in range(500)], True) == (1, 10)


def test_the_range_of_an_exponential_tail_is_passed_about_as_often_as_it_says():
    rng = random.Random(1)
    passed = 0
    for _ in range(400):
        seen, new = ([rng.expovariate(1) for _ in range(200)] for _ in range(2))
        passed += max(new) > expected_range(seen, False)[1]
    assert passed / 400 == pytest.approx(1 / 21, abs=0.035)


def test_running_numbers_are_open_above():
    assert expected_range([float(i) for i in range(100)], True) == (0, None)


def ordered(made):
    """A table of 400 rows whose columns change with the rows, as `made` tells, drafted from its first half."""
    rng = random.Random(5)
    rows = [made(i, rng) for i in range(400)]
    first = draft(read_table({"x": rows[:200]}, rows="all"), "t", explain)
    return first, check(first, {"x": rows[200:]})


def test_numbers_that_move_on_have_an_open_range():
    first, later = ordered(lambda i, rng: str(24_000 + 5 * i + rng.randrange(40)))
    assert (first.columns["x"].low, first.columns["x"].high) == (0, None)
    assert later.alarms == 0


def test_times_that_move_on_are_times_rather_than_the_digits_seen():
    first, later = ordered(lambda i, rng: f"{10 + i // 100}:{rng.randrange(60):02d}:{rng.randrange(60):02d}")
    assert first.columns["x"].form == "%H:%M:%S" or "[0-9]{2}" in first.columns["x"].pattern
    assert later.alarms == 0


def test_values_that_come_with_the_rows_are_no_closed_list():
    first, later = ordered(lambda i, rng: f"{'ABCDEFGH'[i // 50]}{rng.choice('xyz')}")
    assert first.columns["x"].one_of is None
    assert later.alarms == 0


def test_the_order_of_rows_is_stated_apart_where_it_matters():
    made = lambda i, rng: "".join(rng.choice("abcdefghij"[i // 40 :]) for _ in range(4)) + "!+"[i > 195]  # noqa: E731
    first, _ = ordered(made)
    assert first.in_order.rows >= first.at_random.rows


def test_the_alarms_of_rows_are_those_of_the_trials_and_of_breaks_in_columns_that_ask_for_something():
    alarms = Alarms(99, 1.0, 0.5, breaks=0.004)
    assert alarms.add(Outcome({3}, [True, False]), 0, asks=True) == pytest.approx(0.015 + 0.004)
    assert alarms.add(Outcome({3}, [True, False]), 2, asks=True) == pytest.approx(2 / 99 + 0.004)
    assert alarms.add(Outcome(set(), [False, False]), 0, asks=False) == 0
    assert alarms.of_rows == pytest.approx(1 - math.exp(-(0.015 + 2 / 99) / 2 - 0.008))  # one row for two alarms
    assert alarms.of_columns == pytest.approx(2 * (1.5 / 3) / 3)


def test_ranges_widen_by_half_to_both_sides_then_open():
    rng = random.Random(0)
    wider = wider_ranges([float(rng.randint(1, 10)) for _ in range(500)], True)
    assert wider == {"wide": (0, 14.5), "above": (1, None), "below": (0, 10), "sign": (0, None)}
    assert "wide" not in wider_ranges([float(i) for i in range(100)], True)


@pytest.mark.parametrize(
    "values",
    [
        ["1e999", "-1e999", *map(str, range(20))],
        ["9" * (400 + i) for i in range(20)],
        ["5e-324", "0.0", "1e-320"],
        ["1.7e308", "-1.7e308", "1", "1e300", "1e299"],
        [f"1e{i * 7 % 300}" for i in range(60)],
    ],
)
def test_numbers_that_overflow_have_a_contract_whose_ranges_are_finite(values):
    made = draft(read_table({"x": values}, rows="all"), "t", explain)
    rule = parsed(made.dumped()).columns["x"]
    assert all(end is None or math.isfinite(end) for end in (rule.low, rule.high))
    for whole in (True, False):
        ranges = wider_ranges([float(v) for v in values], whole).values()
        assert all(end is None or math.isfinite(end) for ends in ranges for end in ends)


def test_a_pattern_with_any_digits():
    assert with_any_digits(r"ORD-10[0-9]{3}(?:[01]|2)?\.") == r"ORD-[0-9]{5,6}\."


def test_nulls_may_vary_as_they_did_in_the_order_of_rows():
    values = [None] * 30 + ["a1"] * 70 + ["b2"] * 100
    made = draft(read_table({"x": values}, rows="all"), "t", explain)
    assert check(made, {"x": values[:100]}).code() == 0


def test_limits_of_nulls():
    assert null_limit(0, 100) == 0
    assert 0.1 < null_limit(100, 1000) < 0.2
    assert null_limit(10, 10) == 1


def test_the_drafted_contract_fits_its_table_but_for_the_errors_in_it(drafted):
    assert drafted.columns["order"].pattern == "ORD-[0-9]{5}"
    assert drafted.columns["placed"].form == "%Y-%m-%d"
    assert drafted.columns["status"].one_of == ("open", "returned", "shipped")
    assert drafted.columns["quantity"].type == "integer"
    faults = check(drafted, str(EXAMPLE)).faults
    assert {f.value for f in faults} == {"ORD-1044l", "22.04.2024", "guest", "unlisted"}
    for expected in (drafted.in_order, drafted.at_random):
        assert 0 < expected.rows < 0.5
        assert 0 < expected.columns < 1


def test_the_alarms_of_clean_columns_are_few_and_those_of_open_ones_more():
    rng = random.Random(3)
    table = {
        "code": [f"K{rng.randrange(10_000):04d}" for _ in range(600)],
        "size": [f"{rng.lognormvariate(0, 2):.3f}" for _ in range(600)],
    }
    made = draft(read_table(table, rows="all"), "t", explain)
    assert BREAK_RATE < made.columns["code"].alarms < BREAK_RATE + 0.002
    assert made.at_random.rows < made.in_order.rows
    later = {
        "code": [f"K{rng.randrange(10_000):04d}" for _ in range(600)],
        "size": [f"{rng.lognormvariate(0, 2):.3f}" for _ in range(600)],
    }
    assert check(made, later).alarms / 600 <= 3 * made.at_random.rows + 0.005


def test_the_rule_of_a_pattern_says_what_matches_says():
    rng = random.Random(0)
    for values in (
        ["HF11", "HF12", "HF7", "HF15"],
        ["2024-01-31", "2023-05-06"] * 9,
        ["Zoë", "Ann", "Łukasz", "中文"] * 5,
    ):
        explained = explain(values)
        rule = text_rule(Rule(nulls=0.0), explained)
        near = [v[:i] + rng.choice("\uff110aZé \n-") + v[i + 1 :] for v in values for i in range(len(v) + 1)]
        given = [*values, *near, "", *(v + "\n" for v in values), "2023-02-29", "2023-02-28"]
        assert rule.matches(given) == explained.matches(given).tolist()


def test_the_file_is_read_as_it_was_written(drafted, tmp_path):
    path = tmp_path / "contract.yaml"
    path.write_text(drafted.dumped())
    again = read_contract(path)
    assert again.dumped() == drafted.dumped()
    assert again.in_order.rows == pytest.approx(drafted.in_order.rows, rel=0.05)
    assert check(again, str(EXAMPLE)).faults == check(drafted, str(EXAMPLE)).faults


def test_texts_that_look_like_other_things_stay_texts():
    made = Contract({"no": Rule(type="category", one_of=("no", "1", "2024-01-01", "null", "~", " x", "é"))})
    assert parsed(made.dumped()) == made
    assert parsed("wakesleep: contract 1\ncolumns:\n  a: {one of: [no, yes, 1.0, null]}\n").columns["a"].one_of == (
        "no", "yes", "1.0", "null",
    )  # fmt: skip


def test_a_pattern_is_one_line_of_the_file_however_long():
    long, words = "(?:[a-z' ]+ - |#)" * 20, ("blue moon", "full moon") * 20
    made = Contract({"a": Rule(pattern=long), "b": Rule(type="category", one_of=words, says="\x85 " * 60)})
    assert any(
        line.replace("''", "'").strip("' ").removeprefix("pattern: ") == long for line in made.dumped().split("\n")
    )
    assert all(line.count("blue") == line.count("blue moon") for line in made.dumped().splitlines())
    assert parsed(made.dumped()) == made


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not begin with"),
        ("a: b", "does not begin with"),
        ("[1, 2", "not YAML in line 1"),
        ("wakesleep: contract 9\ncolumns: {a: {}}", "does not begin with"),
        ("wakesleep: contract 1\ncolumns: {}", "names no column"),
        ("wakesleep: contract 1\ncolumns: {a: {colour: red}}", "unknown word 'colour'"),
        ("wakesleep: contract 1\ncolumns: {a: {}, a: {}}", "'a' stands twice"),
        ("wakesleep: contract 1\ncolumns: &x {a: *x}", "references"),
        ("wakesleep: contract 1\ncolumns: {a: {from: much}}", "from must be a number"),
        ("wakesleep: contract 1\ncolumns: {a: {from: 1.2.3}}", "from must be a number"),
        ("wakesleep: contract 1\ncolumns: {a: {one of: red}}", "must be a list of texts"),
        ("wakesleep: contract 1\ncolumns: {a: {pattern: [x]}}", "must be one value"),
        ("wakesleep: contract 1\ncolumns: {a: {pattern: '(?=x)y'}}", "column 'a'.*cannot be read"),
        ("wakesleep: contract 1\ncolumns: {a: {unique: perhaps}}", "unique must be one of"),
        ("wakesleep: contract 1\ncolumns: {a: [1]}", "is not a list of words and values"),
        ("wakesleep: contract 1\nnew columns: some\ncolumns: {a: {}}", "new columns must be one of"),
        ("wakesleep: !!python/object/apply:os.system ['true']\ncolumns: {a: {}}", "does not begin with"),
        ("[" * 3000, "not YAML"),
        ("- " * 5000, "not YAML"),
        ("a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]", "references"),
        ("wakesleep: contract 1\ncolumns: {a: {from: " + "9" * 5000 + "}}", "from must be a number"),
        ("wakesleep: contract 1\ncolumns: {a: {longest: 1e400}}", "longest must be"),
        ("wakesleep: contract 1\ncolumns: {a: {longest: 1e309}}", "longest must be"),
        ("wakesleep: contract 1\nrows: 1e309\ncolumns: {a: {}}", "rows must be"),
    ],
)
def test_a_hostile_or_broken_file_is_refused_in_one_sentence(text, why, tmp_path):
    path = tmp_path / "contract.yaml"
    path.write_text(text)
    with pytest.raises(Refusal, match=why) as caught:
        read_contract(path)
    assert str(caught.value).count("\n") == 0
    assert str(path) in str(caught.value)


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="the system has no such device")
def test_a_device_is_no_contract():
    """Others, such as /dev/zero or a pipe, have no end."""
    with pytest.raises(Refusal, match="it is not a file"):
        read_contract(Path("/dev/null"))


def test_a_pattern_of_disaster_is_matched_in_linear_time():
    made = parsed("wakesleep: contract 1\ncolumns: {a: {pattern: '(?:a+)+b'}}")
    assert check(made, {"a": ["a" * 5000]}).code() == 1


def test_a_table_without_rows_has_no_contract():
    with pytest.raises(Refusal, match="has no rows"):
        draft(read_table({"a": []}, rows="all"), "t", explain)
