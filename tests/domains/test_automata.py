import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from PIL import Image as Files
from scipy.special import logsumexp

from wakesleep.core.algorithms import mws
from wakesleep.core.evaluate import exact_joint
from wakesleep.core.fit import fit
from wakesleep.core.memory import Weighted
from wakesleep.core.model import Batch, Observations
from wakesleep.domains.automata.data import Settings, build, load, programs, read, stack, true_rules
from wakesleep.domains.automata.domain import DOMAIN
from wakesleep.domains.automata.evaluator import NoisyAutomaton, narrow, picture
from wakesleep.domains.automata.language import NEIGHBOURHOOD_SIZES, Rule, RulePrior, number, odds, rule, tables, widen
from wakesleep.domains.automata.networks import Convolutional, Counting
from wakesleep.domains.automata.show import extrapolate, noise, remarks, show, words
from wakesleep.errors import Refusal

SMALL = Settings(observations=6, height=8, width=9, recognition="counts")
STRIPES = np.tile(np.array([0, 0, 1, 1], np.int8), 3)[:, None].repeat(12, axis=1)


def by_hand(image, table, size, phi):
    """The product over the cells, one at a time."""
    total, (height, width) = -image.shape[0] * np.log(2.0), image.shape
    for j in range(1, width):
        for k in range(height):
            cells = [image[(k + i - size // 2) % height, j - 1] for i in range(size)]
            outcome = table[int("".join(map(str, cells)), 2)]
            total += np.log(1 - phi if outcome == image[k, j] else phi)
    return total


@pytest.mark.parametrize("size", [1, 3, 5, 7])
def test_sufficient_statistics_score_as_the_product_over_cells(size):
    rng = np.random.default_rng(size)
    image, table = rng.integers(0, 2, (9, 6)), rng.integers(0, 2, 2**size)
    z = Rule(jnp.asarray(size), jnp.asarray(table, jnp.int32))
    evaluator, wide = (NoisyAutomaton(0.1, sizes, (9, 6)) for sizes in ((size,), (1, 3, 5, 7)))
    padded = Rule(z.size, jnp.pad(z.table, (0, 128 - 2**size)))
    expected = by_hand(image, table, size, 0.1)
    np.testing.assert_allclose(evaluator.log_prob(picture(image, size, False), z), expected, rtol=1e-5)
    np.testing.assert_allclose(evaluator.log_prob_pixels(jnp.asarray(image, jnp.int8), z), expected, rtol=1e-5)
    np.testing.assert_allclose(wide.log_prob(picture(image, 7, False), padded), expected, rtol=1e-5)


def test_counts_of_a_narrower_neighbourhood_are_sums_of_the_wider():
    image = np.random.default_rng(0).integers(0, 2, (9, 7))
    for size in (1, 3, 5):
        direct = picture(image, size, False).counts
        np.testing.assert_array_equal(narrow(picture(image, 7, False).counts, 7, size), direct)


def every_rule(sizes):
    """Every program of those sizes."""
    found = [np.pad(tables(s), ((0, 0), (0, 2 ** sizes[-1] - 2**s))) for s in sizes]
    size = np.concatenate([np.full(len(t), s) for t, s in zip(found, sizes, strict=True)])
    return Rule(jnp.asarray(size, jnp.int32), jnp.asarray(np.concatenate(found)))


@pytest.mark.parametrize("learned", [False, True])
def test_the_prior_sums_to_one_and_prefers_fewer_neighbours(learned):
    prior = RulePrior((1, 3), learned)
    log_p = jax.jit(jax.vmap(lambda z: prior.log_prob(z, None)))(every_rule((1, 3)))
    assert abs(logsumexp(log_p)) < 1e-5
    assert float(log_p[0] - log_p[-1]) == pytest.approx((8 - 2) * np.log(2), abs=1e-5)


@pytest.mark.parametrize("z", [([1, 0, 0, 0, 0, 0, 0, 1], 1), ([0] * 8, 5), ([2] + [0] * 7, 3)])
def test_a_rule_spelled_wrongly_is_impossible_and_passes_no_gradient(z):
    wrong = Rule(jnp.asarray(z[1]), jnp.asarray(z[0], jnp.int32))
    score, gradient = eqx.filter_value_and_grad(lambda p: p.log_prob(wrong, None))(RulePrior((1, 3), learned=True))
    assert float(score) == -np.inf
    assert all(np.all(np.asarray(g) == 0) for g in jax.tree.leaves(gradient))


@pytest.mark.parametrize("kind", [Counting, Convolutional])
def test_recognition_sums_to_one_and_draws_rules_spelled_rightly(kind):
    network = kind(jax.random.key(0), (1, 3))

    @jax.jit
    def both(image):
        h = network.encode(picture(image, 3, True), None)
        z = jax.vmap(lambda k: network.sample(k, h))(jax.random.split(jax.random.key(1), 100))
        score = jax.vmap(lambda z: network.log_prob(z, h))
        return score(every_rule((1, 3))), score(z), z.size

    log_r, drawn, size = both(jnp.asarray(STRIPES))
    assert abs(logsumexp(log_r)) < 1e-4
    assert np.all(np.isfinite(drawn))
    assert set(np.unique(size)) == {1, 3}


def test_a_revised_rule_differs_in_the_outcome_of_one_pattern_that_it_uses():
    network = Counting(jax.random.key(0), NEIGHBOURHOOD_SIZES)
    z, turned = rule(110, 3, widest=7), set()
    sizes = len(NEIGHBOURHOOD_SIZES)
    h = odds(NEIGHBOURHOOD_SIZES, jnp.zeros(sizes), jnp.zeros((sizes, 2**7)))
    for seed in range(60):
        new = network.revise(jax.random.key(seed), z, h)
        (place,) = np.flatnonzero(np.asarray(new.table) != np.asarray(z.table))
        turned.add(int(place))
        assert int(new.size) == 3
    assert turned == set(range(8))


def test_the_convolution_by_patterns_is_the_convolution_of_the_image():
    network = Convolutional(jax.random.key(0), (3,), channels=4)
    image = np.random.default_rng(1).integers(0, 2, (8, 7))
    wrapped = np.pad(2.0 * image - 1, ((1, 1), (0, 0)), mode="wrap").astype(np.float32)
    kernel = network.kernel.reshape(2, 3, 1, 4).transpose(1, 0, 2, 3)
    slid = jax.lax.conv_general_dilated(
        jnp.asarray(wrapped)[None, :, :, None], kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    expected = jax.nn.relu(slid[0] + network.kernel_bias[None, None]).mean(axis=(0, 1))
    np.testing.assert_allclose(jax.jit(lambda i: network.features(picture(i, 3, True)))(image), expected, rtol=1e-4)


def test_samples_follow_the_rule_but_for_the_noise():
    evaluator, z = NoisyAutomaton(0.05, (3,), (64, 64)), rule(30)
    x = jax.jit(lambda k: evaluator.sample(k, z))(jax.random.key(0))
    np.testing.assert_array_equal(picture(x.image, 3, False).counts, x.counts)
    mean, spread = noise(x, z, (3,))
    assert abs(mean - 0.05) < 4 * spread
    clean = NoisyAutomaton(1e-9, (3,), (64, 5)).grow(jax.random.key(1), x.image[:, 0], z, 1)[:, 0]
    left, middle, right = np.roll(x.image[:, 0], 1), np.asarray(x.image[:, 0]), np.roll(x.image[:, 0], -1)
    np.testing.assert_array_equal(clean, left ^ (middle | right))  # Wolfram's rule 30


def test_the_memory_matches_the_exact_posterior_where_patterns_never_occur():
    """In these stripes 000, 010, 101 and 111 never occur: sixteen rules are equally probable."""
    data = Observations(stack([STRIPES], SMALL))
    algorithm = mws(optax.adam(1e-2), memory_size=20, proposals=20)
    state = algorithm.init(build(jax.random.key(0), SMALL, data), data)
    for state, _ in fit(algorithm, state, data, key=jax.random.key(1), steps=100, batch_size=1):
        pass
    every = programs(SMALL, data)
    joint = np.asarray(exact_joint(state.model, every, data))[0]
    exact = np.exp(joint - logsumexp(joint))
    q = algorithm.posterior(jax.random.key(2), state, Batch(jnp.arange(1), data.x))
    found = np.zeros(256)
    for table, log_weight in zip(q.programs.table[0], q.log_weight[0], strict=True):
        found[number(Rule(3, table))] += np.exp(log_weight)
    np.testing.assert_allclose(found, exact, atol=1e-5)
    np.testing.assert_allclose(np.sort(exact)[-16:], 1 / 16, atol=1e-5)


def test_unknown_neighbourhoods_are_drawn_and_widened():
    settings = Settings(unknown=True, observations=30, height=8, width=4, recognition="counts")
    true = true_rules(settings)
    assert set(np.asarray(true.size).tolist()) == {1, 3, 5, 7}
    z = jax.tree.map(lambda a: a[int(np.argmin(true.size))], true)
    wide = np.asarray(widen(z, settings.sizes))
    np.testing.assert_array_equal(wide, np.asarray(z.table)[np.arange(128) >> 3 & 1])
    assert load(settings).train.x.counts.shape == (30, 128, 2)


def write(path, array, mode):
    Files.fromarray(np.asarray(array, np.uint8), mode=mode).save(path)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_png_files_of_any_size_are_read_and_three_colours_refused(tmp_path):
    first, second = (STRIPES.astype(int)[:h, :w] for h, w in ((8, 5), (12, 9)))
    write(tmp_path / "a.png", 255 * (1 - first), "L")
    clear = np.stack([*np.zeros((3, *second.shape)), 255 * second], axis=-1)  # black ink on nothing
    write(tmp_path / "b.png", clear, "RGBA")
    dataset = read(tmp_path, SMALL)
    assert dataset.names == ["a.png", "b.png"]
    assert dataset.train.x.image.shape == (2, 12, 9)
    for row, image in enumerate((first, second)):
        x = jax.tree.map(lambda a, row=row: a[row], dataset.train.x)
        assert words(x) == ["".join(map(str, line)) for line in image]
        np.testing.assert_array_equal(x.counts, picture(image, 3, False).counts)
        assert float(x.height) == len(image)
    write(tmp_path / "c.png", 100 * first + first.cumsum(axis=1), "L")
    with pytest.raises(Refusal, match="colours, but an image of an automaton must have exactly two"):
        read(tmp_path, SMALL)
    (tmp_path / "d.png").write_text("no picture")
    with pytest.raises(Refusal, match="cannot be read as an image"):
        read(tmp_path / "d.png", SMALL)
    with pytest.raises(Refusal, match="is not a file"):
        read(tmp_path / "e.png", SMALL)


@pytest.mark.parametrize(
    "bad", [{"neighbours": 4}, {"noise": 0.0}, {"recognition": "eyes"}, {"prior": "flat"}, {"height": 2}, {"width": 1}]
)
def test_settings_that_make_no_sense_are_refused(bad):
    with pytest.raises(Refusal):
        DOMAIN.configure(bad)


def test_rules_are_shown_by_their_number():
    assert show(rule(30)) == "rule 30 of 3 neighbours (111>0 110>0 101>0 100>1 011>1 010>1 001>1 000>0)"
    assert show(rule(2, 1)) == "rule 2 of 1 neighbour (1>1 0>0)"
    assert show(rule(0xDEADBEEF, 5, 7)) == "rule 0xdeadbeef of 5 neighbours"


def test_an_image_is_continued_by_its_rule():
    x, z = picture(STRIPES, 3, False), rule(204)  # 204 keeps every cell
    q = Weighted(jax.tree.map(lambda a: a[None], z), jnp.zeros(1))
    longer = extrapolate(jax.random.key(0), NoisyAutomaton(1e-9, (3,), STRIPES.shape), x, q, 6)
    np.testing.assert_array_equal(longer, STRIPES[:, :1].repeat(18, axis=1))


def test_pictures_can_be_drawn():
    from matplotlib.figure import Figure

    x = jax.tree.map(np.asarray, picture(STRIPES, 3, False))
    DOMAIN.picture(Figure(), x, [(jax.tree.map(np.asarray, rule(204)), 0.9)], None)
    wide = jax.tree.map(np.asarray, picture(STRIPES, 7, False))
    DOMAIN.picture(Figure(), wide, [(jax.tree.map(np.asarray, rule(204, 3, 7)), 1.0)], None)


def test_the_noise_of_an_image_is_remarked_on_with_its_uncertainty():
    x, z = picture(STRIPES, 3, False), rule(204)
    mean, spread = noise(x, z, (3,))
    assert remarks(x, z) == f"noise {100 * mean:.2f} ± {100 * spread:.2f} %"
