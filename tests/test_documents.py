"""Everything shown is run: tables come from results, examples, commands and code blocks work, links lead somewhere."""

import ast
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

import wakesleep
from tests.conftest import forget
from wakesleep.cli import app as cli
from wakesleep.cli import output as screen
from wakesleep.cli.help_page import reference
from wakesleep.domains import BUILT_IN, references
from wakesleep.paper.tables import fill

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROSE = [*DOCUMENTS, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
MOST_CHARACTERS_A_LINE, MOST_WORDS_A_SENTENCE, MOST_LINES_OF_USE = 120, 30, 50
GENERATED = re.compile(r"<!-- table: .*?<!-- end -->", re.DOTALL)
PARTS = ("Use", "How it works", "Results and how they were made")

# What makes a command quick, by how it begins; the first that matches counts.
CUTS = (
    ("draft", "--effort quick"),
    ("explain strings", "--effort quick"),
    ("explain examples/orders.csv", "--effort quick"),
    ("explain timeseries", ""),
    ("explain characters", ""),
    ("explain", "--steps 20"),
    ("train strings", "--steps 2 --set hidden=4 --set length=8 --set strings=2"),
    ("train characters", "--steps 2 --set hidden=4 --set channels=2 --batch-size 4"),
    ("train automata", "--steps 2 --set observations=20"),
    ("train", "--steps 20"),
    ("evaluate", "--samples 10"),
)


def blocks(document, language):
    return re.findall(rf"```{language}\n(.*?)```", document.read_text(), re.DOTALL)


def commands(document):
    """The commands of a document, each as its words and the exit code that a comment names."""
    lines = [line for block in blocks(document, "console") for line in block.splitlines() if line.startswith("$ ")]
    codes = [re.search(r"# exit code ([0-9])$", line) for line in lines]
    return [(shlex.split(line[2:], comments=True), int(c[1]) if c else 0) for line, c in zip(lines, codes, strict=True)]


def shortened(words):
    said = " ".join(words)
    return words + next((extra.split() for begin, extra in CUTS if said.startswith(begin)), [])


def heading_names(document):
    """The anchors of a document's headings, as Markdown viewers name them."""
    titles = re.findall(r"^#+ (.*)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def tracked():
    """The files of the project: those that git knows, or all of an unpacked sdist."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    hidden = {".venv", "__pycache__", "dist", "build", "runs"}
    return listed or [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file() and not hidden & set(p.parts)]


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Runs the words of a command in a folder of its own that has the examples; it must succeed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.setattr(references, "_known_file", lambda: tmp_path / "domains.json")
    monkeypatch.setattr(screen, "out", Console(width=100))
    monkeypatch.setattr(screen, "err", Console(stderr=True, width=400))

    def run(words, expected=0):
        if words[0] == "python":
            done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            return
        assert words[0] == "wakesleep"
        monkeypatch.setattr(sys, "argv", ["wakesleep", *shortened(words[1:])])
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        assert code == expected, (words, capsys.readouterr().err)

    yield run
    forget()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_tables_are_those_of_the_results(document):
    text = document.read_text()
    assert fill(text, ROOT / "results") == text, f"run `make tables` to update {document.name}"


@pytest.mark.parametrize("document", PROSE, ids=lambda p: p.name)
def test_links_and_pictures_lead_somewhere(document):
    text = document.read_text()
    for link in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'\bsrc(?:set)?="([^"]+)"', text):
        target, _, anchor = link.partition("#")
        if "://" not in target:
            path = document.parent / target if target else document
            assert path.exists(), link
            assert not anchor or anchor in heading_names(path), link


@pytest.mark.parametrize("document", [p for p in PROSE if p.name != "command-line.md"], ids=lambda p: p.name)
def test_no_line_of_prose_is_too_long(document):
    prose = GENERATED.sub("", document.read_text()).splitlines()
    assert [line for line in prose if len(line) > MOST_CHARACTERS_A_LINE and not line.startswith("|")] == []


def sentences(text):
    """The sentences of a document's prose: no code, tables, headings or generated parts."""
    text = re.sub(r"(?ms)^```.*?^```\s*$", "", GENERATED.sub("", text))
    text = re.sub(r"(?m)^(?:    |\||#).*$", "", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text))
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text):
        yield from re.split(r"(?<=[.!?:])[\"')*`]*\s+(?=[A-Z`*(\"\d])", " ".join(paragraph.split()))


@pytest.mark.parametrize("document", [p for p in PROSE if p.name != "command-line.md"], ids=lambda p: p.name)
def test_no_sentence_of_prose_is_too_long(document):
    words = {s: sum(bool(re.search(r"\w", w)) for w in s.split()) for s in sentences(document.read_text())}
    assert [s for s, count in words.items() if count > MOST_WORDS_A_SENTENCE] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT / "src")))
def test_no_line_of_a_docstring_is_too_long(path):
    lines = path.read_text().splitlines()
    said = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Expr)]
    texts = [n for n in said if isinstance(n.value, ast.Constant) and isinstance(n.value.value, str)]
    within = [line for n in texts for line in lines[n.lineno - 1 : n.end_lineno]]
    assert [line for line in within if len(line) > MOST_CHARACTERS_A_LINE] == []


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_page_of_a_domain_has_three_parts_and_its_use_fits_one_screen(name):
    text = (ROOT / "docs" / f"{name}.md").read_text()
    assert tuple(re.findall(r"^## (.*)$", text, re.MULTILINE)[:3]) == PARTS
    use = text.split("\n## ")[1]
    assert len(use.splitlines()) <= MOST_LINES_OF_USE
    assert "```console" in use


def test_the_page_on_the_command_line_is_its_help():
    assert (ROOT / "docs" / "command-line.md").read_text() == reference(), "run `make tables`"


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if blocks(d, "python")], ids=lambda p: p.name)
def test_the_python_of_a_document_runs(document):
    for block in blocks(document, "python"):
        exec(compile(block.replace("steps=20_000", "steps=20"), document.name, "exec"), {})


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if blocks(d, "console")], ids=lambda p: p.name)
def test_the_commands_of_a_document_run(document, run, tmp_path):
    for block in blocks(document, "python"):
        if named := re.match(r"# (\w+\.py)\n", block):
            (tmp_path / named[1]).write_text(block)
    no_omniglot = "WAKESLEEP_DATA" not in os.environ
    left_out = set()
    for words, code in commands(document):
        if no_omniglot and ({"images=omniglot", "--alphabet"} & set(words) or left_out & set(words)):
            left_out.add(words[-1])  # the run directory, which later commands name
        else:
            run(words, code)
    if left_out:
        pytest.skip("Omniglot is needed for some of the commands: set WAKESLEEP_DATA; the others ran.")


def test_the_readme_shows_what_its_commands_print():
    pytest.importorskip("jax", reason="one of the commands needs the extra train")
    filled = runpy.run_path(str(ROOT / "docs" / "fill_output.py"))["filled"]
    text = (ROOT / "README.md").read_text()
    assert filled(text) == text, "run `make tables`"


def test_the_example_domain_is_short_and_learns_with_all_five_algorithms(monkeypatch):
    assert len((ROOT / "examples" / "new_domain.py").read_text().splitlines()) < 100
    monkeypatch.syspath_prepend(ROOT / "examples")
    noise = runpy.run_path(str(ROOT / "examples" / "five_algorithms.py"))["main"](steps=300, observations=20)
    assert len(noise) == 5
    assert all(0.0 < v < 2.0 for v in noise.values())


def test_the_version_is_the_same_everywhere():
    assert f"version: {wakesleep.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == wakesleep.__version__


def test_the_project_speaks_of_itself_alone():
    named = [f for f in tracked() if f != ".ci/run" and (ROOT / f).suffix in (".py", ".md", ".toml", ".txt")]
    bad = re.compile(r"\.\./" + "shared|/wo" + "rk/")
    assert len(named) > 100
    assert [f for f in named if bad.search((ROOT / f).read_text())] == []
