import json

import numpy as np
import pytest

from wakesleep.data import memmap
from wakesleep.data.atomic import digests
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


def test_two_stores_of_the_same_arrays_have_one_digest_whatever_their_pieces(tmp_path):
    rows = np.arange(12).reshape(6, 2)
    for name, cuts in (("one", [6]), ("two", [2, 6])):
        pieces = [{"x": rows[a:b]} for a, b in zip([0, *cuts], cuts, strict=False)]
        memmap.write(tmp_path / name, pieces, {})
    assert memmap.read(tmp_path / "one").digest == memmap.read(tmp_path / "two").digest


@pytest.mark.parametrize("place", [-1, 130, 40])
def test_a_changed_byte_is_found_wherever_it_is(folder, place):
    data = bytearray((folder / "c.npy").read_bytes())
    data[place] ^= 1
    (folder / "c.npy").write_bytes(data)
    with pytest.raises(Refusal, match="is damaged"):
        memmap.read(folder)


def test_verification_is_told_along_the_way(folder, monkeypatch):
    monkeypatch.setattr(memmap, "HASHED_BYTES_AT_ONCE", 50)
    told = []
    memmap.read(folder, lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] == sum(p.stat().st_size for p in folder.glob("*.npy"))
    assert len(told) > 5


SAID = {"observations": 4, "files": {"c.npy": "a", "x.a.npy": "b"}}


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("store.json", "[]", "does not say how many"),
        ("store.json", "{", "cannot be read as a store"),
        ("store.json", "[" * 100_000, "cannot be read as a store"),
        ("store.json", '{"observations": ' + "7" * 5000 + "}", "cannot be read as a store"),
        ("store.json", "\xff", "cannot be read as a store"),
        ("store.json", " " * 20_000_000, "has more than"),
        ("store.json", json.dumps({"observations": 4, "digest": "a"}), "has no digests of its files"),
        ("store.json", json.dumps(SAID | {"files": ["c.npy"]}), "has no digests of its files"),
        ("store.json", json.dumps(SAID | {"observations": 5}), "not every file has the 5 rows"),
        ("store.json", json.dumps(SAID | {"observations": "4"}), "does not say how many"),
        ("store.json", json.dumps(SAID | {"observations": True}), "does not say how many"),
        ("store.json", json.dumps(SAID | {"observations": -4}), "does not say how many"),
        ("store.json", json.dumps(SAID), "is not what was written"),
        ("store.json", json.dumps(SAID | {"files": {"../c.npy": "a"}}), "its arrays are not those"),
        ("store.json", json.dumps(SAID | {"files": {"c.npy": None, "x.a.npy": 3}}), "is not what was written"),
        ("more.npy", "", "cannot be read as a store"),
        ("c.npy", "", "cannot be read as a store"),
        ("c.npy", "\x93NUMPY", "cannot be read as a store"),
        ("c.npy", "PK\x03\x04" + "x" * 100, "cannot be read as a store"),
        ("c.npy", "\x93NUMPY\x01\x00\x08\x00{'a': 1}", "cannot be read as a store"),
        ("c.npy", "\x93NUMPY\x01\x00\x08\x00((((((((", "cannot be read as a store"),
    ],
)
def test_a_damaged_store_is_refused(folder, file, text, words):
    (folder / file).write_text(text, encoding="latin-1")
    with pytest.raises(Refusal, match=words) as refused:
        memmap.read(folder)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "array",
    [
        np.array(3.0),
        np.array(["a"] * 4),
        np.zeros(4, complex),
        np.zeros(4, "M8[s]"),
        np.zeros(4, [("a", "i4")]),
        np.asfortranarray(np.zeros((4, 2))),
        np.zeros(3),
    ],
)
def test_arrays_of_another_kind_are_refused_though_their_digests_fit(folder, array):
    np.save(folder / "c.npy", array)
    files = digests(folder, memmap.ABOUT)
    (folder / memmap.ABOUT).write_text(json.dumps({"observations": 4, "files": files}))
    with pytest.raises(Refusal, match=r"not rows of numbers|not every file has the 4 rows"):
        memmap.read(folder)


@pytest.mark.parametrize("name", ["c.npy", "store.json", "more"])
def test_links_in_a_store_are_refused(folder, tmp_path, name):
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refusal, match="is a link"):
        memmap.read(folder)


def test_pickled_objects_are_refused(folder):
    np.save(folder / "c.npy", np.array([{}] * 4), allow_pickle=True)
    with pytest.raises(Refusal, match="cannot be read as a store"):
        memmap.read(folder)
