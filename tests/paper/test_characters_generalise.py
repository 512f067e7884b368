"""The tables and the figure of drawings not trained on, from a results file."""

import json

import numpy as np
import pytest

from wakesleep.paper.characters import NATS_PER_BIT_A_PIXEL
from wakesleep.paper.characters_generalise import NAME, SPLITS
from wakesleep.paper.figures import characters_generalise as report
from wakesleep.paper.paired import pack

BITS = {"MWS-tail+fantasy": 0.24, "MWS": 0.26, "VIMCO": 0.25, "RWS": 0.27}
SETTINGS = {"batch_size": 50, "pretrain": 1000, "wakes": 8, "proposals": 50, "samples": 100}


@pytest.fixture
def folder(tmp_path):
    """Results of four algorithms: two seeds at K = 3, one at K = 20, and one algorithm that has K = 3 alone."""
    rows = []
    cells = [(name, k, s) for name in BITS for k, s in ((3, 0), (3, 1), (20, 0))] + [("MWS-tail+both", 3, 0)]
    for name, k, seed in cells:
        bits = BITS.get(name, 0.245) + 0.002 * seed - 0.0001 * k
        nll = bits * NATS_PER_BIT_A_PIXEL + np.random.default_rng(0).normal(0, 5, 40)
        for split in SPLITS:
            row = {"algorithm": name, "K": k, "seed": seed, "steps": 10, "split": split, "images": 40}
            row |= {"bits_per_pixel": round(bits, 4), "spread": 0.005, "items": {"nll": pack(nll)}}
            rows.append(row | ({"kept": 9, "train_cpu_seconds": 20.0 * k} if split == SPLITS[0] else {}))
    (tmp_path / f"{NAME}.json").write_text(json.dumps({"rows": rows, "settings": SETTINGS, "cpu_seconds": 0.0}))
    return tmp_path


def test_a_line_has_the_mean_and_the_spread_over_seeds(folder):
    table = report.table_generalise(folder)
    assert "| K = 3, VIMCO | 0.2507 ± 0.0014 | 0.2507 ± 0.0014 | 2 | 9, 9 | 60 |" in table
    assert "| K = 20, RWS | 0.2680 ± 0.0050 | 0.2680 ± 0.0050 | 1 | 9 | 400 |" in table


def test_differences_are_paired_by_drawing(folder):
    # The same noise on each drawing cancels, so that the interval with one seed has no width.
    assert "| K = 20, MWS-tail+fantasy - VIMCO | -0.0100 [-0.0100, -0.0100]" in report.table_paired(folder)


def test_the_figure_has_a_line_for_each_algorithm_and_is_written(folder):
    path = report.DRAW[NAME](folder)[0]
    assert path.name == f"{NAME}.png"
    assert path.stat().st_size > 1000


def test_what_recognition_learned_from_is_compared_with_the_plain_rows(tmp_path):
    noise, rows = np.random.default_rng(0).normal(0, 5, 40), []
    for vary, drawings in ((0.0, 1), (1.0, 1), (1.0, 4)):
        for seed in (0, 1):
            bits = 0.25 - 0.01 * vary + 0.002 * seed
            row = {"algorithm": "MWS-tail+fantasy", "K": 5, "seed": seed, "steps": 10, "vary": vary}
            row |= {"drawings": drawings, "images": 40, "bits_per_pixel": bits, "spread": 0.005}
            rows.append(row | {"items": {"nll": pack(bits * NATS_PER_BIT_A_PIXEL + noise)}})
    table = {"rows": rows, "settings": SETTINGS, "cpu_seconds": 0.0}
    (tmp_path / "characters-vary.json").write_text(json.dumps(table))
    found = report.table_vary(tmp_path).splitlines()
    assert "| MWS-tail+fantasy, one drawing of a character, as they are | 0.2510 ± 0.0014 |  |" in found
    assert len([line for line in found if "-0.0100 [-0.0120, -0.0080] |" in line]) == 2
    assert any("4 drawings of a character, bent | 0.2410 ± 0.0014 |" in line for line in found)
