"""A domain outside of the package goes through every command, by an entry point and as file.py:NAME."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "new_domain.py"
MAIN = [sys.executable, "-c", "from wakesleep.cli.app import main; main()"]
TINY = ["--set", "observations=8", "--batch-size", "4", "--checkpoint-every", "20"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with the example installed as a package that offers it by an entry point, and a copy beside it."""
    folder = tmp_path_factory.mktemp("own")
    shutil.copy(EXAMPLE, folder / "progressions.py")
    shutil.copy(EXAMPLE, folder / "mine.py")
    info = folder / "progressions-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: progressions\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[wakesleep.domains]\nprogressions = progressions:DOMAIN\n")
    return folder


@pytest.fixture(scope="module")
def wakesleep(home):
    """Runs a command in a process of its own, in the folder: its output."""
    environment = os.environ | {"PYTHONPATH": str(home), "WAKESLEEP_CACHE": str(home / "cache")}

    def run(*words, code=0, background=False):
        command = [*MAIN, *map(str, words)]
        if background:
            return subprocess.Popen(command, cwd=home, env=environment, stderr=subprocess.DEVNULL)
        done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    return run


@pytest.fixture(scope="module")
def run_path(home, wakesleep):
    """A run of the domain given as a file, killed after its first checkpoint and resumed."""
    path = home / "run"
    process = wakesleep("train", "mine.py:DOMAIN", "--steps", 1_000_000, "-o", path, *TINY, background=True)
    while not any((path / "checkpoints").glob("0*")) and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    saved = max(int(p.name) for p in (path / "checkpoints").iterdir() if p.name.isdigit())
    told = json.loads(wakesleep("resume", path, "--steps", saved + 20, "--json"))
    assert told["step"] == saved + 20
    return path


def test_a_run_of_an_own_domain_answers_every_command(home, wakesleep, run_path):
    found = json.loads(wakesleep("evaluate", run_path, "--exact", "--samples", 50, "--json"))
    assert {r["method"] for r in found} >= {"exact", "importance"}
    (shown,) = json.loads(wakesleep("posterior", run_path, "--row", 0, "--picture", home / "p.png", "--json"))
    assert "then add" in shown["programs"][0]["program"]
    assert (home / "p.png").stat().st_size > 1000
    (home / "new.csv").write_text("1,3,5,7,9,11,13,15\n4,4,4,4,4,4,4,4\n")
    explained = json.loads(wakesleep("explain", run_path, "new.csv", "--report", home / "r.html", "--json"))
    assert [r["name"] for r in explained] == ["sequence 0", "sequence 1"]
    assert "<img" in (home / "r.html").read_text()
    weights = home / "mine.safetensors"
    wakesleep("ship", run_path, weights)
    for target in (run_path, weights):
        assert len(json.loads(wakesleep("sample", target, "-n", 2, "--json"))) == 2


def test_an_installed_domain_is_listed_and_learns_from_a_file(home, wakesleep):
    assert "progressions" in wakesleep("domains")
    (home / "few.csv").write_text("1,3,5,7,9,11,13,15\n4,4,4,4,4,4,4,4\n0,1,2,3,4,5,6,7\n")
    found = json.loads(wakesleep("explain", "progressions", "few.csv", "--steps", 50, "--json"))
    assert len(found) == 3
    assert "--steps" in wakesleep("explain", "progressions:DOMAIN", "--help")


def test_the_domain_of_a_run_is_run_only_if_the_user_named_it(home, wakesleep, run_path):
    moved = home / "elsewhere.py"
    shutil.move(home / "mine.py", moved)
    assert "is not a file" in wakesleep("posterior", run_path, code=2)
    (home / "mine.py").write_text(moved.read_text() + "\nprint('changed')\n")
    said = wakesleep("resume", run_path, code=2)
    assert "--domain" in said
    assert "changed\n" not in said
    shutil.move(moved, home / "mine.py")


@pytest.mark.parametrize("word", ["nowhere.py:DOMAIN", "no_package.at_all:DOMAIN", "progressions:NOTHING", "shapes"])
def test_a_domain_that_is_missing_is_one_sentence(wakesleep, word):
    said = wakesleep("train", word, code=2)
    assert said.startswith("wakesleep: ")
    assert "Traceback" not in said
