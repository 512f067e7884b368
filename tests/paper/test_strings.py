"""The tables of strings, from results made by hand; and the whole experiment, small."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.toy import ALL_PROGRAMS, SYMBOLS
from wakesleep.core.evaluate import exact_joint
from wakesleep.core.memory import Memory
from wakesleep.core.model import Observations
from wakesleep.domains.strings.data import Settings, build, observe
from wakesleep.domains.strings.language import CHARACTERS, program
from wakesleep.domains.strings.ngrams import UNIFORM, Ngram
from wakesleep.paper import results
from wakesleep.paper.figures import strings as report
from wakesleep.paper.results import complete, resize
from wakesleep.paper.strings import FULL, PAPER, QUICK, Plan, divides, groups, predictive, reproduce, with_more


def row(algorithm: str, k: int, split: str, nll: float) -> dict:
    inferred = [{"strings": ["a1", "b2", "c3"], "regex": r"\l\d|x", "samples": ["q7"]}]
    return {
        "algorithm": algorithm, "K": k, "seed": 0, "steps": 10, "split": split, "nll": nll, "nll_spread": 1.0,
        "nll_conditional": nll - 5, "flatness": {"100": nll, "1000": nll - 0.1}, "alternation": 3, "divided": 2,
        "inferred": inferred, "prior": [{"regex": "a|b", "samples": ["a"]}], "curve": [[5, -9.0], [10, -8.0]],
        "bracketed": 4, "grouped": 1, "paper": PAPER[algorithm][k],
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    rows = [row(a, k, s, 80.0 + k) for a in ("MWS", "RWS", "VIMCO") for k in (2, 5) for s in ("background", "novel")]
    table = {"rows": rows, "settings": {"pretrain": 3000}, "cpu_seconds": 1.0}
    (tmp_path / "strings.json").write_text(results.dump(table))
    return tmp_path


def test_tables_show_ours_beside_the_papers(folder):
    assert "| MWS | 82.0 | 85.0 |" in report.TABLES["strings"](folder)
    assert "| paper, MWS | 84.1 | 82.8 |" in report.TABLES["strings"](folder)
    (folder / "strings-awake.json").write_text((folder / "strings.json").read_text())
    assert "| novel, RWS | 82.0 | 85.0 |" in report.TABLES["strings-awake"](folder)
    assert "| novel, given five, RWS | 77.0 | 80.0 |" in report.TABLES["strings-novel"](folder)
    assert "| VIMCO | 3 (2); 4 (1) | 3 (2); 4 (1) |" in report.TABLES["strings-programs"](folder)
    assert r"`\l\d\|x` `q7`" in report.TABLES["strings-inferred"](folder)
    assert r"| `a\|b` | `a` |" in report.TABLES["strings-prior"](folder)
    assert "| MWS, K = 2 | 82.0 | 81.9 | 82.0 | 81.9 |" in report.TABLES["strings-flatness"](folder)
    assert report.DRAW["strings"](folder)[0].stat().st_size > 1000


def test_seeds_are_averaged_and_counted(folder):
    assert "after 10 steps, before which recognition slept for 3,000; one seed (the paper's" in report.TABLES[
        "strings"
    ](folder)
    table = results.load(folder / "strings.json")
    table["rows"] += [row("MWS", 2, s, 84.0) | {"seed": 1} for s in ("background", "novel")]
    (folder / "strings.json").write_text(results.dump(table))
    text = report.TABLES["strings"](folder)
    assert "| MWS | 83.0 ± 1.4 | 85.0 |" in text
    assert "mean ± standard deviation of 2 seeds, where no ± stands one seed" in text
    assert report.TABLES["strings-flatness"](folder).count("MWS, K = 2") == 1


def test_sizes_are_listed_with_their_cost(folder):
    rows = [{"hidden": h, "parameters": 1000 * h, "cpu_ms": h / 2, "nll": 90.0, "nll_novel": 95.0} for h in (64, 32)]
    (folder / "strings-sizes.json").write_text(results.dump({"rows": rows, "settings": {}}))
    table = report.TABLES["strings-sizes"](folder).splitlines()
    assert table[2:] == ["| 32 | 32,000 | 16 | 90.0 | 95.0 |", "| 64 | 64,000 | 32 | 90.0 | 95.0 |"]


def test_the_baseline_has_a_line_in_the_tables_of_likelihoods(folder):
    rows = [{"split": s, "nll_plain": 3.0, "nll": 2.0, "nll_conditional": 1.0} for s in ("background", "novel")]
    (folder / "strings-ngrams.json").write_text(results.dump({"rows": rows, "settings": {}}))
    assert "| 4-gram, adapting | 2.0 | 2.0 |" in report.TABLES["strings"](folder)
    assert "| novel, given five, 4-gram, adapting | 1.0 | 1.0 |" in report.TABLES["strings-novel"](folder)


def test_an_ngram_is_a_distribution_and_learns():
    model = Ngram(3).learn(["ab", "ac"])
    symbols = [*CHARACTERS, "\n"]
    for before in ("", "a", "zz"):
        assert sum(model.probability(c, before) for c in symbols) == pytest.approx(1.0)
    # Of six symbols, four kinds, one is b; after "a" one of two, two kinds, for contexts of one and of two places.
    alone = (1 + 4 * UNIFORM) / (6 + 4)
    assert model.probability("b", "a") == pytest.approx((1 + 2 * (1 + 2 * alone) / 4) / 4)
    local = Ngram(3, model.probability)
    assert local.probability("q", "") == model.probability("q", "")
    assert local.learn(["q"]).probability("q", "") > 0.5
    assert local.learn(["ab", "q"]).learn(["ab", "q"], -1).log_prob("aq") == Ngram(3, model.probability).learn(
        ["q"]
    ).log_prob("aq")


def test_a_cell_may_have_several_rows_and_other_processes_add_theirs(tmp_path):
    path = tmp_path / "table.json"

    def compute(cell):
        other = {"rows": [{"K": 9, "nll": 0.0}], "settings": {"a": 1}, "cpu_seconds": 0.0}
        if not path.exists():
            path.write_text(json.dumps(other))  # as another process would, in the meantime
        return [{"split": "background"}, {"split": "novel"}]

    rows = complete(path, {"a": 1}, [{"K": 2}, {"K": 3}], compute, lambda line: None)
    assert [(r["K"], r.get("split")) for r in rows] == [
        (9, None), (2, "background"), (2, "novel"), (3, "background"), (3, "novel"),
    ]  # fmt: skip
    said: list[str] = []
    complete(path, {"a": 1}, [{"K": 2}], compute, said.append)
    assert said == ["K=2: done before"]


def test_what_was_compiled_for_a_cell_is_freed(tmp_path):
    half = jax.jit(lambda x: x / 2)
    complete(tmp_path / "table.json", {}, [{"K": 2}], lambda cell: {"half": float(half(1.0))}, lambda line: None)
    assert half._cache_size() == 0


def test_a_plan_can_be_cut_to_some_cells():
    plan = resize(FULL["strings"], 7, None, ["RWS"], [3])
    assert (plan.steps, plan.algorithms, plan.ks) == (7, ("RWS",), (3,))
    assert QUICK["strings"].steps < FULL["strings"].steps


def test_a_prediction_sums_over_the_programs_found_for_either_set(toy):
    model, data = toy
    everything = jnp.broadcast_to(ALL_PROGRAMS, (len(data), *ALL_PROGRAMS.shape))
    joint = np.asarray(exact_joint(model, ALL_PROGRAMS, data), np.float64)
    order = np.argsort(-joint, axis=1)[:, :2]
    best = Memory(jnp.asarray(order)[..., None], jnp.take_along_axis(jnp.asarray(joint, jnp.float32), order, axis=1))
    found = with_more(model, best, everything, data)
    for row in range(len(data)):
        possible = np.isfinite(found.log_joint[row])
        assert len(set(np.asarray(found.programs[row, possible, 0]))) == possible.sum() == np.isfinite(joint[row]).sum()
    other = Observations((data.x + 1) % SYMBOLS)
    both = np.logaddexp.reduce(joint + np.asarray(model.evaluator.table(), np.float64)[:, other.x].T, axis=1)
    truth = both - np.logaddexp.reduce(joint, axis=1)
    np.testing.assert_allclose(predictive(model, found, other), truth, atol=1e-5)


@pytest.mark.parametrize(
    ("needs", "regex", "strings", "needed"),
    [
        (divides, "a+|b", ["aa", "b"], True),
        (divides, "a+|b?|.+", ["aa", "b"], False),
        (divides, r"\l+", ["aa", "b"], False),
        (divides, "(a|b)+", ["aa", "b"], False),
        (groups, "(a|b)+", ["aa", "b"], True),
        (groups, r"\l\l(_L)?", ["aa", "ab_L"], True),
        (groups, r"\l\l(_L)?", ["aa", "ab"], False),
        (groups, r"(\d\d)*|(.a)+|\l*", ["aa", "ab"], False),
        (groups, r"\l\l(a(bc)?)*", ["aa", "ab"], False),
        (groups, r"(ab)?(cd)*\l\l", ["abxy", "cdxy"], True),
        (groups, r"\l\l", ["aa", "ab"], False),
    ],
)
def test_alternation_and_brackets_are_needed_where_the_strings_call_for_them(needs, regex, strings, needed):
    settings = Settings(hidden=2, length=20, strings=2)
    data = observe([strings], settings)
    assert needs(build(jax.random.key(0), settings, data), program(regex, 20), data[0]) == needed


@pytest.mark.slow
@pytest.mark.parametrize(("pretrain", "file"), [(5, "strings.json"), (0, "strings-awake.json")])
def test_the_experiment_runs_from_end_to_end(tmp_path, pretrain, file):
    plan = Plan(
        steps=20,
        pretrain=pretrain,
        hidden=8,
        samples=20,
        flatness=(10, 20),
        few=5,
        memory=5,
        wakes=2,
        ks=(2,),
        algorithms=("MWS",),
    )
    rows = reproduce(tmp_path, plan, lambda line: None)
    assert [r["split"] for r in rows] == ["background", "novel"]
    assert results.load(tmp_path / file)["settings"]["pretrain"] == pretrain
    assert all(np.isfinite([r["nll"], r["nll_conditional"]]).all() for r in rows)
