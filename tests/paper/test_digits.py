"""Digits explained by the hand: what is read, what is scored, and what is said where there are none."""

import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from wakesleep.errors import Refusal
from wakesleep.paper.characters_digits import DIGITS_NAME, DIGITS_SEED, Plan, digits, reproduce
from wakesleep.paper.figures.characters_digits import draw_digits, table_digits

ONE = np.zeros((8, 8))
ONE[1:7, 4] = 16.0
RING = np.zeros((8, 8))
RING[1:7, 1:7] = 16.0
RING[2:6, 2:6] = 0.0


@pytest.fixture
def some_digits(monkeypatch):
    made = ModuleType("sklearn.datasets")
    made.load_digits = lambda: SimpleNamespace(images=np.array([RING, ONE]), target=np.array([0, 1]))
    monkeypatch.setitem(sys.modules, "sklearn", ModuleType("sklearn"))
    monkeypatch.setitem(sys.modules, "sklearn.datasets", made)


def test_digits_are_dark_on_bright_and_read_as_drawings(some_digits):
    found = {one.which: one for one in digits(2)}
    assert list(np.random.default_rng(DIGITS_SEED).choice(2, 2, replace=False)) == [one.which for one in digits(2)]
    assert found[1].given[1:7, 4].max() == 0
    assert found[1].given[0].min() == 255
    assert found[1].x.any(axis=0).sum() <= 2  # a line upright
    assert not found[0].x[14, 14]
    assert found[0].x.sum() > found[1].x.sum()


def test_the_hand_is_scored_and_drawn(some_digits, tmp_path):
    reproduce(tmp_path, Plan(images=2), lambda text: None)
    row = json.loads((tmp_path / f"{DIGITS_NAME}.json").read_text())["rows"][0]
    assert row["overlap"] == pytest.approx(1.0, abs=0.02)
    assert row["overlap_exact"] > 0.7
    assert 0 < row["bits_per_pixel"] < 0.2
    assert table_digits(tmp_path).startswith("2 digits: 0.")
    assert [path.name for path in draw_digits(tmp_path)] == [f"{DIGITS_NAME}.png"]


def test_without_the_digits_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(Refusal, match="pip install scikit-learn"):
        digits(1)
