"""Standard regexes accept what the programs write, and no input makes them slow; regexes in words."""

import itertools
import re

import hypothesis
import pytest
from hypothesis import given, settings

from tests.regexes import standard as plain
from tests.regexes import trees
from wakesleep.domains.strings.explain.standard import MOST_WALKS, accepts, standard, walks
from wakesleep.domains.strings.explain.standard import _glushkov as automaton
from wakesleep.domains.strings.explain.standard import _walks_by_letter as walks_by_letter
from wakesleep.domains.strings.explain.wording import describe
from wakesleep.domains.strings.language import OPTIONAL, PLUS, Atom, Either, Repeat, Sequence, canonical, parse

TEXTS = ["".join(t) for n in range(5) for t in itertools.product("ab1 ", repeat=n)]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(trees())
def test_standard_regexes_accept_what_the_program_writes(tree):
    one = canonical(tree)
    written = re.compile(plain(one))
    found = standard(one, 8)
    for text in TEXTS:
        mine, theirs = accepts(found.pattern, text), written.fullmatch(text) is not None
        assert mine == theirs if found.exact else mine >= theirs


def tries(tree, text: str) -> int:
    """How many places a backtracking matcher visits in a text that fails at its end."""
    visited = 0

    def after(tree, i: int):  # noqa: PLR0912
        """The ends of every way to match from i, one by one."""
        nonlocal visited
        match tree:
            case Atom():
                visited += 1
                if i < len(text) and re.fullmatch(plain(tree), text[i]):
                    yield i + 1
            case Sequence(parts):
                if not parts:
                    yield i
                else:
                    for j in after(parts[0], i):
                        yield from after(Sequence(parts[1:]), j)
            case Either(branches):
                for branch in branches:
                    yield from after(branch, i)
            case Repeat(part, operator):
                for j in after(part, i):
                    if operator == OPTIONAL:
                        yield j
                    elif j > i:
                        yield from after(Repeat(part, operator), j)
                        yield j
                if operator != PLUS:
                    yield i

    for _ in after(tree, 0):
        pass
    return visited


@pytest.mark.parametrize("text", [r"a+a+b", r"(a|b)*1", r"(ab|a)(b|1)*", r".+\d+.+", r"(\w+-)*\d", r"a?a?a?aaa"])
def test_the_bound_on_walks_is_no_less_than_what_a_matcher_tries(text):
    tree = canonical(parse(text))
    most = max(tries(tree, "".join(t)) for n in range(6) for t in itertools.product("ab1-", repeat=n))
    # A walk of the automaton is a place that was reached; a matcher may fail at each of the places after it.
    assert most <= walks(tree, 5) * (1 + 12)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(trees())
def test_walks_counted_letter_by_letter_lie_between_those_of_every_text_and_those_of_no_letters(tree):
    places, first, follow = automaton(canonical(tree))
    hypothesis.assume(places)

    def of_text(text: str | None) -> float:
        weight, total = first, 1.0
        for i in range(4):
            weight = weight * [text is None or text[i] in place for place in places]
            total, weight = total + weight.sum(), weight @ follow
        return total

    found = walks_by_letter(places, first, follow, 4)
    assert max(of_text("".join(text)) for text in itertools.product("ab1 ", repeat=4)) <= found
    assert found <= of_text(None) or of_text(None) > MOST_WALKS


def test_what_could_be_slow_is_written_wider_and_bounded():
    slow = standard(canonical(parse(r"(a?b?)*")), 20)
    assert not slow.exact
    assert slow.pattern == "^[a-b]{0,20}$"
    assert walks(canonical(parse(r"(a?b?)*")), 20) > MOST_WALKS
    assert "(?=.{0,20}$)" in standard(canonical(parse(r".+\d.+\d.+\d.+")), 20).pattern


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (r"\u\u-\d+", r"^[A-Z]{2}-\d+$"),
        (r"\d\d\d\d-\d\d-\d\d", r"^\d{4}-\d\d-\d\d$"),
        (r"$\d+\.\d\d", r"^\$\d+\.\d\d$"),
        (r"(ab|c)\d?", r"^(?:ab|c)\d?$"),
        (r"\l\l*\w", r"^[a-z]+[A-Za-z0-9]$"),
        (r"(-\d)+", r"^(?:-\d)+$"),
        (r"555-aaaaa", r"^555-a{5}$"),
    ],
)
def test_standard_regexes_read_well(text, pattern):
    assert standard(canonical(parse(text)), 24) == (pattern, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"\u\u-\d+", "two upper-case letters, then '-', then one or more digits"),
        (r"HF\d?", "'HF', then perhaps a digit"),
        (r"a|\d\d", "'a' or two digits"),
        (r"\w*.", "any number of letters or digits, then one character of any kind"),
        (r"(,\u)*", "any number of times (',', then one upper-case letter)"),
        (r"\d\d?", "one to two digits"),
    ],
)
def test_regexes_are_described_in_words(text, words):
    assert describe(canonical(parse(text))) == words
