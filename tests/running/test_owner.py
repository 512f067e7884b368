"""One owner of a run directory."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from wakesleep.errors import Refusal
from wakesleep.running import owner
from wakesleep.running.owner import own

HOLD = """
import sys, time
from pathlib import Path
from wakesleep.running.owner import own
with own(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_the_second_owner_gets_a_sentence_that_names_the_first(tmp_path):
    with own(tmp_path):
        said = json.loads((tmp_path / owner.OWNER).read_text())
        assert said["process"] == os.getpid()
        with pytest.raises(Refusal, match=rf"is in use by process {os.getpid()} on .*, since 2.* UTC"), own(tmp_path):
            pass
    assert not (tmp_path / owner.OWNER).exists()
    with own(tmp_path):
        pass


@pytest.mark.parametrize("text", ["", "[]", "{", "\xff", json.dumps({"process": "x" * 9999})])
def test_whatever_says_who_owns_it_the_sentence_is_one(tmp_path, text):
    with own(tmp_path):
        (tmp_path / owner.OWNER).write_text(text, encoding="latin-1")
        with pytest.raises(Refusal, match="is in use by") as refused, own(tmp_path):
            pass
    assert len(str(refused.value)) < 500


def test_the_lock_of_a_process_that_was_killed_is_free_at_once(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    with pytest.raises(Refusal, match=f"process {process.pid} "), own(tmp_path):
        pass
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    time.sleep(0.05)
    assert (tmp_path / owner.OWNER).exists()  # stale, and not believed
    with own(tmp_path):
        assert json.loads((tmp_path / owner.OWNER).read_text())["process"] == os.getpid()


def test_a_file_system_without_locks_is_refused(tmp_path, monkeypatch):
    def acquire(self, **given):
        raise NotImplementedError

    monkeypatch.setattr(owner.FileLock, "acquire", acquire)
    with pytest.raises(Refusal, match="has no locks"), own(tmp_path):
        pass
