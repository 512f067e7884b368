"""Every call of the system that a short run makes on its directory fails once: nothing is lost, and it resumes.

    python benchmarks/io_faults.py [--points 600] [--work runs/io-faults]

`io_faults.c`, preloaded, counts the calls (open, write, read, sync, rename, mkdir, unlink) and lets the k-th fail with
ENOSPC, EROFS, EACCES or EIO, once or from there on. A life of the run must end by itself with code 0 or with one
sentence and code 2, and a resume without faults must end as the undisturbed run, bit for bit. All lives are in one
process, which compiles the training step once.
"""

import argparse
import ctypes
import errno
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import lives

SOURCE = Path(__file__).with_suffix(".c")
ERRORS = (errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO)
LASTING = (errno.ENOSPC, errno.EROFS)
"""These stay, as on a full or read-only disk; the others are over after one call."""
STEPS, EVERY = 4, 2
OPTIONS = ["--steps", str(STEPS), "--checkpoint-every", str(EVERY), "--batch-size", "2", "--memory-size", "2"]
PRELOADED = "WAKESLEEP_IO_FAULTS"
Row = dict[str, Any]


class Point(NamedTuple):
    """Where a fault comes: in which life, `train` or `resume`, at which call, and which."""

    life: str
    call: int
    code: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=600)
    parser.add_argument("--work", type=Path, default=Path("runs/io-faults"))
    options = parser.parse_args()
    if PRELOADED in os.environ:
        print(json.dumps(try_points(options.work.absolute(), options.points)))
    else:
        print(json.dumps(faults(options.work, options.points)))


def faults(work: Path, points: int) -> Row:
    """Builds what is preloaded and runs this script with it; returns what was found."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    library = work.absolute() / "io_faults.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"], check=True)
    given = os.environ | {"LD_PRELOAD": str(library), PRELOADED: "1"}
    words = [sys.executable, __file__, "--points", str(points), "--work", str(work)]
    done = subprocess.run(words, env=given, stdout=subprocess.PIPE, text=True, check=True)
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def try_points(work: Path, count: int) -> Row:
    """Tries that many points, spread over all calls of both lives and all errors."""
    told = os.fdopen(os.dup(1), "w")
    compile_once()
    lives = Lives(work)
    calls = {life: lives.count(life) for life in ("train", "resume")}
    every = [Point(life, k + 1, code) for code in ERRORS for life, n in calls.items() for k in range(n)]
    chosen = random.Random(0).sample(every, min(count, len(every)))
    lost = [f"{point}: {wrong}" for point in chosen if (wrong := lives.try_one(point))]
    os.dup2(told.fileno(), 1)
    found = {"calls_of_train": calls["train"], "calls_of_resume": calls["resume"]}
    ended = {"refused_in_a_sentence": lives.refused, "survived": lives.survived}
    return {"tried": len(chosen), "lost": len(lost), **found, **ended, "losses": lost[:20]}


def compile_once() -> None:
    """Makes all lives share the first job and its compiled step."""
    from wakesleep.core import fit
    from wakesleep.running import commands, train

    made: dict[str, Any] = {}
    compile_steps, prepare = fit.compile_steps, train.prepare
    fit.compile_steps = lambda *given, **named: made.setdefault("step", compile_steps(*given, **named))

    def prepare_once(config: Any, *given: Any, **named: Any) -> Any:
        made.setdefault("job", prepare(config, *given, **named))
        return made["job"]

    commands.prepare = prepare_once


class Lives:
    """Lives of runs in one process, and the undisturbed run to compare them with."""

    def __init__(self, work: Path):
        self.work, self.path, self.log = work, work / "faulty" / "run", work / "log"
        self.refused = self.survived = 0
        self.library = ctypes.CDLL(None)
        points = [f"{g},{g}.{i},{i}.5\n" for g in range(4) for i in range(3)]
        (work / "points.csv").write_text("group,x,y\n" + "".join(points))
        (work / "faulty").mkdir()
        self.options = [*OPTIONS, "--proposals", "2", "--set", f"data={work / 'points.csv'}", "--set", "width=4"]
        assert self.command(["train", "clusters", *self.options, "--output", str(work / "whole")]) == 0, self.said()
        self.whole = self.leaves(work / "whole")
        shutil.copytree(work / "whole", work / "half")
        shutil.rmtree(work / "half" / "checkpoints" / f"{STEPS:09d}")

    def count(self, life: str) -> int:
        """Returns how many calls an undisturbed life makes."""
        self.begin(life)
        self.arm(0, 0)
        assert self.live(life) == 0, self.said()
        return int(self.library.faults_count())

    def try_one(self, point: Point) -> str:
        """Lives with a fault, then without; returns what is wrong, if anything is."""
        self.begin(point.life)
        self.arm(point.call, point.code)
        code = self.live(point.life)
        self.arm(0, 0)
        self.refused += code == 2
        self.survived += code == 0
        said = self.said()
        if code not in (0, 2) or "Traceback" in said:
            shutil.copy(self.log, self.work / f"lost-{point.life}-{point.call}-{point.code}.log")
            return f"ended with {code}: {lives.gist(said)}"
        again = self.live("resume" if (self.path / "config.json").exists() else "train")
        if again:
            return f"cannot be resumed ({again}): {lives.gist(self.said())}"
        return "" if same(self.leaves(self.path), self.whole) else "ended otherwise"

    def begin(self, life: str) -> None:
        """Makes what a life begins with: nothing, or a run of which the last checkpoint is missing."""
        shutil.rmtree(self.path.parent)
        self.path.parent.mkdir()
        if life == "resume":
            shutil.copytree(self.work / "half", self.path)

    def live(self, life: str) -> int:
        """Trains or resumes; returns the exit code."""
        if life == "train":
            return self.command(["train", "clusters", *self.options, "--output", str(self.path)])
        return self.command(["resume", str(self.path)])

    def arm(self, call: int, code: int) -> None:
        """Lets a call fail; call 0 lets none."""
        self.library.faults_arm(b"/faulty/", ctypes.c_long(call), code, int(code in LASTING))

    def command(self, words: list[str]) -> int:
        """Runs the command in this process, its output to the log; returns its exit code."""
        return lives.run(words, self.log)

    def said(self) -> str:
        """Returns what the last command printed."""
        return self.log.read_text(errors="replace")

    def leaves(self, path: Path) -> list[Any]:
        """Returns the arrays of the last checkpoint of a run."""
        import equinox as eqx
        import jax
        import numpy as np

        from wakesleep.running import commands
        from wakesleep.running import run as runs

        run = runs.open_run(path)
        state = runs.restore(run, commands.prepare(run.config).shape())
        return [int(state.step), *map(np.asarray, jax.tree.leaves(eqx.filter(state, eqx.is_array)))]


def same(a: list[Any], b: list[Any]) -> bool:
    """Whether all arrays are the same to the last bit."""
    import numpy as np

    return len(a) == len(b) and all(np.array_equal(u, v) for u, v in zip(a, b, strict=True))


if __name__ == "__main__":
    main()
