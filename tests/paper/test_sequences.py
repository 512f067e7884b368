"""The table of the integer sequences, and the bar that the default has to meet there."""

from inspect import signature
from pathlib import Path

from wakesleep.core.algorithms import mws
from wakesleep.paper.cells import VARIANTS
from wakesleep.paper.figures import sequences
from wakesleep.paper.results import dump, load

RESULTS = Path(__file__).parents[2] / "results"


def row(algorithm, k, nll):
    return {"algorithm": algorithm, "K": k, "seeds": 2, "steps": 9, "nll": nll, "nll_new": nll, "noise": [0.1, 0.2]}


def test_the_best_comes_first_and_the_gap_of_the_default_is_told(tmp_path):
    rows = [row("MWS", 4, [14.0, 15.0]), row("MWS-tail+fantasy", 4, [11.0, 12.0]), row("MWS-fantasy", 4, [11.0, 11.5])]
    text = dump({"rows": rows, "settings": {"observations": 5}})
    (tmp_path / "benchmark-sequences.json").write_text(text)
    table = sequences.table_sequences(tmp_path).splitlines()
    assert [line.split("|")[1].strip() for line in table[2:5]] == [
        "K = 4, MWS-fantasy",
        "K = 4, MWS-tail+fantasy (default)",
        "K = 4, MWS",
    ]
    assert "11.50 ± 0.71" in table[3]
    assert table[-1].endswith("The default is above the best by 0.25 at K = 4.")


def test_the_default_is_within_half_a_nat_of_the_best_of_all_algorithms():
    table = load(RESULTS / "benchmark-sequences.json")
    assert table is not None
    gaps = sequences.default_gaps(table["rows"])
    assert 10 in gaps
    assert all(gap <= 0.5 for gap in gaps.values()), gaps


def test_the_row_of_the_default_is_what_mws_does_when_nothing_is_said():
    taken = signature(mws).parameters
    assert (taken["recognition"].default, taken["tail"].default, taken["explore"].default) == (None, None, None)
    assert VARIANTS[sequences.DEFAULT].choices(10) == {
        "algorithm": "mws-fantasy",
        "memory_size": 5,
        "proposals": 5,
        "tail": True,
    }
