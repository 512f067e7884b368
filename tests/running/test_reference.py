"""A user's own domain in runs: where it came from is recorded, and a missing one is a sentence."""

import hashlib
import json
from pathlib import Path

import pytest

from tests.own_domain import OWN_DOMAIN
from wakesleep.domains import references
from wakesleep.domains.shipped import read_notes
from wakesleep.errors import Refusal
from wakesleep.running import commands, reference, weights
from wakesleep.running.cluster import Place
from wakesleep.running.evaluate import evaluate

TINY = {"steps": 20, "batch_size": 4, "checkpoint_every": 10, "memory_size": 2, "proposals": 2}


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("toy", "toy"),
        ("package.module:NAME", "package.module-NAME"),
        ("path/to/my file.py:DOMAIN", "my-file-DOMAIN"),
        ("../x.py:D", "x-D"),
        ("/etc/../..:NAME", "etc-..-..-NAME"),
        ("//:", "run"),
        ("a" * 300, "a" * 60),
    ],
)
def test_the_default_folder_has_a_safe_name(given, name):
    assert reference.slug(given) == name
    assert Path(name).name == name


def test_only_a_file_becomes_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert references.absolute("toy") == "toy"
    assert references.absolute("package.module:NAME") == "package.module:NAME"
    assert references.absolute("sub/own.py:NAME") == f"{tmp_path.resolve()}/sub/own.py:NAME"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A domain in a file of the user's folder, where the test runs, and a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WAKESLEEP_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "own domain.py"
    file.write_text(OWN_DOMAIN)
    return file


def test_a_run_records_where_its_domain_came_from_and_goes_on_from_anywhere(own, tmp_path, monkeypatch):
    made = commands.train({"domain": "own domain.py:DOMAIN", **TINY}, None, Place())
    run = tmp_path / made.run
    assert run.parent.name == "runs"
    assert run.name.startswith("own-domain-DOMAIN-")
    config = json.loads((run / "config.json").read_text())
    assert config["domain"] == f"{own.resolve()}:DOMAIN"
    assert config["domain_digest"] == hashlib.sha256(own.read_bytes()).hexdigest()
    assert config["version"]
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert commands.resume(run, 30, None, Place()).step == 30
    found = {row["method"]: row["log_p"] for row in evaluate(run, 50, 0, True, 0)}
    assert found["importance"] < found["exact"] + 0.5
    weights.ship(run, tmp_path / "toy.safetensors")
    assert read_notes(tmp_path / "toy.safetensors")["name"] == "toy"

    own.write_text(OWN_DOMAIN + "\n# changed\n")
    told = []
    with pytest.raises(Refusal, match="that has changed since"):
        commands.resume(run, 40, None, Place())
    commands.resume(run, 40, None, Place(), commands.Listener(told.append), f"{own}:DOMAIN")
    assert [line for line in told if "has changed since the run began" in line]
    own.unlink()
    with pytest.raises(Refusal, match=r"own domain.py is not a file") as refusal:
        commands.resume(run, 50, None, Place())
    assert str(refusal.value).count(". ") == 0


def test_a_domain_that_is_no_longer_installed_is_named(own, tmp_path):
    made = commands.train({"domain": "own domain.py:DOMAIN", **TINY}, tmp_path / "run", Place())
    file = Path(made.run) / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"domain": "gone.module:DOMAIN"}))
    with pytest.raises(Refusal, match=r"The domain gone\.module:DOMAIN is missing"):
        commands.resume(tmp_path / "run", None, None, Place())


def test_a_new_run_of_a_domain_that_is_not_there_makes_no_directory(own, tmp_path):
    with pytest.raises(Refusal, match=r"none.py is not a file"):
        commands.train({"domain": "none.py:DOMAIN"}, tmp_path / "run", Place())
    assert not (tmp_path / "run").exists()
