"""Imports point only upward, no domain knows another, and running and the command line know none."""

import ast
import re
from pathlib import Path

import pytest

from wakesleep.domains import BUILT_IN

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "wakesleep"
ORDER = ["errors", "core", "data", "domains", "running", "paper", "serve", "cli", "__main__"]
ABOVE_THE_DOMAINS = ("running", "serve", "cli")
MOST_LINES, MOST_FUNCTION_LINES, MOST_MODULES_AT_THE_ROOT = 300, 40, 8
FILES = sorted(p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py")


def name_of(path):
    return str(path.relative_to(SOURCE))


def room(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path):
    """The modules of this library that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "wakesleep":
            deeper = (node.module or "").split(".")[1:]
            yield from [deeper] if deeper else [[a.name] for a in node.names if not a.name.startswith("__")]
        elif isinstance(node, ast.Import):
            yield from [a.name.split(".")[1:] for a in node.names if a.name.startswith("wakesleep.")]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_point_only_upward(path):
    for module in imported(path):
        assert ORDER.index(module[0]) <= ORDER.index(room(path)), f"{path.name} imports {'.'.join(module)}"


@pytest.mark.parametrize("path", [p for p in FILES if room(p) == "domains"], ids=name_of)
def test_no_domain_imports_another(path):
    own = path.relative_to(SOURCE).parts[1]
    if own in BUILT_IN:
        others = set(BUILT_IN) - {own}
        assert not [m for m in imported(path) if m[:1] == ["domains"] and len(m) > 1 and m[1] in others]


@pytest.mark.parametrize("path", [p for p in FILES if room(p) in ABOVE_THE_DOMAINS], ids=name_of)
def test_no_domain_is_named_above_the_domains(path):
    assert re.findall(rf"\b({'|'.join(BUILT_IN)})\b", path.read_text()) == []


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_files_and_functions_are_short(path):
    assert len(path.read_text().splitlines()) <= MOST_LINES
    functions = (n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef))
    assert {f.name: n for f in functions if (n := f.end_lineno - f.lineno + 1) > MOST_FUNCTION_LINES} == {}


def test_few_modules_stand_at_the_root():
    assert len(list(SOURCE.glob("*.py"))) <= MOST_MODULES_AT_THE_ROOT


def test_the_list_of_rooms_in_the_design_is_the_tree():
    section = (ROOT / "docs" / "design.md").read_text().split("## Rooms")[1]
    listed = re.findall(r"^    (\w+) ", section, re.MULTILINE)
    here = {room(p) for p in FILES} - {"__main__"}
    assert listed == [name for name in ORDER if name in here]


def test_the_design_fits_one_screen():
    assert len((ROOT / "docs" / "design.md").read_text().splitlines()) <= 60
