"""Which patterns take an engine that backtracks long, against a matcher that counts the characters it looks at."""

import json
import re
import shutil
import subprocess
from functools import cache

import polars as pl
import pytest

from wakesleep.domains.strings.table.backtracking import LONGEST_VALUE_MATCHED, MOST_MATCHING_STEPS, is_slow, steps
from wakesleep.domains.strings.table.characters import Characters
from wakesleep.domains.strings.table.contract import parsed
from wakesleep.domains.strings.table.dialects import whole
from wakesleep.domains.strings.table.exports import exported
from wakesleep.domains.strings.table.pattern import Choice, Repeat, parse


def looks(pattern, text):
    """How many characters a backtracking matcher looks at before it refuses the text."""
    count = 0
    holds = cache(lambda part, c: part.holds(c))

    def ways(part, i):
        nonlocal count
        if isinstance(part, Characters):
            count += 1
            if i < len(text) and holds(part, text[i]):
                yield i + 1
        elif isinstance(part, Choice):
            for p in part.parts:
                yield from ways(p, i)
        elif isinstance(part, Repeat):
            yield from rounds(part, i, 0)
        else:
            yield from row(part.parts, i)

    def row(parts, i):
        if not parts:
            yield i
        else:
            for j in ways(parts[0], i):
                yield from row(parts[1:], j)

    def rounds(part, i, done):
        if part.high is None or done < part.high:
            for j in ways(part.part, i):
                if j > i:
                    yield from rounds(part, j, done + 1)
        if done >= part.low:
            yield i

    assert not any(end == len(text) for end in ways(parse(pattern), 0))
    return count


LINEAR = {
    "[a-z]+": "a",
    "[A-Z][a-z]+(?: [A-Z][a-z]+)*": "Aa ",
    "(?:-[a-z]+)*(?:_[a-z]+)*": "-a",
    "(?:[0-9]{1,3}[.]){3}[0-9]{1,3}": "1.",
    "(?:x?[0-9])*": "1",
    "[a-z.]+@[a-z.]+[.][a-z]+": "a.",
    "(?:ab)*(?:aba)*": "ab",
    "[0-9]{1,3}(?:,[0-9]{3})*(?:[.][0-9]+)?": "111,",
}
POLYNOMIAL = {
    "[a-z]+[a-z0-9]+": "a",
    "[a-z]+-?[a-z]+": "a",
    "[a-z]*[a-z]*[a-z]*": "a",
    "(?:ab)*(?:abab)*": "ab",
    "a*(?:b|a)*c": "a",
    "[a-z]{0,1000}[a-z]{0,1000}[a-z]{0,1000}": "a",
}
EXPONENTIAL = {
    "(?:a*)*": "a",
    "(?:a|a)*": "a",
    "(?:a+b?)*": "a",
    "(?:[a-z]{1,3})*": "a",
    "(?:a{2}|a{3})*": "a",
    "(?:(?:ab)+c?)+": "ab",
    "(?:[a-z]{1,50},?){5,40}": "a",
}


@pytest.mark.parametrize("pattern", LINEAR)
def test_a_pattern_that_is_read_in_one_way_is_not_slow(pattern):
    assert steps(pattern) == LONGEST_VALUE_MATCHED
    short, long = (looks(pattern, LINEAR[pattern] * n + "!") for n in (20, 40))
    assert long <= 2.2 * short


@pytest.mark.parametrize("pattern", POLYNOMIAL)
def test_loops_that_share_a_text_are_slow(pattern):
    assert MOST_MATCHING_STEPS < steps(pattern) < float("inf")
    short, long = (looks(pattern, POLYNOMIAL[pattern] * n + "!") for n in (10, 20))
    assert long > 3 * short


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_a_loop_that_reads_a_text_in_two_ways_is_slow(pattern):
    assert steps(pattern) == float("inf")
    short, long = (looks(pattern, EXPONENTIAL[pattern] * n + "!") for n in (5, 10))
    assert long > 4 * short


def test_what_is_bounded_or_cannot_fail_is_not_slow():
    for pattern in ("[a-z]{1,50}[a-z]{1,50}", "[a-z]*[a-z]{50}", r"[\s\S]*,[\s\S]*", "abc", "a?b?c?", ""):
        assert not is_slow(pattern), pattern
    assert is_slow("[a-z]*[a-z]{1000}")
    assert not is_slow("|".join(f"w{i}" for i in range(5000)))


def test_a_slow_pattern_is_marked_where_the_tool_backtracks_and_nowhere_else():
    contract = parsed("wakesleep: contract 1\ncolumns: {a: {pattern: '[a-z]+[a-z0-9]+'}, b: {pattern: '[a-z]+'}}")
    for form, backtracks in (
        ("python", True),
        ("ecmascript", True),
        ("portable", True),
        ("re2", False),
        ("rust", False),
    ):
        columns = json.loads(exported(contract, f"regex-{form}"))["columns"]
        assert ("Slow here" in columns["a"]["note"]) == backtracks
        assert "Slow" not in columns["b"]["note"]
    for form in ("json-schema", "frictionless", "great-expectations", "pandera", "re"):
        assert exported(contract, form).count("Slow here") >= 1, form
    for form in ("sql-postgres", "sql-duckdb", "pandera-polars"):
        assert "Slow here" not in exported(contract, form)


HARD = [
    "[\u00a0\u2003\u3000]+",
    "[\u0600-\u06ff]{1,9}(?:[|][\u0600-\u06ff]{1,9}){0,12}",
    "[\u200f\u202e\x00\x07\x1b]+",
    "(?: [a-z]{1,20}){0,69}",
    "(?:[a-z]{0,100}x){0,100}",
    r"[\[\]\\^&~|.-]+",
    r"[^\W\d_]{1,100}\w+",
    "[\U0001f600-\U0001f64f]+",
]


@pytest.mark.parametrize("pattern", HARD)
def test_every_dialect_compiles_and_the_portable_one_in_every_engine(pattern):
    re2 = pytest.importorskip("re2", reason="google-re2 is not installed")
    for engine, compiled in (("python", re.compile), ("re2", re2.compile), ("rust", pl.Series([""]).str.contains)):
        compiled(whole(pattern, engine))
        compiled(whole(pattern, "portable"))


def test_every_dialect_compiles_in_ecmascript():
    node = shutil.which("node") or pytest.skip("node is not installed")
    texts = [whole(p, d) for p in HARD for d in ("ecmascript", "portable")]
    program = "for (const p of JSON.parse(require('fs').readFileSync(0))) new RegExp(p, 'u')"
    subprocess.run([node, "-e", program], input=json.dumps(texts), text=True, check=True)
