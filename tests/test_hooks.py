"""The hook and the action that check tables: their files are well formed and do what the page says."""

import re
import subprocess
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
