import itertools
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from wakesleep.core.evaluate import posterior
from wakesleep.core.model import Observations
from wakesleep.domains import learned
from wakesleep.domains.characters import beam
from wakesleep.domains.characters.data import Settings, build
from wakesleep.domains.characters.domain import DOMAIN
from wakesleep.domains.characters.evaluator import SIDE
from wakesleep.domains.contract import Standing

STROKES, LENGTH = 4, 4
NARROW = beam.Effort(width=3, edited=2, kept=5)
BLANK = np.zeros((SIDE, SIDE), np.int8)


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    monkeypatch.setattr(beam, "SCORED_AT_ONCE", 64)


def bank(strokes=STROKES, length=LENGTH, **given):
    """A bank of strokes that differ, with a prior of its own."""
    settings = Settings(strokes=strokes, length=length, hidden=4, prior_hidden=3, channels=2, reach=2, **given)
    return build(jax.random.key(3), settings, Observations(jnp.asarray(BLANK)[None]))


def padded(programs, length=LENGTH):
    return np.array([list(z) + [0] * (length - len(z)) for z in programs], np.int32)


def few_strokes(strokes=STROKES):
    """All programs of at most two drawn strokes, with at most one in the air between them."""
    draws, moves = range(1, strokes + 1), range(strokes + 1, 2 * strokes + 1)
    return padded(
        [(), *itertools.product(draws), *itertools.product(draws, draws), *itertools.product(draws, moves, draws)]
    )


@pytest.fixture(scope="module")
def tiny():
    return bank()


@eqx.filter_jit
def joint(model, programs, x, c=None):
    return jax.vmap(model.log_joint, (0, None, None))(programs, x, c)


@pytest.mark.parametrize("given", [{}, {"maps": 2}, {"images": "omniglot", "condition": "alphabet"}])
def test_a_program_is_scored_as_by_the_model(given):
    model, c = bank(**given), np.int32(2) if "condition" in given else None
    programs = np.random.default_rng(0).integers(0, 2 * STROKES + 1, (90, LENGTH)).astype(np.int32)
    x = model.evaluator.sample(jax.random.key(0), jnp.asarray([1, 2, 0, 0]))
    found, expected = beam.Scores(model, x, c)(programs), np.asarray(joint(model, programs, x, c))
    assert np.isneginf(expected).any()
    assert np.isfinite(expected).sum() > 5
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_each_program_is_scored_once_and_the_best_come_first(tiny, monkeypatch):
    calls, real = [], beam.log_joints
    monkeypatch.setattr(beam, "log_joints", lambda fixed, z: calls.append(len(z)) or real(fixed, z))
    scores, programs = beam.Scores(tiny, BLANK, None), few_strokes()
    first = scores(programs)
    before = len(calls)
    np.testing.assert_array_equal(scores(programs[::-1]), first[::-1])
    assert len(calls) == before
    np.testing.assert_array_equal(scores(scores.best(7)), np.sort(first)[::-1][:7])


def test_the_search_finds_what_drew_an_image_or_better(tiny):
    """The oracle scores every program of at most two drawn strokes; the beam is narrower than the bank."""
    every = few_strokes()
    keys = jax.random.split(jax.random.key(1), 12)
    drew = np.random.default_rng(2).integers(1, len(every), 12)
    as_good = []
    for key, which in zip(keys, drew, strict=True):
        x = tiny.evaluator.sample(key, jnp.asarray(every[which]))
        oracle = np.asarray(joint(tiny, every, x))
        found = beam.Scores(tiny, x, None)(beam.search(tiny, x, None, NARROW))
        assert found[0] >= oracle[which] - 1e-2
        as_good.append(found[0] >= oracle.max() - 1e-2)
    assert np.mean(as_good) >= 0.75


def test_the_beam_draws_on_from_the_best_programs_of_each_length(tiny):
    x = tiny.evaluator.sample(jax.random.key(7), jnp.asarray([4, 2, 1, 0]))
    scores, front = beam.Scores(tiny, x, None), padded([()])
    beam.beam(scores, 2)
    known = {z for z, value in scores._known.items() if value > -np.inf}
    expected = {front[0].tobytes()}
    for level in range(beam.LEAST_BEAM_LEVELS + 1):
        longer = padded([(*z[:level], stroke) for z in front.tolist() for stroke in range(1, STROKES + 1)])
        front = longer[np.argsort(-np.asarray(joint(tiny, longer, x)))[:2]]
        expected |= {z.tobytes() for z in longer}
    assert expected <= known
    assert {z for z in known if not np.frombuffer(z, np.int32)[-1]} == expected


def test_edits_are_the_single_edits_that_the_grammar_allows():
    strokes, length = 2, 3
    tokens = range(1, 2 * strokes + 1)
    written = {z for n in range(length + 1) for z in itertools.product(tokens, repeat=n)}
    well_formed = {z for z in written if not z or (z[0] <= strokes and z[-1] <= strokes)}

    def one_apart(a, b):
        if len(a) == len(b):
            return sum(u != v for u, v in zip(a, b, strict=True)) == 1
        long, short = sorted((a, b), key=len, reverse=True)
        return len(long) == len(short) + 1 and any(long[:i] + long[i + 1 :] == short for i in range(len(long)))

    for z in well_formed:
        found = [tuple(e[e > 0].tolist()) for e in beam.edits(padded([z], length)[0], strokes)]
        assert len(found) == len(set(found))
        assert set(found) == {other for other in well_formed if one_apart(z, other)}


def test_what_the_grammar_allows_is_what_the_prior_gives_a_probability():
    model = bank(2, 3)
    written = np.array(list(itertools.product(range(5), repeat=3)), np.int32)
    possible = np.isfinite(jax.vmap(model.prior.log_prob, (0, None))(jnp.asarray(written), None))
    np.testing.assert_array_equal(beam.legal(written, 2), possible)
    assert 0 < possible.sum() < len(written)


def test_nothing_impossible_is_proposed_and_a_blank_image_is_blank(tiny):
    z = jnp.asarray([3, 1, 2, 0])
    images = jnp.stack([jnp.asarray(BLANK), tiny.evaluator.sample(jax.random.key(5), z), jnp.asarray(BLANK) + 1])
    told: list[Standing] = []
    found = beam.propose(tiny, Observations(images.astype(jnp.int8)), told.append)
    assert found.shape == (3, beam.USUAL_EFFORT.kept, LENGTH)
    assert beam.legal(found.reshape(-1, LENGTH), STROKES).all()
    assert [standing.done for standing in told] == [1, 2, 3]
    assert not found[0, 0].any()
    assert found[1, 0].any()


def test_a_bank_with_fewer_programs_than_are_kept_proposes_blank_ones_beside_them():
    found = beam.propose(bank(1, 1), Observations(jnp.asarray(BLANK)[None]))
    assert {tuple(z) for z in found[0].tolist()} == {(0,), (1,)}


def test_the_memory_is_what_the_search_found(tiny):
    z = jnp.asarray([3, 1, 2, 4])
    images = jax.vmap(lambda key: tiny.evaluator.sample(key, z))(jax.random.split(jax.random.key(6), 2))
    data, known = Observations(images), learned.Trained(DOMAIN, {}, tiny)
    found = learned.search(known, data)
    np.testing.assert_allclose(np.exp(found.log_weight).sum(axis=1), 1, rtol=1e-4)
    for i, x in enumerate(images):
        remembered = np.asarray(joint(tiny, found.programs[i], x))
        searched = beam.Scores(tiny, x, None)(beam.propose(tiny, data[i : i + 1])[0])
        assert len({tuple(z) for z in found.programs[i].tolist()}) == learned.REMEMBERED_PROGRAMS
        np.testing.assert_allclose(np.sort(remembered), np.sort(searched), rtol=1e-5)
        np.testing.assert_allclose(np.diff(found.log_weight[i]), np.diff(remembered), atol=2e-3)


def test_a_domain_without_a_search_is_explained_by_proposals_alone(tiny):
    data, plain = Observations(jnp.asarray(BLANK)[None]), replace(DOMAIN, explainer=None)
    found = learned.search(learned.Trained(plain, {}, tiny), data)
    expected = posterior(jax.random.key(0), tiny, data, learned.REMEMBERED_PROGRAMS, revise=learned.REVISED_SHARE)
    np.testing.assert_array_equal(found.programs, expected.programs)
    np.testing.assert_allclose(np.exp(found.log_weight), np.exp(expected.log_weight), rtol=1e-5)
