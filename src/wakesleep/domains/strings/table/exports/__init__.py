"""Contracts for other tools; each export says in itself what the tool cannot express."""

from collections.abc import Callable

from wakesleep.domains.strings.table.contract import Contract
from wakesleep.domains.strings.table.dialects import DIALECT_NAMES
from wakesleep.domains.strings.table.exports import frames, regexes, schemas, sql
from wakesleep.errors import require_one_of

EXPORTS: dict[str, Callable[[Contract], str]] = {
    "json-schema": schemas.json_schema,
    "pandera": frames.pandera,
    "pandera-polars": frames.pandera_polars,
    "great-expectations": frames.great_expectations,
    "frictionless": schemas.frictionless,
    "odcs": schemas.odcs,
    "dbt": sql.dbt,
    "sql-postgres": sql.postgres,
    "sql-duckdb": sql.duckdb,
    "re": regexes.python_module,
    **{f"regex-{name}": regexes.in_dialect(name) for name in DIALECT_NAMES},
}


def exported(contract: Contract, form: str) -> str:
    """Returns a contract as text for another tool."""
    require_one_of("export", form, tuple(EXPORTS))
    return EXPORTS[form](contract)
