"""A light installation explains and checks columns; what needs more says in one sentence what to install."""

import ast
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from wakesleep.errors import EXTRAS, MissingExtra, Refusal, missing_extra

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
DISTRIBUTIONS = {
    "anyio": "starlette",
    "jaxlib": "jax",
    "orbax": "orbax-checkpoint",
    "PIL": "pillow",
    "python_calamine": "python-calamine",
    "yaml": "pyyaml",
}
"""What brings a module, where that has another name."""
OF_THE_USER = {"arviz", "pandas", "sklearn", "sktime", "statsforecast", "tensorboardX"}
"""Modules that are imported only where a user has them: to answer in kind, and to compare with."""
MOST_PACKAGES, MOST_MEGABYTES = 20, 300
"""Of these megabytes Polars is 181 and NumPy 67."""
BLOCKED = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Finder())
"""


def names(requirements):
    return {re.split(r"[^\w.-]", requirement)[0].lower() for requirement in requirements}


def imported(path):
    """The modules of others that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)


def test_the_size_that_is_stated_is_the_one_that_was_measured():
    rows = json.loads((ROOT / "results" / "benchmark-installation.json").read_text())["rows"]
    (plain,) = [row for row in rows if row["extra"] == "none"]
    said = f"{plain['packages']} packages, {plain['megabytes']} MB"
    assert said in (ROOT / "README.md").read_text() and said in (ROOT / "pyproject.toml").read_text()


def test_every_import_is_a_dependency_or_of_an_extra():
    extra = {module for modules in EXTRAS.values() for module in modules}
    light = names(PROJECT["dependencies"])
    others = {m for path in SOURCES for m in imported(path)} - set(sys.stdlib_module_names) - {"wakesleep"}
    unknown = {m for m in others - extra - OF_THE_USER if DISTRIBUTIONS.get(m, m) not in light}
    assert unknown == set()


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_extras_that_are_told_are_those_of_the_package(extra):
    wanted = names(PROJECT["optional-dependencies"][extra])
    assert {DISTRIBUTIONS.get(module, module).lower() for module in EXTRAS[extra]} == wanted - {"wakesleep"}


def test_other_modules_that_are_missing_are_not_told_as_extras():
    error = ModuleNotFoundError("No module named 'nonsense'", name="nonsense")
    assert missing_extra(error) is error


def light(words, folder):
    """Runs a command as if only the light installation were there, for its processes too."""
    blocked = {module for modules in EXTRAS.values() for module in modules}
    (folder / "blocked").mkdir(exist_ok=True)
    (folder / "blocked" / "sitecustomize.py").write_text(BLOCKED.format(blocked=blocked))
    paths = os.pathsep.join([str(folder / "blocked"), str(ROOT / "src")])
    command = [sys.executable, "-m", "wakesleep", *map(str, words)]
    environment = os.environ | {"PYTHONPATH": paths}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    return done.returncode, done.stdout, done.stderr


def test_tables_are_explained_drafted_and_checked_without_extras(tmp_path):
    table = ROOT / "examples" / "orders.csv"
    assert light(["explain", table, "--effort", "quick"], tmp_path)[0] == 0
    assert light(["draft", table, "--effort", "quick", "-o", "contract.yaml"], tmp_path)[0] == 0
    (tmp_path / "new.csv").write_text(table.read_text().replace("ORD-", "order ", 3))
    code, out, _ = light(["check", "contract.yaml", "new.csv", "--json"], tmp_path)
    assert code == 1 and "order 1" in out


def test_series_are_forecast_without_extras(tmp_path):
    code, out, err = light(["forecast", ROOT / "examples" / "co2.csv", "--json"], tmp_path)
    assert code == 0 and out, err


def test_a_catalogue_is_made_and_asked_without_extras(tmp_path):
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "days.csv").write_text("day\n" + "".join(f"2024-01-{i:02d}\n" for i in range(1, 29)))
    assert light(["catalogue", "lake", "-o", "c.parquet", "--json"], tmp_path)[0] == 0
    assert light(["like", "c.parquet", "2024-05-31"], tmp_path)[0] == 0


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["train", "clusters", "--steps", "1"], "train"),
        (["explain", "characters", ROOT / "examples" / "letter.png"], "train"),
        (["domains", "automata"], "train"),
        (["explore", "--no-browser"], "explore"),
    ],
)
def test_a_command_that_needs_more_says_what_to_install(tmp_path, words, extra):
    code, _, err = light(words, tmp_path)
    assert code == 2 and f"pip install 'wakesleep[{extra}]'" in err and "Traceback" not in err


def test_a_public_name_that_needs_more_is_refused_as_an_import(monkeypatch):
    import wakesleep

    def fail(name):
        raise ModuleNotFoundError("No module named 'jax'", name="jax")

    monkeypatch.setattr(wakesleep, "import_module", fail)
    with pytest.raises(MissingExtra, match=r"wakesleep\[train\]") as said:
        wakesleep.fit  # noqa: B018, asking for the name is what is refused
    assert isinstance(said.value, ImportError) and isinstance(said.value, Refusal)


@pytest.mark.slow
def test_the_wheel_alone_is_light_and_explains_drafts_checks_and_forecasts(tmp_path):
    def run(*words):
        return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True, cwd=tmp_path).stdout

    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "dist", ROOT)
    run(sys.executable, "-m", "venv", tmp_path / "alone")
    python = tmp_path / "alone" / "bin" / "python"
    wheel = next((tmp_path / "dist").glob("*.whl"))
    run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel)
    place = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    found = [d for d in importlib.metadata.distributions(path=[place]) if d.name.lower() not in ("pip", "setuptools")]
    files = {Path(str(d.locate_file(f))) for d in found for f in d.files or ()}
    megabytes = sum(f.stat().st_size for f in files if f.is_file()) / 1e6
    print(f"{len(found)} packages, {megabytes:.0f} MB")
    assert len(found) <= MOST_PACKAGES and megabytes <= MOST_MEGABYTES
    table, command = ROOT / "examples" / "orders.csv", tmp_path / "alone" / "bin" / "wakesleep"
    run(command, "explain", table)
    run(command, "forecast", ROOT / "examples" / "co2.csv")
    run(command, "draft", table, "-o", tmp_path / "contract.yaml")
    (tmp_path / "new.csv").write_text(table.read_text().replace("ORD-", "order ", 3))
    check = [command, "check", "contract.yaml", "new.csv", "--json"]
    done = subprocess.run(check, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 1 and "order 1" in done.stdout, done.stderr
