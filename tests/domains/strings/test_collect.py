"""A set of concepts from a folder of CSV files, by the rules of the paper's appendix."""

import json

import pytest

from wakesleep.data.tables import Column
from wakesleep.domains.strings import data
from wakesleep.domains.strings.collect import admissible, collect, write
from wakesleep.errors import Refusal

CODES = [f"HF{i}" for i in range(12)]


@pytest.mark.parametrize(
    ("values", "good"),
    [
        (CODES, True),
        (CODES[:9], False),
        ([str(i) for i in range(12)], False),
        ([f"{i},000.5" for i in range(12)], False),
        ([*CODES, "elephant"], False),
        ([*CODES, "XKCDRT"], True),
        ([*CODES, "Mary 3"], False),
        ([*CODES, "x" * 26], False),
        ([*CODES, "é"], False),
    ],
)
def test_columns_are_chosen_by_the_rules(values, good):
    assert admissible(Column("c", values)) == good


def test_a_list_of_words_replaces_what_could_be_spoken():
    values = [*CODES, "balogi"]
    assert not admissible(Column("c", values))
    assert admissible(Column("c", values), frozenset({"elephant"}))


def test_one_column_of_a_file_and_three_of_a_header(tmp_path):
    for i in range(5):
        rows = "".join(f"{c},{j},{i}{c}\n" for j, c in enumerate(CODES))
        (tmp_path / f"{i}.csv").write_text(f"code,n,Code\n{rows}")
    (tmp_path / "notes.csv").write_bytes(b"")
    found = list(collect(tmp_path))
    assert [c["header"].lower() for c in found] == ["code"] * 3
    assert all(len({*c["train"], *c["test"]}) == 10 for c in found)
    assert found == list(collect(tmp_path))


def test_the_file_can_be_learned_from(tmp_path):
    (tmp_path / "t.csv").write_text("code\n" + "\n".join(CODES) + "\n")
    output = tmp_path / "concepts.jsonl"
    assert write(tmp_path, output) == 1
    dataset = data.load(data.Settings(data=output))
    assert dataset.names == ["code"]
    assert dataset.test is not None
    assert json.loads(output.read_text())["id"] == "c0000"
    with pytest.raises(Refusal, match="exists"):
        write(tmp_path, output)


def test_what_holds_no_concept_is_refused(tmp_path):
    with pytest.raises(Refusal, match="no CSV files"):
        list(collect(tmp_path))
    (tmp_path / "t.csv").write_text("n\n1\n2\n")
    with pytest.raises(Refusal, match="No column"):
        write(tmp_path, tmp_path / "c.jsonl")
    with pytest.raises(Refusal, match="not a folder"):
        list(collect(tmp_path / "none"))
    (tmp_path / "bad.jsonl").write_text("[1]\n")
    with pytest.raises(Refusal, match="not a file of concepts"):
        data.load(data.Settings(data=tmp_path / "bad.jsonl"))
