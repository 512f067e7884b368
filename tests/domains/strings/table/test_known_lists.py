"""Lists that contracts name rather than spell out."""

import pytest

from wakesleep.domains.strings.columns.concepts import concept
from wakesleep.domains.strings.columns.vocabulary import vocabularies
from wakesleep.domains.strings.columns.words import words_regex
from wakesleep.domains.strings.table.contract import Contract, read_contract
from wakesleep.domains.strings.table.description import core
from wakesleep.domains.strings.table.known_lists import LONGEST_SPELLED, list_name, list_pattern
from wakesleep.domains.strings.table.rules import Rule
from wakesleep.errors import Refusal

CODES = vocabularies()["country code"]


def test_a_long_list_that_is_known_is_written_by_its_name_and_read_again(tmp_path):
    drafted = Contract({"c": Rule(pattern=words_regex(CODES), says="country code", nulls=0.0), "d": Rule(pattern="x")})
    text = drafted.dumped()
    assert "known: country code" in text and "AE" not in text
    (tmp_path / "c.yaml").write_text(text)
    read = read_contract(tmp_path / "c.yaml")
    assert read.columns == drafted.columns
    assert read.columns["c"].expected == "country code"
    assert read.columns["c"].matches(["DE", "XX", "de", "DE\n"]) == [True, False, False, False]


def test_a_pattern_that_was_changed_is_spelled_out():
    assert "known" not in Contract({"c": Rule(pattern=words_regex(CODES[:-1]), says="country code")}).dumped()


@pytest.mark.parametrize("name", vocabularies())
def test_every_known_list_has_the_pattern_that_is_drafted_from_it(name):
    pattern = core(concept(name)).regex
    assert list_pattern(name) == pattern
    assert list_name(pattern, name) == (name if len(pattern) > LONGEST_SPELLED else "")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("{known: country kode}", "is no list that is known; the nearest are 'country code'"),
        ("{known: country code, pattern: x}", "two patterns"),
        ("{known: [a]}", "is no list that is known"),
    ],
)
def test_what_names_no_list_is_refused(tmp_path, asked, why):
    (tmp_path / "c.yaml").write_text(f"wakesleep: contract 1\ncolumns:\n  c: {asked}\n")
    with pytest.raises(Refusal, match=why):
        read_contract(tmp_path / "c.yaml")
