"""What exports say beside their patterns: names, what differs, and no name that becomes code."""

import json

import polars as pl
import pytest

from tests.domains.strings.table.values import contract
from wakesleep.domains.strings.table.contract import Contract
from wakesleep.domains.strings.table.exports import EXPORTS, exported
from wakesleep.domains.strings.table.rules import Rule


def test_the_table_is_named_after_its_file():
    made = Contract({"a": Rule(pattern="x")}, "orders.2024.csv.gz")
    for form in ("sql-postgres", "sql-duckdb"):
        assert 'CREATE TABLE "orders.2024" (' in exported(made, form)
    assert "name: orders.2024\n" in exported(made, "odcs")


FLAG = Contract({"flag": Rule(type="boolean", one_of=("false", "true"), nulls=0.1)}, "things")


def test_truth_values_fit_as_such_and_as_texts():
    jsonschema = pytest.importorskip("jsonschema")
    pandera = pytest.importorskip("pandera", reason="pandera is not installed")
    pandas = pytest.importorskip("pandas")
    validator = jsonschema.Draft202012Validator(json.loads(exported(FLAG, "json-schema")))
    valid = [validator.is_valid({"flag": v}) for v in (True, "True", None, "yes", 1)]
    assert valid == [True, True, True, False, False]
    suite = json.loads(exported(FLAG, "great-expectations"))["expectations"]
    assert suite[-1]["kwargs"]["value_set"][-2:] == [False, True]
    for form, frame in (("pandera", pandas.DataFrame), ("pandera-polars", pl.DataFrame)):
        space: dict = {}
        exec(exported(FLAG, form), space)
        for good in ([True, False, None], ["true", "FALSE", None]):
            space["schema"].validate(frame({"flag": good}))
        with pytest.raises(pandera.errors.SchemaError):
            space["schema"].validate(frame({"flag": ["true", "yes"]}))


def test_every_export_says_how_the_full_judgement_differs():
    for form in EXPORTS:
        assert "`accepts`" in exported(contract(), form), form
        assert "1.00%" in exported(contract(), form), form


@pytest.mark.parametrize("form", EXPORTS)
def test_what_is_not_checked_is_said_in_the_export(form):
    assert "check digits (luhn)" in exported(contract(), form)
    assert "days that a month does not have" in exported(contract(), form)


HOSTILE = 'x"""\nimport os; os.abort()\n\'; DROP TABLE t; -- {{ evil }} {% raw %} */'


@pytest.mark.parametrize("form", ["pandera", "pandera-polars", "re"])
def test_names_cannot_become_code_in_python(form):
    made = Contract({HOSTILE: Rule(pattern="[a-z]+", nulls=0.0)}, HOSTILE)
    space: dict = {"__name__": "made"}
    pytest.importorskip("pandera", reason="pandera is not installed")
    exec(exported(made, form), space)
    assert "os" not in space


def test_names_cannot_become_code_in_sql():
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    made = Contract({HOSTILE: Rule(pattern="[a-z]+", nulls=0.0)}, HOSTILE)
    connection = duckdb.connect()
    connection.execute(exported(made, "sql-duckdb"))
    assert connection.execute("select table_name from information_schema.tables").fetchall() == [(HOSTILE,)]
    assert "{{ evil" not in exported(made, "dbt")
    assert "{% raw" not in exported(made, "dbt")
