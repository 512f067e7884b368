"""Strings, grown: the tables, and the concepts that are trained on."""

from tests.paper.test_generalise import concepts_or_skip
from wakesleep.paper.figures.strings_growth import TABLES
from wakesleep.paper.results import dump
from wakesleep.paper.strings_growth import first_concepts

CELL = {"algorithm": "MWS-tail+both", "K": 10, "seed": 0, "steps": 9, "nll": 80.04, "nll_given_first": 70.0}


def test_tables_have_a_place_for_each_size(tmp_path):
    rows = [CELL | {"M": m, "R": r, "nll": 80.0 + m + r} for m, r in ((1, 1), (1, 5), (5, 1))]
    (tmp_path / "strings-memory.json").write_text(dump({"rows": rows, "settings": {}}))
    lines = TABLES["strings-memory"](tmp_path).splitlines()[2:4]
    assert lines == ["| MWS-tail+both, M = 1 | 82.0 | 86.0 |", "| MWS-tail+both, M = 5 | 86.0 |  |"]
    rows = [CELL | {"N": n, "seed": s, "nll": 80.0 + s} for n in (100, 2700) for s in (0, 1)]
    (tmp_path / "strings-concepts.json").write_text(dump({"rows": rows, "settings": {}}))
    lines = TABLES["strings-concepts"](tmp_path).splitlines()
    assert lines[0] == "|  | N = 100 | N = 2,700 |"
    assert lines[2] == "| novel, K = 10, MWS-tail+both | 80.5 | 80.5 |"
    assert lines[-1].endswith("seeds: 2.")


def test_more_concepts_are_none_that_steps_are_chosen_on_or_that_are_reported():
    paper = concepts_or_skip()
    few, many = first_concepts(100), first_concepts(2700)
    assert few.trained == paper.trained[:100] == many.trained[:100]
    assert len(many.trained) == 2700
    assert (many.left_out, many.novel) == (paper.left_out, paper.novel)
    apart = {text for c in (*paper.left_out, *paper.novel) for text in (*c.train, *c.test)}
    assert not any(apart & set(c.train) for c in many.trained[900:])
