"""Values that programs cannot tell apart have the same probability; verdicts do not depend on what is computed once."""

import os
import random
from pathlib import Path

import numpy as np
import pytest

from wakesleep.domains.strings.columns import explain
from wakesleep.domains.strings.columns.characters import chars
from wakesleep.domains.strings.columns.choices import Either, Listing, Maybe
from wakesleep.domains.strings.columns.concepts import evenly
from wakesleep.domains.strings.columns.counts import between, exactly
from wakesleep.domains.strings.columns.judge import Judge, fit
from wakesleep.domains.strings.columns.judge.alike import MOST_SIZES, Alike
from wakesleep.domains.strings.columns.judge.sources import text_tables
from wakesleep.domains.strings.columns.nodes import Literal, Run
from wakesleep.domains.strings.columns.posterior import infer
from wakesleep.domains.strings.columns.sequences import series
from wakesleep.domains.strings.columns.words import Words

LOWER = Run(chars("lower"), between(1, 6))
PROGRAMS = {
    "a literal of letters that a run writes too": series(LOWER, "@ab.b"),
    "a habit": Run(chars("lower"), between(1, 6), "ab", 0.9),
    "words and other texts": Words(("ab", "abb", "b"), (0.5, 0.3, 0.2), 0.4, LOWER),
    "alternatives": Either((Literal("abab"), series("ba", LOWER)), (0.5, 0.5)),
    "a list": Listing(LOWER, Literal("ab"), between(1, 3)),
    "a usual part": Run(chars("lower"), between(1, 6), usual=chars(extra="ab")),
    "words of many sizes": evenly(["ab" * k for k in range(1, MOST_SIZES + 3)]),
    "an optional part": series(Run(chars("digit"), exactly(2)), Maybe(Literal("ab"), 0.5)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_of_one_group_have_the_same_probability(name):
    draw = random.Random(name)
    values = ["".join(draw.choices("abcd@.12B", k=draw.randint(0, 7))) for _ in range(600)]
    values += [PROGRAMS[name].sample(draw) for _ in range(200)]
    some, group = Alike([PROGRAMS[name]]).groups(values)
    found = np.array(PROGRAMS[name].log_probs(some))[group]
    np.testing.assert_array_equal(found, PROGRAMS[name].log_probs(values))


def test_letters_of_a_literal_do_not_keep_values_apart():
    values = [f"{a}{b}@example.org" for a in "abcdefmpx" for b in "glorezk"]
    some, group = Alike([series(LOWER, "@example.org")]).groups(values)
    assert len(some) == 1
    assert set(group) == {0}


def test_two_values_that_differ_in_a_named_text_are_told_apart():
    some, _ = Alike([series(LOWER, "@example.org")]).groups(["ab@example.org", "ab@example.orx"])
    assert len(some) == 2


COLUMNS = {
    "e-mails": [f"{a}{i}@example.org" for i in range(30) for a in ("ann.lee", "bob", "eve.m", "joex")],
    "states": ["open", "closed", "on hold"] * 40,
    "mixed": [f"HF{i}" for i in range(40)] + ["n/a", "Zürich", "ﬁx", "x" * 500] * 3,
    "sentences": [f"{a} of the {b}" for a in ("House", "End", "Lord") for b in ("Rings", "Sea", "West", "Isle")],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_many_values_at_once_are_judged_as_each_alone(name):
    values, draw = COLUMNS[name], random.Random(1)
    others = [
        v[:i] + draw.choice("x9 .É") + v[i + 1 :] for v in dict.fromkeys(values) for i in (0, len(v) // 2, len(v))
    ]
    posterior = infer(values)
    together, judge = fit(values, posterior).evidence(others), fit(values, posterior)
    alone = [judge.evidence([v])[0] for v in others]
    np.testing.assert_allclose(together, alone, atol=1e-3)


@pytest.mark.slow
@pytest.mark.skipif("WAKESLEEP_DATA" not in os.environ, reason="the tables are in the data folder")
def test_on_real_tables_values_are_judged_alike_alone_and_together_and_own_values_are_accepted():
    for table, columns in text_tables(Path(os.environ["WAKESLEEP_DATA"]) / "tables").items():
        for name, values in columns.items():
            fitted, later = values[:200], list(dict.fromkeys(values[200:240]))
            found = explain(fitted)
            together, again = found.judge.evidence(later), fit_again(found)
            np.testing.assert_allclose(
                together, [again.evidence([v])[0] for v in later], atol=2e-3, err_msg=f"{table} {name}"
            )
            refused = {v for v, ok in zip(fitted, found.accepts(fitted), strict=True) if not ok}
            assert refused == {o.value for o in found.outliers}, (table, name)


def fit_again(found):
    """The judge of an explanation, with nothing kept of what it judged."""
    judge = found.judge
    return Judge(judge.column, judge.program, judge.weights, judge.offset, judge.oddities)
