import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import logsumexp

from wakesleep.domains.automata.data import Settings, load, true_rules
from wakesleep.domains.automata.evaluator import NoisyAutomaton, Picture, picture
from wakesleep.domains.automata.language import Rule, RulePrior, number, tables
from wakesleep.paper.automata import AUTOMATA_BASELINES, Plan, counting, exact, expected, recovered, reproduce
from wakesleep.paper.figures.automata import draw_automata, table_automata

TINY = Plan(steps=8, seeds=2, tasks=("easy",), observations=12, batch_size=4, ks=(2,), algorithms=("MWS",))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    output = tmp_path_factory.mktemp("results")
    reproduce(output, TINY, report=lambda _: None)
    return output


def test_a_table_is_kept_cell_by_cell_and_not_made_twice(folder):
    rows = json.loads((folder / "automata.json").read_text())["rows"]
    assert [r["algorithm"] for r in rows] == [*AUTOMATA_BASELINES, "MWS"]
    assert {"task", "K", "distance", "distance_spread", "rules_recovered", "paper"} <= set(rows[-1])
    said = []
    reproduce(folder, TINY, report=said.append)
    assert all("done before" in line for line in said)


def test_tables_and_figures_come_from_the_results_file(folder):
    text = table_automata(folder)
    assert "MWS" in text
    assert "counting" in text
    assert all(p.stat().st_size > 5000 for p in draw_automata(folder))


def batch(images, size):
    """Pictures stacked."""
    made = [picture(i, size, False) for i in images]
    return Picture(*(jnp.stack(leaf) for leaf in list(zip(*made, strict=True))[:3]), None)


def test_summing_out_bits_one_by_one_is_summing_over_all_rules():
    image = np.random.default_rng(0).integers(0, 2, (6, 5))
    x, evaluator = picture(image, 3, False), NoisyAutomaton(0.3, (3,), (6, 5))
    rules = [Rule(jnp.asarray(3), jnp.asarray(t)) for t in tables(3)]
    joint = np.array([evaluator.log_prob(x, z) + RulePrior((3,)).log_prob(z, None) for z in rules])
    flips, evidence = expected(np.asarray(x.counts, np.float64)[None], 0.3)
    constant = 24 * np.log(0.3) - 6 * np.log(2.0)  # every cell flipped, and the first column
    assert evidence[0] + constant == pytest.approx(logsumexp(joint), abs=1e-3)
    posterior = np.exp(joint - logsumexp(joint))
    counts = np.asarray(x.counts)
    wrong = np.array([np.where(t == 1, counts[:, 0], counts[:, 1]).sum() for t in tables(3)])
    assert flips[0] == pytest.approx(posterior @ wrong, abs=1e-3)


def test_counting_takes_the_majority_and_the_share_of_the_minority():
    image = np.array([[0, 0, 0, 1], [1, 1, 1, 1]])
    found = counting(batch([image], 1), (1,))
    assert number(Rule(1, found.rules.table[0])) == 2
    assert found.noise == pytest.approx(1 / 6)


def test_the_exact_posterior_finds_the_size_where_counting_takes_the_widest():
    settings = Settings(unknown=True, observations=20, recognition="counts")
    x, true = load(settings).train.x, true_rules(settings)
    best = exact(x, settings.sizes, rounds=20)
    assert np.mean(best.rules.size == true.size) > 0.9
    assert abs(best.noise - settings.noise) < 0.002
    assert set(np.asarray(counting(x, settings.sizes).rules.size).tolist()) == {7}
    assert recovered(Rule(true.size[None], true.table[None]), true, x, settings.sizes).tolist() == [1.0]


def test_rules_recovered_are_those_of_the_smallest_and_the_greatest_k(tmp_path):
    """Cells are written in the order in which they were computed, which need not be that of K."""
    row = {"task": "hard", "algorithm": "MWS", "distance": 0.1, "distance_spread": 0.0, "seeds": 1, "steps": 1}
    rows = [{**row, "K": k, "rules_recovered": k / 100} for k in (10, 2, 5)]
    table = {"settings": {"observations": 3}, "rows": rows}
    (tmp_path / "automata.json").write_text(json.dumps(table))
    assert "| 2.0 % to 10.0 % |" in table_automata(tmp_path)


@pytest.mark.parametrize("file", ["automata.json", "automata-counts.json"])
def test_the_tables_of_the_documents_are_those_of_the_results(file):
    root = Path(__file__).parents[2]
    if not (root / "results").is_dir():
        pytest.skip("the results files are not part of this copy")
    table = table_automata(root / "results", file).split("\n\n")[0]
    assert table in (root / "docs" / "automata.md").read_text()
