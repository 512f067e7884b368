"""One contract for every algorithm, and what is special to memoised wake-sleep."""

from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.toy import ALL_PROGRAMS, PROGRAMS, SYMBOLS, ToyRecognition, toy_data, toy_model
from wakesleep.core.algorithms import mws, rws, vimco
from wakesleep.core.evaluate import exact_joint
from wakesleep.core.fit import fit
from wakesleep.core.model import Batch, Observations
from wakesleep.domains.clusters.data import Settings, build, load
from wakesleep.domains.timeseries.data import Settings as SeriesSettings
from wakesleep.domains.timeseries.data import build as build_series
from wakesleep.domains.timeseries.data import load as load_series
from wakesleep.errors import Refusal

ADAM = optax.adam(1e-2)
ALGORITHMS = {
    "mws": mws(ADAM, 3, 2),
    "mws-paper": mws(ADAM, 3, 2, paper=True),
    "mws-fantasy": mws(ADAM, 3, 2, recognition="fantasy", tail=False),
    "mws-expected": mws(ADAM, 3, 2, recognition="replay", replay="expected", tail=False),
    "mws-explore": mws(ADAM, 3, 2, explore=0.5),
    "mws-revise": mws(ADAM, 3, 2, revise=0.5),
    "mws-both": mws(ADAM, 3, 2, recognition="both", tail=False),
    "mws-tail": mws(ADAM, 3, 2, recognition="replay", tail=True),
    "map": mws(ADAM, 1, 1),
    "rws": rws(ADAM, 4),
    "rws-sleep": rws(ADAM, 4, recognition="sleep"),
    "rws-both": rws(ADAM, 4, recognition="both"),
    "vimco": vimco(ADAM, 4),
}


def clusters():
    settings = Settings(observations=8, points=3, width=4)
    data = load(settings).train
    return build(jax.random.key(0), settings, data), data


def timeseries():
    settings = SeriesSettings(observations=8, points=12, hidden=4, length=5, fit_steps=2)
    data = load_series(settings).train
    return build_series(jax.random.key(0), settings, data), data


DOMAINS = {"toy": lambda: (toy_model(jax.random.key(0)), toy_data(jax.random.key(1))), "clusters": clusters}
# Compiling a Gaussian process takes longer than all others together: each kind of step once.
CASES = [(name, domain) for name in ALGORITHMS for domain in DOMAINS]
CASES += [(name, "timeseries") for name in ("mws", "mws-fantasy", "vimco")]


def batch_of(data, rows):
    some = data[jnp.asarray(rows)]
    return Batch(jnp.asarray(rows), some.x, some.c)


def leaves(tree):
    return [np.asarray(a) for a in jax.tree.leaves(eqx.filter(tree, eqx.is_array))]


@pytest.mark.parametrize(("name", "domain"), CASES)
def test_every_algorithm_keeps_the_contract_on_every_domain(name, domain):
    algorithm, (model, data) = ALGORITHMS[name], (DOMAINS | {"timeseries": timeseries})[domain]()
    state = algorithm.init(model, data)
    traces = []

    @eqx.filter_jit
    def step(key, state, batch):
        traces.append(1)
        return algorithm.step(key, state, batch)

    new = state
    for t in range(3):
        new, info = step(jax.random.fold_in(jax.random.key(7), t), new, batch_of(data, [t, t + 1, 5]))
    assert len(traces) == 1
    assert [a.shape for a in leaves(new)] == [a.shape for a in leaves(state)]
    assert int(new.step) == 3
    assert all(np.all(np.isfinite(a)) for a in leaves(new.model))
    assert np.isfinite(info.bound)
    weighted = algorithm.posterior(jax.random.key(0), new, batch_of(data, [1, 5]))
    weights = np.exp(np.asarray(weighted.log_weight))
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-5)
    assert not np.any(np.isnan(np.asarray(weighted.log_weight)))


def test_a_weakly_typed_parameter_does_not_make_it_compile_twice(toy):
    model, data = toy
    weak = jnp.where(jnp.arange(PROGRAMS) > 1, 0.5, 0.0)
    assert weak.weak_type
    state = ALGORITHMS["mws"].init(eqx.tree_at(lambda m: m.prior.logits, model, weak), data)
    after, _ = ALGORITHMS["mws"].step(jax.random.key(0), state, batch_of(data, [0, 1]))
    for before, now in zip(*(jax.tree.leaves(eqx.filter(s, eqx.is_array)) for s in (state, after)), strict=True):
        assert jax.typeof(before) == jax.typeof(now)


def test_with_room_for_every_program_q_is_the_exact_posterior(toy):
    model, data = toy
    algorithm = mws(optax.sgd(0.0), PROGRAMS, 10)
    state = algorithm.init(model, data)
    for t in range(20):
        state, _ = eqx.filter_jit(algorithm.step)(jax.random.key(t), state, batch_of(data, range(8)))
    q = algorithm.posterior(jax.random.key(0), state, batch_of(data, range(8)))
    joint = np.asarray(exact_joint(model, ALL_PROGRAMS, data))
    for row in range(8):
        posterior = np.exp(joint[row] - np.logaddexp.reduce(joint[row]))
        found = np.zeros(PROGRAMS)
        np.add.at(found, np.asarray(q.programs[row, :, 0]), np.exp(np.asarray(q.log_weight[row])))
        np.testing.assert_allclose(found, posterior, atol=1e-5)


def test_memory_at_one_slot_finds_the_most_probable_program(toy):
    model, data = toy
    algorithm = mws(optax.sgd(0.0), 1, 4)
    state = algorithm.init(model, data)
    for t in range(20):
        state, _ = eqx.filter_jit(algorithm.step)(jax.random.key(t), state, batch_of(data, range(8)))
    best = np.argmax(np.asarray(exact_joint(model, ALL_PROGRAMS, data)), axis=1)
    np.testing.assert_array_equal(state.memory.programs[:, 0, 0], best)


@pytest.mark.parametrize("name", [n for n in ALGORITHMS if n in ("mws", "map", "mws-expected", "rws", "vimco")])
def test_an_observation_without_a_possible_program_changes_no_parameter(name):
    """Symbol 3 cannot be produced: a batch with it must teach what the batch without it teaches."""
    possible = [[True, True, True, False] for _ in range(PROGRAMS)]
    model = toy_model(jax.random.key(2), possible)
    algorithm = {"mws": mws, "map": mws, "mws-expected": mws, "rws": rws, "vimco": vimco}[name]
    sizes = {"mws": (3, 2), "map": (1, 1), "mws-expected": (3, 2), "rws": (4,), "vimco": (4,)}[name]
    extra = {"mws": {"paper": True}, "map": {"paper": True}}.get(name, {})
    if name == "mws-expected":
        extra = {"recognition": "replay", "replay": "expected", "tail": False}
    algorithm = algorithm(optax.sgd(1.0), *sizes, **extra)
    hopeless = Observations(jnp.full(4, SYMBOLS - 1))
    state = algorithm.init(model, hopeless)
    new, info = algorithm.step(jax.random.key(0), state, batch_of(hopeless, range(4)))
    assert all(np.array_equal(a, b) for a, b in zip(leaves(new.model), leaves(model), strict=True))
    assert float(info.explained) == 0.0
    mixed = Observations(jnp.asarray([0, SYMBOLS - 1, 1, 2]))
    new, info = algorithm.step(jax.random.key(0), algorithm.init(model, mixed), batch_of(mixed, range(4)))
    assert all(np.all(np.isfinite(a)) for a in leaves(new.model))
    assert float(info.explained) == 0.75
    # Recognition's logits for the hopeless symbol saw no gradient.
    np.testing.assert_array_equal(new.model.recognition.logits[SYMBOLS - 1], model.recognition.logits[SYMBOLS - 1])


def test_an_empty_slot_stays_empty_though_its_zeros_would_score(toy):
    model, data = toy
    algorithm = mws(optax.sgd(0.0), PROGRAMS, 1)
    state, _ = algorithm.step(jax.random.key(0), algorithm.init(model, data), batch_of(data, [0]))
    assert int(np.sum(np.isfinite(np.asarray(state.memory.log_joint)))) <= 1


def test_learning_raises_the_bound(toy):
    model, data = toy
    for name, algorithm in ALGORITHMS.items():
        bounds = [
            float(info.bound)
            for _, info in fit(
                algorithm,
                algorithm.init(model, data),
                data,
                key=jax.random.key(0),
                steps=400,
                batch_size=4,
                every=100,
            )
        ]
        assert bounds[-1] > bounds[0], name


def after_three_steps(toy, **options):
    """The parameters and the memory that a choice of options leads to."""
    model, data = toy
    algorithm = mws(optax.adam(1e-2), 3, 2, **options)
    state, step = algorithm.init(model, data), eqx.filter_jit(algorithm.step)
    for t in range(3):
        state, _ = step(jax.random.key(t), state, batch_of(data, range(8)))
    return [np.asarray(a) for a in jax.tree.leaves(eqx.filter((state.model, state.memory), eqx.is_array))]


def test_the_default_has_fantasy_and_the_tail_and_the_paper_has_neither(toy):
    same = lambda a, b: all(np.array_equal(u, v) for u, v in zip(a, b, strict=True))  # noqa: E731
    default, paper = after_three_steps(toy), after_three_steps(toy, paper=True)
    assert same(default, after_three_steps(toy, recognition="fantasy", tail=True))
    assert same(paper, after_three_steps(toy, recognition="replay", explore=0.0, tail=False))
    assert not same(default, paper)
    revised = after_three_steps(toy, revise=0.5)
    assert same(revised, after_three_steps(toy, revise=0.5, tail=True, recognition="fantasy"))
    assert same(after_three_steps(toy, revise=1.0), after_three_steps(toy, revise=1.0, tail=False, recognition="both"))


def test_sparing_replays_a_program_by_how_far_recognition_is_from_proposing_it(toy):
    """With one slot the gradient of the replayed part is 1 - r(z | x) times that of replay alone."""
    model, data = toy
    moved = {}
    for recognition in ("sparing", "both", "fantasy"):
        algorithm = mws(optax.sgd(1.0), 1, 4, recognition=recognition, tail=False, explore=0.0)
        after, _ = algorithm.step(jax.random.key(3), algorithm.init(model, data), batch_of(data, [1]))
        moved[recognition] = np.asarray(after.model.recognition.logits - model.recognition.logits), after.memory
    x, z = int(data.x[1]), int(moved["both"][1].programs[1, 0, 0])
    left = 1 - float(jax.nn.softmax(model.recognition.logits[x])[z])
    replayed, spared = (moved[name][0] - 0.5 * moved["fantasy"][0] for name in ("both", "sparing"))
    assert np.abs(replayed).max() > 0.01
    np.testing.assert_allclose(spared, left * replayed, atol=1e-6)


def test_exploring_finds_what_recognition_would_never_propose(toy):
    model, data = toy
    blind = eqx.tree_at(
        lambda m: m.recognition.logits, model, jnp.where(jnp.arange(PROGRAMS) == 0, 0.0, -1e9)[None].repeat(SYMBOLS, 0)
    )
    for explore, found in ((0.0, 1), (1.0, PROGRAMS - 1)):
        algorithm = mws(optax.sgd(0.0), PROGRAMS, 20, explore=explore)
        state, _ = algorithm.step(jax.random.key(0), algorithm.init(blind, data), batch_of(data, range(8)))
        most = int(np.max(np.sum(np.isfinite(np.asarray(state.memory.log_joint)), axis=1)))
        assert most >= found if explore else most <= found


def test_a_memory_of_one_explores_without_the_tail_and_a_larger_one_does_not(toy):
    model, data = toy
    lone = jnp.where(jnp.arange(PROGRAMS) == 0, 0.0, -1e9)[None].repeat(SYMBOLS, 0)
    blind = eqx.tree_at(lambda m: m.recognition.logits, model, lone)

    def last(**settings):
        """The greatest program in memory after some steps."""
        algorithm = mws(optax.sgd(0.0), proposals=5, **settings)
        state = algorithm.init(blind, data)
        for t in range(40):
            state, _ = algorithm.step(jax.random.key(t), state, batch_of(data, range(8)))
        return int(np.max(np.where(np.isfinite(state.memory.log_joint), state.memory.programs[..., 0], 0)))

    assert last(memory_size=1, tail=False) > 0
    assert last(memory_size=1, tail=False, explore=0.0) == 0
    assert last(memory_size=1) == 0
    assert last(memory_size=3) == 0


class Stepping(ToyRecognition):
    """Proposes program 0 alone; a revision is the next program."""

    def sample(self, key, h):
        return jnp.zeros(1, jnp.int32)

    def revise(self, key, z, h):
        return jnp.minimum(z + 1, PROGRAMS - 1)


def test_revising_goes_on_from_what_is_remembered(toy):
    model, data = toy
    stepping = eqx.tree_at(lambda m: m.recognition, model, Stepping(model.recognition.logits))
    algorithm = mws(optax.sgd(0.0), PROGRAMS, 20, revise=0.9)
    state, reached = algorithm.init(model, data)._replace(model=stepping), []
    for t in range(PROGRAMS):
        state, _ = algorithm.step(jax.random.key(t), state, batch_of(data, range(8)))
        found = np.where(np.isfinite(np.asarray(state.memory.log_joint)), state.memory.programs[..., 0], -1)
        reached.append(int(found.max()))
    assert reached[0] <= 1
    assert reached[-1] == PROGRAMS - 1
    assert all(later - sooner <= 1 for sooner, later in pairwise(reached))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mws(ADAM, 0), "memory_size must be at least 1"),
        (lambda: mws(ADAM, 3, 0), "proposals must be at least 1"),
        (lambda: vimco(ADAM, 1), "particles must be at least 2"),
        (lambda: rws(ADAM, 0), "particles must be at least 1"),
        (lambda: mws(ADAM, explore=1.5), "explore must lie between 0 and 1"),
        (lambda: mws(ADAM, revise=-0.5), "revise must lie between 0 and 1"),
        (lambda: mws(ADAM, paper=True, revise=0.5), "paper=True is the paper's algorithm"),
        (lambda: mws(ADAM, paper=True, tail=True), "paper=True is the paper's algorithm"),
        (lambda: mws(ADAM, recognition="dream"), "recognition must be one of replay, fantasy, both, sparing"),
    ],
)
def test_impossible_settings_are_refused_in_a_sentence(make, words):
    with pytest.raises(Refusal, match=words):
        make()
