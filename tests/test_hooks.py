"""The hook and the action that check tables: their files are well formed and do what the page says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from wakesleep.cli.app import app

yaml = pytest.importorskip("yaml", reason="PyYAML reads the files of the hook and the action")
ROOT = Path(__file__).parents[1]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
EXAMPLES = [
    yaml.safe_load(t) for t in re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/hooks.md").read_text(), re.DOTALL)
]
FAKE = '#!/bin/bash\necho "$@" >> calls\ncase "$3" in bad*) exit 1;; missing*) exit 2;; esac\n'


def test_the_hook_is_one_that_pre_commit_reads():
    clientlib = pytest.importorskip("pre_commit.clientlib", reason="pre-commit judges its own files")
    assert [hook["id"] for hook in clientlib.load_manifest(ROOT / ".pre-commit-hooks.yaml")] == ["wakesleep-check"]


def test_hook_and_action_call_a_command_that_there_is():
    commands = typer.main.get_command(app).commands
    assert HOOKS[0]["entry"] == "wakesleep check" and "check" in commands
    assert 'wakesleep check "$CONTRACT" "$table"' in ACTION["runs"]["steps"][-1]["run"]


def test_the_examples_name_the_hook_and_the_inputs():
    hook = EXAMPLES[0]["repos"][0]["hooks"][0]
    assert hook["id"] == HOOKS[0]["id"] and len(hook["args"]) == 2
    assert all(re.search(hook["files"], file) for file in hook["args"])
    step = EXAMPLES[1]["jobs"]["tables"]["steps"][1]
    needed = {name for name, given in ACTION["inputs"].items() if given.get("required")}
    assert needed <= set(step["with"]) <= set(ACTION["inputs"])


@pytest.mark.parametrize(
    ("tables", "code"), [("a.csv\nb c.csv\n", 0), ("a.csv\nbad.csv\nb.csv", 1), ("bad.csv\nmissing.csv\nbad.csv", 2)]
)
def test_the_action_checks_every_table_and_ends_with_the_worst_code(tmp_path, tables, code):
    (tmp_path / "wakesleep").write_text(FAKE)
    (tmp_path / "wakesleep").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "CONTRACT": "my contract.yaml", "TABLES": tables}
    script = ACTION["runs"]["steps"][-1]["run"]
    done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=tmp_path, env=environment, check=False)
    assert done.returncode == code
    wanted = [f"check my contract.yaml {table}" for table in tables.split("\n") if table]
    assert (tmp_path / "calls").read_text().splitlines() == wanted


@pytest.fixture
def commands(tmp_path):
    """A folder with the real command, and the environment of a process that finds it first."""
    folder = tmp_path / "commands"
    folder.mkdir()
    (folder / "wakesleep").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m wakesleep "$@"\n')
    (folder / "wakesleep").chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT"))}
    author = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    author |= {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    paths = os.pathsep.join([str(folder), str(Path(sys.executable).parent), kept["PATH"]])
    return kept | author | {"PATH": paths, "PYTHONPATH": str(ROOT / "src"), "PRE_COMMIT_HOME": str(tmp_path / "cache")}


CONTRACT = "wakesleep: contract 1\ncolumns:\n  code: {pattern: '[A-Z]{2}[0-9]', nulls: 0}\n"


def test_pre_commit_runs_the_hook_and_stops_a_commit_of_a_bad_table(tmp_path, commands):
    """The repository of the hook has its file alone, so nothing is installed: the project says `language: system`."""
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    if shutil.which("git") is None:
        pytest.skip("git is not installed")

    def run(folder, *words, check=True):
        command = list(map(str, words))
        return subprocess.run(command, cwd=folder, env=commands, capture_output=True, text=True, check=check)

    hooks, project = tmp_path / "hooks", tmp_path / "project"
    for folder in (hooks, project / "data"):
        folder.mkdir(parents=True)
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
    for folder in (hooks, project):
        run(folder, "git", "init", "-q")
    run(hooks, "git", "add", ".")
    run(hooks, "git", "commit", "-qm", "hook")
    rev = run(hooks, "git", "rev-parse", "HEAD").stdout.strip()
    hook = {"id": "wakesleep-check", "language": "system", "files": r"^data/orders\.csv$"}
    hook["args"] = ["contract.yaml", "data/orders.csv"]
    (project / ".pre-commit-config.yaml").write_text(
        yaml.safe_dump({"repos": [{"repo": str(hooks), "rev": rev, "hooks": [hook]}]})
    )
    (project / "contract.yaml").write_text(CONTRACT)
    run(project, sys.executable, "-m", "pre_commit", "install")
    for table, code in (("code\nAB1\n", 0), ("code\nAB1\nab1\n", 1)):
        (project / "data" / "orders.csv").write_text(table)
        run(project, "git", "add", ".")
        done = run(project, "git", "commit", "-m", "table", check=False)
        assert done.returncode == code, done.stdout + done.stderr
    assert "`ab1`" in done.stdout + done.stderr and "does not match the pattern" in done.stdout + done.stderr


def test_the_action_checks_tables_by_the_real_command(tmp_path, commands):
    (tmp_path / "contract.yaml").write_text(CONTRACT)
    (tmp_path / "good.csv").write_text("code\nAB1\n")
    (tmp_path / "bad table.csv").write_text("code\nAB1\nab1\n")
    script = ACTION["runs"]["steps"][-1]["run"]
    for tables, code in (("good.csv", 0), ("bad table.csv\ngood.csv", 1), ("good.csv\nmissing.csv", 2)):
        given = commands | {"CONTRACT": "contract.yaml", "TABLES": tables}
        command = ["bash", "-eo", "pipefail", "-c", script]
        done = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr


def test_the_action_is_of_the_form_that_github_asks_for():
    """A composite action: each step runs a shell or uses another action, and expressions name what there is."""
    assert ACTION["runs"]["using"] == "composite" and {"name", "description"} <= set(ACTION)
    for step in ACTION["runs"]["steps"]:
        assert ("uses" in step) != ("run" in step) and ("run" in step) == ("shell" in step)
        for asked in re.findall(r"\$\{\{ *([^} ]+) *\}\}", yaml.safe_dump(step)):
            assert asked == "github.action_path" or asked.removeprefix("inputs.") in ACTION["inputs"], asked
        assert "${{" not in step.get("run", ""), "an expression inside a script could run what an input says"
