"""Exported regexes accept what programs write, and no more where they say so."""

import math
import random
import re
from itertools import product

import pytest

from wakesleep.domains.strings.columns.characters import NAMED_CLASSES, Chars, chars, class_size
from wakesleep.domains.strings.columns.concepts import MAKERS, PART_MAKERS, concept
from wakesleep.domains.strings.columns.counts import Counts, fit_counts
from wakesleep.domains.strings.columns.dates import DATE_FIELDS, Date
from wakesleep.domains.strings.columns.nodes import Run
from wakesleep.domains.strings.columns.numbers import Number, range_regex
from wakesleep.domains.strings.columns.posterior import infer
from wakesleep.domains.strings.columns.words import words_regex

from .test_language_probabilities import PROGRAMS, texts


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_regex_accepts_exactly_the_support(name):
    node = PROGRAMS[name]
    rule = re.compile(node.regex)
    assert node.exact
    for x in texts("abc", 5):
        assert (rule.fullmatch(x) is not None) == (node.log_prob(x) > -math.inf), x


EVERY_CHARACTER = "".join(map(chr, range(0x110000)))


@pytest.mark.parametrize("name", NAMED_CLASSES)
def test_a_class_is_its_regex_and_has_its_size(name):
    members = Chars((name,))
    found = re.findall(members.regex, EVERY_CHARACTER)
    assert len(found) == class_size(name)
    assert all(map(members.holds, found[:300] + found[-300:]))
    inside = set(found)
    others = [c for c in EVERY_CHARACTER[:1500] + EVERY_CHARACTER[1500::9973] if c not in inside]
    assert not any(map(members.holds, others))


@pytest.mark.parametrize("extra", [".", "-", "]^", "a-z", "\\", " -~", "&&[", "IVX", "\n\t", "0123"])
def test_single_characters_are_escaped(extra):
    rule = re.compile(chars(extra=extra).regex)
    assert {chr(i) for i in range(300) if rule.fullmatch(chr(i))} == set(extra)
    mixed = re.compile(chars("digit", extra=extra).regex)
    assert {chr(i) for i in range(300) if mixed.fullmatch(chr(i))} == set(extra) | set("0123456789")


@pytest.mark.parametrize(
    "bounds", [(0, 255, 1), (1, 12, 2), (0, 59, 2), (17, 4321, 1), (100, 100, 1), (1024, 65535, 1), (7, 7, 3)]
)
def test_a_range_of_numbers_is_its_regex(bounds):
    rule, number = re.compile(range_regex(*bounds)), Number(*bounds)
    for n in range(0, 70_000, 13):
        for text in {str(n), str(n).zfill(bounds[2])}:
            assert (rule.fullmatch(text) is not None) == (number.log_prob(text) > -math.inf), text


@pytest.mark.parametrize("words", [("a",), ("a", "b"), ("AM", "PM"), ("E1", "E2"), ("x.", "z|"), ("ab", "abc", "")])
def test_words_are_their_regex(words):
    rule = re.compile(words_regex(words))
    for k in range(3):
        for x in map("".join, product("abAMPE12x.yz|", repeat=k)):
            assert (rule.fullmatch(x) is not None) == (x in words), x


def edited(x, rng):
    """One character of a text left out, put in or changed for another of the text or of its neighbours."""
    i, c = rng.randrange(len(x) + 1), rng.choice([*x, *"0:9-aZ. é"])
    return rng.choice([x[:i] + x[i + 1 :], x[:i] + c + x[i:], x[:i] + c + x[i + 1 :]])


def agree(node, count):
    """Compares a program with its regex on samples and on as many texts one edit away from them."""
    rule, rng = re.compile(node.regex), random.Random(0)
    for _ in range(count):
        x = node.sample(rng)
        assert node.log_prob(x) > -math.inf and rule.fullmatch(x), (node.regex, x)
        wrong = edited(x, rng)
        possible, accepted = node.log_prob(wrong) > -math.inf, rule.fullmatch(wrong) is not None
        assert possible == accepted if node.exact else accepted or not possible, (node.regex, wrong)


@pytest.mark.parametrize("name", [*MAKERS, *PART_MAKERS])
def test_a_concept_and_its_regex_agree_on_samples_and_near_misses(name):
    agree(concept(name), 250)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_construct_and_its_regex_agree_on_ten_thousand_texts(name):
    agree(PROGRAMS[name], 5_000)


@pytest.mark.parametrize(
    "form", ["%Y-%m-%d", "%a %b %d %H:%M:%S %Y", "%n/%e/%y", "%B %e, %Y", "%Y-%m-%dT%H:%M:%S.%3%Z", "%l:%M %P"]
)
def test_samples_of_dates_are_possible_and_accepted(form):
    node, rng = Date(form), random.Random(0)
    rule = re.compile(node.regex)
    for _ in range(200):
        x = node.sample(rng)
        assert node.log_prob(x) > -math.inf and rule.fullmatch(x), x


def test_dates_know_the_calendar():
    date = Date("%Y-%m-%d")
    assert date.log_prob("2024-02-29") > -math.inf
    assert date.log_prob("2023-02-29") == date.log_prob("2024-04-31") == date.log_prob("2024-13-01") == -math.inf
    named = Date("%a %b %d %Y")
    assert named.log_prob("Thu Feb 29 2024") > -math.inf
    assert named.log_prob("Fri Feb 29 2024") == -math.inf
    assert set("YymnbBUdeaAHkIlMSpPzZ") <= set(DATE_FIELDS)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("IBAN", "DE89370400440532013000", "DE89370400440532013001"),
        ("IBAN in groups of four", "GB29 NWBK 6016 1331 9268 19", "GB28 NWBK 6016 1331 9268 19"),
        ("ISBN-13", "9780306406157", "9780306406158"),
        ("ISBN-13 with hyphens", "978-0-306-40615-7", "978-0-306-40615-6"),
        ("ISBN-10", "080442957X", "0804429570"),
        ("EAN-13", "4006381333931", "4006381333932"),
        ("EAN-8", "73513537", "73513536"),
        ("card number", "4111111111111111", "4111111111111112"),
        ("card number in groups", "4111 1111 1111 1111", "4111 1111 1111 1113"),
        ("IPv4 address", "192.168.0.255", "192.168.0.256"),
        ("IPv6 address", "2001:db8::1", "2001:db8:::1"),
        ("semantic version", "1.0.0-rc.1+build.5", "1.02.0"),
        ("e-mail address", "a.b+c@mail.example.org", "a..b@example.org"),
        ("URL", "https://example.org/a?b=c#d", "https//example.org"),
        ("UUID", "123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-42661417400g"),
        ("MAC address", "00:1b:63:84:45:e6", "00:1b:63:84:45"),
        ("country code", "DE", "XX"),
        ("currency code", "EUR", "EUX"),
        ("language code", "de", "xx"),
    ],
)
def test_concepts_tell_right_from_wrong(name, right, wrong):
    assert concept(name).log_prob(right) > -math.inf
    assert concept(name).log_prob(wrong) == -math.inf


COLUMNS = [
    ["ORD-10443", "ORD-10444", "ORD-20478", "ORD-30401", "ORD-10922"],
    ["$12.99", "$5.00", "$1,129.95", "$7.25"],
    ["a-b", "c", "d-e-f", "g-h"],
    ["Zürich", "Rio de Janeiro", "São Paulo", "Oslo"],
    ["12.5", "-3.25", "NA", "7"],
]


@pytest.mark.parametrize("values", COLUMNS)
def test_what_was_found_and_its_regex_agree_on_samples_and_near_misses(values):
    for entry in infer(values).entries:
        agree(entry.program, 500)


@pytest.mark.parametrize("count", [1, 500, 20_000])
def test_a_run_without_end_is_its_regex_however_long(count):
    """The chance of a very long run is too small for a float, and it is still a run."""
    for run in (Run(chars("lower"), Counts(1, None)), Run(chars("lower"), fit_counts([1, 2, 3], 1, None))):
        for x in ("a" * count, "a" * count + "!"):
            assert (re.fullmatch(run.regex, x) is not None) == (run.log_prob(x) > -math.inf)
            assert (len(x) in run.ends(x, 0)) == (run.log_prob(x) > -math.inf)


def test_sets_are_written_as_ecmascript_knows_them():
    written = chars(extra="".join(map(chr, range(32, 127)))).regex
    assert set(re.findall(r"\\(.)", written)) <= set("^$\\.*+?()[]{}|/-nrt")
