"""Patterns for other tools: JSON Schema, pandera, Python's `re`."""

import json
from collections.abc import Callable

from wakesleep.domains.strings.explain.explanation import Explanation, Pattern

Explained = dict[str, Explanation]


def _patterns(findings: Explained) -> dict[str, Pattern]:
    """The best pattern of each explained column."""
    return {name: e.patterns[0] for name, e in findings.items()}


def json_schema(findings: Explained) -> str:
    """A JSON Schema for rows as objects."""
    properties = {
        name: {"type": "string", "pattern": p.regex, "description": p.description}
        for name, p in _patterns(findings).items()
    }
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
    }
    return json.dumps(schema, indent=2)


def pandera(findings: Explained) -> str:
    """A Python module with a pandera schema."""
    lines = [
        f"        {name!r}: pa.Column(str, pa.Check.str_matches({'(?a)' + p.regex!r}), nullable=True),"
        for name, p in _patterns(findings).items()
    ]
    return "\n".join(["import pandera.pandas as pa", "", "schema = pa.DataFrameSchema(", "    {", *lines, "    }", ")"])


def python(findings: Explained) -> str:
    """A Python module with compiled regexes."""
    lines = [f"    {name!r}: re.compile({p.regex!r}, re.ASCII)," for name, p in _patterns(findings).items()]
    return "\n".join(["import re", "", "PATTERNS = {", *lines, "}"])


EXPORTS: dict[str, Callable[[Explained], str]] = {
    "json-schema": json_schema,
    "pandera": pandera,
    "re": python,
}
