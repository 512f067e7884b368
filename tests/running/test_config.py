import dataclasses
from inspect import signature

import jax
import numpy as np
import optax
import pytest
import typer

from wakesleep.cli.train import train
from wakesleep.core import algorithms
from wakesleep.domains import domain as find_domain
from wakesleep.errors import Refusal, require_one_of
from wakesleep.paper.cells import VARIANTS, split
from wakesleep.running.config import ALGORITHMS, Config, make_algorithm, make_optimiser, offered, parse

NOT_SETTINGS = {"optimiser", "recognition", "phases", "paper"}
"""Made by the run, decided by the algorithm's name, and by `watch`."""


def test_every_option_of_an_algorithm_is_a_setting_of_a_run_or_decided_by_the_name():
    known = {f.name for f in offered()}
    for name, recipe in ALGORITHMS.items():
        taken = set(signature(getattr(algorithms, recipe.function)).parameters) - NOT_SETTINGS
        assert taken <= known, f"{name} takes {taken - known}, which Config does not have"
        assert set(recipe.fixed) <= set(signature(getattr(algorithms, recipe.function)).parameters)


def test_defaults_are_those_of_the_algorithms():
    for recipe in ALGORITHMS.values():
        for name, parameter in signature(getattr(algorithms, recipe.function)).parameters.items():
            if name not in NOT_SETTINGS:
                assert getattr(Config(""), name) == parameter.default


def test_an_algorithm_gets_the_settings_that_it_takes(monkeypatch):
    seen = {}
    monkeypatch.setattr(algorithms, "mws", lambda optimiser, memory_size, replay, recognition="": seen.update(locals()))
    make_algorithm(Config("", "mws-fantasy", memory_size=7, replay="expected"), optax.sgd(1.0))
    assert {k: seen[k] for k in ("memory_size", "replay", "recognition")} == {
        "memory_size": 7,
        "replay": "expected",
        "recognition": "fantasy",
    }


def test_the_options_of_the_command_are_the_settings_with_their_help_and_defaults():
    app = typer.Typer(add_completion=False)
    app.command()(train)
    made = {p.name: p for p in typer.main.get_command(app).params}
    for f in offered():
        assert made[f.name].help == f.metadata["help"]
        assert made[f.name].default == f.default
        assert f"--{f.name.replace('_', '-')}" in made[f.name].opts
    others = {"domain", "output", "condition", "settings", "as_json", "help"}
    assert set(made) - {f.name for f in offered()} - others == {
        "devices",
        "coordinator",
        "processes",
        "process_id",
        "patience",
        "tensorboard",
    }


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"steps": "many"}, "steps must be a whole number, but 'many'"),
        ({"steps": 1.5}, "steps must be a whole number"),
        ({"steps": True}, "steps must be a whole number"),
        ({"learning_rate": float("nan")}, "learning_rate must be positive"),
        ({"explore": 2.0}, "explore must lie between 0 and 1"),
        ({"explore": "all"}, "explore must be a number or nothing"),
        ({"hold": -0.5}, "hold must lie between 0 and 1"),
        ({"settings": []}, "settings must be a table"),
        ({"colour": 1}, "unknown settings: colour; known are algorithm"),
        ({"domain": 3}, "domain must be a word"),
        ({"algorithm": "em"}, "algorithm must be one of mws"),
    ],
)
def test_a_setting_of_another_type_or_beyond_its_limits_is_refused(given, words):
    with pytest.raises(Refusal, match=words):
        parse({"domain": "any", **given})


@pytest.mark.parametrize("given", [[], 3, None, {}, {"steps": 3}])
def test_what_is_no_configuration_is_refused(given):
    with pytest.raises(Refusal, match="names at least the domain"):
        parse(given)


def test_the_learning_rate_is_held_and_then_falls_to_a_hundredth():
    optimiser = make_optimiser(Config("", steps=10, hold=0.5, learning_rate=0.5))
    state, sizes = optimiser.init(0.0), []
    for _ in range(11):
        update, state = optimiser.update(1.0, state)  # Adam moves by its rate where gradients are equal
        sizes.append(-float(update))
    np.testing.assert_allclose(sizes[:6], 0.5, rtol=1e-4)
    np.testing.assert_allclose(np.diff(sizes[5:]), (0.005 - 0.5) / 5, rtol=1e-3)
    constant, plain = (o.init({"a": np.ones(3)}) for o in (make_optimiser(Config("")), optax.adam(1e-3)))
    assert jax.tree.structure(constant) == jax.tree.structure(plain)


def test_every_name_of_a_table_makes_a_configuration_with_k_evaluations():
    fields = {f.name for f in dataclasses.fields(Config)}
    for name, variant in VARIANTS.items():
        k = 20 if name.startswith("HMWS") else 5
        made = variant.choices(k)
        assert set(made) <= fields
        config = Config("", **made)
        if made["algorithm"].startswith("mws") and "M = K" not in name:
            assert (config.memory_size, config.proposals) == split(5) == (3, 2)
        elif made["algorithm"].startswith("hmws"):
            assert (config.memory_size + config.proposals) * config.fillings == k
        elif not made["algorithm"].startswith("mws"):
            assert config.particles == k


def test_a_sentence_does_not_repeat_a_word_without_end():
    with pytest.raises(Refusal, match="must be one of") as refused:
        require_one_of("replay", "d" + "9" * 5000, ("draw", "expected"))
    assert len(str(refused.value)) < 300
    with pytest.raises(Refusal, match="has no setting") as refused:
        find_domain("clusters").configure({"w" * 5000: 1})
    assert len(str(refused.value)) < 400


def test_a_run_of_the_first_version_goes_on_as_it_was_begun():
    old = parse({"domain": "clusters", "version": "0.1.0", "algorithm": "mws"})
    assert (old.algorithm, old.tail) == ("mws-replay", False)
    new = parse({"domain": "clusters", "version": "0.2.0", "algorithm": "mws"})
    assert (new.algorithm, new.tail) == ("mws", None)
    with pytest.raises(Refusal, match="tail must be true, false or nothing"):
        parse({"domain": "clusters", "tail": 1})
