"""Membership by traits, against the true log ratio of two distributions and against a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize

from wakesleep.domains.strings.explain.membership import MOST, ORDER, RIDGE, fit, form, outline, shape, traits
from wakesleep.domains.strings.language import CHARACTERS
from wakesleep.domains.strings.ngrams import END

EXAMPLES = ["AB-1", "CD-22", "EF-333"]
FREQUENT = dict.fromkeys(CHARACTERS, 0.9 / 95) | {END: 0.1}


def likeness(text, examples=EXAMPLES):
    return traits(examples, [text], np.zeros(1), np.full(1, -8.0), FREQUENT)[0, 4:-1].tolist()


def spelling(text, examples):
    return traits(examples, [text], np.zeros(1), np.full(1, -8.0), FREQUENT)[0, -1]


def test_the_likeness_of_a_string_to_the_examples():
    assert likeness("CD-21") == [0.0, 1, 1, 0, 0.0, 1, 0, 1]
    assert likeness("CD-33") == [0.0, 1, 1, 0, 0.0, 1, 1, 1]
    longer = likeness("cd-33333333")
    assert longer[0] == pytest.approx(np.log1p(5))
    assert longer[1:] == [0, 1, 1, pytest.approx(2 / 11), 0, 1, 0]


def test_spelling_is_a_log_ratio_of_two_distributions():
    share = 0.9 / 95
    first = (1 + 2 * share) / (2 + 2)  # "a" and the end were seen, once each, of two kinds
    for _ in range(ORDER - 1):
        first = (1 + first) / 2  # after the start, of any length, only "a" was
    last = (1 + 2 * 0.1) / (2 + 2)
    for _ in range(ORDER - 1):
        last = (1 + last) / 2
    assert spelling("a", ["a"]) == pytest.approx(np.log(first * last) - np.log(share * 0.1))
    assert spelling("AB-7", EXAMPLES) > spelling("BA_7", EXAMPLES) > spelling("qq q", EXAMPLES)
    assert spelling("AB-1" * 20, EXAMPLES) == MOST
    assert spelling("EF-333", EXAMPLES) == pytest.approx(spelling("EF-333", EXAMPLES[:2]))
    assert np.isfinite(spelling("\u2603", EXAMPLES))


def test_an_example_is_held_against_the_others():
    assert likeness("unknown", [*EXAMPLES, "unknown"]) == likeness("unknown")
    assert likeness("AB-1", ["AB-1"])[0] == 0.0


def test_evidence_and_commonness_are_kept_within_bounds():
    found = traits(
        EXAMPLES, ["", "AB-1", "AB-2"], np.array([-4.0, 8.0, 99.0]), np.array([-np.inf, -8.0, -8.0]), FREQUENT
    )
    assert np.isfinite(found).all()
    assert found[:, 1].tolist() == [-4.0, 8.0, 30.0]
    assert found[:, 2].tolist() == [6.0, 8.0, 30.0]
    assert found[1, 3] == -2.0


def test_shapes():
    assert shape("ABc-12.5x") == "Aa-9.9a"
    assert form("ABc-12.5x") == "AAa-99.9a"
    assert outline("ABc-12.5x") == "w-w.w"


def test_weights_are_the_optimum_of_the_penalised_likelihood_with_columns_alike():
    draw = np.random.default_rng(0)
    columns = []
    for members in (3, 40):
        member = np.arange(60) < members
        columns.append((np.column_stack([np.ones(60), draw.normal(size=60) + member, draw.normal(size=60)]), member))

    def loss(w):
        spread = np.concatenate([t for t, _ in columns]).std(axis=0)
        total = 0.5 * RIDGE * np.sum((w * spread) ** 2)
        for t, member in columns:
            surprise = np.logaddexp(0.0, np.where(member, -1, 1) * (t @ w))
            total += surprise[member].mean() + surprise[~member].mean()
        return total

    np.testing.assert_allclose(fit(columns), minimize(loss, np.zeros(3), tol=1e-10).x, atol=1e-4)


def test_with_much_data_the_weighted_traits_are_the_log_ratio():
    """Members are normal around 1 and strangers around -1: the log ratio at t is 2 t, whatever their numbers."""
    draw = np.random.default_rng(1)
    columns = []
    for _ in range(3000):
        member = np.arange(12) < 3
        columns.append((np.column_stack([np.ones(12), draw.normal(size=12) + np.where(member, 1, -1)]), member))
    np.testing.assert_allclose(fit(columns), [0.0, 2.0], atol=0.1)
