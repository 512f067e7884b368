"""The rules of columns for other tools: JSON Schema, pandera, Python's `re`."""

import json
from collections.abc import Callable

from wakesleep.domains.strings.columns.explanation import Explanation

Found = dict[str, Explanation]


def json_schema(found: Found) -> str:
    """Returns a JSON Schema for rows as objects."""
    properties = {
        name: {
            "type": ["string", "null"] if e.nulls else "string",
            "pattern": e.patterns[0].regex,
            "description": e.patterns[0].description,
        }
        for name, e in found.items()
    }
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": properties}
    return json.dumps(schema, indent=2)


def pandera(found: Found) -> str:
    """Returns a Python module with a pandera schema."""
    lines = [
        f"        {name!r}: pa.Column(str, pa.Check.str_matches({e.patterns[0].regex!r}), nullable={e.nulls > 0}),"
        for name, e in found.items()
    ]
    return "\n".join(["import pandera.pandas as pa", "", "schema = pa.DataFrameSchema(", "    {", *lines, "    }", ")"])


def python(found: Found) -> str:
    """Returns a Python module with compiled regexes, for `fullmatch`."""
    lines = [f"    {name!r}: re.compile({e.patterns[0].regex!r})," for name, e in found.items()]
    return "\n".join(["import re", "", "PATTERNS = {", *lines, "}"])


EXPORTS: dict[str, Callable[[Found], str]] = {"json-schema": json_schema, "pandera": pandera, "re": python}
