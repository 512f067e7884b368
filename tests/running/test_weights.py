"""Shipped models: every domain's comes back from its file, with a card."""

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from wakesleep.core import weights as models
from wakesleep.domains import BUILT_IN
from wakesleep.domains import domain as find_domain
from wakesleep.domains import shipped as files
from wakesleep.errors import Refusal
from wakesleep.running import run as runs
from wakesleep.running import weights
from wakesleep.running.config import Config
from wakesleep.running.train import prepare

SMALL = {
    "clusters": {"observations": 8, "points": 3, "width": 4},
    "automata": {"observations": 8, "height": 4, "width": 6, "recognition": "counts"},
    "strings": {"length": 6, "hidden": 4},
    "characters": {"observations": 8, "strokes": 3, "length": 3, "reach": 1, "hidden": 4, "channels": 2},
    "timeseries": {"observations": 8, "points": 12, "length": 5, "hidden": 4, "fit_steps": 2},
}


def make_run(path, name, step=1):
    """A run directory with a checkpoint of the untrained model, as if after a step."""
    job = prepare(Config(name, batch_size=4, seed=3, settings=SMALL[name], version="0", commit="abc"))
    run = runs.create(path, job.config)
    state = job.start()._replace(step=jnp.asarray(step, jnp.int32))
    if step:
        runs.record(run, {"step": step, "bound": -1.5, "explained": 1.0, "novel": 0.25})
        runs.save(run, state)
    return state.model


def leaves(model):
    return jax.tree.leaves(eqx.filter(model, eqx.is_array))


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_the_model_of_every_domain_comes_back_from_its_file(name, tmp_path):
    assert set(SMALL) == set(BUILT_IN)
    model = make_run(tmp_path / "run", name)
    weights.ship(tmp_path / "run", tmp_path / "deep" / "model.safetensors")
    settings, found = files.load(find_domain(name), tmp_path / "deep" / "model.safetensors")
    assert settings == SMALL[name]
    assert all(np.array_equal(a, b) for a, b in zip(leaves(model), leaves(found), strict=True))
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["model.safetensors"]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weights")
    make_run(folder / "run", "clusters")
    card = weights.ship(folder / "run", folder / "model.safetensors", "CC0")
    return folder, card


def test_the_card_says_where_a_model_comes_from(shipped):
    folder, card = shipped
    assert files.read_notes(folder / "model.safetensors")["card"] == card
    assert card["data"].startswith("8 groups of 3 points")
    assert card["metrics"] == {"bound": -1.5, "explained": 1.0, "novel": 0.25}
    wanted = {"licence": "CC0", "steps": 1, "seed": 3, "algorithm": "mws", "observations": 8, "version": "0"}
    assert {k: card[k] for k in wanted} == wanted
    assert card["commit"] == "abc"
    assert len(card["data_digest"]) == 32


def test_a_model_is_built_for_the_observations_at_hand(shipped):
    """What a domain decides from observations, and not from their shape, is decided for those that are given."""
    folder, _ = shipped
    domain = find_domain("clusters")
    data = domain.load(domain.configure(SMALL["clusters"])).train
    _, found = files.load(domain, folder / "model.safetensors", data)
    _, plain = files.load(domain, folder / "model.safetensors")
    assert jax.tree.structure(found) == jax.tree.structure(plain)
    other = domain.load(domain.configure(SMALL["clusters"] | {"points": 4})).train
    with pytest.raises(Refusal, match="holds"):
        files.load(domain, folder / "model.safetensors", other)


def test_what_cannot_be_shipped_or_loaded_is_refused(shipped, tmp_path):
    folder, _ = shipped
    file, clusters = folder / "model.safetensors", find_domain("clusters")
    with pytest.raises(Refusal, match="exists already"):
        weights.ship(folder / "run", file)
    make_run(tmp_path / "new", "clusters", step=0)
    with pytest.raises(Refusal, match="has no checkpoint yet"):
        weights.ship(tmp_path / "new", tmp_path / "x.safetensors")
    with pytest.raises(Refusal, match="is a model of clusters, not of automata"):
        files.load(find_domain("automata"), file)
    with pytest.raises(Refusal, match="No trained model of clusters comes with the package"):
        files.load(clusters)
    (tmp_path / "text.safetensors").write_text("no model")
    with pytest.raises(Refusal, match="cannot be read as a model"):
        files.load(clusters, tmp_path / "text.safetensors")


@pytest.mark.parametrize(
    ("notes", "words"),
    [
        ({}, "does not name its settings"),
        ({"settings": 3}, "does not name its settings"),
        ({"settings": {"colour": 1}}, "has no setting 'colour'"),
        ({"settings": {}, "observation": 5}, "the shape of an observation cannot be read"),
        ({"settings": {}, "observation": {"x": [[3, "a"], "<f4"]}}, "the shape of an observation cannot be read"),
        ({"settings": {}, "observation": {"y": [[3], "<f4"]}}, "y are not the arrays of an observation"),
    ],
)
def test_hostile_notes_are_refused(tmp_path, notes, words):
    models.save(tmp_path / "x.safetensors", {"a": jnp.ones(3)}, notes)
    with pytest.raises(Refusal, match=words):
        files.load(find_domain("clusters"), tmp_path / "x.safetensors")


def test_notes_that_are_no_json_are_refused(tmp_path):
    from safetensors.numpy import save_file

    save_file({"a": np.ones(3)}, tmp_path / "x.safetensors", {"notes": json.dumps({"settings": {}})[:-2]})
    with pytest.raises(Refusal, match="cannot be read as a model"):
        files.load(find_domain("clusters"), tmp_path / "x.safetensors")
