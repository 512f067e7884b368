import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import equinox as eqx
import jax
import numpy as np
import pytest

from wakesleep.errors import Refusal
from wakesleep.running import run as runs
from wakesleep.running import train as training
from wakesleep.running.checkpoints import Saver
from wakesleep.running.config import Config

TINY = {"observations": 8, "points": 3, "width": 4}


def config(**changes):
    given = {"domain": "clusters", "steps": 40, "batch_size": 4, "checkpoint_every": 10, "settings": TINY}
    return Config(**(given | changes))


@pytest.fixture(scope="module")
def job():
    return training.prepare(config())


@pytest.fixture(scope="module")
def undisturbed(job, tmp_path_factory):
    """A run from beginning to end, and its last state."""
    run = runs.create(tmp_path_factory.mktemp("runs") / "whole", job.config)
    return run, training.train(job, run, job.start())


def same(a, b):
    left, right = (jax.tree.leaves(eqx.filter(t, eqx.is_array)) for t in (a, b))
    return all(np.array_equal(u, v) for u, v in zip(left, right, strict=True))


def test_a_saved_state_comes_back_bit_for_bit(job, undisturbed):
    run, state = undisturbed
    assert same(runs.restore(run, job.start()), state)
    assert runs.steps_saved(run) == [20, 30, 40]


def test_stopped_and_resumed_equals_never_stopped(job, undisturbed, tmp_path):
    run = runs.create(tmp_path / "stopped", job.config)
    asked = iter([False, False, False, True])
    half = training.train(job, run, job.start(), stop=lambda: next(asked))
    assert 0 < int(half.step) < 40
    again = training.train(job, run, runs.restore(run, job.start()))
    assert same(again, undisturbed[1])


def test_metrics_of_lost_steps_are_dropped(job, tmp_path):
    run = runs.create(tmp_path / "run", job.config)
    for step in (10, 20, 30):
        runs.record(run, {"step": step, "bound": -1.0})
    with run.metrics.open("a") as file:
        file.write('{"step": 40, "bo')
    runs.rewind(run, 20)
    assert [line["step"] for line in runs.history(run)] == [10, 20]


def test_a_run_directory_is_never_overwritten(job, undisturbed):
    with pytest.raises(Refusal, match="exists already: resume it"):
        runs.create(undisturbed[0].path, job.config)


def test_a_damaged_checkpoint_is_named_and_an_earlier_one_offered(job, undisturbed, tmp_path):
    import shutil

    path = tmp_path / "damaged"
    shutil.copytree(undisturbed[0].path, path)
    run = runs.open_run(path)
    files = [p for p in (run.checkpoints / "000000040").rglob("*") if p.is_file() and p.stat().st_size]
    rng = np.random.default_rng(0)
    for file in files:
        whole = file.read_bytes()
        flipped = bytearray(whole)
        flipped[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
        for bad in (bytes(flipped), whole[: len(whole) // 2]):
            file.write_bytes(bad)
            with pytest.raises(Refusal, match=r"000000040 is damaged; an earlier one is at step 30"):
                runs.restore(run, job.start())
        file.write_bytes(whole)
    assert int(runs.restore(run, job.start(), step=30).step) == 30
    runs.rewind(run, 30)
    assert runs.steps_saved(run) == [20, 30]


def test_other_data_than_the_run_began_with_are_refused():
    with pytest.raises(Refusal, match="not those that the run was started with"):
        training.prepare(config(data_digest="0" * 32))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is damaged"),
        ('{"domain": "clusters", "colour": 1}', "unknown settings: colour"),
        (None, "no config.json"),
    ],
)
def test_a_directory_that_is_no_run_is_refused(tmp_path, text, words):
    if text is not None:
        (tmp_path / "config.json").write_text(text)
    with pytest.raises(Refusal, match=words):
        runs.open_run(tmp_path)


def test_a_process_killed_at_any_moment_can_be_resumed_to_the_same_state(tmp_path):
    """kill -9 at several moments; each time resume goes on, and the end is that of an undisturbed run."""
    steps = 6000
    words = [sys.executable, "-c", "from wakesleep.cli.app import main; main()"]
    settings = [w for k, v in TINY.items() for w in ("--set", f"{k}={v}")]
    options = ["--steps", str(steps), "--batch-size", "4", "--checkpoint-every", "100", *settings]
    path = tmp_path / "killed"
    command = [*words, "train", "clusters", "--output", str(path), *options]
    for round_ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_progress(path, process)
        time.sleep(0.05 * round_)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        command = [*words, "resume", str(path)]
    done = subprocess.run([*words, "resume", str(path), "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["step"] == steps
    run = runs.open_run(path)
    again = training.prepare(run.config)
    whole = training.train(again, None, again.start())
    assert same(runs.restore(run, again.start()), whole)


def wait_for_progress(path, process, seconds=120):
    """Until the process has written a new checkpoint."""
    folder = path / "checkpoints"
    seen = {p.name for p in folder.iterdir()} if folder.exists() else set()
    for _ in range(seconds * 50):
        now = {p.name for p in folder.iterdir()} if folder.exists() else set()
        if now - seen or process.poll() is not None:
            return
        time.sleep(0.02)
    raise AssertionError("the run wrote no checkpoint")


def test_a_straggling_write_is_not_told_but_other_errors_are(tmp_path, monkeypatch):
    told: list[str] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: told.append(f"hook: {error}"))
    monkeypatch.setattr(sys, "unraisablehook", lambda given: told.append(f"unraisable: {given.exc_value}"))

    def tell():
        for text in ("Event loop is closed", "another"):
            sys.excepthook(RuntimeError, RuntimeError(text), None)
            sys.unraisablehook(SimpleNamespace(exc_value=RuntimeError(text)))

    for inside in (True, False):  # it may come when the checkpoint is long refused
        with Saver(tmp_path):
            thread = threading.Thread(target=tell)
            if inside:
                thread.start()
                thread.join()
        if not inside:
            thread.start()
            thread.join()
    assert told == ["hook: another", "unraisable: another"] * 2


def test_logging_is_as_before_when_training_raises(job, tmp_path):
    log = logging.getLogger("absl")
    before = log.level
    run = runs.create(tmp_path / "run", job.config)

    def stop():
        assert log.level == logging.CRITICAL != before
        raise KeyError("from training")

    with pytest.raises(KeyError, match="from training"):
        training.train(job, run, job.start(), stop=stop)
    assert log.level == before


def test_a_checkpoint_that_was_begun_is_whole_when_training_raises(job, tmp_path):
    run = runs.create(tmp_path / "run", job.config)
    asked = []

    def stop():
        asked.append(1)
        if runs.steps_saved(run) or list(run.checkpoints.iterdir()):
            raise KeyError("from training")
        return False

    with pytest.raises(KeyError, match="from training"):
        training.train(job, run, job.start(), stop=stop)
    assert runs.steps_saved(run) == [10]
    assert int(runs.restore(run, job.shape()).step) == 10
