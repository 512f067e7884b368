"""Patterns in seven dialects, run by the tools that read them: the same verdicts as the rules."""

import ctypes
import json
import locale
import re
import shutil
import subprocess
from functools import cache

import polars as pl
import pytest

from tests.domains.strings.table.values import RULES, contract, patterned, sayable, values_of
from wakesleep.domains.strings.table.dialects import posix_is_exact, whole
from wakesleep.domains.strings.table.exports import exported
from wakesleep.domains.strings.table.exports.parts import text_pattern
from wakesleep.domains.strings.table.pattern import parse
from wakesleep.errors import Refusal


@cache
def pattern_of(dialect, name):
    return json.loads(exported(contract(), f"regex-{dialect}"))["columns"][name]["pattern"]


def by_python(name, values):
    return [re.match(pattern_of("python", name), v) is not None for v in values]


def by_rust(name, values):
    return pl.Series(values).str.contains(pattern_of("rust", name)).to_list()


def by_re2(name, values):
    re2 = pytest.importorskip("re2", reason="google-re2 is not installed")
    return [re2.search(pattern_of("re2", name), v) is not None for v in values]


def by_ecmascript(name, values):
    node = shutil.which("node") or pytest.skip("node is not installed")
    program = (
        "const [p, vs] = JSON.parse(require('fs').readFileSync(0));"
        "const r = new RegExp(p, 'u'); console.log(JSON.stringify(vs.map(v => r.test(v))))"
    )
    given = json.dumps([pattern_of("ecmascript", name), values])
    done = subprocess.run([node, "-e", program], input=given, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def by_posix(name, values):
    """The C library's regexec; REG_EXTENDED is 1, and REG_NEWLINE is not set."""
    try:
        before = locale.setlocale(locale.LC_ALL)
        locale.setlocale(locale.LC_ALL, "C.UTF-8")
        libc = ctypes.CDLL(None)
        compiled = ctypes.create_string_buffer(512)
        assert libc.regcomp(compiled, pattern_of("posix", name).encode(), 1) == 0
    except (locale.Error, AttributeError, OSError):
        pytest.skip("the C library has no regcomp, or no UTF-8 locale")
    try:
        return [libc.regexec(compiled, v.encode(), 0, None, 0) == 0 for v in values]
    finally:
        libc.regfree(compiled)
        locale.setlocale(locale.LC_ALL, before)


def by_duckdb(name, values):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    query = "SELECT regexp_matches(v, ?) FROM (SELECT unnest(?::VARCHAR[]) AS v)"
    return [ok for (ok,) in duckdb.execute(query, [pattern_of("re2", name), values]).fetchall()]


@pytest.mark.parametrize("tool", [by_python, by_rust, by_re2, by_ecmascript, by_posix, by_duckdb])
@pytest.mark.parametrize("name", RULES)
def test_verdicts_are_those_of_the_rule(tool, name):
    values = values_of(name)
    expected = patterned(RULES[name][0]).matches(values)
    if tool is by_posix and not posix_is_exact(text_pattern(RULES[name][0])):
        values = [v for v in values if v.isascii()]
        expected = patterned(RULES[name][0]).matches(values)
        assert "left to the locale" in json.loads(exported(contract(), "regex-posix"))["columns"][name]["note"]
    found = tool(name, values)
    assert [v for v, e, f in zip(values, expected, found, strict=True) if e != f] == []
    assert 0 < sum(expected) < len(values)


@pytest.mark.parametrize("name", RULES)
def test_what_a_pattern_cannot_say_is_said_beside_it(name):
    rule, values = RULES[name][0], values_of(name)
    said = json.loads(exported(contract(), "regex-re2"))["columns"][name]["note"]
    wider = [v for v, a, b in zip(values, rule.matches(values), patterned(rule).matches(values), strict=True) if a != b]
    if wider:
        assert "Not checked here" in said
    assert all(patterned(rule).matches([v])[0] for v in wider)
    assert sayable(rule).matches([""]) == rule.matches([""])


def test_the_python_module_runs():
    space: dict = {}
    exec(exported(contract(), "re"), space)
    assert space["PATTERNS"]["order"].fullmatch("ORD-12345")
    assert not space["PATTERNS"]["order"].fullmatch("ORD-12345\n")


def test_counts_that_a_dialect_does_not_allow_are_written_in_parts():
    posix = whole("[a-c]{3,600}", "posix")
    assert all(int(n) <= 255 for n in re.findall(r"[0-9]+", posix))
    plain = re.compile(posix)
    assert [bool(plain.match("a" * n)) for n in (2, 3, 255, 256, 600, 601)] == [False, True, True, True, True, False]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(?=a)b", r"only \(\?:\.\.\.\) is known"),
        ("(?P<x>a)", "only"),
        (r"(a)\1", r"\\1 is not known"),
        ("a**", "a count follows a count"),
        ("a{5,2}", "must rise"),
        ("a{2000}", "at most 1000"),
        ("(a", "not closed"),
        ("a)", "not opened"),
        ("[a", "ends too early"),
        ("[b-a]", "no first and last"),
        ("a^b", "speaks of the whole value"),
        ("*a", "nothing to repeat"),
        ("(" * 100 + ")" * 100, "nested"),
        ("a" * 200_000, "at most 100,000"),
        (r"\u00g0", "hexadecimal"),
    ],
)
def test_a_pattern_that_not_every_tool_reads_is_refused(pattern, why):
    with pytest.raises(Refusal, match=why):
        parse(pattern)


@pytest.mark.parametrize("text", ["^a$", "a", r"a\Z", "^a", r"^a\z"])
def test_anchors_at_the_ends_say_nothing(text):
    assert parse(text) == parse("a")
    assert parse(r"a\$") != parse("a")


def test_the_pattern_of_texts_has_the_marks_of_missing_values():
    assert re.fullmatch(text_pattern(RULES["word"][0]), "N/A")
    assert not re.fullmatch(text_pattern(RULES["order"][0]), "")
