"""Patterns of a contract in one regex dialect, as JSON or as a Python module."""

import json
from collections.abc import Callable

from wakesleep.domains.strings.table.contract import Contract
from wakesleep.domains.strings.table.dialects import DIALECTS, posix_is_exact, whole
from wakesleep.domains.strings.table.exports.parts import about, note, note_backtracking, text_pattern
from wakesleep.domains.strings.table.rules import Rule

BACKTRACKING = ("python", "ecmascript", "portable")
LOCAL = "Which characters beyond ASCII are letters is left to the locale, since POSIX has no ranges of them."


def in_dialect(dialect: str) -> Callable[[Contract], str]:
    """Returns the export of one dialect: for each column its pattern, anchored, and what it does not say."""

    def export(contract: Contract) -> str:
        columns = {
            name: {"pattern": whole(text_pattern(rule), dialect), "note": _note(rule, dialect)}
            for name, rule in contract.columns.items()
        }
        found = {"about": about(contract), "dialect": dialect, "use": DIALECTS[dialect].says, "columns": columns}
        return json.dumps(found, indent=2, ensure_ascii=False)

    return export


def _note(rule: Rule, dialect: str) -> str:
    local = LOCAL if dialect == "posix" and not posix_is_exact(text_pattern(rule)) else ""
    said = note_backtracking(rule) if dialect in BACKTRACKING else note(rule)
    return " ".join(filter(None, (said, local)))


def python_module(contract: Contract) -> str:
    """Returns a Python module with compiled regexes, for `fullmatch`."""
    lines = []
    for name, rule in contract.columns.items():
        said = note_backtracking(rule)
        lines += [f"    # {said}"] * bool(said)
        lines.append(f"    {name!r}: re.compile({whole(text_pattern(rule), 'python')!r}),")
    return "\n".join([f"ABOUT = {about(contract)!r}", "", "import re", "", "PATTERNS = {", *lines, "}"])
