"""Mistakes, examples and what programs say, against their definitions."""

import random

import numpy as np
import pytest

from wakesleep.domains.strings.columns.background import background
from wakesleep.domains.strings.columns.judge import mistakes
from wakesleep.domains.strings.columns.judge.column import Column, feature_names
from wakesleep.domains.strings.columns.judge.examples import describe, read_examples, ways, write_examples
from wakesleep.domains.strings.columns.judge.program import FEATURE_NAMES, LEAST_LOG_ODDS, MOST_LOG_ODDS, Program
from wakesleep.domains.strings.columns.judge.sources import is_text, read_tables
from wakesleep.domains.strings.columns.posterior import infer

CODES = [f"K{i:03d}-{'ABC'[i % 3]}" for i in range(40)]


@pytest.mark.parametrize("kind", [k for k in mistakes.SHARES if k not in ("typo", "other mark")])
def test_a_mistake_differs_from_its_value(kind):
    _, make = mistakes.SHARES[kind]
    for i, value in enumerate(["Colton 10", "2021-03-04", "ORD-1O44", "a b c", "Ångström 0"] * 5):
        assert make(value, random.Random(i)) != value, (kind, value)


def test_mistakes_never_occur_in_the_column_and_repeat_with_the_seed():
    own = {"open", "closed", "N/A", "-", "null", "?", "Other"}
    made = [mistakes.make(own, ["open", "closed"], [["x", "open"]], random.Random(3), True, 50) for _ in range(2)]
    assert made[0] == made[1]
    assert not own & {text for _, text in made[0]}
    assert {"typo", "cut", "space", "case", "null mark", "other column", "not in set"} <= {k for k, _ in made[0]}


def test_ways_never_judge_the_rows_they_fit():
    values = [str(i) for i in range(400)]
    for way, fitted, later in ways(values, random.Random(0)):
        assert not set(fitted) & set(later), way


def test_examples_leave_known_rows_to_the_column_and_survive_their_file(tmp_path):
    later = ["K001-B", "K101-B", "K101-B", "K102-C"]
    made = describe(("t", "c", "half"), CODES, later, [("typo", "K1x1-B")], False)
    assert made.weights.tolist() == [0.5, 0.25]
    assert made.legitimate.shape == (2, len(feature_names()))
    write_examples(tmp_path / "kept.npz", [made, made])
    for again in read_examples(tmp_path / "kept.npz"):
        np.testing.assert_array_equal(again.wrong, made.wrong)
        np.testing.assert_array_equal(again.once, made.once)
        assert (again.kinds, again.rows, again.way) == (["typo"], 40, "half")


def test_program_features_are_those_of_the_posterior():
    posterior, values = infer(CODES), ["K101-B", "k101-B", "totally different", CODES[0]]
    program = Program.fit(posterior, CODES)
    found = dict(zip(FEATURE_NAMES, program.features(values).T, strict=True))
    gain = np.clip(posterior.log_supported(values) - background(values), LEAST_LOG_ODDS, MOST_LOG_ODDS)
    np.testing.assert_allclose(found["gain"] * 10, gain, rtol=1e-4)
    impossible = np.isneginf(np.array(posterior.entries[0].program.log_probs(values)))
    np.testing.assert_array_equal(found["impossible for the first"], impossible)
    assert found["impossible"].tolist()[0] == 0 and found["rank"][2] <= found["rank"][0]
    again = Program.restore(program.as_dict())
    np.testing.assert_allclose(again.features(values), program.features(values), atol=1e-3)


def test_a_column_without_programs_has_features_of_the_same_size():
    blind = describe(("t", "c", "half"), CODES, ["K101-B"], [("typo", "K1x1-B")], True)
    assert (blind.wrong[:, -len(FEATURE_NAMES) :] == 0).all()
    assert Column.fit(CODES).features(["x"]).shape[1] + len(FEATURE_NAMES) == len(feature_names())


def test_tables_are_read_with_ragged_rows_and_empty_cells(tmp_path):
    (tmp_path / "t.csv").write_text("a,,c\n1,x\n2,,z\n", encoding="utf-8")
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    assert dict(read_tables(tmp_path)) == {"empty": {}, "t": {"a": ["1", "2"], "1": ["x"], "c": ["z"]}}


def test_numbers_and_prose_are_no_text_columns():
    assert not is_text([str(i) for i in range(50)])
    assert not is_text([f"{i} is one of the many rows of prose" for i in range(50)])
    assert is_text(CODES)
