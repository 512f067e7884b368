"""Files are written whole, under names that nobody can know, and no link is followed."""

import os

import pytest

from wakesleep.data import atomic
from wakesleep.data.documents import read_document, read_small
from wakesleep.errors import Refusal


def test_a_file_is_replaced_and_a_link_in_its_place_is_not_followed(tmp_path):
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "a").symlink_to(tmp_path / "kept")
    atomic.write_whole(tmp_path / "a", "new \u2713")
    assert (tmp_path / "a").read_text(encoding="utf-8") == "new \u2713"
    assert not (tmp_path / "a").is_symlink()
    assert (tmp_path / "kept").read_text() == "kept"
    assert {p.name for p in tmp_path.iterdir()} == {"a", "kept"}


def test_a_link_at_the_name_of_unfinished_work_is_not_written_through(tmp_path, monkeypatch):
    """The name is random; even one that is guessed is created exclusively."""
    (tmp_path / "kept").write_text("kept")
    guessed = tmp_path / f".a.{'0' * 16}{atomic.UNFINISHED_SUFFIX}"
    guessed.symlink_to(tmp_path / "kept")
    assert atomic.beside(tmp_path / "a") != atomic.beside(tmp_path / "a")
    monkeypatch.setattr(atomic.secrets, "token_hex", lambda size: "0" * 2 * size)
    with pytest.raises(FileExistsError):
        atomic.write_whole(tmp_path / "a", "new")
    assert (tmp_path / "kept").read_text() == "kept"


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(handle):
        raise OSError(28, "No space left on device")

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(atomic.os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        atomic.write_whole(tmp_path / "a", "new")
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"a": "old"}


def test_sweeping_removes_links_and_leaves_what_they_name(tmp_path):
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    (outside / "in").mkdir(parents=True)
    folder.mkdir()
    for name in (".a.unfinished", ".b.removed"):
        (folder / name).symlink_to(outside)
    (folder / ".c.unfinished").mkdir()
    (folder / ".d.unfinished").write_text("x")
    (folder / "kept").mkdir()
    atomic.sweep(folder)
    assert [p.name for p in folder.iterdir()] == ["kept"]
    assert (outside / "in").is_dir()


def test_links_pipes_and_endless_folders_are_not_plain(tmp_path, monkeypatch):
    folder = tmp_path / "folder"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "file").write_text("x")
    atomic.require_plain(folder)
    os.mkfifo(folder / "a" / "pipe")
    with pytest.raises(Refusal, match="pipe is neither a file nor a folder"):
        atomic.require_plain(folder)
    (folder / "a" / "pipe").unlink()
    (folder / "a" / "link").symlink_to(folder)
    with pytest.raises(Refusal, match="link is a link"):
        atomic.require_plain(folder)
    (folder / "a" / "link").unlink()
    monkeypatch.setattr(atomic, "MOST_ENTRIES", 2)
    with pytest.raises(Refusal, match="more than 2 files"):
        atomic.require_plain(folder)


def test_a_document_is_limited_and_refused_in_a_sentence(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"a": 1}')
    assert read_document(path) == {"a": 1}
    with pytest.raises(Refusal, match="has more than 3 bytes"):
        read_small(path, "a note", 3)
    with pytest.raises(Refusal, match=r"damaged .* \(Is a directory\)"):
        read_small(tmp_path, "a note")
