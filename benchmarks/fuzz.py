"""Changed files for every reader: each case must end in a result or a refusal of one sentence, and nothing else.

    python benchmarks/fuzz.py [--minutes 10] [--seed 0] [csv parquet ...] [--output results]

Cases run in a process of their own with limits of memory and time, so that a crash is seen and counted.
Case number i of a seed is always the same; `--case i` runs one alone and shows what went wrong. No file outside of
the folder of a case may change. The exit code is 1 if any case fails.
"""

import argparse
import json
import os
import random
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzz_documents import groups
from fuzz_readers import Reader, every_reader
from hostile_runs import make_outside, snapshot
from mutations import mutate

from wakesleep.data import atomic
from wakesleep.errors import Refusal
from wakesleep.paper.results import dump

CASE_SECONDS = 20
MEMORY_BYTES = 4 << 30
"""What a process of cases may take beyond what it has at its start."""
MOST_SENTENCE_CHARACTERS = 2000
FAILURES_KEPT = 5
STUCK_SECONDS, MAKING_SECONDS = 120, 1800
"""After so long without a line a process counts as stuck: in a case, and while the corpora are made."""
READERS = (
    "csv", "tsv", "jsonl", "parquet", "xlsx", "png", "gzip", "zip", "series", "config", "metrics", "checkpoint",
    "store", "contract", "explanation", "catalogue", "weights",
)  # fmt: skip
Row = dict[str, Any]


class TooSlow(BaseException):
    """A case took longer than it may."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", choices=[[], *READERS], default=[], help="all of them by default")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="this case of one reader alone")
    parser.add_argument("--output", type=Path, help="the folder of results")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.readers or list(READERS)
    if options.worker is not None:
        work(Path(options.worker), json.loads(sys.stdin.readline()), options.seed)
        return
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        make_outside(Path(folder) / "outside")
        if options.case is not None:
            reader = made(Path(folder) / "corpus", names[:1])[names[0]]
            print(run_case(reader, case_of(names[0], reader, options.seed, options.case), Path(folder) / "case"))
            return
        rows = fuzz(names, options.seed, 60 * options.minutes, Path(folder))
    print("\n".join(json.dumps(row) for row in rows))
    if options.output is not None:
        table = {"rows": rows, "settings": {"seed": options.seed, "minutes": options.minutes}}
        atomic.write_whole(options.output / "benchmark-fuzz.json", dump(table))
    sys.exit(1 if rows[-1]["failed"] else 0)


def made(corpus: Path, names: list[str]) -> dict[str, Reader]:
    """Returns the readers of those names."""
    return every_reader(corpus, names, groups(corpus))


def fuzz(names: list[str], seed: int, seconds: float, folder: Path) -> list[Row]:
    """Runs cases of each reader in turns until the time is over; a row for each, and one for all."""
    rows: dict[str, Row] = {n: {"reader": n, "cases": 0, "results": 0, "refused": 0, "failed": 0} for n in names}
    failures: dict[str, list[str]] = {name: [] for name in names}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name, number, word in cases({n: row["cases"] for n, row in rows.items()}, seed, end, folder):
            row = rows[name]
            row["cases"] = max(row["cases"], number + 1)
            row[word if word in ("results", "refused") else "failed"] += 1
            if word not in ("results", "refused"):
                failures[name].append(f"case {number}: {word}")
                print(f"{name} case {number}: {word}", flush=True)
    found = [row | {"failures": failures[n][:FAILURES_KEPT]} for n, row in rows.items()]
    total = {k: sum(row[k] for row in rows.values()) for k in ("cases", "results", "refused", "failed")}
    return [*found, {"reader": "all", **total, "failures": []}]


def cases(first: dict[str, int], seed: int, end: float, folder: Path) -> Iterator[tuple[str, int, str]]:
    """Runs cases in a new process, of each reader from a number on; yields how each ended, and a crash as a case.

    The process is not forked: threads of libraries do not survive that.
    """
    words = [sys.executable, str(Path(__file__).absolute()), "--seed", str(seed), "--worker", str(folder)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps({"first": first, "seconds": end - time.monotonic()}).encode() + b"\n")
    process.stdin.flush()
    before: dict[str, tuple] = {}
    last = (next(iter(first)), 0, "begun")
    while select.select([process.stdout], [], [], STUCK_SECONDS if before else MAKING_SECONDS)[0]:
        if not (line := process.stdout.readline()):
            break
        if line == b"ready\n":
            before = outside(folder)
            continue
        name, number, word = line.decode(errors="replace").rstrip("\n").split(" ", 2)
        last = (name, int(number), word)
        if word != "begun":
            yield last
    process.kill()
    code = process.wait()
    if last[2] == "begun":
        yield last[0], last[1], f"the process ended with {code} or was stuck"
    if before and outside(folder) != before:
        yield last[0], last[1], "a file outside of the folder of a case changed"


def outside(folder: Path) -> dict[str, tuple]:
    """Everything that no case may change."""
    return {f"{name}/{k}": v for name in ("outside", "corpus") for k, v in snapshot(folder / name).items()}


def work(folder: Path, given: Row, seed: int) -> None:
    """Runs cases in turns until the time is over, and writes a line when each begins and when it has ended."""
    told = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warnings.simplefilter("ignore")
    readers = made(folder / "corpus", list(given["first"]))
    told.write("ready\n")
    signal.signal(signal.SIGALRM, _too_slow)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY_BYTES, size + MEMORY_BYTES))
    end, number, spent = time.monotonic() + given["seconds"], dict(given["first"]), dict.fromkeys(readers, 0.0)
    while (begun := time.monotonic()) < end:
        name = min(readers, key=lambda n: spent[n])
        told.write(f"{name} {number[name]} begun\n")
        word = guarded(readers[name], case_of(name, readers[name], seed, number[name]), folder / f"case-{name}")
        told.write(f"{name} {number[name]} {word}\n")
        number[name] += 1
        spent[name] += time.monotonic() - begun


def guarded(reader: Reader, data: bytes, folder: Path) -> str:
    """Runs one case within its time; returns how it ended, in one line."""
    signal.alarm(CASE_SECONDS)
    try:
        return run_case(reader, data, folder)
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}: {str(error)[:150]!r}"
    finally:
        signal.alarm(0)


def case_of(name: str, reader: Reader, seed: int, number: int) -> bytes:
    """Returns the bytes of a case."""
    draw = random.Random(f"{seed} {name} {number}")
    corpus = list(reader.corpus.values())
    return mutate(draw.choice(corpus), draw, corpus)


def run_case(reader: Reader, data: bytes, folder: Path) -> str:
    """Runs one case in a new folder; returns how it ended, or raises what must not be."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        reader.read(folder, data)
    except Refusal as refusal:
        if "\n" in str(refusal) or len(str(refusal)) > MOST_SENTENCE_CHARACTERS:
            raise AssertionError(f"no sentence: {str(refusal)[:200]}") from None
        return "refused"
    return "results"


def _too_slow(number: int, frame: Any) -> None:
    raise TooSlow


if __name__ == "__main__":
    main()
