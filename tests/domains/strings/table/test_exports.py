"""Each export loaded by the real tool: its verdicts, value by value, are those of the rules."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from tests.domains.strings.table.values import RULES, contract, patterned, sayable, values_of
from wakesleep.domains.strings.table.contract import Contract
from wakesleep.domains.strings.table.exports import exported
from wakesleep.domains.strings.table.rules import Rule

NUMBERS = {
    "size": Rule(type="number", nulls=0.0, low=-1.5, high=20.0),
    "count": Rule(type="integer", nulls=0.5, low=0.0, high=9.0),
}


def alone(name):
    """A contract of one column, which accepts what does not make it fail."""
    return Contract({name: RULES[name][0]}, "things", new_columns=True, differs=0.01)


def by_json_schema(name, values):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    schema = json.loads(exported(contract(), "json-schema"))["properties"][name]
    validator = jsonschema.Draft202012Validator(schema)
    return [validator.is_valid(v) for v in values]


def pandera_verdicts(schema, frame, height):
    import pandera.errors

    try:
        schema.validate(frame, lazy=True)
    except pandera.errors.SchemaErrors as error:
        cases = error.failure_cases
        index = cases["index"].to_list()
        assert all(i is not None for i in index), cases
        bad = {int(i) for i in index}
        return [i not in bad for i in range(height)]
    return [True] * height


def pandera_schema(form, name):
    pytest.importorskip("pandera", reason="pandera is not installed")
    space: dict = {}
    exec(exported(alone(name), form), space)
    return space["schema"]


def by_pandera_with_arrow(name, values):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({name: pandas.Series(values, dtype="str")})
    return pandera_verdicts(pandera_schema("pandera", name), frame, len(values))


def by_pandera_with_objects(name, values):
    """Texts that pandas matches by Python's `re`; their type is left open."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({name: pandas.Series(values, dtype=object)})
    schema = pandera_schema("pandera", name).update_column(name, dtype=None)
    return pandera_verdicts(schema, frame, len(values))


def by_pandera_polars(name, values):
    pytest.importorskip("pandera.polars", reason="pandera for Polars is not installed")
    schema = pandera_schema("pandera-polars", name)
    return pandera_verdicts(schema, pl.DataFrame({name: values}), len(values))


def by_great_expectations(name, values):
    gx = pytest.importorskip("great_expectations", reason="great_expectations is not installed")
    pandas = pytest.importorskip("pandas")
    suite = json.loads(exported(alone(name), "great-expectations"))
    context = gx.get_context(mode="ephemeral")
    batches = context.data_sources.add_pandas("p").add_dataframe_asset("a").add_batch_definition_whole_dataframe("b")
    frame = pandas.DataFrame({name: values})
    batch = batches.get_batch(batch_parameters={"dataframe": frame})
    loaded = gx.ExpectationSuite(name=suite["name"], expectations=suite["expectations"], meta=suite["meta"])
    result = batch.validate(loaded, result_format={"result_format": "COMPLETE"})
    bad = {i for r in result.results for i in r.result.get("unexpected_index_list") or []}
    assert not any(r.exception_info.get("raised_exception") for r in result.results), result
    return [i not in bad for i in range(len(values))]


def by_frictionless(name, values):
    frictionless = pytest.importorskip("frictionless", reason="frictionless is not installed")
    schema = frictionless.Schema.from_descriptor(json.loads(exported(alone(name), "frictionless")))
    field = schema.get_field(name)
    reader = field.create_cell_reader()
    return [not (reader(v)[1] or {}) for v in values]


def constraint(made):
    """The condition of the one column of a table."""
    return re.search(r"CHECK \((.*)\)\n\);$", made, re.DOTALL)


def by_duckdb(name, values):
    """The constraint as DuckDB computes it; the table takes what it accepts and refuses what it does not."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    made = exported(alone(name), "sql-duckdb")
    connection = duckdb.connect()
    connection.execute(made)
    asked = constraint(made)
    rows = f'(SELECT unnest(?::VARCHAR[]) AS "{name}")'
    found = [
        ok for (ok,) in connection.execute(f"SELECT {asked[1] if asked else True} FROM {rows}", [values]).fetchall()
    ]
    good = [v for v, ok in zip(values, found, strict=True) if ok]
    connection.execute(f"INSERT INTO things SELECT * FROM {rows}", [good])
    assert good
    for v in [v for v, ok in zip(values, found, strict=True) if not ok][:10]:
        with pytest.raises(duckdb.ConstraintException):
            connection.execute("INSERT INTO things VALUES (?)", [v])
    return found


def answer(done):
    if done.returncode:
        raise ValueError(done.stderr)
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def psql():
    """Runs a script in a PostgreSQL server of its own; returns the lines of the answer."""
    programs = shutil.which("initdb") or next(map(str, Path("/usr/lib").glob("postgresql/*/bin/initdb")), None)
    if programs is None or (os.geteuid() == 0 and not shutil.which("runuser")):
        pytest.skip("PostgreSQL is not installed")
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp") as folder:
        Path(folder).chmod(0o777)
        base = Path(programs).parent
        run = partial(subprocess.run, cwd=folder, capture_output=True, text=True, check=True)
        run([*user, programs, "-D", f"{folder}/d", "-E", "UTF8", "--locale=C.UTF-8", "-A", "trust"])
        start = [str(base / "pg_ctl"), "-D", f"{folder}/d", "-l", f"{folder}/log", "-w"]
        run([*user, *start, "-o", f"-k {folder} -h ''", "start"], capture_output=False, stdout=subprocess.DEVNULL)
        ask = [
            *user,
            shutil.which("psql") or str(base / "psql"),
            "-h",
            folder,
            "-d",
            "postgres",
            "-qAt",
            "-v",
            "ON_ERROR_STOP=1",
            "-f",
            "-",
        ]
        try:
            yield lambda script: answer(run(ask, input=script, check=False))
        finally:
            run([*user, *start, "-m", "immediate", "stop"])


@pytest.mark.parametrize("name", RULES)
def test_postgres_verdicts_are_those_of_the_rule(psql, name):
    made = exported(alone(name), "sql-postgres")
    values = values_of(name)
    asked = constraint(made)
    rows = f'json_array_elements_text($json${json.dumps(values)}$json$) WITH ORDINALITY AS t("{name}", n)'
    script = f"DROP TABLE IF EXISTS things;\n{made}\nSELECT {asked[1] if asked else True} FROM {rows} ORDER BY n;\n"
    fill = f'INSERT INTO things SELECT "{name}" FROM {rows} WHERE {asked[1] if asked else True};\n'
    found = [line == "t" for line in psql(script + fill)]
    expected = sayable(RULES[name][0]).matches(values)
    assert [v for v, e, f in zip(values, expected, found, strict=True) if e != f] == []
    bad = next(v for v, ok in zip(values, expected, strict=True) if not ok)
    with pytest.raises(ValueError, match="violates"):
        psql(f"INSERT INTO things SELECT v FROM json_array_elements_text($json${json.dumps([bad])}$json$) AS t(v);")


TOOLS = [
    by_json_schema, by_pandera_with_arrow, by_pandera_with_objects, by_pandera_polars, by_great_expectations,
    by_frictionless, by_duckdb,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", RULES)
def test_verdicts_are_those_of_the_rule(tool, name):
    values = values_of(name)
    found = tool(name, values)
    expected = sayable(RULES[name][0]).matches(values)
    assert [v for v, e, f in zip(values, expected, found, strict=True) if e != f] == []


def test_odcs_is_of_the_standard_and_its_patterns_run():
    standard = pytest.importorskip(
        "open_data_contract_standard.model", reason="open-data-contract-standard is not installed"
    )
    node = shutil.which("node") or pytest.skip("node is not installed")
    loaded = standard.OpenDataContractStandard.from_string(exported(contract(), "odcs"))
    program = (
        "const [p, n, vs] = JSON.parse(require('fs').readFileSync(0)); const r = new RegExp(p, 'u');"
        "console.log(JSON.stringify(vs.map(v => r.test(v) && [...v].length <= n)))"
    )
    for each in loaded.schema_[0].properties:
        values, options = values_of(each.name), each.logicalTypeOptions
        given = json.dumps([options["pattern"], options.get("maxLength", 10**9), values])
        done = subprocess.run([node, "-e", program], input=given, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == sayable(RULES[each.name][0]).matches(values), each.name
        assert each.required == (RULES[each.name][0].nulls == 0)


@pytest.mark.parametrize("only_good", [True, False])
def test_odcs_is_checked_by_the_data_contract_command(tmp_path, only_good):
    """Its patterns refuse as many values as the rules' do, and none of those that fit, so the verdicts are the same."""
    command = os.environ.get("WAKESLEEP_DATACONTRACT") or shutil.which("datacontract")
    if not command:
        pytest.skip("datacontract-cli is not installed")
    yaml = pytest.importorskip("yaml")
    columns, refused = {}, {}
    for name in RULES:
        values = values_of(name)
        good = sayable(RULES[name][0]).matches(values)
        kept = [v for v, ok in zip(values, good, strict=True) if ok]
        columns[name] = (kept * len(values))[: len(values)] if only_good else values
        refused[name] = 0 if only_good else patterned(RULES[name][0]).matches(values).count(False)
    pl.DataFrame(columns).write_parquet(tmp_path / "things.parquet")
    made = yaml.safe_load(exported(contract(), "odcs"))
    made["servers"] = [{"server": "local", "type": "local", "path": "./things.parquet", "format": "parquet"}]
    (tmp_path / "odcs.yaml").write_text(yaml.safe_dump(made, allow_unicode=True))
    words = [command, "test", "odcs.yaml", "--output-format", "json", "--output", "found.json"]
    subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    found = dict.fromkeys(RULES, 0)
    for check in json.loads((tmp_path / "found.json").read_text())["checks"]:
        assert check["result"] in ("passed", "failed", "warning"), check
        if check["type"] == "field_regex":
            found[check["field"]] = int(re.search(r"was ([0-9]+)", check["reason"])[1]) if check["reason"] else 0
    assert found == refused


def test_numbers_are_judged_by_their_range_in_json_schema_pandera_and_duckdb():
    jsonschema = pytest.importorskip("jsonschema")
    duckdb = pytest.importorskip("duckdb")
    made = Contract(NUMBERS, "things")
    schema = json.loads(exported(made, "json-schema"))
    rows = [(1.0, 5), (-1.5, 0), (20.0, 9), (20.5, 1), (-2.0, 1), (3.0, -1), (3.0, 10), (3.0, None)]
    expected = [True, True, True, False, False, False, False, True]
    valid = [jsonschema.Draft202012Validator(schema).is_valid({"size": a, "count": b}) for a, b in rows]
    assert valid == expected
    connection, found = duckdb.connect(), []
    connection.execute(exported(made, "sql-duckdb"))
    for row in rows:
        try:
            connection.execute("INSERT INTO things VALUES (?, ?)", row)
            found.append(True)
        except duckdb.ConstraintException:
            found.append(False)
    assert found == expected
    space: dict = {}
    pytest.importorskip("pandera.polars")
    exec(exported(made, "pandera-polars"), space)
    frame = pl.DataFrame(rows, schema={"size": pl.Float64, "count": pl.Int64}, orient="row")
    assert pandera_verdicts(space["schema"], frame, len(rows)) == expected


def test_dbt_finds_the_rows_that_do_not_fit(tmp_path):
    """A project of dbt with one model on DuckDB and the export as its test; `dbt` is a command of its own."""
    dbt = os.environ.get("WAKESLEEP_DBT") or shutil.which("dbt") or pytest.skip("dbt is not installed")
    names = [n for n in RULES if n != "some"]
    made = Contract({n: replace(RULES[n][0], unique=False) for n in names}, "things.csv")
    columns = {n: values_of(n) for n in names}
    pl.DataFrame(columns).write_parquet(tmp_path / "things.parquet")
    for folder in ("models", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "dbt_project.yml").write_text(
        "name: w\nversion: '1.0'\nprofile: w\nflags: {send_anonymous_usage_stats: false}\n"
    )
    target = f"{{type: duckdb, path: {tmp_path / 'w.duckdb'}}}"
    (tmp_path / "profiles.yml").write_text(f"w: {{target: dev, outputs: {{dev: {target}}}}}\n")
    (tmp_path / "models" / "things.sql").write_text(f"select * from '{tmp_path / 'things.parquet'}'")
    (tmp_path / "tests" / "contract.sql").write_text(exported(made, "dbt"))
    words = [dbt, "build", "--store-failures", "--project-dir", ".", "--profiles-dir", "."]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "contract" in done.stdout, done.stdout
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        tables = [
            t
            for (t,) in connection.execute(
                "select table_schema || '.' || table_name from information_schema.tables"
            ).fetchall()
        ]
        (failures,) = [t for t in tables if "audit" in t]
        found = set(connection.execute(f"select * from {failures}").fetchall())
    expected = {
        (n, v)
        for n in names
        for v, ok in zip(columns[n], sayable(RULES[n][0]).matches(columns[n]), strict=True)
        if not ok
    }
    assert found == expected
