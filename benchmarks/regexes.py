"""Regexes of many columns in four engines: all compile, RE2 takes linear time, Python a second or it is marked.

    WAKESLEEP_DATA=... python benchmarks/regexes.py [--regexes 1000] [--output results]

Columns are real (tables, string concepts, canonical columns) and adversarial (`regex_columns.py`). Every pattern of
their explanations that a contract takes is written in each dialect and compiled in Python, RE2 (google-re2), Rust
(Polars) and ECMAScript (node). A contract refuses patterns too large for Rust; they are counted and not exported.

Values of up to 100,000 characters are made from each pattern so that a backtracking engine tries as many ways as it
can: the beginning of a fitting value, then characters that several loops share, then one that fits nowhere. Time is
CPU time. A regex that takes Python over a second must be marked (`slow`).
"""

import argparse
import json
import random
import re
import resource
import shutil
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import re2  # type: ignore[import-untyped]
import regex_columns

from wakesleep.data import atomic as files
from wakesleep.domains.strings.columns import explain
from wakesleep.domains.strings.columns.judge.sources import data_folder
from wakesleep.domains.strings.table.backtracking import is_slow
from wakesleep.domains.strings.table.characters import Characters
from wakesleep.domains.strings.table.dialects import whole
from wakesleep.domains.strings.table.pattern import Choice, Part, Repeat, parse
from wakesleep.domains.strings.table.rules import Rule
from wakesleep.errors import Refusal
from wakesleep.paper.results import dump

LENGTHS = (1_000, 10_000, 100_000)
MOST_SECONDS = 1.0
MOST_RATIO, LEAST_SECONDS = 60.0, 0.005
"""Ten times the characters may take RE2 60 times as long: up to 42 were seen where a value no longer fits the
processor's cache, and a quadratic time would be 100. Matches are repeated until they take
`LEAST_SECONDS`."""
MOST_PUMPS, LOOPS = 12, 16
NOWHERE = "\U0010fffe"
"""A character that no pattern of a column holds, but for those of any character."""
FEW = 8
"""Copies of a part that count as a loop."""
NODE = """
const given = JSON.parse(require('fs').readFileSync(0));
const bad = given.filter(p => { try { new RegExp(p, 'u'); return false } catch (e) { return true } });
console.log(JSON.stringify(bad));
"""
Row = dict[str, Any]


class TooSlow(BaseException):
    """A regex took longer than it may."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--regexes", type=int, default=1000, help="at least this many, half of them real")
    parser.add_argument("--output", type=Path, help="a folder for benchmark-regexes.json")
    options = parser.parse_args()
    signal.signal(signal.SIGVTALRM, _too_slow)
    folder = data_folder()
    groups = {"real": lambda: regex_columns.real(folder), "adversarial": regex_columns.adversarial}
    rows = []
    for name, make in groups.items():
        found, refused = collected(make(), options.regexes // 2)
        rows.append({"columns": name, **judged(found), "too_large_to_export": refused})
    for row in rows:
        print(json.dumps(row), flush=True)
    if options.output is not None:
        settings = {"longest": LENGTHS[-1], "most_seconds": MOST_SECONDS}
        files.write_whole(options.output / "benchmark-regexes.json", dump({"rows": rows, "settings": settings}))


def collected(columns: Iterator[list[str]], least: int) -> tuple[list[str], int]:
    """The distinct patterns of columns that a contract takes, and the number of those that it refuses."""
    every = list(columns)
    random.Random(0).shuffle(every)
    found: dict[str, bool] = {}
    for values in every:
        if sum(found.values()) >= least:
            return [p for p, taken in found.items() if taken], sum(not taken for taken in found.values())
        with suppress(Refusal):
            for pattern in explain(values, effort="quick").patterns:
                found.setdefault(pattern.regex, _taken(pattern.regex))
    raise SystemExit(f"There are only {len(found)} regexes.")


def _taken(pattern: str) -> bool:
    try:
        return bool(Rule(pattern=pattern).pattern)
    except Refusal:
        return False


def judged(patterns: list[str]) -> Row:
    """Compiles and times patterns; what failed is listed."""
    uncompiled_ones = uncompiled(patterns)
    python: dict[str, float] = {}
    second: dict[str, float] = {}
    ratios: list[float] = []
    for pattern in patterns:
        texts = attacks(pattern, LENGTHS[-1])
        python[pattern] = slowest(re.compile(whole(pattern, "python")).match, pattern)
        search = re2.compile(whole(pattern, "re2")).search
        second[pattern], text = max((timing(search, t), t) for t in texts)
        middle = text.removesuffix(NOWHERE)
        ratios.append(repeated(search, middle * 10 + NOWHERE) / repeated(search, text))
    slow = [p for p in patterns if python[p] > MOST_SECONDS]
    marked = [p for p in patterns if is_slow(p)]
    failures = [*uncompiled_ones]
    failures += [f"python, not marked: {p[:200]}" for p in slow if not is_slow(p)]
    failures += [
        f"re2 is not linear ({x:.0f}): {p[:200]}" for p, x in zip(patterns, ratios, strict=True) if x > MOST_RATIO
    ]
    return {
        "regexes": len(patterns),
        "not_compiled": len(uncompiled_ones),
        "python_over_a_second": len(slow),
        "marked": len(marked),
        "marked_and_slow": len(set(slow) & set(marked)),
        "slowest_unmarked_seconds": round(max(s for p, s in python.items() if not is_slow(p)), 3),
        "re2_slowest_seconds": round(max(second.values()), 3),
        "re2_median_seconds": round(statistics.median(second.values()), 5),
        "re2_greatest_ratio": round(max(ratios), 1),
        "failed": len(failures),
        "failures": failures[:20],
    }


def uncompiled(patterns: list[str]) -> list[str]:
    """Which patterns an engine does not compile, in its own dialect or in the portable one."""
    node = shutil.which("node")
    if node is None:
        raise SystemExit("node is needed: it is the engine for ECMAScript.")
    failures = []
    engines: dict[str, Callable[[str], object]] = {"python": re.compile, "re2": re2.compile, "rust": _rust}
    forms = {f"{d}": [whole(p, d) for p in patterns] for d in ("python", "re2", "rust", "ecmascript", "portable")}
    for engine, compile_one in engines.items():
        for text in dict.fromkeys([*forms[engine], *forms["portable"]]):
            try:
                compile_one(text)
            except Exception as error:
                failures.append(f"{engine} does not compile {text[:150]!r}: {str(error)[:100]}")
    given = json.dumps([*forms["ecmascript"], *forms["portable"]])
    done = subprocess.run([node, "-e", NODE], input=given, capture_output=True, text=True, check=True)
    return failures + [f"ecmascript does not compile {text[:150]!r}" for text in json.loads(done.stdout)]


def _rust(text: str) -> object:
    return pl.Series([""]).str.contains(text)


def slowest(match: Callable[[str], object], pattern: str) -> float:
    """The longest time that a value takes; short ones first, so that an exponential regex is found soon."""
    found = 0.0
    for length in (30, *LENGTHS):
        for text in attacks(pattern, length):
            found = max(found, timing(match, text))
            if found > MOST_SECONDS:
                return found
    return found


def timing(match: Callable[[str], object], text: str) -> float:
    """CPU seconds of a match, which is stopped some time after it took too long."""
    signal.setitimer(signal.ITIMER_VIRTUAL, 1.5 * MOST_SECONDS)
    start = time.process_time()
    try:
        match(text)
    except TooSlow:
        pass
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - start


def repeated(match: Callable[[str], object], text: str) -> float:
    """CPU seconds of a match, the mean of as many as can be measured."""
    count = 1
    while True:
        start = time.process_time()
        for _ in range(count):
            match(text)
        if (spent := time.process_time() - start) >= LEAST_SECONDS:
            return spent / count
        count *= 4


def _too_slow(number: int, frame: Any) -> None:
    raise TooSlow


def attacks(pattern: str, length: int) -> list[str]:
    """Values that are hard to refuse: a way to a loop, what loops share again and again, then what fits nowhere."""
    part = parse(pattern)
    loops = list(_loops(part, ""))
    r = random.Random(len(loops))
    chosen = loops if len(loops) <= LOOPS else r.sample(loops, LOOPS)
    alone = [text for _, text in chosen] + [_shortest(part)]
    found = dict.fromkeys(
        (before + pump * (length // len(pump) + 1))[:length] + NOWHERE
        for before, own in chosen
        for pump in dict.fromkeys([own, *alone[:MOST_PUMPS]])
        if pump
    )
    return list(found) or [(_shortest(part) * length)[:length] + NOWHERE]


def _loops(part: Part, before: str) -> Iterator[tuple[str, str]]:
    """Each loop of a pattern: a text that leads to it, and the texts that go round in it."""
    if isinstance(part, Characters):
        return
    if isinstance(part, Choice):
        for p in part.parts:
            yield from _loops(p, before)
        return
    if isinstance(part, Repeat):
        if part.high is None or part.high >= FEW:
            yield from ((before, text) for text in _round(part.part))
        yield from _loops(part.part, before)
        return
    for p in part.parts:
        yield from _loops(p, before)
        before += _shortest(p)


def _round(part: Part) -> list[str]:
    """Texts that go once round: for a set one of its first and one of its last characters of each range."""
    if not isinstance(part, Characters):
        return [_shortest(part), _shortest(part, -1)]
    ranges = part.all_ranges
    return [chr(code) for r in (*ranges[:4], ranges[-1]) for code in r]


def _shortest(part: Part, which: int = 0) -> str:
    """The shortest text of a part, of its first or of its last characters."""
    if isinstance(part, Characters):
        return chr(part.all_ranges[which][which])
    if isinstance(part, Choice):
        return min((_shortest(p, which) for p in part.parts), key=len)
    if isinstance(part, Repeat):
        return _shortest(part.part, which) * part.low
    return "".join(_shortest(p, which) for p in part.parts)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    main()
