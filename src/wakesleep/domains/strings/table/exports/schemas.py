"""Schemas: JSON Schema, Frictionless table schema, the Open Data Contract Standard."""

import json
from typing import Any

import yaml

from wakesleep.domains.strings.table.contract import Contract
from wakesleep.domains.strings.table.dialects import ends_in_newline, whole
from wakesleep.domains.strings.table.exports.parts import (
    about,
    listed,
    note_backtracking,
    table_name,
    text_pattern,
    truths,
)
from wakesleep.domains.strings.table.rules import Rule

NEWLINE_AT_END = "\\n$"
END_OF_TEXT = r"(?![\s\S])"
"""The end of a text in Python and ECMAScript, where `$` may stand before a newline."""


def json_schema(contract: Contract) -> str:
    """Returns a JSON Schema for rows as objects."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": about(contract),
        "type": "object",
        "properties": {name: _property(rule) for name, rule in contract.columns.items()},
        "required": list(contract.columns),
        "additionalProperties": contract.new_columns,
    }
    return json.dumps(schema, indent=2, ensure_ascii=False)


def _property(rule: Rule) -> dict[str, Any]:
    kind = rule.type if rule.numeric else "string"
    found: dict[str, Any] = {"type": [kind, "null"] if rule.nulls else kind}
    if rule.says:
        found["description"] = rule.says
    if rule.numeric:
        known = ["range"]
        found |= {k: v for k, v in (("minimum", rule.low), ("maximum", rule.high)) if v is not None}
    elif (values := listed(rule)) is not None:
        known = []
        found["enum"] = [*values, *truths(rule), *[None] * (rule.nulls > 0)]
        if truths(rule):
            found["type"] = ["string", "boolean", *["null"] * (rule.nulls > 0)]
    else:
        known = ["longest"]
        found |= _portable(text_pattern(rule))
        if rule.longest is not None:
            found["maxLength"] = rule.longest
    if said := note_backtracking(rule, *known):
        found["$comment"] = said
    return found


def _portable(pattern: str) -> dict[str, Any]:
    """Returns a pattern that Python, ECMAScript and RE2 read alike, and the newline at the end that it refuses."""
    if ends_in_newline(pattern):
        return {"pattern": whole(pattern, "portable")[:-1] + END_OF_TEXT}
    return {"pattern": whole(pattern, "portable"), "not": {"type": "string", "pattern": NEWLINE_AT_END}}


def frictionless(contract: Contract) -> str:
    """Returns a Frictionless table schema, for tables read from text."""
    fields = []
    for name, rule in contract.columns.items():
        field: dict[str, Any] = {"name": name, "type": rule.type if rule.numeric else "string"}
        limits: dict[str, Any] = {"required": rule.nulls == 0, "unique": rule.unique}
        if rule.numeric:
            limits |= {k: v for k, v in (("minimum", rule.low), ("maximum", rule.high)) if v is not None}
        elif rule.one_of is not None:
            limits["enum"] = listed(rule)
        else:
            limits["pattern"] = whole(text_pattern(rule), "portable").removesuffix("$") + END_OF_TEXT
        if rule.longest is not None:
            limits["maxLength"] = rule.longest
        said = note_backtracking(rule, "range", "longest", "unique")
        field |= {"description": " ".join(filter(None, (rule.says, said)))} if rule.says or said else {}
        fields.append(field | {"constraints": {k: v for k, v in limits.items() if v not in (False, None)}})
    missing = list(dict.fromkeys(["", *(m for rule in contract.columns.values() for m in rule.missing)]))
    schema = {"description": about(contract), "fields": fields, "missingValues": missing}
    return json.dumps(schema, indent=2, ensure_ascii=False)


def odcs(contract: Contract) -> str:
    """Returns a contract of the Open Data Contract Standard, version 3; ECMAScript and RE2 read its patterns alike."""
    table = table_name(contract)
    found = {
        "apiVersion": "v3.0.2",
        "kind": "DataContract",
        "id": f"wakesleep-{table}",
        "name": table,
        "version": "1.0.0",
        "status": "draft",
        "description": {"limitations": about(contract)},
        "schema": [
            {
                "name": table,
                "logicalType": "object",
                "properties": [_odcs_property(name, rule) for name, rule in contract.columns.items()],
            }
        ],
    }
    return yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=110).rstrip()


def _odcs_property(name: str, rule: Rule) -> dict[str, Any]:
    kind = rule.type if rule.numeric else "string"
    found: dict[str, Any] = {"name": name, "logicalType": kind, "required": rule.nulls == 0, "unique": rule.unique}
    options: dict[str, Any] = {}
    if rule.numeric:
        options |= {k: v for k, v in (("minimum", rule.low), ("maximum", rule.high)) if v is not None}
    else:
        options["pattern"] = whole(text_pattern(rule), "standard")
        options |= {"maxLength": rule.longest} if rule.longest is not None else {}
    if options:
        found["logicalTypeOptions"] = options
    said = " ".join(filter(None, (rule.says, note_backtracking(rule, "range", "longest", "unique"))))
    return found | ({"description": said} if said else {})
