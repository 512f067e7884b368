"""Strings: the language, the evaluator against plain expansion and `re`, the networks, the data."""

import itertools
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.plain_regex import probability
from tests.regexes import ATOMS, LENGTH, standard, trees
from wakesleep.core.algorithms import mws, rws, vimco
from wakesleep.core.fit import fit
from wakesleep.core.networks import END, LstmWriter, TokenPrior
from wakesleep.domains.strings import data
from wakesleep.domains.strings.evaluator import ABSENT, SPEED, Regex, Strings, as_strings, as_text, build
from wakesleep.domains.strings.language import (
    BAR,
    CHARACTERS,
    CLOSE,
    OPEN,
    OPTIONAL,
    PLUS,
    RULES,
    SPELLINGS,
    STAR,
    TOKEN,
    canonical,
    flatten,
    parse,
    program,
    text_of,
    tokens_of,
    tree_of,
)
from wakesleep.domains.strings.networks import StringRecognition, start_bias
from wakesleep.domains.strings.show import picture, show, words
from wakesleep.errors import Refusal

STRINGS, LONGEST = 6, 8
LETTERS = "ab1 "


def evaluator(seed: int = 0) -> Regex:
    """One whose probabilities are nowhere uniform."""
    keys = jax.random.split(jax.random.key(seed))
    plain = Regex(STRINGS, LONGEST)
    parameters = (
        jax.random.normal(keys[0], plain.classes.shape),
        jax.random.normal(keys[1], plain.operators.shape) / SPEED,
    )
    return eqx.tree_at(lambda e: (e.classes, e.operators), plain, parameters)


EVALUATOR = evaluator()
EMISSIONS = np.asarray(EVALUATOR.emissions, np.float64).tolist()
CHANCES = [float(c) for c in EVALUATOR.chances]


@eqx.filter_jit
def log_each(e: Regex, x: Strings, z):
    return e.log_each(x, z)


def padded(tokens: list[int], length: int = LENGTH):
    return jnp.asarray(tokens + [END] * (length - len(tokens)), jnp.int32)


def probabilities(tokens: list[int], texts: list[str]) -> np.ndarray:
    """By the library, some strings at a time."""
    found = []
    for i in range(0, len(texts), STRINGS):
        x = as_strings(texts[i : i + STRINGS], STRINGS, LONGEST)
        found.append(np.exp(np.asarray(log_each(EVALUATOR, x, padded(tokens)), np.float64)))
    return np.concatenate(found)[: len(texts)]


def plain(tokens: list[int], text: str) -> float:
    return probability(tree_of(tokens), text, *CHANCES, EMISSIONS)


texts = st.lists(st.text(LETTERS, max_size=LONGEST), min_size=STRINGS, max_size=STRINGS)


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(trees(), texts)
def test_probabilities_are_those_of_plain_expansion_and_positive_where_re_accepts(tree, strings):
    tokens = flatten(tree)
    found = probabilities(tokens, strings)
    np.testing.assert_allclose(found, [plain(tokens, s) for s in strings], rtol=2e-4)
    pattern = re.compile(standard(tree))
    assert [p > 0 for p in found] == [pattern.fullmatch(s) is not None for s in strings]


@pytest.mark.parametrize("text", [r"(a?)*", r"(a?b?)+", r"a*b|\d", r"(a|b)?1", r"((a|b1)*\d)?", r"a?b?1?"])
def test_probabilities_of_all_strings_sum_to_one(text):
    tokens = tokens_of(text)
    strings = ["".join(s) for n in range(7) for s in itertools.product("ab1", repeat=n)]
    e = eqx.tree_at(lambda e: e.classes, EVALUATOR, EVALUATOR.classes.at[:, CHARACTERS.index("1")].add(60.0))
    x = as_strings(strings, len(strings), LONGEST)
    mass = float(jnp.exp(log_each(e, x, padded(tokens))).sum())
    assert mass + beyond(e, tokens, 6) == pytest.approx(1.0, abs=1e-4)


def beyond(e: Regex, tokens: list[int], most: int) -> float:
    """The mass of strings of more characters: walks of the automaton that do not end before."""
    automaton = build(padded(tokens), e.chances)
    weight = np.asarray(automaton.first, np.float64)
    for _ in range(most):
        weight = weight @ np.asarray(automaton.follow, np.float64)
    return float(weight.sum())


def test_gradients_are_those_of_finite_differences():
    x = as_strings(["aab", "1", "b1b", "ab"], STRINGS, LONGEST)
    z = padded(tokens_of(r"(a|\w)+b?\d?"))

    def loss(e: Regex):
        return e.log_prob(x, z)

    with jax.enable_x64(True):
        wide = jax.tree.map(lambda a: jnp.asarray(a, jnp.float64) if eqx.is_inexact_array(a) else a, EVALUATOR)
        gradient = eqx.filter_grad(loss)(wide)
        for where in (lambda e: e.operators, lambda e: e.classes):
            for i in np.ndindex((3,)) if where(wide).ndim == 1 else [(1, CHARACTERS.index("a")), (2, 17)]:
                up, down = (eqx.tree_at(where, wide, where(wide).at[i].add(h)) for h in (1e-5, -1e-5))
                slope = (float(loss(up)) - float(loss(down))) / 2e-5
                assert float(where(gradient)[i]) == pytest.approx(slope, abs=1e-6)


def test_random_tokens_never_give_nan_and_are_possible_only_if_well_formed():
    keys = jax.random.split(jax.random.key(3), 2)
    z = jax.random.randint(keys[0], (100_000, LENGTH), 0, len(SPELLINGS))
    few = jnp.asarray([END, *ATOMS, OPTIONAL, STAR, PLUS, BAR, OPEN, CLOSE, CLOSE, BAR, STAR], jnp.int32)
    z = jnp.where(jnp.arange(100_000)[:, None] % 2 == 0, few[z % few.shape[0]], z)
    x = as_strings(["a", "ab1", ""], 3, LONGEST)

    @eqx.filter_jit
    def several(e: Regex, z):
        return jax.vmap(eqx.filter_value_and_grad(lambda e, z: jnp.sum(_finite(e.log_each(x, z)))), (None, 0))(e, z)

    def _finite(a):
        return jnp.where(jnp.isfinite(a), a, 0.0)

    log_p = eqx.filter_jit(lambda e, z: jax.vmap(lambda z: e.log_each(x, z))(z))
    for part in jnp.split(z, 10):
        assert not np.isnan(np.asarray(log_p(EVALUATOR, part))).any()
    _, gradient = several(EVALUATOR, z[:10_000])
    assert all(np.isfinite(np.asarray(g)).all() for g in jax.tree.leaves(gradient))
    sound = np.isfinite(np.asarray(log_p(EVALUATOR, z[:2000]))).any(axis=1)
    for tokens in np.asarray(z[:2000])[sound].tolist():
        tree_of(tokens)


def test_strings_drawn_from_a_regex_have_its_probabilities():
    tokens = tokens_of(r"(a|b1?)+")
    draw = eqx.filter_jit(jax.vmap(lambda k: EVALUATOR.sample(k, padded(tokens))))
    drawn = draw(jax.random.split(jax.random.key(0), 4000))
    flat = as_text(Strings(drawn.characters.reshape(-1, LONGEST), drawn.lengths.reshape(-1)))
    whole = 1 - beyond(EVALUATOR, tokens, LONGEST)  # strings are drawn given that they are not longer
    for s in ("a", "b", "b1", "aa", "ab"):
        p = plain(tokens, s) / whole
        assert flat.count(s) / len(flat) == pytest.approx(p, abs=4 * np.sqrt(p / len(flat)))


def test_an_absent_string_counts_for_nothing():
    z = padded(tokens_of(r"\l+"))
    both = EVALUATOR.log_prob(as_strings(["ab", "a"], STRINGS, LONGEST), z)
    alone = EVALUATOR.log_prob(as_strings(["ab", "a"], 2, LONGEST), z)
    assert float(both) == pytest.approx(float(alone))
    assert int(as_strings(["ab"], 2, LONGEST).lengths[1]) == ABSENT


@settings(max_examples=300, deadline=None, derandomize=True)
@given(trees())
def test_the_one_spelling_means_the_same_strings_and_is_its_own_spelling(tree):
    one = canonical(tree)
    assert canonical(one) == one
    assert tree_of(tokens_of(text_of(flatten(one)))) == one
    before, after = re.compile(standard(tree)), re.compile(standard(one))
    for s in map("".join, itertools.product("ab1 ", repeat=3)):
        assert (before.fullmatch(s) is None) == (after.fullmatch(s) is None)


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("(a)", "a"),
        ("((ab))c", "abc"),
        ("a**", "a*"),
        ("(a+)?", "a*"),
        ("a|(b|c)", "a|b|c"),
        ("a b", r"a\sb"),
        (r"\.", r"\."),
    ],
)
def test_redundant_spellings_are_settled(text, one):
    assert show(program(text, 8)) == one


@pytest.mark.parametrize("text", ["(a", "a)", "*a", "a|", "()", r"\q", "a\tb"])
def test_what_is_no_regex_is_refused(text):
    with pytest.raises(Refusal):
        parse(text)


@pytest.fixture(scope="module")
def networks():
    keys = jax.random.split(jax.random.key(0))
    prior = TokenPrior(LstmWriter(keys[0], 8, start_bias()), RULES, LENGTH)
    return prior, StringRecognition(keys[1], 8, LENGTH, start_bias())


def test_only_canonical_regexes_are_written_and_their_probabilities_are_frequencies(networks):
    few = [END, TOKEN["a"], PLUS, OPEN, CLOSE, BAR]  # so that programs repeat
    bias = jnp.asarray([3.0 if t in few else -20.0 for t in range(len(SPELLINGS))])
    prior = eqx.tree_at(lambda p: p.writer.bias, networks[0], bias)
    draw = eqx.filter_jit(jax.vmap(lambda k: prior.sample(k, None)))
    z = np.asarray(draw(jax.random.split(jax.random.key(1), 20_000)))
    kinds, counts = np.unique(z, axis=0, return_counts=True)
    for tokens in kinds[:500].tolist():
        body = [t for t in tokens if t != END]
        assert flatten(canonical(tree_of(tokens))) == body
    common = np.argsort(-counts)[:10]
    log_p = eqx.filter_jit(jax.vmap(lambda z: prior.log_prob(z, None)))(jnp.asarray(kinds[common]))
    np.testing.assert_allclose(np.exp(log_p), counts[common] / 20_000, atol=4 * np.sqrt(0.25 / 20_000))
    assert float(prior.log_prob(padded(tokens_of("(a)")), None)) == -np.inf


def test_recognition_writes_regexes_it_can_score(networks):
    _, recognition = networks
    h = recognition.encode(as_strings(["ab1", "b1"], STRINGS, LONGEST), None)
    draw = eqx.filter_jit(jax.vmap(lambda k: recognition.sample(k, h)))
    z = draw(jax.random.split(jax.random.key(2), 200))
    log_r = eqx.filter_jit(jax.vmap(lambda z: recognition.log_prob(z, h)))(z)
    assert np.isfinite(np.asarray(log_r)).all()
    assert {text_of(t.tolist()) for t in np.asarray(z)} != {""}


def test_revisions_are_near_and_use_the_characters_of_the_strings(networks):
    _, recognition = networks
    z = padded(tokens_of("ab"), recognition.length)
    h = recognition.encode(as_strings(["ab", "a1"], 3, LONGEST), None)
    revise = jax.jit(jax.vmap(lambda key: recognition.revise(key, z, h)))
    found = np.asarray(revise(jax.random.split(jax.random.key(0), 400)))
    lengths, letters = (found != END).sum(axis=1), {SPELLINGS[t] for t in found.ravel() if 0 < t <= len(CHARACTERS)}
    assert lengths.min() >= 0
    assert lengths.max() <= 5
    assert letters == {"a", "b", "1"}
    assert {tuple(tokens_of(text)) for text in ("a", "b", "aab", "1b")} <= {tuple(r[r != END]) for r in found}


def test_the_order_and_the_number_of_absent_strings_do_not_matter_to_recognition(networks):
    _, recognition = networks
    z = padded(tokens_of(r"\l+\d"))
    scores = [
        float(recognition.log_prob(z, recognition.encode(as_strings(s, n, LONGEST), None)))
        for s, n in ((["ab1", "b1"], 2), (["b1", "ab1"], 2), (["ab1", "b1"], STRINGS))
    ]
    assert scores[1] == pytest.approx(scores[0], abs=1e-4)
    assert scores[2] == pytest.approx(scores[0], abs=1e-4)


def test_the_embedded_concepts_are_the_default():
    dataset = data.load(data.Settings())
    assert len(dataset.train) == 43
    assert words(jax.tree.map(lambda a: a[0], dataset.train.x))[0] == "#574c1d"


def test_a_concept_of_other_characters_is_left_out_and_counted(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("code,mood\n" + "".join(f"A{i},😀{i}\n" for i in range(9)))
    dataset = data.load(data.Settings(data=path))
    assert dataset.names == ["code"]
    assert "1 left out" in dataset.note


def test_a_model_learns_with_memory_and_fantasies():
    dataset = data.load(data.Settings())
    few = dataset.train[jnp.arange(6)]
    model = data.build(jax.random.key(0), data.Settings(hidden=8), few)
    algorithm = mws(optax.adam(1e-3), 2, 2, recognition="fantasy")
    state = algorithm.init(model, few)
    for state, info in fit(algorithm, state, few, key=jax.random.key(1), steps=40, batch_size=6):
        assert np.isfinite(float(info.bound)) or float(info.explained) == 0
    assert float(info.explained) > 0
    assert all(np.isfinite(np.asarray(a)).all() for a in jax.tree.leaves(eqx.filter(state.model, eqx.is_inexact_array)))
    for tokens in np.asarray(state.memory.programs[:, 0])[np.isfinite(np.asarray(state.memory.log_joint[:, 0]))]:
        assert flatten(canonical(tree_of(tokens.tolist()))) == [t for t in tokens if t != END]


@pytest.mark.slow
@pytest.mark.parametrize(
    "algorithm", [rws(optax.adam(1e-3), 3), rws(optax.adam(1e-3), 3, "sleep"), vimco(optax.adam(1e-3), 3)]
)
def test_the_rivals_run_too(algorithm):
    few = data.load(data.Settings()).train[jnp.arange(6)]
    model = data.build(jax.random.key(0), data.Settings(hidden=8), few)
    for state, info in fit(algorithm, algorithm.init(model, few), few, key=jax.random.key(1), steps=20, batch_size=6):
        assert not np.isnan(float(info.bound))
    assert all(np.isfinite(np.asarray(a)).all() for a in jax.tree.leaves(eqx.filter(state.model, eqx.is_inexact_array)))


def test_the_papers_concepts_are_read_where_they_are():
    try:
        found = data.concepts("paper")
    except Refusal as absent:
        pytest.skip(str(absent))
    assert len(found) == 1000
    assert found[0].train == ["HF11", "HF12", "HF7", "HF15", "HF3"]
    assert len(data.concepts("all")) + len(data.concepts("calibration")) == 1000 + len(data.concepts("large"))


def test_pictures_can_be_drawn():
    x = as_strings(["$5", "$12"], STRINGS, LONGEST)
    figure = Figure()
    picture(figure, x, [(padded(tokens_of(r"$\d+")), 0.9), (padded(tokens_of(r".+")), 0.1)], None)
    FigureCanvasAgg(figure).draw()
    assert len(figure.axes) == 2
