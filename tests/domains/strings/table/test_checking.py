"""Tables checked against contracts: every row, whatever the table is kept in, and what is wrong with its columns."""

import json
from datetime import UTC, datetime

import polars as pl
import pytest

from wakesleep.domains.strings.columns.checks import CHECKS
from wakesleep.domains.strings.table import checking, repeats
from wakesleep.domains.strings.table.checking import check
from wakesleep.domains.strings.table.contract import Contract, Expected
from wakesleep.domains.strings.table.rules import Rule
from wakesleep.errors import Refusal

RULES = {
    "id": Rule(pattern="K[0-9]{4}", nulls=0.0, unique=True),
    "kind": Rule(type="category", one_of=("a", "b"), nulls=0.5, missing=("NA",)),
    "size": Rule(type="number", nulls=0.0, low=0.0, high=10.0),
    "day": Rule(type="date", form="%Y-%m-%d", nulls=0.0),
}
HEIGHT = 40_000
BAD = {("id", 7): "K12", ("kind", 30_001): "c", ("size", 12): "11.5", ("size", 39_999): "x", ("day", 5): "2023-02-29"}


def table(height=HEIGHT):
    rows = range(1, height + 1)
    found = {
        "id": [f"K{i % 10_000:04d}" if height <= 10_000 else f"K{i:04d}"[:5] + "" for i in rows],
        "kind": ["ab"[i % 2] if i % 5 else None for i in rows],
        "size": [str(i % 11) for i in rows],
        "day": [f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in rows],
    }
    for (name, row), value in BAD.items():
        found[name][row - 1] = value
    return found


@pytest.fixture(scope="module")
def contract():
    rules = RULES | {"id": Rule(pattern="K[0-9]{4}", nulls=0.0)}
    return Contract(rules, in_order=Expected(0.001, 0.01))


def cells(verdict):
    return {(f.column, row): f.value for f in verdict.faults for row in f.rows}


def test_every_planted_error_is_found_with_its_row_in_csv_parquet_and_frames(contract, tmp_path):
    frame = pl.DataFrame(table())
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    verdicts = [check(contract, source) for source in (str(tmp_path / "t.csv"), tmp_path / "t.parquet", frame)]
    for verdict in verdicts:
        assert cells(verdict) == BAD
        assert (verdict.height, verdict.alarms, verdict.code()) == (HEIGHT, len(BAD), 1)
    assert verdicts[0].rows() == verdicts[1].rows() == verdicts[2].rows()


def test_reasons_and_what_was_expected(contract):
    why = {f.value: (f.why, f.expected) for f in check(contract, table()).faults}
    assert why["c"] == ("not one of the known values", "one of a, b")
    assert why["11.5"] == ("above the range", "a number from 0 to 10")
    assert why["x"] == ("not a number", "a number from 0 to 10")
    assert why["2023-02-29"] == ("no day of the calendar", "a date by %Y-%m-%d")
    assert why["K12"] == ("does not match the pattern", "K[0-9]{4}")


def test_a_table_that_fits_has_the_code_zero(contract):
    good = {name: [v for i, v in enumerate(values[:4]) if i != 4] for name, values in table().items()}
    verdict = check(contract, good)
    assert (verdict.code(), verdict.faults, verdict.summary) == (0, (), "All 4 rows fit.")


def test_nulls_are_alarms_where_none_are_allowed_and_a_share_elsewhere():
    rules = {"a": Rule(nulls=0.0), "b": Rule(nulls=0.25)}
    verdict = check(Contract(rules), {"a": ["x", None, "y", ""], "b": [None, None, "z", "z"]})
    assert cells(verdict) == {("a", 2): None, ("a", 4): None}
    assert [f.why for f in verdict.faults if f.column == "b"] == ["50.0% of the rows are empty"]


def test_values_that_occur_again_are_named_with_their_rows(monkeypatch, tmp_path):
    monkeypatch.setattr(repeats, "MOST_HELD", 7)
    values = [f"K{i:04d}" for i in range(50)]
    values[40], values[30], values[31] = values[3], None, None
    rules = {"id": Rule(pattern="K[0-9]{4}", nulls=0.5, unique=True)}
    path = tmp_path / "t.csv"
    pl.DataFrame({"id": values, "x": ["x"] * 50}).write_csv(path)
    verdict = check(Contract(rules, new_columns=True), str(path))
    assert [(f.value, f.rows, f.why) for f in verdict.faults] == [("K0003", [4, 41], "occurs again")]


def test_missing_new_renamed_and_repeated_columns_are_told(contract, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "id,Kind,size,day,day,extra\nK0001,a,1,2024-01-01,2024-01-01,9\nK0002,b,2,2024-01-02,2024-01-02,8\n"
    )
    verdict = check(contract, str(path))
    said = {(f.column, f.why) for f in verdict.faults}
    assert ("kind", "the column is missing; it may now be called 'Kind'") in said
    assert ("day", "two columns have this name") in said
    assert ("extra", "the column is new") in said
    assert verdict.code() == 1
    assert verdict.summary.startswith("0 of 2 rows have an alarm, and 3 columns as a whole (false alarms to expect:")


def test_a_repeated_name_is_not_taken_for_a_column_that_is_missing():
    made = Contract({"id": Rule(), "email": Rule(pattern="[0-9a-z@.]{1,18}"), "kind": Rule(one_of=("a", "b"))})
    verdict = check(made, pl.DataFrame({"id": ["1"], "id_2": ["2"], "sort": ["a"]}))
    said = {(f.column, f.why) for f in verdict.faults}
    assert said == {
        ("id", "two columns have this name"), ("email", "the column is missing"), ("kind", "the column is missing"),
        ("sort", "the column is new"),
    }  # fmt: skip
    many = check(made, {"id": ["1"] * 5, "email": ["a@b"] * 5, "sort": ["a"] * 5})
    assert [f.why for f in many.faults] == ["the column is missing; it may now be called 'sort'"]


def test_a_table_without_rows_fits_and_says_that_it_has_none():
    verdict = check(Contract({"a": Rule(pattern="x", nulls=0.0)}), {"a": []})
    assert (verdict.code(), verdict.summary) == (0, "The columns fit; the table has no rows.")


def test_the_alarms_to_expect_are_told_with_two_figures():
    stated = {"in_order": Expected(1.0, 1.0), "at_random": Expected(0.0449, 0.2)}
    verdict = check(Contract({"a": Rule(pattern="x")}, **stated), {"a": ["x", "y"]})
    said = "(false alarms to expect: 4.5% of rows like these, 100% of rows that follow in order)."
    assert verdict.summary == "1 of 2 rows have an alarm " + said


def test_a_long_pattern_is_expected_in_words_first():
    long = Rule(pattern="|".join(f"K{n}" for n in range(100)), says="a code")
    assert long.expected.startswith("a code: K0|K1") and Rule(pattern="K1", says="a code").expected == "K1"


def test_new_columns_may_be_allowed():
    made = Contract({"a": Rule()}, new_columns=True)
    assert check(made, {"a": ["x"], "b": ["y"]}).code() == 0


def test_a_tolerated_share_is_told_and_does_not_count():
    rule = Rule(pattern="[a-z]+", tolerate=0.5)
    verdict = check(Contract({"a": rule}), {"a": ["x", "y", "1", "z"]})
    assert (verdict.code(), verdict.alarms, verdict.faults[0].tolerated) == (0, 1, True)
    assert check(Contract({"a": rule}), {"a": ["x", "2", "1", "3"]}).code() == 1


def test_the_list_is_capped_and_the_rest_is_counted(monkeypatch):
    monkeypatch.setattr(checking, "MOST_VALUES_LISTED", 10)
    verdict = check(Contract({"a": Rule(pattern="x")}), {"a": [f"v{i}" for i in range(100)]})
    assert (len(verdict.faults), verdict.unlisted, verdict.alarms) == (10, 90, 100)
    (shown,) = verdict.table(most=3)
    assert len(shown.rows) == 4
    assert json.loads(json.dumps(verdict.rows()))[0]["alarms"] == 100


def test_values_are_shown_escaped():
    verdict = check(Contract({"a": Rule(pattern="x")}), {"a": ["x\n\x1b[2J\\"]})
    (shown,) = verdict.table()
    assert shown.rows[0][2] == "`x\\n\\x1b[2J\\\\`"


def test_a_column_that_begins_late_in_json_lines_has_nulls_before(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": "x"}\n' * 3 + '{"a": "x", "b": "y"}\n')
    verdict = check(Contract({"a": Rule(nulls=0.0), "b": Rule(nulls=0.0)}), str(path))
    assert set(cells(verdict)) == {("b", 1), ("b", 2), ("b", 3)}


def test_a_table_that_cannot_be_read_is_refused(contract, tmp_path):
    with pytest.raises(Refusal, match="is not a file"):
        check(contract, str(tmp_path / "none.csv"))


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (Rule(check_digits="luhn", pattern="[0-9]{16}"), "4111111111111111", "4111111111111112"),
        (Rule(type="integer"), "12", "1.5"),
        (Rule(type="number"), "-1.5e3", "\uff11\uff12"),
        (Rule(longest=3), "abc", "abcd"),
        (Rule(type="date", form="%a %e %b %Y"), "Mon 1 Jan 2024", "Tue 1 Jan 2024"),
    ],
)
def test_rules_of_each_kind(rule, good, bad):
    assert rule.matches([good, bad]) == [True, False]
    assert rule.why(bad)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"type": "colour"}, "type must be one of"),
        ({"nulls": 2.0}, "share between 0 and 1"),
        ({"low": 3.0, "high": 1.0}, "must rise"),
        ({"form": "%Q"}, "unknown field %Q"),
        ({"check_digits": "md5"}, "check digits must be one of"),
        ({"pattern": r"[\w]{1,1000}[\w]{1,1000}"}, "cannot be used"),
    ],
)
def test_what_cannot_be_a_rule_is_refused(given, why):
    with pytest.raises(Refusal, match=why):
        Rule(**given)


DAYS = [datetime(2024, 1, d) for d in range(1, 6)]


def test_typed_dates_fit_whatever_the_format_of_the_contract(tmp_path):
    """A frame whose dates were parsed fits the contract of the file that they were read from; texts are as they are."""
    frame = pl.DataFrame({"day": DAYS})
    frame.write_parquet(tmp_path / "t.parquet")
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%e %b %Y", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S.%3", "%n/%e/%y"):
        made = Contract({"day": Rule(type="date", form=form, nulls=0.0)})
        for source in (frame, frame.cast(pl.Date), {"day": DAYS}, tmp_path / "t.parquet"):
            assert check(made, source).code() == 0, (form, source)
    made = Contract({"day": Rule(type="date", form="%d.%m.%Y", nulls=0.0)})
    assert check(made, {"day": ["2024-01-01"]}).code() == 1


def test_of_a_typed_time_nothing_may_be_lost_by_the_format():
    made = Contract({"day": Rule(type="date", form="%Y-%m-%d", nulls=0.0)})
    verdict = check(made, {"day": [*DAYS, datetime(2024, 1, 6, 10, 30)]})
    assert cells(verdict) == {("day", 6): "2024-01-06 10:30:00"}
    zoned = {"day": [datetime(2024, 1, 6, tzinfo=UTC)]}
    assert check(made, zoned).code() == 1
    with_zone = Contract({"day": Rule(type="date", form="%Y-%m-%dT%H:%M:%S%Z", nulls=0.0)})
    assert check(with_zone, zoned).code() == 0


def test_booleans_fit_as_any_library_spells_them():
    rule = Rule(type="boolean", one_of=("false", "true"), nulls=0.0)
    assert rule.matches(["true", "True", "TRUE", "tRUE", "yes", "FALSE"]) == [True, True, True, False, False, True]
    assert check(Contract({"ok": rule}), pl.DataFrame({"ok": [True, False]})).code() == 0
    assert Rule(type="category", one_of=("true", "x")).matches(["True"]) == [False]


@pytest.mark.parametrize("name", CHECKS)
def test_check_digits_are_asked_of_any_text(name):
    """A contract may ask for them without a pattern, so that any text comes before them."""
    odd = [
        "\u00b2\u00b3",
        "\u0664\u0661\u0661\u0661",
        "9" * 5000,
        "-",
        "Z" * 99,
        "\uff11\uff12",
        "\U0001d7d8" * 9,
        "a b",
        "\x00",
    ]
    for pattern in ("", r"[\s\S]+"):
        rule = Rule(check_digits=name, pattern=pattern)
        assert {v for v in odd if not v.isascii() or len(v) > 1000} <= rule.refused(odd)
        assert all(rule.why(v) for v in odd)


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "jsonl", "frame"])
def test_values_are_judged_as_they_are(tmp_path, kind):
    """White space, null characters, newlines and digits of other scripts are neither dropped nor taken for others."""
    bad = [" K1234", "K1234 ", "K1234\n", "K12\x0034", "K1234\x00", "K123\u0664", "\tK1234", "K1234\u00a0"]
    frame, path = pl.DataFrame({"id": ["K1234", *bad], "x": range(9)}), tmp_path / f"t.{kind}"
    if kind == "frame":
        source = frame
    else:
        write = {"parquet": frame.write_parquet, "jsonl": frame.write_ndjson}.get(kind)
        write(path) if write else frame.write_csv(path, separator="\t" if kind == "tsv" else ",")
        source = str(path)
    verdict = check(Contract({"id": Rule(pattern="K[0-9]{4}", nulls=0.0)}, new_columns=True), source)
    assert cells(verdict) == {("id", i + 2): value for i, value in enumerate(bad)}
