"""Imports point only upward, algorithms and domains know nothing of each other, no domain another."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "wakesleep"
ORDER = ["errors", "core", "data", "domains", "running", "paper", "serve", "cli", "__main__"]
FILES = sorted(p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py")


def room(path):
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def imported(path):
    """The modules of this library that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "wakesleep":
            deeper = (node.module or "").split(".")[1:]
            yield from [deeper] if deeper else [[a.name] for a in node.names if not a.name.startswith("__")]
        elif isinstance(node, ast.Import):
            yield from [a.name.split(".")[1:] for a in node.names if a.name.startswith("wakesleep.")]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_only_upward(path):
    for module in imported(path):
        assert ORDER.index(module[0]) <= ORDER.index(room(path)), f"{path.name} imports {'.'.join(module)}"


@pytest.mark.parametrize("path", [p for p in FILES if room(p) == "domains"], ids=lambda p: str(p.relative_to(SOURCE)))
def test_domains_know_neither_algorithms_nor_each_other(path):
    own = path.relative_to(SOURCE).parts[1]
    for module in imported(path):
        assert module[0] not in ("algorithms", "fit", "sleep", "evaluate")
        assert module[0] != "domains" or module[1] == own


def test_algorithms_do_not_know_domains():
    for name in ("algorithms", "memory", "objectives", "fit", "sleep", "evaluate"):
        assert not [m for m in imported(SOURCE / f"{name}.py") if m[0] in ("domains", "domain")]


def test_no_file_has_grown_past_four_hundred_lines():
    assert [p.name for p in FILES if len(p.read_text().splitlines()) > 400] == []
