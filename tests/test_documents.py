"""Everything shown is run: tables come from results, examples and code blocks work."""

import re
import runpy
import subprocess
from pathlib import Path

import pytest

from wakesleep.cli.help_page import reference
from wakesleep.paper.tables import fill

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_tables_are_those_of_the_results(document):
    text = document.read_text()
    assert fill(text, ROOT / "results") == text, f"run `make tables` to update {document.name}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_links_and_pictures_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
        if "://" not in target:
            assert (document.parent / target).exists(), target


def test_the_page_on_the_command_line_is_its_help():
    assert (ROOT / "docs" / "command-line.md").read_text() == reference(), "run `make tables`"


def test_the_python_of_the_readme_runs():
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL):
        exec(compile(block.replace("steps=20_000", "steps=20"), "README.md", "exec"), {})


def test_the_example_domain_is_short_and_learns_with_all_five_algorithms(monkeypatch):
    assert len((ROOT / "examples" / "new_domain.py").read_text().splitlines()) < 100
    monkeypatch.syspath_prepend(ROOT / "examples")
    noise = runpy.run_path(str(ROOT / "examples" / "five_algorithms.py"))["main"](steps=300, observations=20)
    assert len(noise) == 5
    assert all(0.0 < v < 2.0 for v in noise.values())


def test_the_project_speaks_of_itself_alone():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    named = [f for f in listed if f != ".ci/run" and (ROOT / f).suffix in (".py", ".md", ".toml", ".txt")]
    bad = re.compile(r"\.\./" + "shared|/wo" + "rk/")
    assert [f for f in named if bad.search((ROOT / f).read_text())] == []
