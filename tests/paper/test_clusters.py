import json

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.toy import ALL_PROGRAMS
from wakesleep.core.algorithms import mws, vimco
from wakesleep.core.evaluate import divergence, exact
from wakesleep.core.memory import Weighted
from wakesleep.core.model import score
from wakesleep.errors import Refusal
from wakesleep.paper import results
from wakesleep.paper.cells import split
from wakesleep.paper.clusters import Plan, divergence_as_published, held_out_posterior, reproduce
from wakesleep.paper.figures.clusters import draw_clusters, improvement, table_clusters

TINY = Plan(steps=4, seeds=2, checks=2, ks=(2,), algorithms=("MWS", "VIMCO"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    output = tmp_path_factory.mktemp("results")
    reproduce(output, TINY, report=lambda _: None)
    return output


def test_a_table_is_kept_cell_by_cell_and_not_made_twice(folder):
    table = json.loads((folder / "clusters.json").read_text())
    assert [(r["algorithm"], r["K"]) for r in table["rows"]] == [("MWS", 2), ("VIMCO", 2)]
    assert {"nll", "kl", "kl_published", "nll_test", "seeds", "steps", "true_nll"} <= set(table["rows"][0])
    said = []
    reproduce(folder, TINY, report=said.append)
    assert all("done before" in line for line in said)
    with pytest.raises(Refusal, match="made with other settings"):
        reproduce(folder, Plan(steps=4, seeds=2, checks=2, batch_size=10, ks=(2,)), report=said.append)


def test_tables_and_figures_come_from_the_results_file(folder):
    text = table_clusters(folder)
    assert "NLL, MWS" in text
    assert "KL as published, VIMCO" in text
    assert "KL as published, MWS" not in text
    assert "KL, held out, VIMCO" in text
    assert all(p.stat().st_size > 5000 for p in draw_clusters(folder))


def test_figures_show_whatever_algorithms_there_are(tmp_path):
    plan = Plan(steps=2, seeds=2, checks=1, ks=(2,), algorithms=("MWS (M = K, R = 1)",))
    reproduce(tmp_path, plan, report=lambda _: None)
    assert all(p.stat().st_size > 5000 for p in draw_clusters(tmp_path))


def test_k_is_shared_by_memory_and_proposals():
    assert [split(k) for k in (2, 5, 10)] == [(1, 1), (3, 2), (5, 5)]


def test_the_published_error_inflates_the_divergence_by_log_k_for_equal_twins(toy):
    """Two programs of weight one half each: the error adds log 2 + log 1.5 to log q; one program alone adds none."""
    model, data = toy
    marginal = exact(model, ALL_PROGRAMS, data)
    n = len(data)
    two = Weighted(jnp.tile(jnp.asarray([[[1], [2]]]), (n, 1, 1)), jnp.log(jnp.full((n, 2), 0.5)))
    gap = divergence_as_published(two, model, data, marginal) - divergence(two, model, data, marginal)
    np.testing.assert_allclose(gap, np.log(1.5) - np.log(0.5), atol=1e-5)
    one = Weighted(jnp.tile(jnp.asarray([[[1], [1]]]), (n, 1, 1)), jnp.log(jnp.full((n, 2), 0.5)))
    gap = divergence_as_published(one, model, data, marginal) - divergence(one, model, data, marginal)
    np.testing.assert_allclose(gap, 0.0, atol=1e-5)


@pytest.mark.parametrize("make", [mws, vimco])
def test_the_divergence_of_held_out_groups_falls_with_k_to_that_of_all_programs(toy, make):
    """With a memory it is log p(x) less the log of what was found, so with every program found it is zero."""
    model, data = toy
    algorithm = make(optax.sgd(0.0))
    state = algorithm.init(model, data)
    marginal, found = exact(model, ALL_PROGRAMS, data), []
    for k in (1, 400):
        q = held_out_posterior(algorithm, jax.random.key(k), state, data, k)
        found.append(np.asarray(divergence(q, model, data, marginal)))
        if state.memory is not None:
            kept = jnp.where(jnp.isneginf(q.log_weight), -jnp.inf, score(model, q.programs, data.x, data.c))
            possible = np.isfinite(np.asarray(kept)).any(axis=1)
            lost = np.asarray(marginal - jax.nn.logsumexp(kept, axis=1))
            np.testing.assert_allclose(found[-1][possible], lost[possible], atol=1e-5)
    if state.memory is not None:
        assert found[0].mean() > 0.1
        np.testing.assert_allclose(found[1], 0.0, atol=1e-4)


def test_improvement_is_over_the_better_rival():
    assert improvement(mws=1.0, rws=3.0, vimco=2.5) == 1.5


def test_a_damaged_results_file_is_refused(tmp_path):
    (tmp_path / "clusters.json").write_text("{")
    with pytest.raises(Refusal, match="is not a results file"):
        results.load(tmp_path / "clusters.json")


@pytest.mark.slow
def test_memoised_wake_sleep_comes_within_015_nats_of_the_truth_and_beats_its_rivals(tmp_path):
    plan = Plan(steps=20_000, seeds=5, checks=2, ks=(5,))
    rows = {r["algorithm"]: r for r in reproduce(tmp_path, plan)}
    assert rows["MWS"]["nll"] < rows["MWS"]["true_nll"] + 0.15
    assert rows["MWS"]["nll"] < min(rows["RWS"]["nll"], rows["VIMCO"]["nll"])
