"""Run directories that somebody else made or damaged: `resume` ends in one sentence or as if undisturbed."""

import json
import os
import shutil
import sys

import numpy as np
import pytest

from benchmarks.hostile_runs import KINDS, make_outside, snapshot
from wakesleep.cli import app as cli
from wakesleep.data import memmap
from wakesleep.running import run as runs
from wakesleep.running.owner import LOCK, own

TINY = ["--steps", "6", "--checkpoint-every", "2", "--batch-size", "2", "--memory-size", "2", "--proposals", "2"]


@pytest.fixture
def wakesleep(monkeypatch, capfd):
    """Runs a command in this process: its exit code, standard output and standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["wakesleep", *map(str, words)])
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        return code, *capfd.readouterr()

    return run


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An undisturbed run of four small groups of points."""
    home = tmp_path_factory.mktemp("hostile")
    points = [f"{g},{g}.{i},{i}.5\n" for g in range(4) for i in range(3)]
    (home / "points.csv").write_text("group,x,y\n" + "".join(points))
    with pytest.MonkeyPatch.context() as patch:
        data = ["--set", f"data={home / 'points.csv'}", "--set", "width=4"]
        patch.setattr(sys, "argv", ["wakesleep", "train", "clusters", *TINY, "-o", str(home / "run"), *data])
        with pytest.raises(SystemExit) as end:
            cli.main()
    assert end.value.code == 0
    return home / "run"


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_run_directory_ends_in_a_sentence_or_as_if_undisturbed(whole, wakesleep, tmp_path, kind):
    shutil.copytree(whole, tmp_path / "run")
    outside = make_outside(tmp_path / "outside")
    KINDS[kind](tmp_path / "run", outside)
    before = snapshot(outside)
    code, _, said = wakesleep("resume", tmp_path / "run", "--json")
    assert snapshot(outside) == before
    assert "Traceback" not in said
    assert "\x1b" not in said
    if code:
        assert code == 2, said
        (sentence,) = [s for s in said.splitlines() if s.startswith("wakesleep: ")]
        assert sentence.endswith((".", "?"))
        assert len(sentence) < 1500
    else:
        assert runs.steps_saved(runs.open_run(tmp_path / "run")) == [2, 4, 6]


def test_a_second_owner_of_a_run_gets_a_sentence_and_changes_nothing(whole, wakesleep, tmp_path):
    shutil.copytree(whole, run := tmp_path / "run")
    with own(run):
        before = snapshot(run)
        code, _, said = wakesleep("resume", run, "--steps", "8")
        assert {k: v for k, v in snapshot(run).items() if k != LOCK} == {k: v for k, v in before.items() if k != LOCK}
    assert code == 2
    assert f"is in use by process {os.getpid()} on" in " ".join(said.split())
    assert "Traceback" not in said


def test_a_bad_byte_in_the_metrics_loses_no_later_line_and_no_bound(whole, wakesleep, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    KINDS["metrics with a bad byte"](tmp_path / "run", tmp_path)
    code, said, told = wakesleep("resume", tmp_path / "run", "--json")
    assert code == 0
    assert "metrics.jsonl has 1 cut or damaged lines" in told
    assert list(runs.history(runs.open_run(tmp_path / "run"))) == list(runs.history(runs.open_run(whole)))
    assert json.loads(said)["bound"] == list(runs.history(runs.open_run(whole)))[-1]["bound"]


def test_a_run_that_diverges_ends_with_a_sentence_and_a_code(whole, wakesleep, tmp_path):
    data = ["--set", f"data={whole.parent / 'points.csv'}", "--set", "width=4", "--learning-rate", "1e30"]
    code, _, said = wakesleep("train", "clusters", *TINY, "-o", tmp_path / "run", *data)
    assert code == 2
    assert "Traceback" not in said
    (sentence,) = [s for s in said.splitlines() if s.startswith("wakesleep: ")]
    assert "take a smaller learning rate" in sentence


NO_SUCCESS = {
    "a learning rate of 100": (
        ["clusters", "--steps", "60", "--learning-rate", "100"], "is written, but training has diverged: the bound fell"
    ),
    "automata at 1e30": (
        ["automata", "--steps", "12", "--learning-rate", "1e30", "--set", "observations=4", "--set", "height=4",
         "--set", "width=6", "--set", "recognition=counts"],
        "is written, but training has diverged: the bound fell",
    ),
    "infinite data": (["clusters", "--steps", "60"], "has a value that is not a finite number"),
    "a store of infinite data": (["clusters", "--steps", "60"], "The gradient of evaluator was NaN or infinite"),
}  # fmt: skip


@pytest.mark.parametrize("kind", NO_SUCCESS)
def test_no_real_run_that_fails_ends_as_a_success(whole, wakesleep, tmp_path, kind):
    words, sentence = NO_SUCCESS[kind]
    data = whole.parent / "points.csv"
    if kind == "infinite data":
        data = tmp_path / "points.csv"
        data.write_text("group,x,y\n0,1,2\n0,inf,1\n1,2,inf\n1,1,1\n")
    if kind == "a store of infinite data":
        pieces = [{"x": np.full((4, 3, 2), np.inf, np.float32), "c": np.full(4, 3, np.int32)}]
        memmap.write(data := tmp_path / "store", pieces, {"domain": "clusters"})
    given = ["--set", f"data={data}", "--set", "width=4"] if "clusters" in words else []
    small = ["--batch-size", "2", "--memory-size", "2", "--proposals", "2", "--checkpoint-every", "6"]
    code, _, said = wakesleep("train", *words, *small, *given, "-o", tmp_path / "run")
    assert code == 2
    assert "Traceback" not in said
    assert sentence in " ".join(said.split())


def test_a_run_whose_bound_fell_without_end_does_not_end_as_a_success(whole, wakesleep, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    path = tmp_path / "run" / "metrics.jsonl"
    *lines, last = path.read_text().splitlines()
    path.write_text("\n".join([*lines, json.dumps(json.loads(last) | {"bound": -1e31})]) + "\n")
    code, _, said = wakesleep("resume", tmp_path / "run", "--json")
    assert code == 2
    assert "training has diverged: the bound fell from" in said
