"""Patterns for other tools: JSON Schema, pandera, Python's `re`."""

import json
from collections.abc import Callable, Sequence

from wakesleep.domains.strings.explain.explanation import Pattern
from wakesleep.domains.strings.explain.survey import Finding


def _patterns(findings: Sequence[Finding]) -> dict[str, Pattern]:
    """The best pattern of each explained column."""
    return {f.column.name: f.explanation.patterns[0] for f in findings if f.explanation is not None}


def json_schema(findings: Sequence[Finding]) -> str:
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


def pandera(findings: Sequence[Finding]) -> str:
    """A Python module with a pandera schema."""
    lines = [
        f"        {name!r}: pa.Column(str, pa.Check.str_matches({'(?a)' + p.regex!r}), nullable=True),"
        for name, p in _patterns(findings).items()
    ]
    return "\n".join(["import pandera.pandas as pa", "", "schema = pa.DataFrameSchema(", "    {", *lines, "    }", ")"])


def python(findings: Sequence[Finding]) -> str:
    """A Python module with compiled regexes."""
    lines = [f"    {name!r}: re.compile({p.regex!r}, re.ASCII)," for name, p in _patterns(findings).items()]
    return "\n".join(["import re", "", "PATTERNS = {", *lines, "}"])


EXPORTS: dict[str, Callable[[Sequence[Finding]], str]] = {
    "json-schema": json_schema,
    "pandera": pandera,
    "re": python,
}
