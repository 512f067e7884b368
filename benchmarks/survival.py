"""Faults that a run must survive: kills, a full disk, damage, failing calls, hostile directories, second owners.

    python benchmarks/survival.py [kill] [process-killed] [disk-full] [damage] [io] [hostile] [owners]

Every life of a run is a process of its own that runs the command `wakesleep`, forked from this one once everything
is imported, so that a start is cheap. Kills go on where an interrupted benchmark left off; a finished fault is not
tried again. What is lost: a directory that cannot be resumed, a checkpoint that was whole and is not, or an end that
differs in any bit from that of an undisturbed run.
"""

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import io_faults
import jax
import lives
import orbax.checkpoint  # noqa: F401, so that no life has to import it
import strangers

import wakesleep.domains.clusters  # noqa: F401
from wakesleep.data import atomic as files
from wakesleep.paper.results import dump, load
from wakesleep.running import commands

GROUPS, POINTS, STEPS, EVERY = 8, 3, 60, 5
OPTIONS = ["--steps", str(STEPS), "--checkpoint-every", str(EVERY), "--batch-size", "4", "--set", "width=4"]
TRIES = {"kill": 200, "process-killed": 4, "disk-full": 6, "damage": 100, "io": 600, "hostile": 100, "owners": 20}
PATIENCE = 20
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("faults", nargs="*", choices=[[], *TRIES], default=[], help="all of them by default")
    parser.add_argument("--output", type=Path, default=Path("results"))
    parser.add_argument("--work", type=Path, default=Path("runs/survival"), help="where the runs are made")
    parser.add_argument("--tries", type=int, help="fewer tries of each fault")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="os.fork")
    options.work.mkdir(parents=True, exist_ok=True)
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "benchmark-survival.json"
    OPTIONS.extend(["--set", f"data={write_points(options.work / 'points.csv')}"])
    settings = {"domain": "clusters", "steps": STEPS, "checkpoint_every": EVERY, "groups": GROUPS, "points": POINTS}
    for fault in options.faults or TRIES:
        if not any(r["fault"] == fault for r in (load(path) or {"rows": []})["rows"]):
            row = {"fault": fault, **FAULTS[fault](options.work, options.tries or TRIES[fault])}
            table = load(path) or {"rows": [], "settings": settings}
            table["rows"].append(row)
            files.write_whole(path, dump(table))
        print(json.dumps(next(r for r in (load(path) or {})["rows"] if r["fault"] == fault)), flush=True)


def write_points(path: Path) -> Path:
    """A small table of groups of points, which is quicker to read than data are to synthesise."""
    rng = random.Random(0)
    lines = [f"{g},{rng.gauss(0, 1):.3f},{rng.gauss(0, 1):.3f}\n" for g in range(GROUPS) for _ in range(POINTS)]
    path.write_text("group,x,y\n" + "".join(lines))
    return path.absolute()


def begin(words: list[str], log: Path) -> int:
    """A new process that runs the command; its id."""
    pid = os.fork()
    if pid == 0:
        os._exit(command(words, log))
    return pid


def command(words: list[str], log: Path) -> int:
    """Runs the command in this process; its exit code."""
    commands.keep_compiled = keep_everything
    return lives.run(words, log)


keep_compiled = commands.keep_compiled


def keep_everything(folder: Path | None = None) -> bool:
    """Keeps even what is compiled in no time: a life is shorter than a second of such compilations."""
    kept = keep_compiled(folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    return kept


def end(pid: int) -> int:
    """The exit code of a process, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def whole(words: list[str], path: Path) -> float:
    """Makes an undisturbed run, unless it is there; about how many seconds that took."""
    note = path.with_suffix(".seconds")
    if not note.exists():
        shutil.rmtree(path, ignore_errors=True)
        for folder in (path.with_suffix(".first"), path):  # the first fills the cache of compiled programs
            start = time.monotonic()
            assert end(begin([*words, "--output", str(folder)], path.with_suffix(".log"))) == 0, path
        note.write_text(str(time.monotonic() - start))
    return float(note.read_text())


def kills(work: Path, tries: int) -> Row:
    """kill -9 at random moments of the life of a run, each followed by a resume."""
    undisturbed, log, notes = work / "undisturbed", work / "kill.log", work / "kills.json"
    seconds = whole(["train", "clusters", *OPTIONS], undisturbed)
    seen: Row = json.loads(notes.read_text()) if notes.exists() else {"tried": 0, "writing": 0, "runs": 0, "lost": []}
    rng = random.Random(len(seen["lost"]) + seen["tried"])
    while seen["tried"] < tries:
        path = work / f"killed-{seen['runs']:03d}"
        code, saved, writing = live(path, log, rng, seconds)
        if code == -signal.SIGKILL:
            seen["tried"] += 1
            seen["writing"] += writing
            if wrong := missing(path, saved):
                seen["lost"].append(f"{path.name} after kill {seen['tried']}: {wrong}")
        elif code == 0:
            seen["runs"] += 1
        else:
            seen["lost"].append(f"{path.name} cannot be resumed: {lives.gist(log.read_text())}")
            seen["runs"] += 1
        files.write_whole(notes, json.dumps(seen))
    if end(begin(["resume", str(path)] if path.exists() else [], log)) == 0:
        seen["runs"] += 1
    ended = [work / f"killed-{i:03d}" for i in range(seen["runs"])]
    differing = compare(undisturbed, ended, work)
    lost = [*seen["lost"], *differing]
    return {
        "tried": seen["tried"],
        "lost": len(lost),
        "while_writing": seen["writing"],
        "runs_compared": len(ended),
        "losses": lost,
    }


def live(path: Path, log: Path, rng: random.Random, seconds: float) -> tuple[int, list[int], bool]:
    """One life of a run, killed at a random moment: its exit code, the checkpoints then, and whether one was begun.

    Three in ten are killed within the time of a whole life, and the others within a sixth of it from their first
    checkpoint, while steps are made and checkpoints written: a life is mostly start.
    """
    before = listed(path)
    words = ["resume", str(path)] if path.exists() else ["train", "clusters", "--output", str(path), *OPTIONS]
    pid = begin(words, log)
    early = rng.random() < 0.3
    last = time.monotonic() + rng.uniform(0.0, seconds) if early else float("inf")
    while time.monotonic() < last:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status), [], False
        if last == float("inf") and listed(path) - before:
            last = time.monotonic() + rng.uniform(0.0, seconds / 6)
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    code, names = end(pid), listed(path)
    return code, sorted(int(n) for n in names if n.isdigit()), any(n.endswith(files.UNFINISHED_SUFFIX) for n in names)


def listed(path: Path) -> set[str]:
    """The names in the folder of checkpoints."""
    folder = path / "checkpoints"
    return {p.name for p in folder.iterdir()} if folder.exists() else set()


def not_whole(path: Path, saved: list[int]) -> str:
    """Which checkpoint is not as it was written, if any is."""
    for step in saved:
        folder = path / "checkpoints" / f"{step:09d}"
        if json.loads((folder / "digest.json").read_text()) != files.digests(folder, "digest.json"):
            return f"the checkpoint of step {step} is not whole"
    return ""


def missing(path: Path, saved: list[int]) -> str:
    """What is wrong with the checkpoints that a killed process left, if anything is."""
    if wrong := not_whole(path, saved):
        return wrong
    known = path.with_suffix(".last")
    last = int(known.read_text()) if known.exists() else 0
    known.write_text(str(max(saved, default=0)))
    return f"the checkpoint of step {last} is gone" if max(saved, default=0) < last else ""


COMPARE = """
import sys, json
from pathlib import Path
import equinox as eqx, jax, numpy as np
from wakesleep.running import run as runs
from wakesleep.running import train as training
first, *others = map(Path, sys.argv[1:])
job = training.prepare(runs.open_run(first).config)
def leaves(path):
    run = runs.open_run(path)
    return jax.tree.leaves(eqx.filter(runs.restore(run, job.shape()), eqx.is_array)), list(runs.history(run))
(truth, told), differ = leaves(first), []
for path in others:
    found, said = leaves(path)
    if not all(np.array_equal(a, b) for a, b in zip(truth, found, strict=True)) or told[-1]["step"] != said[-1]["step"]:
        differ.append(f"{path.name} ended otherwise")
print(json.dumps(differ))
"""


def compare(undisturbed: Path, others: list[Path], work: Path) -> list[str]:
    """Those whose last state differs from that of the undisturbed run."""
    words = [sys.executable, "-c", COMPARE, str(undisturbed), *map(str, others)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"cannot be compared: {lives.gist(done.stderr)}"]
    differing: list[str] = json.loads(done.stdout)
    return differing


def process_kills(work: Path, tries: int) -> Row:
    """One of two processes is killed at a random moment; the other must end by itself, and both be resumed."""
    undisturbed = work / "two-devices"
    words = ["train", "clusters", *OPTIONS]
    seconds = whole([*words, "--devices", "2"], undisturbed)
    rng, slowest = random.Random(0), 0.0
    lost: list[str] = []
    ended: list[Path] = []
    for i in range(tries):
        path = work / f"pair-{i}"
        shutil.rmtree(path, ignore_errors=True)
        logs = [work / f"pair-{i}-{p}.log" for p in (0, 1)]
        pids = pair([*words, "--output", str(path)], logs)
        while not (path / "checkpoints").exists():
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.7 * seconds))
        victim = i % 2
        os.kill(pids[victim], signal.SIGKILL)
        killed, code = time.monotonic(), (end(pids[victim]), end(pids[1 - victim]))[1]
        slowest = max(slowest, time.monotonic() - killed)
        time.sleep(1.0)  # the last word comes right after the end
        said = logs[1 - victim].read_text()
        told = "go on with: wakesleep resume" in said
        if (max(runs_saved(path)) < STEPS) if code == 0 else not told:
            lost.append(f"{path.name}: the other process ended with {code}: {lives.gist(said)}")
        if any(codes := [end(pid) for pid in pair(["resume", str(path)], logs)]):
            lost.append(f"{path.name} cannot be resumed ({codes}): {lives.gist(logs[0].read_text())}")
        else:
            ended.append(path)
    lost += compare(undisturbed, ended, work)
    return {"tried": tries, "lost": len(lost), "slowest_end_seconds": round(slowest, 1), "losses": lost}


def pair(words: list[str], logs: list[Path]) -> list[int]:
    """Two processes of one run."""
    with socket.socket() as one:
        one.bind(("localhost", 0))
        port = one.getsockname()[1]
    shared = ["--coordinator", f"localhost:{port}", "--processes", "2", "--patience", str(PATIENCE), "--process-id"]
    return [begin([*words, *shared, str(i)], log) for i, log in enumerate(logs)]


def runs_saved(path: Path) -> list[int]:
    names = [p.name for p in (path / "checkpoints").iterdir() if p.is_dir()]
    return sorted(int(name) for name in names if name.isascii() and name.isdigit()) or [0]


def full_disks(work: Path, tries: int) -> Row:
    """A small file system fills up while a checkpoint is written; with room again the run goes on to the same end."""
    undisturbed, log = work / "undisturbed", work / "disk.log"
    whole(["train", "clusters", *OPTIONS], undisturbed)
    rng, refused = random.Random(0), 0
    lost: list[str] = []
    ended: list[Path] = []
    for i in range(tries):
        disk, kept = work / f"disk-{i}", work / f"disk-run-{i}"
        disk.mkdir(exist_ok=True)
        size = rng.randint(90, 270)  # kilobytes: room for one to three checkpoints, of which there would be four
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(disk)], check=True)
        try:
            path = disk / "run"
            code = end(begin(["train", "clusters", "--output", str(path), *OPTIONS], log))
            said = log.read_text()
            refused += code == 2
            if code != 2 or "Traceback" in said or "No space left" not in said:
                lost.append(f"{size} kB: ended with {code}: {lives.gist(said)}")
            if wrong := not_whole(path, sorted(runs_saved(path)) if max(runs_saved(path)) else []):
                lost.append(f"{size} kB: {wrong}")
            subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
            if code := end(begin(["resume", str(path)], log)):
                lost.append(f"{size} kB: cannot be resumed ({code}): {lives.gist(log.read_text())}")
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(path, kept)
            ended.append(kept)
        finally:
            subprocess.run(["umount", str(disk)], check=True)
    lost += compare(undisturbed, ended, work)
    how = "tmpfs of 90 to 270 kB"
    return {"tried": tries, "lost": len(lost), "refused_in_a_sentence": refused, "disk": how, "losses": lost}


def damages(work: Path, tries: int) -> Row:
    """A truncation or a flipped bit in a file of the last checkpoint: detected, named, an earlier one offered."""
    undisturbed, found = work / "undisturbed", work / "damages.json"
    whole(["train", "clusters", *OPTIONS], undisturbed)
    return apart(lambda: try_damages(undisturbed, work / "damaged", work / "damage.log", tries), found)


def apart(compute: Callable[[], Row], found: Path) -> Row:
    """Computes a row in one new process: none of its commands gets far enough to leave anything behind."""
    found.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        found.write_text(json.dumps(compute()))
        os._exit(0)
    assert end(pid) == 0, "the process ended by itself"
    row: Row = json.loads(found.read_text())
    return row


def hostile(work: Path, tries: int) -> Row:
    """Run directories made to harm: one sentence or the undisturbed end, and nothing outside changes."""
    undisturbed = work / "undisturbed"
    whole(["train", "clusters", *OPTIONS], undisturbed)
    run = strangers.Commands(command, begin, end, runs_saved)
    return apart(lambda: strangers.try_hostile(run, undisturbed, work / "hostile", tries), work / "hostile.json")


def owners(work: Path, tries: int) -> Row:
    """Second owners of a run that is being trained; its end is that of a run that nobody disturbed."""
    run = strangers.Commands(command, begin, end, runs_saved)
    words = ["train", "clusters", *OPTIONS]
    row, path, last = strangers.try_owners(run, words, work, tries)
    alone = work / "not-owned"
    shutil.rmtree(alone, ignore_errors=True)
    options = ["--steps", str(last), "--checkpoint-every", strangers.EVERY, "--output", str(alone)]
    assert end(begin([*words, *options], work / "not-owned.log")) == 0
    losses = [*row["losses"], *compare(alone, [path], work)]
    return row | {"lost": len(losses), "losses": losses}


def try_damages(undisturbed: Path, path: Path, log: Path, tries: int) -> Row:
    rng, kinds = random.Random(0), {"truncated": 0, "flipped": 0}
    lost: list[str] = []
    last = max(runs_saved(undisturbed))
    sentence = f"{last:09d} is damaged; an earlier one is at step {last - EVERY} (--step {last - EVERY})."
    for i in range(tries):
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(undisturbed, path)
        held = [p for p in (path / "checkpoints" / f"{last:09d}").rglob("*") if p.is_file() and p.stat().st_size]
        file = rng.choice(sorted(held))
        kind = damage(file, rng)
        kinds[kind] += 1
        code = command(["resume", str(path), "--steps", str(STEPS + 1)], log)
        said = " ".join(log.read_text().split())
        if code != 2 or "Traceback" in said or sentence not in said:
            lost.append(f"{file.name} {kind}: ended with {code}: {lives.gist(said)}")
        if runs_saved(path) != runs_saved(undisturbed) or missing(path, [last - EVERY]):
            lost.append(f"{file.name} {kind}: the earlier checkpoint is not there")
        if i % 10 == 0 and command(["resume", str(path), "--step", str(last - EVERY)], log):
            lost.append(f"{file.name} {kind}: the earlier checkpoint cannot be resumed: {lives.gist(log.read_text())}")
    return {"tried": tries, "lost": len(lost), **kinds, "losses": lost}


def damage(file: Path, rng: random.Random) -> str:
    """Truncates a file or flips one of its bits; which of the two."""
    data = bytearray(file.read_bytes())
    if rng.random() < 0.5:
        file.write_bytes(data[: rng.randrange(len(data))])
        return "truncated"
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    file.write_bytes(data)
    return "flipped"


FAULTS: dict[str, Callable[[Path, int], Row]] = {
    "kill": kills,
    "process-killed": process_kills,
    "disk-full": full_disks,
    "damage": damages,
    "io": lambda work, tries: io_faults.faults(work / "io", tries),
    "hostile": hostile,
    "owners": owners,
}


if __name__ == "__main__":
    main()
