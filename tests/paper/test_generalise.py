"""Strings for new concepts: the split of concepts, the choice of steps, the tables, and the whole, small."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from wakesleep.core.algorithms import State
from wakesleep.errors import Refusal
from wakesleep.paper import generalise, results
from wakesleep.paper.figures import generalise as report
from wakesleep.paper.paired import pack

ITEMS = np.linspace(60.0, 100.0, 20)


def row(algorithm: str, split: str, shift: float, seed: int = 0) -> dict:
    notes = {"kept": 20, "left_out": [[10, 99.0], [20, 98.0]], "curve": [[10, -9.0, 1.0], [20, -8.0, 2.0]]}
    items = {m: pack(ITEMS + shift) for m in generalise.MEASURES}
    means = dict.fromkeys(generalise.MEASURES, 80.0 + shift)
    first = notes | {"train_cpu_seconds": 2.0} if split == "background" else {}
    cell = {"algorithm": algorithm, "K": 5, "seed": seed, "steps": 20, "split": split}
    checks = {"nll_memory": 80.25 + shift, "nll_error": 0.01, "effective": 3.0, "doubtful": 4}
    flat = {"flatness": {"200": 81.0, "1000": 80.5} if seed == 0 else {}}
    return cell | means | checks | flat | {"items": items} | first


@pytest.fixture
def folder(tmp_path):
    shifts = {"MWS-tail+both": -1.0, "RWS": 0.0, "VIMCO": 2.0}
    rows = [row(a, s, shift) for a, shift in shifts.items() for s in ("background", "novel")]
    rows += [row("RWS", s, 1.0, seed=1) for s in ("background", "novel")]
    settings = {"pretrain": 3, "dropout": 0.5, "stray": 0.02, "samples": 9, "memory": 5}
    settings |= {"flatness": [200, 1000], "few": 7}
    (tmp_path / "strings-generalise.json").write_text(results.dump({"rows": rows, "settings": settings}))
    parts = [r | {"dropout": 0.0, "stray": s, "stray_learned": True} for r in rows[:2] for s in (0.0, 0.02)]
    (tmp_path / "strings-ablations.json").write_text(results.dump({"rows": parts, "settings": {}}))
    return tmp_path


def test_controls_stand_beside_the_same_seed_of_the_main_table(folder):
    main = results.load(folder / "strings-generalise.json")
    main["rows"] += [row("MWS-revise+both", s, -2.0) for s in ("background", "novel")]
    (folder / "strings-generalise.json").write_text(results.dump(main))
    controls = [row("RWS-templates", s, 0.5) for s in ("background", "novel")]
    (folder / "strings-controls.json").write_text(results.dump({"rows": controls, "settings": {}}))
    table = report.TABLES["strings-controls"](folder)
    assert "| RWS | 80.0 | 80.0 | 80.0 | 80.0 |" in table  # its first seed alone
    assert "| MWS-revise+both | 78.0 | 78.0 | 78.0 | 78.0 |" in table
    assert "| MWS-revise+both - RWS-templates |" + 4 * " -2.5 [-2.5, -2.5] |" in table


def test_tables_have_means_costs_and_paired_differences(folder):
    table = report.TABLES["strings-generalise"](folder)
    assert "| K = 5, MWS-tail+both | 79.0 | 79.0 | 79.0 | 79.0 | 79.0 | 79.0 | 1 | 20 | 2 |" in table
    assert "| K = 5, RWS | 80.5 ± 0.7 |" in table
    assert "| K = 5, MWS-tail+both - VIMCO |" + 5 * " -3.0 [-3.0, -3.0] |" in table
    assert "| K = 5, MWS-tail+both - RWS | -1.5 [-2.0, -1.0] |" in table
    checks = report.TABLES["strings-generalise-checks"](folder)
    assert "| K = 5, MWS-tail+both, novel | 0.250 | 0.010 | 3.0 | 4 | 0.50 |" in checks
    assert "| K = 5, RWS, novel | 0.250 | 0.010 | 3.0 | 4 | 0.50 |" in checks
    assert "| MWS-tail+both, dropout 0.0, strays none | 79.0 |" in report.TABLES["strings-ablations"](folder)
    assert report.DRAW["strings-generalise"](folder)[0].stat().st_size > 1000


def test_the_state_with_the_least_nll_is_kept():
    choice = generalise._Choice()
    for step, nll in ((10, 3.0), (20, 1.0), (30, 2.0)):
        model = {"a": jnp.full(2, float(step))}
        choice.see(State(jnp.asarray(step), model, None, None), nll)
    assert choice.step == 20
    assert float(choice.model["a"][0]) == 20.0
    assert choice.seen == [[10, 3.0], [20, 1.0], [30, 2.0]]


def test_every_plan_names_algorithms_that_exist():
    for plan in (*generalise.FULL.values(), *generalise.QUICK.values()):
        assert set(plan.algorithms) - {generalise.ASLEEP} <= set(report.VARIANTS)


def concepts_or_skip() -> generalise.Parts:
    try:
        return generalise.parts()
    except Refusal as error:
        pytest.skip(f"the string concepts of the paper are not there ({error})")


def test_the_concepts_left_out_are_neither_trained_on_nor_reported():
    found = concepts_or_skip()
    assert [len(part) for part in found] == [900, 100, 250]
    assert not {tuple(c.train) for c in found.left_out} & {tuple(c.train) for c in found.trained}


@pytest.mark.slow
def test_the_experiment_runs_from_end_to_end(tmp_path):
    concepts_or_skip()
    small = {"hidden": 8, "samples": 20, "flatness": (10, 20), "few": 10, "memory": 5, "wakes": 2}
    plan = generalise.Plan(steps=20, pretrain=5, seeds=1, ks=(2,), algorithms=("MWS-tail+both",), **small)
    rows = generalise.reproduce(tmp_path, plan, lambda line: None)
    assert [r["split"] for r in rows] == ["background", "novel"]
    assert rows[0]["kept"] in [step for step, _ in rows[0]["left_out"]]
    assert len(rows[0]["left_out"]) == 10
    assert all(np.isfinite([r[m] for m in generalise.MEASURES]).all() for r in rows)
    assert 0 < rows[0]["stray_rate"] < 0.2
    assert jax.tree.leaves(rows)
