import ast
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import wakesleep
from wakesleep.errors import Refusal
from wakesleep.paper.results import complete, load

SOURCES = sorted(Path(wakesleep.__file__).parent.rglob("*.py"))
POSIX_ALONE = {"fcntl", "resource", "termios", "pwd", "grp", "posix"}


def test_rows_of_many_writers_are_all_kept(tmp_path):
    """Each opens the lock and the file for itself, as processes do."""
    path = tmp_path / "table.json"

    def fill(writer):
        cells = [{"writer": writer, "row": i} for i in range(10)]
        return complete(path, {"a": 1}, cells, lambda cell: {"value": cell["row"]}, lambda line: None)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fill, range(4)))
    found = load(path)["rows"]
    assert sorted((r["writer"], r["row"]) for r in found) == [(w, i) for w in range(4) for i in range(10)]


def test_a_cell_is_computed_once_and_other_settings_are_refused(tmp_path):
    path, computed = tmp_path / "table.json", []

    def compute(cell):
        computed.append(cell["K"])
        return {"nll": 1.0}

    for _ in range(2):
        complete(path, {"a": 1}, [{"K": 2}, {"K": 3}], compute, lambda line: None)
    assert computed == [2, 3]
    with pytest.raises(Refusal, match="made with other settings"):
        complete(path, {"a": 2}, [{"K": 2}], compute)
    assert len(json.loads(path.read_text())["rows"]) == 2


def test_no_module_needs_what_windows_lacks():
    for path in SOURCES:
        for node in ast.parse(path.read_text()).body:  # what is imported inside a function may be left out
            plain = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names = [*plain, getattr(node, "module", None) or ""]
            assert not {name.split(".")[0] for name in names} & POSIX_ALONE, path
