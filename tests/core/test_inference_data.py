"""Draws of a posterior as ArviZ reads them."""

import sys
from types import ModuleType

import numpy as np
import pytest

from wakesleep.core.inference_data import inference_data
from wakesleep.core.memory import Weighted
from wakesleep.errors import Refusal

WEIGHT = np.log(np.array([[0.75, 0.25, 1e-300], [0.5, 0.125, 0.375]]))
TOKENS = np.arange(2 * 3 * 4).reshape(2, 3, 4)


@pytest.fixture
def given(monkeypatch):
    """What ArviZ is given, by a stand-in."""
    fake = ModuleType("arviz")
    fake.from_dict = lambda **given: given
    monkeypatch.setitem(sys.modules, "arviz", fake)
    return lambda *posterior, **more: inference_data(Weighted(*posterior), **more)


def test_programs_are_drawn_by_their_weights(given):
    found = given(TOKENS, WEIGHT, draws=2_000, chains=2)
    program, weight = found["posterior"]["program"], found["sample_stats"]["log_weight"]
    assert program.shape == (2, 2_000, 2, 4)
    assert found["dims"] == {"program": ["observation", "program_0"], "log_weight": ["observation"]}
    for row in range(2):
        slots = (program[..., row, 0] - TOKENS[row, 0, 0]) // 4
        share = np.bincount(slots.ravel(), minlength=3) / slots.size
        np.testing.assert_allclose(share, np.exp(WEIGHT[row]), atol=0.03)
        np.testing.assert_array_equal(weight[..., row], WEIGHT[row][slots])


def test_each_leaf_of_a_program_has_its_name(given):
    found = given({"kind": TOKENS[..., 0], "scale": TOKENS.astype(float)}, WEIGHT, draws=5)
    assert set(found["posterior"]) == {"kind", "scale"}
    np.testing.assert_array_equal(found["posterior"]["scale"][..., 0], found["posterior"]["kind"])


def test_an_observation_without_a_program_is_refused(given):
    with pytest.raises(Refusal, match="Observation 1 has no possible program"):
        given(TOKENS, np.array([[0.0, -np.inf, -np.inf], [-np.inf] * 3]))


def test_arviz_reads_it():
    arviz = pytest.importorskip("arviz", reason="ArviZ is not installed")
    found = inference_data(Weighted(TOKENS, WEIGHT))
    assert found.posterior["program"].dims == ("chain", "draw", "observation", "program_0")
    assert dict(found.posterior.sizes)["draw"] == 250
    assert len(arviz.summary(found)) > 0


def test_a_missing_arviz_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(Refusal, match=r"wakesleep\[arviz\]"):
        inference_data(Weighted(TOKENS, WEIGHT))
