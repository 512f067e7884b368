"""Tables explained column by column, shown, exported, saved and checked."""

import json
import re
from pathlib import Path

import pytest

from wakesleep.data.tables import read_table
from wakesleep.domains.strings.explain import EXPLAINER, explain_strings
from wakesleep.domains.strings.explain.explainer import Options
from wakesleep.errors import Refusal

EXAMPLE = Path(__file__).parents[4] / "examples" / "orders.csv"


@pytest.fixture(scope="module")
def found():
    """The example table, explained."""
    options = Options()
    return EXPLAINER.explain(EXPLAINER.read(str(EXAMPLE), options), options, lambda _: None)


def test_every_column_has_a_row_and_a_pattern_that_its_values_match(found):
    table = read_table(EXAMPLE, rows="all")
    rows = {row["column"]: row for row in found.rows()}
    assert list(rows) == table.names
    for column in table.columns:
        row = rows[column.name]
        matched = [bool(re.fullmatch(row["patterns"][0]["regex"], v)) for v in column.present]
        assert sum(matched) / len(matched) == pytest.approx(row["patterns"][0]["coverage"])
        assert row["rows"] == table.rows


def test_rows_are_json_and_restore_the_same_judgement(found):
    restored = EXPLAINER.restore(json.loads(json.dumps(found.rows())))
    for name, column in found.columns.items():
        values = ["ORD-10400", "X", "2024-01-31", ""]
        assert list(restored.columns[name].accepts(values)) == list(column.accepts(values))
        assert list(restored.columns[name].matches(values)) == list(column.matches(values))


def test_a_saved_explanation_that_is_damaged_is_refused(found):
    rows = json.loads(json.dumps(found.rows()))
    del rows[0]["saved"]["judge"]
    with pytest.raises(Refusal, match="damaged or of another version"):
        EXPLAINER.restore(rows)


@pytest.mark.parametrize("width", [80, 200])
def test_the_table_has_four_words_in_every_row(found, width):
    (shown,) = found.table(most=1, width=width)
    assert {len(row) for row in shown.rows} == {len(shown.header)}
    assert [row[0] for row in shown.rows if row[0]] == list(found.columns)


def test_exports_hold_the_patterns(found):
    schema = json.loads(found.export("json-schema"))
    assert set(schema["properties"]) == set(found.columns)
    space: dict = {}
    exec(found.export("re"), space)
    values = ["ORD-10400", "x"]
    assert [bool(space["PATTERNS"]["order"].fullmatch(v)) for v in values] == list(
        found.columns["order"].matches(values)
    )
    with pytest.raises(Refusal, match="export must be one of"):
        found.export("yaml")


def test_every_row_of_a_new_table_is_judged(found, tmp_path):
    lines = EXAMPLE.read_text().splitlines()
    good = lines[1]
    bad = good.replace(good.split(",")[0], "order 12")
    file = tmp_path / "new.csv"
    many, broken = 20_000, 50
    file.write_text("\n".join([lines[0], *[good] * many, *[bad] * broken]) + "\n")
    violations = [v for v in found.check(str(file)) if v["column"] == "order"]
    assert [(v["value"], v["rows"]) for v in violations] == [("order 12", broken)]
    assert violations[0]["first"] == [many + 1, many + 2, many + 3]
    assert violations[0]["why"]


def test_a_table_without_a_known_column_is_refused(found, tmp_path):
    file = tmp_path / "other.csv"
    file.write_text("a,b\n1,2\n")
    with pytest.raises(Refusal, match="lacks the column"):
        found.check(str(file))


def test_values_are_explained_from_python():
    explained = explain_strings(["HF11", "HF12", "HF7", None, "HF15", "HF3"])
    assert list(explained.matches(["HF9", "2014-01-02", None])) == [True, False, True]
    assert list(explained.accepts(["HF9", "2014-01-02"])) == [True, False]
    assert explained.nulls == 1
    assert all(explained.matches(explained.sample(20)))


def test_the_regex_for_python_takes_no_newline_at_the_end_and_no_digits_of_other_scripts():
    explained = EXPLAINER.explain(
        read_table({"code": [f"HF{i}" for i in range(10, 50)]}, rows="all"), Options(), lambda _: None
    )
    (row,) = explained.rows()
    best = row["patterns"][0]
    assert re.match(best["regex"], "HF12\n")  # what `$` does in Python
    for text, good in (("HF12", True), ("HF12\n", False), ("HF1\u0662", False), (" HF12", False), ("HF12\x00", False)):
        assert bool(re.match(best["python"], text)) == good
        assert bool(explained.columns["code"].matches([text])[0]) == good
    assert best["slow"] is False


def test_few_rows_tell_how_many_true_values_will_be_refused(found, tmp_path):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    names = ["Denver", "Dover", "Boston", "Chicago", "Houston", "Phoenix", "Dallas", "Austin", "Seattle", "Portland"]
    old.write_text("city\n" + "\n".join(names) + "\n", encoding="utf-8")
    new.write_text("city\nMemphis\nSt. Louis\nWinston-Salem\nO'Fallon\nLos Angeles\n", encoding="utf-8")
    few = EXPLAINER.explain(EXPLAINER.read(str(old), Options()), Options(), lambda _: None)
    (row,) = few.rows()
    assert row["expected_alarms"] == round(few.columns["city"].expected_alarms, 3) > 0.05
    said = f"so few rows: about {100 * few.columns['city'].expected_alarms:.0f} % of true values will not be accepted"
    assert any(said in cell for shown in few.table() for line in shown.rows for cell in line)
    assert not any("so few rows" in cell for shown in found.table() for line in shown.rows for cell in line)
    assert len(few.check(str(new), 0.999)) < len(few.check(str(new)))
