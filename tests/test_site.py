"""The site: every public name has a page of the API, tutorials run, and links of the built site lead somewhere."""

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import wakesleep

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.py"))
SPEC = importlib.util.spec_from_file_location("site_of_the_docs", ROOT / "docs" / "build_site.py")
site = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(site)


def nav():
    return re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)


def test_every_public_name_is_on_one_page_of_the_api():
    pages = site.api_pages()
    named = re.findall(r"^::: wakesleep\.[\w.]+\.(\w+)$", "".join(pages.values()), re.MULTILINE)
    assert sorted(named) == sorted(wakesleep.__all__)
    assert set(pages) <= set(nav())


def test_every_page_is_in_the_menu_and_the_menu_has_no_other():
    here = {path.name for path in (ROOT / "docs").glob("*.md")} | set(site.PAGES_BESIDE) | set(site.api_pages())
    here |= {f"tutorials/{path.stem}.md" for path in TUTORIALS}
    assert set(nav()) == here


def test_pages_named_in_llms_txt_are_in_the_menu():
    listed = re.findall(r"\]\(([^)]+)\)", (ROOT / "docs" / "llms.txt").read_text())
    assert listed
    assert set(listed) <= set(nav())
    assert "](api/explaining/)" in site.as_addresses("[API](api/explaining.md)")


@pytest.mark.parametrize("script", TUTORIALS, ids=lambda p: p.stem)
def test_a_tutorial_runs(script):
    given = {**os.environ, "TUTORIAL_STEPS": "4", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=given, check=False)
    assert done.returncode == 0, done.stderr


def test_a_tutorial_becomes_prose_and_code():
    text = site.tutorial(ROOT / "docs" / "tutorials" / "reading_a_posterior.py")
    assert text.startswith("# Reading a posterior honestly\n")
    assert text.count("```") == 2 * (text.count("```python") + text.count("```text"))
    assert text.count("```python") >= text.count("```text") > 0
    assert "# %%" not in text


def test_what_each_cell_prints_is_kept(tmp_path):
    (tmp_path / "one.py").write_text("# # One\n\n# %%\nx = 2\nprint(x)\n\n# %%\n# Words.\nprint(x * x)\n")
    assert site.run_tutorial(tmp_path / "one.py") == ["", "2", "4"]


RUN, OUTPUT, CONFIGURATION, RUN_ELSEWHERE = ("python", "console"), ("text",), ("yaml", "toml"), {"lake.md": "py"}


@pytest.mark.parametrize("document", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda p: p.name)
def test_every_code_block_is_run_or_marked_as_output(document):
    """Blocks of python and console are run (test_documents.py); text is output; configuration must parse."""
    for number, (kind, body) in enumerate(re.findall(r"^```([^\n]*)\n(.*?)^```$", document.read_text(), re.M | re.S)):
        allowed = (*RUN, *OUTPUT, *CONFIGURATION, RUN_ELSEWHERE.get(document.name, "python"))
        assert kind in allowed, f"block {number} of {document.name} is {kind or 'of no kind'}"
        if kind == "yaml":
            assert yaml.safe_load(body)
        elif kind == "toml":
            assert tomllib.loads(body)


def test_every_data_file_that_ships_has_a_card():
    cards = (ROOT / "docs" / "cards.md").read_text()
    package = ROOT / "src" / "wakesleep"
    kinds = (".safetensors", ".npz", ".json", ".jsonl", ".csv")
    shipped = [p for p in package.rglob("*") if p.suffix in kinds and "static" not in p.parts]
    assert len(shipped) > 5
    assert [p.name for p in shipped if f"/{p.name}`" not in cards] == []


@pytest.mark.parametrize(
    "said", ["**Is**", "**Licence**", "**Trained on**", "**Measured**", "**Limits**", "**Unknown**"]
)
def test_every_model_says_what_is_asked_of_a_card(said):
    models = re.split(r"^## ", (ROOT / "docs" / "cards.md").read_text(), flags=re.M)[1:-2]
    assert [card.splitlines()[0] for card in models if said not in card] == []


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "index.html").write_text('<a href="a/">x</a><a href="a/#there">x</a><a href="https://x.org">x</a>')
    (tmp_path / "a" / "index.html").write_text('<h2 id="there"></h2><a href="../b/">x</a><a href="#no">x</a>')
    (tmp_path / "llms.txt").write_text("[a](a/) [b](b/)")
    assert sorted(site.check(tmp_path)) == ["a/index.html: #no", "a/index.html: ../b/", "llms.txt: b/"]
