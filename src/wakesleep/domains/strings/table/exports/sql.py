"""SQL: tables with CHECK constraints for PostgreSQL and DuckDB, and a singular test of dbt."""

import re
from collections.abc import Callable

from wakesleep.domains.strings.table.contract import Contract
from wakesleep.domains.strings.table.dialects import whole
from wakesleep.domains.strings.table.exports.parts import about, listed, note, table_name, text_pattern
from wakesleep.domains.strings.table.rules import Rule

SQL_TYPES = {"integer": "BIGINT", "number": "DOUBLE PRECISION"}


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _comment(text: str) -> str:
    return "-- " + " ".join(text.split())


def _postgres_matches(column: str, pattern: str) -> str:
    return f"{column} ~ {_quoted(whole(pattern, 'postgres'))}"


def _duckdb_matches(column: str, pattern: str) -> str:
    return f"regexp_matches({column}, {_quoted(whole(pattern, 're2'))})"


def condition(rule: Rule, column: str, matches: Callable[[str, str], str]) -> str:
    """Returns the condition on a value that is not NULL; empty where there is none."""
    if rule.numeric:
        ends = (
            f"{column} >= {rule.low!r}" * (rule.low is not None),
            f"{column} <= {rule.high!r}" * (rule.high is not None),
        )
        return " AND ".join(filter(None, ends))
    if (values := listed(rule)) is not None:
        return f"{column} IN ({', '.join(map(_quoted, values))})" if values else "FALSE"
    found = matches(column, text_pattern(rule)) if rule.pattern or rule.form or not rule.nulls else ""
    length = f"char_length({column}) <= {rule.longest}" * (rule.longest is not None)
    return " AND ".join(filter(None, (found, length.replace("char_length", "length"))))


def _create(contract: Contract, matches: Callable[[str, str], str]) -> str:
    lines = [_comment(about(contract)), "-- Dates are texts here, in the format that the pattern tells."]
    parts = []
    for name, rule in contract.columns.items():
        words = [_name(name), SQL_TYPES.get(rule.type, "TEXT")]
        words += ["NOT NULL"] * (rule.nulls == 0) + ["UNIQUE"] * rule.unique
        asked = condition(rule, _name(name), matches)
        words += [f"CHECK ({asked})"] if asked else []
        said = note(rule, "range", "longest", "unique")
        parts.append(("    " + _comment(said) + "\n" if said else "") + "    " + " ".join(words))
    return "\n".join([*lines, f"CREATE TABLE {_name(table_name(contract))} (", ",\n".join(parts), ");"])


def postgres(contract: Contract) -> str:
    """Returns a table of PostgreSQL whose constraints are the contract."""
    return _create(contract, _postgres_matches)


def duckdb(contract: Contract) -> str:
    """Returns a table of DuckDB whose constraints are the contract."""
    return _create(contract, _duckdb_matches)


def dbt(contract: Contract) -> str:
    """Returns a singular test of dbt, for DuckDB and PostgreSQL: the rows and columns that do not fit.

    The model is named by the variable `wakesleep_model`, or after the table.
    """
    model = re.sub(r"\W", "_", contract.table.rsplit("/", 1)[-1].split(".")[0]) or "model"
    lines = [
        _raw(_comment(about(contract))),
        f"{{% set model = ref(var('wakesleep_model', {model!r})) %}}",
        "{% if target.type not in ('duckdb', 'postgres') %}",
        "{{ exceptions.raise_compiler_error('This test knows the regexes of DuckDB and PostgreSQL alone.') }}",
        "{% endif %}",
    ]
    parts = [_dbt_select(name, rule) for name, rule in contract.columns.items()]
    return "\n".join([*lines, "\nUNION ALL\n".join(p for part in parts for p in part)])


def _dbt_select(name: str, rule: Rule) -> list[str]:
    """Returns the queries for the values of a column that do not fit, and for those that repeat."""
    column = _name(name)
    asked = {e: condition(rule, column, m) for e, m in (("duckdb", _duckdb_matches), ("postgres", _postgres_matches))}
    either = "FALSE"
    if asked["duckdb"]:
        chosen = asked["duckdb"]
        if asked["postgres"] != chosen:
            chosen = (
                "{% if target.type == 'duckdb' %}"
                + _raw(chosen)
                + "{% else %}"
                + _raw(asked["postgres"])
                + "{% endif %}"
            )
        else:
            chosen = _raw(chosen)
        either = f"NOT ({chosen})"
    null = f"{column} IS NULL OR " if rule.nulls == 0 else ""
    said = note(rule, "range", "longest", "unique")
    head = f"{_raw(_comment(said))}\n" if said else ""
    label = _raw(_quoted(name))
    value = f"CAST({_raw(column)} AS TEXT) AS failing_value"
    found = [
        f"{head}SELECT {label} AS failing_column, {value}\nFROM {{{{ model }}}}\n"
        f"WHERE {null.replace(column, _raw(column))}{either}"
    ]
    if rule.unique:
        found.append(
            f"SELECT {label}, CAST({_raw(column)} AS TEXT)\nFROM {{{{ model }}}}\nWHERE {_raw(column)} IS NOT NULL\n"
            f"GROUP BY {_raw(column)} HAVING count(*) > 1"
        )
    return found


def _raw(text: str) -> str:
    """Returns a text that Jinja prints as it stands."""
    return re.sub(r"\{(?=[{%#])", "{{ '{' }}", text)
