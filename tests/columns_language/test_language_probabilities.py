"""Probabilities of the language: they sum to one, equal brute force over parses, and samples match them."""

import math
import random
from collections import Counter
from itertools import product

import pytest

from wakesleep.domains.strings.columns.characters import chars
from wakesleep.domains.strings.columns.checks import Checked
from wakesleep.domains.strings.columns.choices import Either, Listing, Maybe
from wakesleep.domains.strings.columns.concepts import Concept
from wakesleep.domains.strings.columns.counts import Counts, between, exactly, fit_counts
from wakesleep.domains.strings.columns.dates import Date, fit_date
from wakesleep.domains.strings.columns.nodes import Literal, Node, Run
from wakesleep.domains.strings.columns.numbers import Number
from wakesleep.domains.strings.columns.sequences import Series, series
from wakesleep.domains.strings.columns.words import Words

AB, ABC = chars(extra="ab"), chars(extra="abc")
LOOSE = fit_counts([1, 1, 2], 0, 3)
PROGRAMS: dict[str, Node] = {
    "literal": Literal("ab"),
    "run": Run(AB, LOOSE),
    "run with a habit": Run(AB, fit_counts([2, 3], 1, 4), "ab", 0.8),
    "run with a usual part": Run(ABC, between(1, 3), usual=chars(extra="a")),
    "ambiguous runs": series(Run(AB, between(0, 2)), Run(ABC, between(1, 2))),
    "ambiguous literal": series(Run(AB, between(1, 3)), "a", Run(AB, between(0, 1))),
    "decided": series(Run(AB, between(1, 3)), "c", Run(AB, between(0, 2))),
    "maybe": series(Maybe(Literal("a"), 0.3), Run(AB, between(0, 2))),
    "either that overlaps": Either((Run(AB, between(1, 2)), Literal("ab"), Literal("c")), (0.5, 0.3, 0.2)),
    "closed words": Words(("a", "ab", "abc"), (0.5, 0.3, 0.2)),
    "open words": Words(("a", "ab"), (0.6, 0.4), 0.25, Run(ABC, between(1, 2))),
    "words in a series": series(Words(("a", "ab"), (0.5, 0.5)), Words(("b", "bb"), (0.5, 0.5))),
    "listing": Listing(Run(AB, between(1, 2)), Literal("c"), between(0, 2)),
    "listing that is ambiguous": Listing(Run(AB, between(1, 2)), Literal("a"), between(1, 2)),
}


def texts(alphabet: str, longest: int) -> list[str]:
    return ["".join(t) for k in range(longest + 1) for t in product(alphabet, repeat=k)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_probabilities_of_an_enumerable_language_sum_to_one(name):
    total = sum(math.exp(PROGRAMS[name].log_prob(x)) for x in texts("abc", 6))
    assert total == pytest.approx(1.0, abs=1e-9)


def brute(node: Node, x: str) -> float:  # noqa: PLR0911, PLR0912, one return for each kind of node
    """p(x | node) by summing over all ways to cut x, without dynamic programming and without logarithms."""
    match node:
        case Concept(_, body):
            return brute(body, x)
        case Literal(text):
            return float(x == text)
        case Run(members, counts, habit, habitual, usual):
            p = math.exp(counts.log_prob(len(x)))
            if not all(map(members.holds, x)):
                return 0.0
            if usual is not None:
                rest = members.size - usual.size
                return p * math.prod(0.95 / usual.size if usual.holds(c) else 0.05 / rest for c in x)
            plain = members.size ** -len(x)
            if not habit or len(x) < len(habit):
                return p * plain
            return p * (
                habitual * x.startswith(habit) * members.size ** -(len(x) - len(habit)) + (1 - habitual) * plain
            )
        case Series(parts):
            if not parts:
                return float(not x)
            return sum(brute(parts[0], x[:k]) * brute(Series(parts[1:]), x[k:]) for k in range(len(x) + 1))
        case Maybe(part, chance):
            return (1 - chance) * (not x) + chance * brute(part, x)
        case Either(branches, weights):
            return sum(w * brute(b, x) for b, w in zip(branches, weights, strict=True))
        case Words(words, weights, new, other):
            known = sum(w for word, w in zip(words, weights, strict=True) if word == x)
            return (1 - new) * known + (new * brute(other, x) if other is not None else 0.0)
        case Listing(item, separator, counts):
            total = math.exp(counts.log_prob(0)) * (not x)
            for k in range(1, (counts.high or 0) + 1):
                parts = [item, *[p for _ in range(k - 1) for p in (separator, item)]]
                total += math.exp(counts.log_prob(k)) * brute(Series(tuple(parts)), x)
            return total
    raise TypeError(node)


@pytest.mark.parametrize("name", PROGRAMS)
def test_probabilities_equal_brute_force(name):
    node = PROGRAMS[name]
    for x in texts("abc", 4):
        assert math.exp(node.log_prob(x)) == pytest.approx(brute(node, x), abs=1e-12), x


def test_a_decided_series_is_read_as_dynamic_programming_reads_it():
    node = PROGRAMS["decided"]
    assert isinstance(node, Series) and node.decided
    assert not PROGRAMS["ambiguous literal"].decided
    for x in texts("abc", 4):
        assert node.log_prob(x) == pytest.approx(node.ends(x, 0).get(len(x), -math.inf))


@pytest.mark.parametrize("name", PROGRAMS)
def test_samples_match_probabilities(name):
    node, rng, count = PROGRAMS[name], random.Random(1), 2_000
    drawn = Counter(node.sample(rng) for _ in range(count))
    for x, k in drawn.items():
        p = math.exp(node.log_prob(x))
        assert p > 0, x
        assert abs(k / count - p) < 5 * math.sqrt(p * (1 - p) / count) + 1e-3, x


def test_impossible_texts_have_minus_infinity_and_nothing_is_nan():
    for node in PROGRAMS.values():
        for x in ("", "z", "aaaaaaaaaa", "é", "ab\n", "\ud800"):
            log_p = node.log_prob(x)
            assert not math.isnan(log_p) and log_p <= 0
        assert node.log_prob("zz") == -math.inf


@pytest.mark.parametrize("counts", [exactly(3), between(0, 4), LOOSE, Counts(1, None, ((1, 0.5), (4, 0.5)), 0.3, 2.0)])
def test_counts_sum_to_one(counts):
    assert sum(math.exp(counts.log_prob(k)) for k in range(400)) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    "number", [Number(0, 255), Number(1, 12, 2), Number(5, 137), Number(0, 59, 2), Number(0, 9, 3)]
)
def test_numbers_sum_to_one_and_are_those_of_the_range(number):
    possible = [x for x in texts("0123456789", 3) if number.log_prob(x) > -math.inf]
    assert sorted(map(int, possible)) == list(range(number.low, number.high + 1))
    assert sum(math.exp(number.log_prob(x)) for x in possible) == pytest.approx(1.0)


@pytest.mark.parametrize("form", ["%m/%d", "%n/%e", "%l:%M", "%l %p", "%b %a"])
def test_dates_sum_to_one(form):
    date, rng = Date(form), random.Random(0)
    drawn = {date.sample(rng) for _ in range(6_000)}
    assert sum(math.exp(date.log_prob(x)) for x in drawn) == pytest.approx(1.0, abs=2e-2)


def test_dates_with_habits_sum_to_one_over_a_year():
    date = fit_date("%y-%m-%d", ["24-02-29", "24-02-10", "24-02-05"])
    assert dict(date.habits) == {"y": "24", "m": "02"}
    other = 98 * (1 - date.habitual) / 100
    total = other + sum(
        math.exp(date.log_prob(f"{y:02d}-{m:02d}-{d:02d}"))
        for y in (23, 24)
        for m in range(1, 13)
        for d in range(1, 32)
    )
    assert total == pytest.approx(1.0)


def test_full_dates_sum_to_one_over_all_years():
    date = Date("%Y-%m")
    total = sum(12 * math.exp(date.log_prob(f"{y:04d}-{7:02d}")) for y in range(10_000))
    assert total == pytest.approx(1.0)


def test_checked_numbers_sum_to_one_and_have_one_check_each():
    node = Checked(Run(chars("digit"), exactly(3)), "luhn", 4, 4, "[0-9]{4}")
    right = [x for x in map("{:04d}".format, range(10_000)) if node.log_prob(x) > -math.inf]
    assert len(right) == 1000
    assert sum(math.exp(node.log_prob(x)) for x in right) == pytest.approx(1.0)
