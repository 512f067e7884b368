"""Optional parts read off forms that differ by them, and identifiers with check characters."""

import math
import re

import pytest

from wakesleep.domains.strings.columns.concepts import concept
from wakesleep.domains.strings.columns.nodes import Node
from wakesleep.domains.strings.columns.optional import Merged, optional_levels, with_optional_parts
from wakesleep.domains.strings.columns.posterior import infer
from wakesleep.domains.strings.columns.prior import shipped
from wakesleep.domains.strings.columns.slots import Reading

from .test_language_probabilities import brute
from .test_language_regexes import agree

READING = Reading(shipped())
MOVES = ["Nf3", "e4", "d5", "Bb5+", "c4", "Qd7", "a6", "Kg1", "Rh3+"]
TAGS = ["qed:1.20", "blorb:3.4", "grewn:2.7-slim", "gruy:1.12", "blakc:9.9-slim", "wihte:4.16"]


def test_forms_are_aligned_with_an_empty_text_where_a_value_has_no_such_part():
    merged = Merged()
    merged.add(("A", "9", "A", "9", "A"), [["PT", "1", "H", "30", "M"], ["PT", "2", "H", "5", "M"]])
    merged.add(("A", "9", "A"), [["PT", "45", "M"]])
    assert merged.kinds == ["A", "9", "A", "9", "A"]
    assert ["".join(row) for row in zip(*merged.columns, strict=True)] == ["PT1H30M", "PT2H5M", "PT45M"]
    assert [c[2] for c in merged.columns] == ["PT", "45", "", "", "M"]


@pytest.mark.parametrize("values", [MOVES, TAGS, ["A+", "B-", "AB+", "O-", "A-", "O+"]])
def test_a_program_with_optional_parts_writes_all_values_and_agrees_with_brute_force(values):
    node = with_optional_parts(values, optional_levels(values)[0], READING)
    assert isinstance(node, Node) and node.exact
    rule = re.compile(node.regex)
    assert all(rule.fullmatch(v) and node.log_prob(v) > -math.inf for v in values)
    agree(node, 500)
    for x in ("e4", "Nf3+", "A+", "AB-", "N3", "+"):
        assert math.exp(node.log_prob(x)) == pytest.approx(brute(node, x), rel=1e-9)


def test_values_of_one_form_and_free_text_have_no_optional_parts():
    assert with_optional_parts(["ab-1", "cd-2"], "titles", READING) is None
    free = ["one, two", "Three (four) five", "six - Seven", "Eight", "nine; ten, Eleven", "twelve & x"]
    assert all(with_optional_parts(free, level, READING) is None for level in optional_levels(free))


def test_an_optional_part_is_in_the_first_program():
    program = infer(TAGS).entries[0].program
    assert program.log_prob("pink:7.31") > -math.inf and program.log_prob("pink:7.31-slim") > -math.inf
    assert program.log_prob("pink:7.31-") == program.log_prob("pink7.31") == -math.inf


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("ISIN", "US0378331005", "US0378331006"),
        ("ISIN", "DE000BAY0017", "DE000BAY0018"),
        ("ORCID", "0000-0002-1825-0097", "0000-0002-1825-0098"),
        ("ORCID", "0000-0001-5109-3700", "0000-0001-5109-370X"),
        ("CUSIP", "037833100", "037833101"),
        ("routing number of a bank", "011000015", "011000016"),
        ("Spanish identity number", "12345678Z", "12345678A"),
        ("Brazilian taxpayer", "111.444.777-35", "111.444.777-36"),
        ("BIC", "DEUTDEFF500", "DEUTDEFF5"),
        ("Roman numeral", "MCMXCIV", "IIX"),
        ("Roman numeral", "XL", ""),
        ("ISO 8601 duration", "P1DT2H30M", "PT"),
        ("ISO 8601 duration", "PT45S", "P"),
        ("time zone", "America/New_York", "america/New_York"),
        ("MIME type", "image/svg+xml", "images/png"),
    ],
)
def test_identifiers_tell_right_from_wrong(name, right, wrong):
    assert concept(name).log_prob(right) > -math.inf
    assert concept(name).log_prob(wrong) == -math.inf


def test_roman_numerals_sum_to_one():
    numerals = {""}
    for place in (("", "M", "MM", "MMM"), *(_place(*signs) for signs in ("CDM", "XLC", "IVX"))):
        numerals = {n + p for n in numerals for p in place}
    assert len(numerals) == 4000
    assert sum(math.exp(concept("Roman numeral").log_prob(n)) for n in numerals) == pytest.approx(1.0)


def _place(one, five, ten):
    return ("", one, 2 * one, 3 * one, one + five, five, five + one, five + 2 * one, five + 3 * one, one + ten)


def test_base64_with_padding_may_have_all_its_characters():
    values = [
        "QUJDREVGR0hJSktMTU5PUA==",
        "c29tZSB0ZXh0IHRoYXQgaQ==",
        "dGhlIHF1aWNrIGJyb3duIA==",
        "YSBmb3ggdGhhdCBqdW1wcw==",
    ]
    program = infer(values).entries[0].program
    assert program.log_prob("QUJD+EVGR0/JSktMTU5PUA==") > -math.inf
    assert program.log_prob("QUJDREVGR0hJSktMTU5PUA=") == -math.inf


def test_paths_begin_with_their_separator():
    values = ["/usr/lib/foo", "/etc/hosts", "/opt/app/bin/run", "/srv/www", "/home/ann/notes/old"]
    program = infer(values).entries[0].program
    assert program.log_prob("/tmp/other/place") > -math.inf
    assert program.log_prob("tmp/other") == program.log_prob("/tmp//x") == program.log_prob("/tmp/") == -math.inf
