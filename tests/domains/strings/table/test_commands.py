"""The verbs of tables, the report, frames of every library, and the page of a data engineer's first minutes."""

import io
import json
import os
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest
import yaml
from rich.console import Console

import wakesleep
from wakesleep.cli import output as screen
from wakesleep.domains.strings.explain.explainer import EXPLAINER, EXPORT_NAMES
from wakesleep.domains.strings.table.commands import COMMANDS, CheckOptions, DraftOptions, NoOptions
from wakesleep.domains.strings.table.comparing import compare
from wakesleep.domains.strings.table.contract import parsed
from wakesleep.domains.strings.table.exports import EXPORTS
from wakesleep.domains.strings.table.rules import Rule
from wakesleep.errors import Refusal

ROOT = Path(__file__).parents[4]
EXAMPLE = ROOT / "examples" / "orders.csv"
PAGE = ROOT / "docs" / "contracts.md"


def run(verb, *words, options=None):
    defaults = {"draft": DraftOptions("quick"), "check": CheckOptions(), "compare": NoOptions(), "export": NoOptions()}
    return COMMANDS[verb].run([str(w) for w in words], options or defaults[verb], lambda _: None)


@pytest.fixture(scope="module")
def contract(tmp_path_factory):
    path = tmp_path_factory.mktemp("contract") / "contract.yaml"
    drafted = run("draft", EXAMPLE)
    assert drafted.write("output", path).read_text() == drafted.text()
    return path


def test_a_contract_is_drafted_checked_and_exported(contract, tmp_path):
    verdict = run("check", contract, EXAMPLE)
    assert (verdict.code(), verdict.height, verdict.alarms) == (1, 40, 4)
    clean = tmp_path / "clean.csv"
    bad = {row for f in verdict.faults for row in f.rows}
    lines = EXAMPLE.read_text().splitlines()
    clean.write_text("\n".join(line for i, line in enumerate(lines) if i not in bad) + "\n")
    assert run("check", contract, clean).code() == 0
    for form in EXPORTS:
        assert run("export", contract, form).text()


def test_the_forms_that_the_help_names_are_those_that_there_are():
    assert set(EXPORT_NAMES) == set(EXPORTS)
    assert all(form in PAGE.read_text() for form in EXPORTS)


def test_what_is_neither_contract_nor_explanation_is_refused(tmp_path):
    path = tmp_path / "x.json"
    for text, why in (
        ("[1]", "neither a contract nor"),
        ('{"a": 1}', "neither"),
        ('[{"column": "a", "saved": 1}]', ""),
    ):
        path.write_text(text)
        with pytest.raises(Refusal, match=why):
            run("check", path, EXAMPLE)


def test_a_contract_is_read_and_checked_from_python(contract):
    read = wakesleep.read_contract(str(contract))
    verdict = read.check(pl.read_csv(EXAMPLE, infer_schema=False))
    assert (verdict.fits, verdict.rows()) == (False, run("check", contract, EXAMPLE).rows())
    assert [f.rows for f in verdict.faults if f.column == "order"] == [[10]]


def test_a_saved_explanation_counts_rows_once_and_says_what_was_before(tmp_path):
    saved, table = tmp_path / "saved.json", tmp_path / "new.csv"
    saved.write_text(json.dumps(wakesleep.explain_table(EXAMPLE, effort="quick").rows()))
    lines = EXAMPLE.read_text().splitlines()
    good = [line for i, line in enumerate(lines) if i not in (6, 10, 22, 31)]
    table.write_text("\n".join([*good, good[1].replace("ORD-", "ORDER ").replace("K", "kk")]) + "\n")
    verdict = run("check", saved, table)
    assert (verdict.code(), verdict.height, verdict.alarms) == (1, 37, 1)
    assert {f.column: f.expected for f in verdict.faults}["order"] == "`ORD-` then 5 digits"
    table.write_text("\n".join(good) + "\n")
    assert run("check", saved, table).summary == "All 36 rows fit."


def test_lines_are_not_taken_for_a_table_of_several_columns(contract, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(EXAMPLE.read_text()))
    with pytest.raises(Refusal, match="Standard input is read as lines"):
        run("check", contract, "-")


def test_drift_is_told_by_column(tmp_path):
    frame = pl.read_csv(EXAMPLE, infer_schema=False)
    changed = frame.with_columns(
        pl.lit("K-" + "12").alias("customer"),
        pl.when(pl.col("status") == "open").then(pl.lit("lost")).otherwise("status").alias("status"),
        (pl.col("quantity").cast(pl.Int64) * 1000).alias("quantity"),
        pl.lit(None, pl.String).alias("note"),
    ).rename({"colour": "color"})
    what = {(c.column, c.what) for c in compare(frame, changed).changes}
    assert {("status", "values"), ("quantity", "range"), ("note", "nulls"), ("colour", "the column went")} <= what
    assert ("color", "the column came") in what
    assert [c for c in what if c[0] == "customer"]
    assert compare(frame, frame).changes == ()
    with pytest.raises(Refusal, match="new table has no rows"):
        compare(frame, frame.head(0))
    stray = frame.with_columns(pl.when(pl.arange(40) % 9 == 0).then(pl.lit("a\tb")).otherwise("status").alias("status"))
    assert [c.new.count("`a\\tb`") for c in compare(frame, stray).changes] == [1]


def frames():
    """The example by every library that holds tables."""
    frame = pl.read_csv(EXAMPLE, infer_schema=False)
    yield "polars", frame
    yield "lazy", frame.lazy()
    yield "dict", frame.to_dict(as_series=False)
    for name, make in (("pandas", lambda f: f.to_pandas()), ("pyarrow", lambda f: f.to_arrow())):
        try:
            __import__(name)
            yield name, make(frame)
        except ImportError:
            continue
    try:
        import duckdb

        yield "duckdb", duckdb.sql(f"select * from read_csv('{EXAMPLE}', all_varchar = true)")
    except ImportError:
        return


def test_tables_of_every_library_are_explained_alike():
    found = {name: wakesleep.explain_table(frame, effort="quick") for name, frame in frames()}
    first = found["polars"]
    for name, survey in found.items():
        assert survey.to_frame().equals(first.to_frame()), name
    assert first.descriptions["placed"].type == "date"
    assert first.descriptions["quantity"].high == 12.0
    assert "orders" not in first._repr_html_() and "ISO date" not in first._repr_html_()
    assert "2024-03-01 to 2024-05-28" in first._repr_html_()


def test_typed_columns_and_nulls_of_frames_are_read_as_texts():
    from datetime import date

    values = [date(2024, 1, d) for d in range(1, 29)]
    frame = pl.DataFrame(
        {"day": values, "n": [1.5, None, float("nan"), *range(25)], "flag": [True, False] * 14}, strict=False
    )
    kinds = {n: (d.type, d.nulls) for n, d in wakesleep.explain_table(frame, effort="quick").descriptions.items()}
    assert kinds == {"day": ("date", 0), "n": ("number", 2), "flag": ("boolean", 0)}
    assert wakesleep.explain_strings(pl.Series(["HF1", None, "HF22"])).nulls == 1
    with pytest.raises(Refusal, match="use explain_table"):
        wakesleep.explain_strings(frame)


def test_the_report_is_one_file_with_every_column_and_nothing_of_a_value_is_markup(tmp_path):
    survey = wakesleep.explain_table({"a<b": ["<script>x</script>", "y", "z"], "n": ["1", "2", "30"]}, effort="quick")
    text = survey.report(tmp_path / "r.html").read_text()
    assert "a&lt;b" in text and "<script" not in text
    assert not re.search(r"(src|href)=\"(?!#)", text)
    assert text.count("<section") == 2


def test_the_report_says_what_its_figures_mean(tmp_path):
    values = {"code": ["HF1", "HF22", None, *[f"HF{n}" for n in range(30, 60)]], "none": [None] * 33, "n": range(33)}
    text = wakesleep.explain_table(values, effort="quick").report(tmp_path / "r.html").read_text()
    assert "All 33 rows, and 3 columns." in text and "no row has a value" in text
    assert "every value occurs once, 1 of 33 rows empty" in text
    assert "<figcaption>length in characters</figcaption>" in text and "<span>3</span><span>4</span>" in text
    assert "<figcaption>spread of the values</figcaption>" in text and "<span>0</span><span>32</span>" in text
    many = wakesleep.explain_table({"n": range(5000)}, effort="quick").report(tmp_path / "m.html").read_text()
    assert "2,000 of 5,000 rows, drawn at random, and 1 column." in many


def test_frames_without_columns_rows_or_values_are_described():
    names = list(wakesleep.explain_table({"a": ["x"]}, effort="quick").to_frame().columns)
    for empty in (pl.DataFrame(), {}, {"a": []}, {"a": [None, float("nan")]}):
        found = wakesleep.explain_table(empty).to_frame()
        assert found.columns == names, empty
        assert found["type"].to_list() == ["empty"] * found.height
    with pytest.raises(Refusal, match="has no rows"):
        wakesleep.explain_table({"a": []}).contract()
    assert wakesleep.explain_table({"a": [None, None]}).contract().columns["a"] == Rule(alarms=0.0)


def test_times_that_repeat_are_dates_where_the_column_is_of_times(tmp_path):
    times = [datetime(2024, 1, 1 + i % 3, i % 5) for i in range(200)]
    found = wakesleep.explain_table(pl.DataFrame({"at": times}), effort="quick")
    assert found.descriptions["at"].type == "date"
    assert (found.descriptions["at"].low, found.descriptions["at"].high) == ("2024-01-01", "2024-01-03 04:00:00")
    rule = found.contract().columns["at"]
    assert (rule.type, rule.form, rule.one_of) == ("date", "%Y-%m-%d %H:%M:%S", None)
    halves = {"size": [0.125 + 1 / 3, 2.5] * 40}
    text = wakesleep.explain_table(halves, effort="quick").report(tmp_path / "r.html").read_text()
    assert "0.458333 to 2.5" in text


def test_unique_says_whether_any_value_occurs_twice():
    days = [f"2024-01-{d:02d}" for d in range(1, 29)]
    found = wakesleep.explain_table({"day": days, "id": range(100, 128), "two": ["a", "b"] * 14}, effort="quick")
    assert dict(found.to_frame().select("column", "unique").iter_rows()) == {"day": True, "id": True, "two": False}
    rules = found.contract().columns
    assert [rules[name].unique for name in ("day", "id", "two")] == [False, True, False]


def test_a_survey_is_a_frame_of_pandas_with_a_row_for_each_column():
    pytest.importorskip("pandas")
    frame = wakesleep.explain_table({"a": ["x", "y", "z"], "n": ["1", "2", "30"]}, effort="quick").to_frame("pandas")
    assert list(frame["column"]) == ["a", "n"]


def test_the_report_is_headed_by_the_name_of_the_file(tmp_path):
    table = tmp_path / "my orders.csv"
    table.write_text("code\nHF1\nHF22\n")
    options = EXPLAINER.options(effort="quick")
    found = EXPLAINER.explain(EXPLAINER.read(str(table), options), options, lambda _: None)
    assert "<h1>my orders.csv</h1>" in found.report(tmp_path / "r.html").read_text()
    assert wakesleep.explain_table(str(table), effort="quick").title == "my orders.csv"


def test_the_hook_of_the_page_stops_a_commit_that_breaks_the_contract(contract, tmp_path):
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    (block,) = re.findall(r"```yaml\n# \.pre-commit-config\.yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / ".pre-commit-config.yaml").write_text(block)
    (tmp_path / "contract.yaml").write_text(contract.read_text())
    launcher = tmp_path / "bin" / "wakesleep"
    launcher.parent.mkdir()
    launcher.write_text(f'#!/bin/sh\nexec {sys.executable} -m wakesleep "$@"\n')
    launcher.chmod(0o755)
    lines = EXAMPLE.read_text().splitlines()
    env = os.environ | {"PATH": f"{launcher.parent}:{os.environ['PATH']}", "PRE_COMMIT_HOME": str(tmp_path / "home")}

    def hook(text):
        (tmp_path / "orders.csv").write_text(text)
        subprocess.run(["git", "add", "orders.csv", ".pre-commit-config.yaml"], cwd=tmp_path, check=True)
        words = [sys.executable, "-m", "pre_commit", "run", "--all-files"]
        return subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    good = [line for i, line in enumerate(lines) if i not in (6, 10, 22, 31)]
    passed, stopped = hook("\n".join(good) + "\n"), hook("\n".join(lines) + "\n")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert stopped.returncode == 1 and "ORD-1044l" in stopped.stdout, stopped.stdout


def test_the_page_shows_what_is_drafted_and_what_the_check_prints(monkeypatch, tmp_path):
    drafted = run("draft", EXAMPLE, options=DraftOptions())
    shown, edited, _ = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for part in re.split(r"(?m)^(?=  \w|alarms|new)", shown):
        assert part in drafted.text(), part
    by_hand = contract_of(yaml.safe_load(edited))
    assert by_hand["phone"].tolerate == 0.1 and "lost" in by_hand["status"].one_of
    printed = io.StringIO()
    monkeypatch.setattr(screen, "out", Console(width=120, file=printed))
    path = drafted.write("output", tmp_path / "contract.yaml")
    for shown_table in run("check", path, EXAMPLE).table():
        screen.show_table(*shown_table)
    (block,) = re.findall(r"# exit code 1\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert [line.rstrip() for line in printed.getvalue().splitlines()] == block.splitlines()


def contract_of(columns):
    return parsed(yaml.safe_dump({"wakesleep": "contract 1", "columns": columns})).columns


def test_the_alarms_of_the_page_are_those_of_the_benchmark():
    results = json.loads((ROOT / "results" / "benchmark-contract.json").read_text())
    names = ("rows_stated", "rows_found", "columns_stated", "columns_found")
    rows = [
        [f"{100 * results[part][group][name]:.1f} %" for name in names]
        for part in ("alarms at random", "alarms in order")
        for group in ("other tables", "tables settled on", "all tables")
    ]
    shown = [line.strip("| ").split(" | ")[2:] for line in PAGE.read_text().splitlines() if " splits |" in line]
    shown += [line.strip("| ").split(" | ")[2:] for line in PAGE.read_text().splitlines() if "both ways |" in line]
    assert shown == rows
    for name in ("CSV", "Parquet", "Polars frame"):
        found = results["check"][name]
        assert (found["found"], found["false_alarms"]) == (50, 0)
        assert f"| {name} | {found['cpu_seconds']} | {found['megabytes']} MB |" in PAGE.read_text()


def test_json_of_a_verdict_is_for_machines(contract):
    (row,) = json.loads(json.dumps(run("check", contract, EXAMPLE).rows()))
    assert row["fits"] is False
    assert {"column", "value", "rows", "first", "why", "expected", "tolerated"} == set(row["faults"][0])
