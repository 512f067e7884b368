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


OF_THE_CONTRACT = {
    "COMMANDS",
    "DOMAIN",
    "EXPLAINER",
    "PAGES",
    "DRAW",
    "EXPERIMENTS",
    "FULL",
    "PAPER",
    "QUICK",
    "TABLES",
}
"""Names that a folder must give, each with a meaning that the contract or the experiments state."""


def constants(path):
    """The public constants of a module, each with the text of its value."""
    for node in ast.parse(path.read_text()).body:
        given = getattr(node, "targets", [node.target] if isinstance(node, ast.AnnAssign) else [])
        for target in given:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = node.value.elts if isinstance(getattr(node, "value", None), ast.Tuple) else []
            values = values if len(values) == len(names) > 1 else [getattr(node, "value", None)] * len(names)
            for name, value in zip(names, values, strict=True):
                if isinstance(name, ast.Name) and name.id.isupper() and value is not None:
                    yield name.id, ast.unparse(value)


def test_a_constant_has_one_meaning_in_the_whole_package():
    meanings = {}
    for path in FILES:
        for name, value in constants(path):
            if name not in OF_THE_CONTRACT and not name.startswith("_") and len(name) > 1:
                meanings.setdefault(name, {}).setdefault(value, path)
    same = lambda value, name: value.endswith(f".{name}") or value == "Path(__file__).parent"  # noqa: E731
    several = {n: [*v.values()] for n, v in meanings.items() if sum(not same(x, n) for x in v) > 1}
    assert several == {}


def test_few_modules_stand_at_the_root():
    assert len(list(SOURCE.glob("*.py"))) <= MOST_MODULES_AT_THE_ROOT


def test_the_list_of_rooms_in_the_design_is_the_tree():
    section = (ROOT / "docs" / "design.md").read_text().split("## Rooms")[1]
    listed = re.findall(r"^    (\w+) ", section, re.MULTILINE)
    here = {room(p) for p in FILES} - {"__main__"}
    assert listed == [name for name in ORDER if name in here]


def test_the_design_fits_one_screen():
    assert len((ROOT / "docs" / "design.md").read_text().splitlines()) <= 60
