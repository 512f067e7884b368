"""CPU seconds and peak memory of explaining one drawing, in a new process each time (cold) and in one (warm).

    python benchmarks/characters_explain.py [--output results]

Cold is a process from its start to its end, imports and reading included. Warm is a drawing after another.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from wakesleep.data.atomic import write_whole
from wakesleep.domains.characters.drawings import read_image
from wakesleep.domains.characters.explain import HAND
from wakesleep.domains.characters.hand.explanation import explain_image
from wakesleep.domains.characters.hand.files import load

DRAWINGS = ("omniglot.png", "letter.png")
EXAMPLES = Path(__file__).parent.parent / "examples"
REPEATS = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results"))
    rows = [measure(name) for name in DRAWINGS]
    rest = {"repeats": REPEATS, "mebibytes": peak(resource.RUSAGE_CHILDREN)}
    path = parser.parse_args().output / "benchmark-characters-explain.json"
    write_whole(path, json.dumps({"rows": rows, **rest}, indent=1) + "\n")
    print(path.read_text())


def measure(name: str) -> dict:
    """One row: the medians of both."""
    words = [sys.executable, "-m", "wakesleep", "explain", "characters", str(EXAMPLES / name), "--json"]
    hand, warm, cold = load(HAND), [], []
    for _ in range(REPEATS):
        before = os.times()
        subprocess.run(words, check=True, capture_output=True)
        after = os.times()
        cold.append(after.children_user + after.children_system - before.children_user - before.children_system)
        start = time.process_time()
        explain_image(hand, read_image(EXAMPLES / name))
        warm.append(time.process_time() - start)
    return {
        "drawing": name,
        "cold_cpu_s": round(statistics.median(cold), 2),
        "warm_cpu_s": round(statistics.median(warm), 2),
    }


def peak(who: int) -> int:
    """The most memory that a process has had, in MiB."""
    return round(resource.getrusage(who).ru_maxrss / 1024)


if __name__ == "__main__":
    main()
