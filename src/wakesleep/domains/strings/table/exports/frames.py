"""Checks of data frames: pandera for pandas and for Polars, Great Expectations."""

import json
from typing import Any

from wakesleep.domains.strings.table.contract import Contract
from wakesleep.domains.strings.table.dialects import ends_in_newline, whole
from wakesleep.domains.strings.table.exports.parts import about, listed, note, note_backtracking, text_pattern, truths
from wakesleep.domains.strings.table.rules import Rule

NEWLINE_AT_END = r"\n$"
PANDAS_HEAD = """import pandera.pandas as pa

# Where pandas holds texts in Python objects, `$` also stands before a newline at the end.
no_newline_at_end = pa.Check(lambda texts: texts.str.endswith("\\n") == False, name="no newline at the end")
"""
POLARS_HEAD = "import pandera.polars as pa\nimport polars as pl\n"
PANDAS_SPELLED = "pa.Check(lambda column: column.astype(str).isin({}))"
POLARS_SPELLED = "pa.Check(lambda data: data.lazyframe.select(pl.col(data.key).cast(pl.String).is_in({})))"
"""Checks of truth values, which frames hold as such or as texts."""


def pandera(contract: Contract) -> str:
    """Returns a Python module with a pandera schema for pandas, texts in Python objects or in Arrow."""
    return _pandera(contract, PANDAS_HEAD, newline=True)


def pandera_polars(contract: Contract) -> str:
    """Returns a Python module with a pandera schema for Polars."""
    return _pandera(contract, POLARS_HEAD, newline=False)


def _pandera(contract: Contract, head: str, newline: bool) -> str:
    lines = []
    for name, rule in contract.columns.items():
        said = (note_backtracking if newline else note)(rule, "range", "longest", "unique")
        lines += [f"        # {said}"] * bool(said)
        kind = {"integer": "int", "number": "float", "boolean": "None"}.get(rule.type, "str")
        options = f"nullable={rule.nulls > 0}, unique={rule.unique}, coerce={rule.numeric and rule.nulls == 0}"
        if rule.type == "integer" and rule.nulls:
            kind = '"Int64"' if newline else "int"
        lines.append(f"        {name!r}: pa.Column({kind}, [{', '.join(_checks(rule, newline))}], {options}),")
    return "\n".join(
        [f"ABOUT = {about(contract)!r}", "", head, "schema = pa.DataFrameSchema(", "    {", *lines, "    },",
         f"    strict={not contract.new_columns},", ")"]
    )  # fmt: skip


def _checks(rule: Rule, newline: bool) -> list[str]:
    """Returns the checks of a column; with `newline` one more, against a newline at the end."""
    if rule.numeric:
        low = [f"pa.Check.ge({rule.low!r})"] if rule.low is not None else []
        return low + ([f"pa.Check.le({rule.high!r})"] if rule.high is not None else [])
    if (values := listed(rule)) is not None:
        spelled = PANDAS_SPELLED if newline else POLARS_SPELLED
        return [spelled.format(values) if rule.type == "boolean" else f"pa.Check.isin({values!r})"]
    pattern = text_pattern(rule)
    found = [f"pa.Check.str_matches({whole(pattern, 'portable')!r})"]
    if newline and not ends_in_newline(pattern):
        found.append("no_newline_at_end")
    return found + ([f"pa.Check.str_length(max_value={rule.longest})"] if rule.longest is not None else [])


def great_expectations(contract: Contract) -> str:
    """Returns a suite of expectations as JSON."""
    found: list[dict[str, Any]] = []
    for name, rule in contract.columns.items():
        found += [
            {"type": f"expect_column_{kind}", "kwargs": {"column": name} | kwargs, "meta": {"note": _note(rule)}}
            for kind, kwargs in _expected(rule)
        ]
    columns = {"column_set": list(contract.columns), "exact_match": not contract.new_columns}
    found.insert(0, {"type": "expect_table_columns_to_match_set", "kwargs": columns})
    suite = {"name": contract.table or "contract", "expectations": found, "meta": {"about": about(contract)}}
    return json.dumps(suite, indent=2, ensure_ascii=False)


def _note(rule: Rule) -> str:
    return note_backtracking(rule, "range", "longest", "unique", "nulls", "tolerate")


def _expected(rule: Rule) -> list[tuple[str, dict[str, Any]]]:
    """Returns the expectations of a column, each by the end of its name and with its arguments."""
    mostly = {"mostly": 1 - rule.tolerate} if rule.tolerate else {}
    found: list[tuple[str, dict[str, Any]]] = []
    if rule.nulls < 1:
        found.append(("values_to_not_be_null", {"mostly": 1 - rule.nulls} if rule.nulls else {}))
    if rule.unique:
        found.append(("values_to_be_unique", {}))
    if rule.numeric:
        bounds = {k: v for k, v in (("min_value", rule.low), ("max_value", rule.high)) if v is not None}
        return [*found, ("values_to_be_between", bounds | mostly)] if bounds else found
    if (values := listed(rule)) is not None:
        return [*found, ("values_to_be_in_set", {"value_set": [*values, *truths(rule)]} | mostly)]
    pattern = text_pattern(rule)
    found.append(("values_to_match_regex", {"regex": whole(pattern, "portable")} | mostly))
    if not ends_in_newline(pattern):
        found.append(("values_to_not_match_regex", {"regex": NEWLINE_AT_END} | mostly))
    if rule.longest is not None:
        found.append(("value_lengths_to_be_between", {"max_value": rule.longest} | mostly))
    return found
