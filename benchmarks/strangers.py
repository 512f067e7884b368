"""Run directories that others made, and second owners of a run: faults of `benchmarks/survival.py`."""

import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hostile_runs import KINDS, make_outside, snapshot
from lives import gist

ENDLESS, EVERY = "1000000000", "1000"
"""Steps of a run that does not end by itself, and between its checkpoints."""
Row = dict[str, Any]


class Commands(NamedTuple):
    """How `benchmarks/survival.py` runs the command."""

    command: Callable[[list[str], Path], int]
    """(words, log): runs in this process; the exit code."""
    begin: Callable[[list[str], Path], int]
    """(words, log): runs in a new process; its id."""
    end: Callable[[int], int]
    """(process id): the exit code, when it has ended."""
    saved: Callable[[Path], list[int]]
    """(run directory): the steps that have checkpoints."""


def try_hostile(run: Commands, undisturbed: Path, work: Path, tries: int) -> Row:
    """Resumes each kind of hostile run directory; in this process, since most end at once."""
    lost: list[str] = []
    ended = {"refused_in_a_sentence": 0, "as_if_undisturbed": 0}
    for kind, harm in list(KINDS.items())[:tries]:
        shutil.rmtree(work, ignore_errors=True)
        outside, path, log = make_outside(work / "outside"), work / "run", work / "log"
        shutil.copytree(undisturbed, path)
        harm(path, outside)
        before = snapshot(outside)
        code = run.command(["resume", str(path)], log)
        said = log.read_text(errors="replace")
        if snapshot(outside) != before:
            lost.append(f"{kind}: something outside changed")
        if code not in (0, 2) or "Traceback" in said or "\x1b[31m" in said:
            lost.append(f"{kind}: ended with {code}: {gist(said)}")
        elif code == 0 and run.saved(path) != run.saved(undisturbed):
            lost.append(f"{kind}: the checkpoints are others")
        ended["as_if_undisturbed" if code == 0 else "refused_in_a_sentence"] += 1
    return {"tried": min(tries, len(KINDS)), "lost": len(lost), **ended, "losses": lost}


def try_owners(run: Commands, words: list[str], work: Path, tries: int) -> tuple[Row, Path, int]:
    """While one process trains, others resume the same run: each gets a sentence, and the first is not disturbed.

    The owner is killed after every fifth, and a new process then owns the run. Returns also the run and its last step.
    """
    draw, lost, refused, path = random.Random(0), [], 0, work / "owned"
    shutil.rmtree(path, ignore_errors=True)
    owner = run.begin([*words, "--steps", ENDLESS, "--checkpoint-every", EVERY, "--output", str(path)], work / "o.log")
    for i in range(tries):
        _wait_for(path, owner)
        time.sleep(draw.uniform(0.0, 0.2))
        code = run.end(run.begin(["resume", str(path)], work / "second.log"))
        said = " ".join(_read(work / "second.log").split())
        if code == 2 and f"is in use by process {owner} on" in said:
            refused += 1
        else:
            lost.append(f"second owner {i} ended with {code}: {gist(said)}")
        if i % 5 == 4 or i + 1 == tries:
            os.kill(owner, signal.SIGKILL)
            run.end(owner)
            if i + 1 < tries:
                owner = run.begin(["resume", str(path)], work / "o.log")
    last = max(run.saved(path)) + int(EVERY)
    if code := run.end(run.begin(["resume", str(path), "--steps", str(last)], work / "o.log")):
        lost.append(f"the run cannot be resumed ({code}): {gist(_read(work / 'o.log'))}")
    return {"tried": tries, "lost": len(lost), "refused_in_a_sentence": refused, "losses": lost}, path, last


def _wait_for(path: Path, owner: int) -> None:
    """Waits until the process owns the run."""
    while f'"process": {owner},' not in _read(path / "owner.json"):
        time.sleep(0.01)


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
