"""Columns explained by the model that ships with the package."""

import json
import re
from dataclasses import replace
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import wakesleep
from wakesleep.core import weights as models
from wakesleep.core.algorithms import State
from wakesleep.core.memory import Memory
from wakesleep.data.tables import Column, read_table
from wakesleep.domains.strings.data import Concept
from wakesleep.domains.strings.explain import Effort, explain_strings, shipped
from wakesleep.domains.strings.explain.calibration import ANYTHING, calibrate, remembered
from wakesleep.domains.strings.explain.explanation import Explanation
from wakesleep.domains.strings.explain.exports import EXPORTS
from wakesleep.domains.strings.explain.knowledge import load, save
from wakesleep.domains.strings.explain.survey import as_json, check, passed_over, read_patterns, survey
from wakesleep.domains.strings.language import GENERAL, parse, program
from wakesleep.domains.strings.show import show
from wakesleep.errors import Refusal

EXAMPLE = Path(__file__).parents[4] / "examples" / "orders.csv"
CODES = ["HF11", "HF12", "HF7", "HF15", "HF3"]


@pytest.fixture(scope="module")
def codes() -> Explanation:
    return explain_strings(CODES)


def test_a_column_is_explained_at_once(codes):
    best = codes.patterns[0]
    parse(best.program)
    assert all(re.fullmatch(best.regex, c) for c in CODES)
    assert sum(p.probability for p in codes.patterns) <= 1 + 1e-6
    assert codes.patterns == tuple(sorted(codes.patterns, key=lambda p: -p.probability))
    assert best.description
    assert codes.cost.programs > 0


def test_members_are_accepted_and_strangers_are_not(codes):
    assert codes.accepts(["HF9", "HF42"]).tolist() == [True, True]
    assert not codes.accepts(["2014-01-02", "hello", "", "héé", "x" * 3000]).any()


def test_the_same_seed_gives_the_same_result(codes):
    again = wakesleep.explain_strings(CODES)
    assert again.patterns == codes.patterns
    assert again.sample(5) == codes.sample(5)


def test_log_prob_is_that_of_the_mixture_of_regexes(codes):
    samples = codes.sample(200)
    log_p = codes.log_prob([*samples, "héé"])
    assert np.isfinite(log_p[:-1]).all()
    assert log_p[-1] == -np.inf
    distinct = list(dict.fromkeys(samples))
    assert 0.0 < np.exp(codes.log_prob(distinct)).sum() <= 1 + 1e-4


def test_the_threshold_of_fewest_errors_is_where_strangers_end_and_members_are_still_few(codes):
    """Members have evidence from 0 to 10, strangers from 0 to 2: refusing below 2 costs a fifth of the members."""
    levels = jnp.tile(jnp.linspace(0, 1, 11), (4, 1))
    made = codes.knowledge._replace(calibration=10 * levels, strangers=2 * levels)
    found = replace(codes, knowledge=made)
    assert found.threshold(None) == pytest.approx(2.0)
    assert found.threshold(0.8) == pytest.approx(2.0)
    assert found.accepts(["HF9"], share=None).all()


def test_a_higher_share_accepts_more(codes):
    thresholds = [codes.threshold(share) for share in (0.5, 0.9, 0.99)]
    assert thresholds == sorted(thresholds, reverse=True)
    strange = ["2014-01-02", "x" * 300]
    for share in (0.5, 0.95, 0.999):
        rejected = [s for s, good in zip(strange, codes.accepts(strange, share), strict=True) if not good]
        assert sorted(rejected) == sorted(codes.outliers(strange, share)) == sorted(strange)
    with pytest.raises(Refusal, match="share"):
        codes.accepts(CODES, share=1.5)


def test_calibration_learns_to_tell_members_from_strangers(codes):
    makers = (lambda i: f"AB-{i:02d}", lambda i: f"{i:04d}/x", lambda i: f"user{i}@a.org", lambda i: f"#{i:x}")
    made = [Concept("", [make(i) for i in range(30, 35)], [make(i) for i in range(40, 45)], []) for make in makers]
    found = calibrate(codes.knowledge, made)
    assert found.weights.shape == codes.knowledge.weights.shape
    assert (np.diff(found.members, axis=1) >= 0).all()
    middle = found.members.shape[1] // 2
    assert (found.members[:, middle] > found.strangers[:, -1]).all()


def test_a_stray_value_does_not_spoil_a_column():
    values = [f"AB-{i:03d}" for i in range(0, 600, 17)]
    found = explain_strings([*values, "unknown"])
    assert found.outliers([*values, "unknown"])[0] == "unknown"
    assert re.fullmatch(found.patterns[0].regex, "AB-999")
    assert not re.fullmatch(found.patterns[0].regex, "unknown")


def test_a_misprint_is_an_outlier_though_it_looks_like_the_others():
    column = read_table(EXAMPLE, rows="all")["order"]
    found = explain_strings(column.present)
    assert found.accepts(["ORD-1044l"], 0.97).all()  # no value of another column looks so much like these
    assert found.outliers(column.present) == ["ORD-1044l"]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [("HF11", "put it in a list"), ([], "None of the 0 values"), (["é"], "printable ASCII"), ([1], "must be a string")],
)
def test_what_cannot_be_explained_is_refused(values, sentence):
    with pytest.raises(Refusal, match=sentence):
        explain_strings(values)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "empty"),
        (["x", "x"], "only one value"),
        (["1", "2.5", "-3e4"], "numbers"),
        (["the quick brown fox jumps", "over the lazy dog again"], "free text"),
        (["😀", "😁"], "printable ASCII"),
        (["x" * 3000, "y" * 3000], "longer than"),
        (CODES, ""),
    ],
)
def test_numbers_and_free_text_are_passed_over_with_a_reason(values, reason):
    found = passed_over(Column("c", values))
    assert reason in found
    assert bool(reason) == bool(found)


@pytest.fixture(scope="module")
def findings():
    columns = [Column("code", [*CODES, "HF4é"]), Column("n", ["1", "2"])]
    return survey(columns, shipped(), Effort(rounds=2))


def test_findings_can_be_saved_and_new_data_checked(findings, tmp_path):
    rows = [as_json(f) for f in findings]
    assert {"column", "patterns", "samples", "outliers"} <= set(rows[0])
    for pattern in rows[0]["patterns"]:
        assert all(re.fullmatch(pattern["regex"], s) for s in pattern["samples"])
    assert rows[0]["patterns"][0]["samples"]
    assert {"program", "regex", "probability", "description"} <= set(rows[0]["patterns"][0])
    assert rows[0]["outside_alphabet"] == ["HF4é"]
    assert rows[1]["passed_over"] == "numbers"
    path = tmp_path / "patterns.json"
    path.write_text(json.dumps(rows))
    saved = read_patterns(path, shipped())
    violations = check([Column("code", ["HF8", "2014-01-02", "2014-01-02"])], saved)
    assert violations == [("code", "2014-01-02", 2)]
    stretches = [Column("code", ["HF8", "2014-01-02"]), Column("code", [None, "2014-01-02", "HF9"])]
    assert check(stretches, saved) == violations
    with pytest.raises(Refusal, match="lacks the column 'code'"):
        check([Column("other", ["x"])], saved)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"column": "a"}]', '[{"column": "a", "patterns": [{}]}]'])
def test_a_damaged_file_of_patterns_is_refused(tmp_path, text):
    path = tmp_path / "patterns.json"
    path.write_text(text)
    with pytest.raises(Refusal, match="not a file of patterns"):
        read_patterns(path, shipped())


def test_exports_are_what_other_tools_read(findings):
    schema = json.loads(EXPORTS["json-schema"](findings))
    pattern = schema["properties"]["code"]["pattern"]
    assert re.search(pattern, "HF11")
    assert "n" not in schema["properties"]
    scope: dict = {}
    exec(EXPORTS["re"](findings), scope)
    assert scope["PATTERNS"]["code"].fullmatch("HF11")
    compile(EXPORTS["pandera"](findings), "schema.py", "exec")


def test_knowledge_is_saved_and_read_whole(tmp_path):
    path = tmp_path / "k.safetensors"
    save(path, shipped())
    again = load(path)
    assert np.array_equal(again.known, shipped().known)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(Refusal, match="cannot be read as a model"):
        load(path)
    models.save(path, {"a": np.zeros(3)}, {})
    with pytest.raises(Refusal, match="other arrays"):
        models.load(path, {"b": np.zeros(3)})


def test_what_is_known_is_what_was_remembered_and_leaves_no_string_impossible():
    rows = [[r"a\d", r"\u"], [r"a\d", r"\l"]]
    programs = np.array([[program(text, 8) for text in row] for row in rows])
    memory = Memory(jnp.asarray(programs), jnp.log(jnp.array([[0.75, 0.25], [0.5, 0.5]])))
    known, log_share = remembered(State(jnp.zeros((), int), None, None, memory))
    found = dict(zip(map(show, known), np.exp(log_share), strict=True))
    assert found[r"a\d"] == pytest.approx((1 - ANYTHING) * 1.25 / 2)
    assert found[r"\u"] == pytest.approx((1 - ANYTHING) * 0.25 / 2)
    assert sum(found[text] for text in GENERAL) == pytest.approx(ANYTHING)
    assert sum(found.values()) == pytest.approx(1.0)
