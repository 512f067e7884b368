"""The table of published numbers: every line has both, and the verdict follows its rule."""

import json

import pytest

from wakesleep.paper.figures import published


@pytest.mark.parametrize(
    ("ours", "paper", "verdict"),
    [(82.8, 82.8, "reproduced"), (84.0, 82.8, "reproduced"), (79.0, 82.8, "better"), (90.0, 82.8, "worse")],
)
def test_a_verdict(ours, paper, verdict):
    assert published.verdict_of(ours, paper) == verdict


def test_a_line_has_both_numbers_and_only_cells_that_were_run(tmp_path):
    rows = [
        {"algorithm": "MWS", "K": 5, "seed": s, "steps": 8000, "split": split, "nll": nll + s}
        for s in (0, 1)
        for split, nll in (("background", 80.0), ("novel", 99.0))
    ]
    empty = {"rows": [], "settings": {}}
    for name in ("strings", "characters", "automata"):
        (tmp_path / f"{name}.json").write_text(json.dumps(empty | ({"rows": rows} if name == "strings" else {})))
    lines = [line for line in published.table_published(tmp_path).splitlines() if line.startswith("| MWS |")]
    cells = [cell.strip() for cell in lines[0].strip("|").split("|")]
    assert cells == ["MWS", "(84.1)", "(83.1)", "80.5 (82.8)", "(82.5)", "1 / 0 / 0", "2", "8,000"]
    assert all("0 / 0 / 0" in line for line in lines[1:])
