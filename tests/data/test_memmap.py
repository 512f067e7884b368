import json

import numpy as np
import pytest

from wakesleep.data import memmap
from wakesleep.errors import Refusal


@pytest.fixture
def folder(tmp_path):
    pieces = [
        {"x.a": np.arange(6, dtype=np.int8).reshape(3, 2), "c": np.ones(3)},
        {"x.a": -np.ones((1, 2), np.int8), "c": np.zeros(1)},
    ]
    assert memmap.write(tmp_path / "store", pieces, {"domain": "any"}) == 4
    return tmp_path / "store"


def test_arrays_come_back_mapped_as_they_were_written_piece_by_piece(folder):
    found = memmap.read(folder)
    assert found.rows == 4
    assert found.about["domain"] == "any"
    assert isinstance(found.arrays["x.a"], np.memmap)
    assert found.arrays["x.a"].tolist() == [[0, 1], [2, 3], [4, 5], [-1, -1]]
    assert found.arrays["c"].tolist() == [1, 1, 1, 0]
    assert np.load(folder / "c.npy").dtype == np.float64


def test_headers_have_room_for_many_rows(tmp_path):
    pieces = ({"x": np.zeros((100_000, 0), np.float32)} for _ in range(11))
    assert memmap.write(tmp_path / "s", pieces, {}) == 1_100_000
    assert memmap.read(tmp_path / "s").arrays["x"].shape == (1_100_000, 0)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ([{"x": np.zeros((2, 3))}, {"x": np.zeros((2, 4))}], "x is float64"),
        ([{"x": np.zeros(2)}, {"x": np.zeros(2), "c": np.zeros(2)}], "not all of them have c"),
        ([{"x": np.zeros(2), "c": np.zeros(3)}], "equally many rows"),
        ([{"x": np.array([None])}], "cannot be stored"),
        ([{"../x": np.zeros(2)}], "cannot be stored"),
    ],
)
def test_pieces_that_do_not_fit_leave_nothing_behind(tmp_path, pieces, words):
    with pytest.raises(Refusal, match=words):
        memmap.write(tmp_path / "s", pieces, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("store.json", "[]", "does not say how many"),
        ("store.json", "{", "cannot be read as a store"),
        ("store.json", json.dumps({"observations": 5, "digest": "a"}), "not every file has the 5 rows"),
        ("store.json", json.dumps({"observations": "4", "digest": "a"}), "does not say how many"),
        ("c.npy", "", "cannot be read as a store"),
        ("c.npy", "\x93NUMPY", "cannot be read as a store"),
    ],
)
def test_a_damaged_store_is_refused(folder, file, text, words):
    (folder / file).write_text(text, encoding="latin-1")
    with pytest.raises(Refusal, match=words):
        memmap.read(folder)


def test_pickled_objects_are_refused(folder):
    np.save(folder / "c.npy", np.array([{}] * 4), allow_pickle=True)
    with pytest.raises(Refusal, match="cannot be read as a store"):
        memmap.read(folder)
