import numpy as np

from wakesleep.running import freed


def test_items_pass_as_they_are_and_memory_is_given_back_before_and_after_the_first(monkeypatch):
    told = []
    monkeypatch.setattr(freed, "give_back", lambda: told.append("given back"))
    for item in freed.trimmed(iter(range(3))):
        told.append(item)
    assert told == ["given back", "given back", 0, 1, 2]
    assert list(freed.trimmed(iter([]))) == []


def test_giving_back_leaves_what_is_held():
    held = [np.full(1000, i) for i in range(100)]
    del held[::2]
    freed.give_back()
    assert [int(a.sum()) for a in held] == [1000 * i for i in range(1, 100, 2)]
