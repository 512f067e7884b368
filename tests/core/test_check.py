"""One test a mistake: each is told in a sentence that names the part and the verb."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.core.test_evaluate import Fitted, Single, Unfitted
from tests.toy import ALL_PROGRAMS, PROGRAMS, SYMBOLS, ToyEvaluator, ToyPrior, ToyRecognition, toy_data, toy_model
from wakesleep.core import check as checking
from wakesleep.core.algorithms import mws, rws
from wakesleep.core.check import check
from wakesleep.core.model import Evaluator, Model, Observations, Prior
from wakesleep.errors import Refusal

MODEL, DATA = toy_model(jax.random.key(0)), toy_data(jax.random.key(1))
TABLES = {"prior": ToyPrior, "evaluator": ToyEvaluator, "recognition": ToyRecognition}


def with_part(name, verbs, model=MODEL):
    """The toy model with some verbs of one part replaced."""
    kind = type("Odd", (TABLES[name],), verbs)
    part = getattr(model, name)
    made = kind(part.logits, part.possible) if name == "evaluator" else kind(part.logits)
    return eqx.tree_at(lambda m: getattr(m, name), model, made)


def score(part):
    return {"prior": ToyPrior.log_prob, "evaluator": ToyEvaluator.log_prob, "recognition": ToyRecognition.log_prob}[
        part
    ]


def refused(model, data=DATA, **given):
    with pytest.raises(Refusal) as caught:
        check(model, data, **given)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


def test_the_toy_and_its_list_of_programs_pass():
    check(MODEL, DATA)
    check(MODEL, DATA, programs=ALL_PROGRAMS)


@pytest.mark.parametrize("part", ["prior", "evaluator", "recognition"])
def test_a_score_of_a_wrong_shape(part):
    model = with_part(part, {"log_prob": lambda self, *a: score(part)(self, *a)[None]})
    assert f"{part}.log_prob must return one float" in refused(model)


def test_an_integer_score():
    assert "prior.log_prob must return one float" in refused(with_part("prior", {"log_prob": lambda self, z, c: z[0]}))


def test_float_tokens():
    drawn = {"sample": lambda self, key, c: ToyPrior.sample(self, key, c).astype(jnp.float32)}
    assert "prior.sample returns a program of float32 and without integer leaves" in refused(with_part("prior", drawn))


def test_programs_without_integer_leaves():
    drawn = {"sample": lambda self, key, h: (jnp.zeros(2), jnp.ones(()))}
    model = with_part("recognition", drawn)
    assert "recognition.sample returns a program of float32 and without integer leaves" in refused(model)


def test_a_program_that_is_no_array():
    assert "prior.sample must return a program" in refused(with_part("prior", {"sample": lambda self, key, c: None}))


def test_prior_and_recognition_that_disagree_on_the_structure_of_a_program():
    for wrong in (lambda z: (z, z), lambda z: jnp.append(z, 0), lambda z: z.astype(jnp.uint8)):
        model = with_part("recognition", {"sample": lambda self, k, h, w=wrong: w(ToyRecognition.sample(self, k, h))})
        assert "recognition.sample proposes" in refused(model)


@pytest.mark.parametrize("part", ["prior", "evaluator", "recognition"])
def test_nan_in_a_score(part):
    model = with_part(part, {"log_prob": lambda self, *a: score(part)(self, *a) * jnp.nan})
    assert f"{part}.log_prob gives NaN" in refused(model)


@pytest.mark.parametrize("part", ["prior", "evaluator", "recognition"])
def test_nan_in_a_gradient(part):
    hidden = lambda self, *a: score(part)(self, *a) + jnp.where(True, 0.0, jnp.sqrt(jnp.sum(self.logits) * 0))  # noqa: E731
    assert f"{part}.log_prob has a gradient that is NaN" in refused(with_part(part, {"log_prob": hidden}))


def test_x_and_c_of_different_lengths():
    assert "x has 8 observations, but c has 5" in refused(MODEL, Observations(DATA.x, jnp.zeros(5)))


def test_data_that_are_not_observations():
    assert "data must be wakesleep.Observations(x, c), but it is a NumPy array" in refused(MODEL, np.zeros(4))


def test_lists_of_unequal_arrays():
    ragged = Observations([np.zeros(3), np.zeros(5)])
    assert "unequal lengths [3, 5]" in refused(MODEL, ragged)
    assert "must hold arrays with a leading axis" in refused(MODEL, Observations([1.0, 2.0]))


def test_no_observations():
    assert "nothing to learn from" in refused(MODEL, Observations(jnp.zeros((0, 2))))


@pytest.mark.parametrize("part", ["prior", "recognition"])
def test_tokens_outside_of_the_grammar(part):
    known = lambda self, z, *a: jnp.where(z[0] == 1, -jnp.inf, score(part)(self, z, *a))  # noqa: E731
    assert f"{part}.sample draws a program to which {part}.log_prob gives -inf" in refused(
        with_part(part, {"log_prob": known})
    )


def test_tokens_that_a_table_does_not_have():
    """JAX would take the last entry of the prior's table in silence."""
    wide = ToyRecognition(jnp.zeros((SYMBOLS, PROGRAMS + 2)))
    assert "looks up a token of recognition.sample that its tables do not have" in refused(
        eqx.tree_at(lambda m: m.recognition, MODEL, wide)
    )


@pytest.mark.parametrize(("value", "words"), [(0.5, "a float"), (np.ones(2), "a NumPy array")])
def test_parameters_that_are_not_arrays_of_jax(value, words):
    class Stiff(Evaluator):
        scale: object

        def sample(self, key, z):
            return z[0]

        def log_prob(self, x, z):
            return -jnp.sum(jnp.asarray(self.scale) ** 2)

    model = eqx.tree_at(lambda m: m.evaluator, MODEL, Stiff(value))
    assert f"evaluator.scale is {words}" in refused(model)


def test_an_evaluator_that_draws_another_shape():
    drawn = {"sample": lambda self, key, z: ToyEvaluator.sample(self, key, z)[None]}
    assert "evaluator.sample draws int32[1], but the data hold int32[]" in refused(with_part("evaluator", drawn))
    drawn = {"sample": lambda self, key, z: 0.5 * ToyEvaluator.sample(self, key, z)}
    assert "evaluator.sample draws float32[]" in refused(with_part("evaluator", drawn))


def test_swapped_arguments():
    named = {"log_prob": lambda self, z, x: ToyEvaluator.log_prob(self, x, z)}
    assert "evaluator.log_prob takes (z, x), but it is called with (x, z)" in refused(with_part("evaluator", named))
    unnamed = {"log_prob": lambda self, a, b: ToyEvaluator.log_prob(self, b, a)}
    assert "evaluator.log_prob fails for one observation, its arguments seem to be swapped" in refused(
        with_part("evaluator", unnamed)
    )
    assert "swapped: call check(model, data)" in refused(DATA, MODEL)
    parts = eqx.tree_at(lambda m: (m.prior, m.evaluator), MODEL, (MODEL.evaluator, MODEL.prior))
    assert "The prior of a Model must be a wakesleep.Prior, but it is a ToyEvaluator" in refused(parts)


def test_a_verb_that_fails():
    def encode(self, x, c):
        return x @ jnp.zeros(3)

    sentence = refused(with_part("recognition", {"encode": encode}))
    assert sentence.startswith("recognition.encode fails for one observation, ")


@pytest.mark.parametrize("part", ["prior", "recognition"])
def test_probabilities_that_do_not_sum_to_one(part):
    raw = {"prior": lambda self, z, c: self.logits[z[0]], "recognition": lambda self, z, h: self.logits[h, z[0]]}[part]
    assert f"{part}.log_prob sum to" in refused(with_part(part, {"log_prob": raw}))
    small = lambda self, *a: score(part)(self, *a) - 2.0  # noqa: E731
    assert f"{part}.sample and {part}.log_prob disagree" in refused(with_part(part, {"log_prob": small}))
    little = lambda self, *a: score(part)(self, *a) - 0.05  # noqa: E731, too little for draws, not for a list
    listed = refused(with_part(part, {"log_prob": little}), programs=ALL_PROGRAMS)
    assert f"all programs by {part}.log_prob sum to 0.9512" in listed


CARRYING, NUMBERS = Model(Single(), Fitted(), Unfitted()), Observations(jnp.asarray([1.0, -4.0]))


def refining(refine):
    return eqx.tree_at(lambda m: m.evaluator, CARRYING, type("Odd", (Fitted,), {"refine": refine})())


def test_a_refine_that_changes_tokens():
    assert "evaluator.refine changes the integer leaves" in refused(
        refining(lambda self, z, x: (z[0] + 1, z[1])), NUMBERS
    )


def test_a_refine_that_makes_a_score_worse():
    assert "evaluator.refine makes scores worse" in refused(refining(lambda self, z, x: (z[0], z[1] - x)), NUMBERS)
    check(CARRYING, NUMBERS)


def test_a_recognition_or_prior_that_scores_carried_floats():
    class Peeking(Single):
        def log_prob(self, z, c):
            return -(z[1] ** 2)

    model = eqx.tree_at(lambda m: m.prior, CARRYING, Peeking())
    assert "prior.log_prob depends on the floats that a program carries" in refused(model, NUMBERS)


def filling(log_prob):
    """A recognition that draws the float leaf, and scores programs as given."""
    parts = {
        "fill": lambda self, key, z, h: (z[0], jax.random.normal(key)),
        "log_fill": lambda self, z, h: -0.5 * z[1] ** 2 - 0.5 * jnp.log(2 * jnp.pi),
        "log_prob": log_prob,
    }
    return eqx.tree_at(lambda m: m.recognition, CARRYING, type("Filling", (Unfitted,), parts)())


def test_a_recognition_that_scores_in_its_tokens_what_it_fills():
    words = "recognition.log_prob depends on the floats that `fill` draws"
    assert words in refused(filling(lambda self, z, h: -(z[1] ** 2)), NUMBERS)
    check(filling(lambda self, z, h: jnp.zeros(())), NUMBERS)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (lambda self, z: (z + 1) % PROGRAMS, "in canonical form already"),
        (lambda self, z: jnp.zeros_like(z), "changes what a program means"),
    ],
)
def test_canonical_forms_that_are_none(form, words):
    assert words in refused(with_part("prior", {"canonical": form}))


def test_init_checks_and_a_trace_does_not(monkeypatch):
    broken = with_part("prior", {"log_prob": lambda self, z, c: ToyPrior.log_prob(self, z, c)[None]})
    for algorithm in (mws(optax.adam(1e-2), 3, 2), rws(optax.adam(1e-2), 3)):
        with pytest.raises(Refusal, match=r"prior\.log_prob must return one float"):
            algorithm.init(broken, DATA)
    monkeypatch.setattr(checking, "_check_host", None)  # calling it would fail
    shapes = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), DATA)
    eqx.filter_eval_shape(mws(optax.adam(1e-2), 3, 2).init, MODEL, shapes)
    keys = jax.random.split(jax.random.key(0), 2)
    eqx.filter_vmap(lambda k: mws(optax.adam(1e-2), 3, 2).init(toy_model(k), DATA))(keys)


def test_models_of_the_same_classes_are_computed_with_once(monkeypatch):
    checking.check_new(MODEL, DATA)
    monkeypatch.setattr(checking, "check_numbers", None)
    checking.check_new(toy_model(jax.random.key(5)), DATA)
    with pytest.raises(TypeError):
        checking.check_new(with_part("prior", {}), DATA)


def test_a_prior_need_not_be_an_lstm_nor_have_parameters():
    class Fixed(Prior):
        def sample(self, key, c):
            return jax.random.randint(key, (1,), 0, PROGRAMS)

        def log_prob(self, z, c):
            return -jnp.log(PROGRAMS * jnp.ones(()))

    check(eqx.tree_at(lambda m: m.prior, MODEL, Fixed()), DATA, programs=ALL_PROGRAMS)


def test_parts_that_come_with_the_package_are_not_computed_with_at_every_start(monkeypatch):
    from wakesleep.domains.clusters.data import Settings, build, load

    settings = Settings(observations=4, points=3, width=4)
    data = load(settings).train
    computed = []
    monkeypatch.setattr(checking, "check_numbers", lambda *given: computed.append(given))
    checking.check_new(build(jax.random.key(0), settings, data), data)
    assert computed == []
