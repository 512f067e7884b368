"""Clusters beyond the paper: staleness and floors against plain sums, the cells, and the tables."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest

from tests.toy import ALL_PROGRAMS, PROGRAMS
from wakesleep.core.evaluate import exact_joint
from wakesleep.core.memory import Memory
from wakesleep.core.step import State
from wakesleep.paper import clusters_sizes
from wakesleep.paper.clusters_sizes import Plan, floors, stale_share
from wakesleep.paper.figures.clusters_sizes import TABLES
from wakesleep.paper.results import dump

QUIET = {"report": lambda line: None}


def test_a_share_is_stale_that_is_not_among_the_best_or_is_empty(toy):
    model, data = toy
    order = np.argsort(-np.asarray(exact_joint(model, ALL_PROGRAMS, data)), axis=1)
    held = jnp.asarray(order[:, [0, 3]])[..., None]  # the best and the fourth
    some = jnp.asarray([[0.0, -1.0]] * len(data))  # old scores, which must not count
    state = State(jnp.zeros((), int), model, None, Memory(held, some))
    assert stale_share(state, ALL_PROGRAMS, data) == 0.5
    best = Memory(jnp.asarray(order[:, :2])[..., None], some)
    assert stale_share(state._replace(memory=best), ALL_PROGRAMS, data) == 0.0
    vacant = best._replace(log_joint=some.at[:, 1].set(-jnp.inf))
    assert stale_share(state._replace(memory=vacant), ALL_PROGRAMS, data) == 0.5


def test_floors_are_those_of_every_tuple_of_draws(toy):
    model, data = toy
    found = floors(model, ALL_PROGRAMS, data, 2, 2)
    joint = np.asarray(exact_joint(model, ALL_PROGRAMS, data), np.float64)
    p = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
    best = -np.log(np.sort(p, axis=1)[:, -2:].sum(axis=1)).mean()
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    drawn = 0.0
    for a, b in itertools.product(range(PROGRAMS), repeat=2):
        gap = -log_p[:, a] if a == b else np.log(0.5) - (log_p[:, a] + log_p[:, b]) / 2
        chance = p[:, a] * p[:, b]
        drawn += np.where(chance > 0, chance * np.where(chance > 0, gap, 0.0), 0.0).mean()
    assert found["memory"] == pytest.approx(best, abs=1e-3)
    assert found["draws"] == pytest.approx(drawn, abs=0.05)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    output = tmp_path_factory.mktemp("results")
    plan = Plan(steps=4, seeds=2, checks=2, sizes=(1,), starts=(0.1,), ks=(2,), algorithms=("MWS",))
    clusters_sizes.reproduce_sizes(output, plan, **QUIET)
    return output


def test_a_cell_has_its_own_m_and_r_and_tells_the_stale_share(folder):
    lines = TABLES["clusters-sizes"](folder).splitlines()
    assert lines[2].startswith("| MWS, M = 1 |")
    assert lines[2].endswith("% |")


def test_sparsity_is_told_above_the_floor_of_each_kind(tmp_path):
    kls = {"MWS": 1.0, "RWS": 3.0, "VIMCO": 2.5}
    cell = {"variance": 0.03, "K": 5, "seeds": 1, "steps": 9}
    rows = [cell | {"algorithm": a, "nll": 10 + kl, "kl": kl} for a, kl in kls.items()]
    (tmp_path / "sparsity.json").write_text(dump({"rows": rows, "settings": {}}))
    floor = {"variance": 0.03, "K": 5, "memory": 0.25, "draws": 0.75}
    (tmp_path / "sparsity-floor.json").write_text(dump({"rows": [floor], "settings": {}}))
    lines = [
        [cell.strip() for cell in line.split("|")[1:3]] for line in TABLES["sparsity-floor"](tmp_path).splitlines()[2:5]
    ]
    assert lines == [["K = 5, NLL", "1.50"], ["K = 5, KL above the floor", "1.00"], ["K = 5, floors", "0.25, 0.75"]]


def test_starts_have_a_line_each(tmp_path):
    cell = {"variance": 0.03, "K": 5, "seeds": 1, "steps": 9, "algorithm": "MWS", "nll": 10.0, "kl": 1.0}
    rows = [cell | {"start": s} for s in (0.1, 10.0)]
    (tmp_path / "sparsity-starts.json").write_text(dump({"rows": rows, "settings": {}}))
    lines = TABLES["sparsity-starts"](tmp_path).splitlines()[2:4]
    assert [line.split("|")[1].strip() for line in lines] == ["K = 5, MWS, start 0.1 x", "K = 5, MWS, start 10 x"]
