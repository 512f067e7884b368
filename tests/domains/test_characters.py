import itertools
import zipfile
from io import BytesIO

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from matplotlib.figure import Figure
from PIL import Image as Files
from scipy.spatial import cKDTree
from scipy.special import logsumexp

from wakesleep.core.algorithms import mws, vimco
from wakesleep.core.fit import fit
from wakesleep.core.networks import edit
from wakesleep.data import downloads as datasets
from wakesleep.domains.characters import omniglot
from wakesleep.domains.characters.data import Settings, build, load, splits
from wakesleep.domains.characters.domain import DOMAIN
from wakesleep.domains.characters.drawings import read_image
from wakesleep.domains.characters.evaluator import (
    MOST_DISPLACEMENT,
    MOST_TURN,
    SIDE,
    Arcs,
    Renderer,
    arcs,
    closeness,
    ink,
    pixels,
)
from wakesleep.domains.characters.explain import EXPLAINER
from wakesleep.domains.characters.language import drawn, rules, spell
from wakesleep.domains.characters.networks import StrokePrior, StrokeRecognition
from wakesleep.domains.characters.show import film, show, stages, words
from wakesleep.errors import Refusal
from wakesleep.running import asking

TINY = Settings(observations=6, strokes=3, length=2, hidden=4, prior_hidden=2, channels=2, reach=1)
ANGLES = (-MOST_TURN, -np.pi, -1.0, -1e-3, -1e-6, 0.0, 1e-6, 1e-4, 0.5, np.pi / 2, np.pi, 4.0, MOST_TURN)


def dense(start, displacement, angle, count=20_001):
    """Points of an arc, from the textbook: a chord turned by half the angle on a circle of radius chord / (2 sin)."""
    share = np.linspace(0, 1, count)
    if abs(angle) < 1e-9:
        return start + share[:, None] * displacement
    chord = np.hypot(*displacement)
    radius = chord / (2 * np.sin(angle / 2))
    along = displacement / chord
    across = np.array([-along[1], along[0]])
    centre = start + displacement / 2 + radius * np.cos(angle / 2) * across
    arm = start - centre
    turn = angle * share
    turned = np.stack([arm[0] * np.cos(turn) - arm[1] * np.sin(turn), arm[0] * np.sin(turn) + arm[1] * np.cos(turn)], 1)
    return centre + turned


def distances(points):
    return cKDTree(points).query(np.asarray(pixels(), np.float64).T)[0]


def one_arc(displacement, angle, width=0.012, sharpness=20.0, start=(0.3, 0.4)):
    return arcs(*(jnp.asarray([v], jnp.float32) for v in (start, displacement, angle, width, sharpness)))


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("displacement", [(0.4, 0.1), (-0.05, 0.2)])
def test_an_arc_is_drawn_as_by_dense_sampling(angle, displacement):
    d = distances(dense(np.array([0.3, 0.4]), np.array(displacement), angle))
    arc = jax.tree.map(lambda a: a[0], one_arc(displacement, angle))
    expected = 400.0 * (0.012**2 - d**2)
    near = d < 0.3
    np.testing.assert_allclose(np.asarray(closeness(arc, *pixels()))[near], expected[near], atol=2e-2)
    canvas = np.asarray(ink(one_arc(displacement, angle), jnp.array([True])))
    np.testing.assert_allclose(canvas, np.exp(np.minimum(expected, 0)), atol=5e-3)


def plain(arc, on):
    """The canvas without a gradient of its own."""
    each = jax.vmap(lambda arc: closeness(arc, *pixels()))(arc)
    return jnp.exp(jnp.minimum(jnp.max(jnp.where(on[:, None], each, -1e4), axis=0), 0.0))


def test_the_gradient_of_the_canvas_is_that_of_the_plain_formula():
    rng = np.random.default_rng(0)
    given = [rng.uniform(0.2, 0.8, (4, 2)), rng.uniform(-0.4, 0.4, (4, 2)), rng.uniform(-4, 4, 4)]
    arc = arcs(*(jnp.asarray(a, jnp.float32) for a in given), jnp.full(4, 0.012), jnp.full(4, 20.0))
    on, weight = jnp.array([True, True, False, True]), jnp.asarray(rng.normal(size=SIDE**2), jnp.float32)
    ours, theirs = (jax.grad(lambda arc, f=f: jnp.sum(f(arc, on) * weight))(arc) for f in (ink, plain))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    assert float(ours.x[2]) == 0.0


@pytest.mark.parametrize("angle", [0.0, -1e-3, 0.7, 5.0])
def test_gradients_are_those_of_finite_differences(angle):
    weight = np.random.default_rng(1).normal(size=SIDE**2)

    def total(parameters):
        start, displacement, turn, width, sharpness = np.split(parameters, [2, 4, 5, 6])
        points = dense(start, displacement, float(turn[0]), 100_001)
        exponent = sharpness[0] ** 2 * (width[0] ** 2 - distances(points) ** 2)
        return np.sum(weight * np.exp(np.minimum(exponent, 0)))

    def ours(p):
        arc = arcs(p[None, :2], p[None, 2:4], p[4:5], p[5:6], p[6:7])
        return jnp.sum(ink(arc, jnp.array([True])) * jnp.asarray(weight, jnp.float32))

    at = np.array([0.41, 0.37, 0.25, 0.13, angle, 0.012, 20.0])
    step = np.array([1e-5, 1e-5, 1e-5, 1e-5, 1e-4, 1e-6, 1e-3])
    numeric = [(total(at + h * e) - total(at - h * e)) / (2 * h) for h, e in zip(step, np.eye(7), strict=True)]
    found = np.asarray(jax.grad(ours)(jnp.asarray(at, jnp.float32)))
    size = np.abs(numeric) * step
    np.testing.assert_allclose(found * step, np.asarray(numeric) * step, rtol=0.05, atol=0.02 * size.max())


def test_values_and_gradients_are_finite_where_arcs_degenerate():
    for displacement, angle in itertools.product([(0.0, 0.0), (1e-6, 0.0), (0.3, 0.0)], (*ANGLES, 1e-20)):
        arc = jax.tree.map(lambda a: a[0], one_arc(displacement, angle))
        value, slopes = jax.value_and_grad(lambda arc: jnp.sum(ink(Arcs(*(a[None] for a in arc)), jnp.array([True]))))(
            arc
        )
        assert np.isfinite(value)
        assert all(np.isfinite(s) for s in slopes)


@pytest.fixture(scope="module")
def renderer():
    return Renderer(jax.random.key(0), 3, 1)


def test_the_likelihood_is_that_of_explicit_shifts(renderer):
    z = jnp.array([1, 5, 3])
    x = np.asarray(renderer.sample(jax.random.key(4), z))
    canvas, log_shift = np.asarray(renderer.draw(z)), np.asarray(jax.nn.log_softmax(renderer.shift.reshape(-1)))
    terms = []
    for i, (dy, dx) in enumerate(itertools.product((-1, 0, 1), repeat=2)):
        moved = np.zeros((SIDE + 2, SIDE + 2))
        moved[1 + dy : 1 + dy + SIDE, 1 + dx : 1 + dx + SIDE] = canvas
        logits = float(renderer.paper) + float(renderer.contrast) * moved[1:-1, 1:-1]
        terms.append(log_shift[i] + np.sum(x * logits - np.logaddexp(0, logits)))
    np.testing.assert_allclose(renderer.log_prob(jnp.asarray(x), z), logsumexp(terms), rtol=1e-5)


def test_a_likelihood_with_maps_is_the_mean_over_them():
    renderer, z = Renderer(jax.random.key(0), 3, 1, maps=2), jnp.array([1, 2, 0])
    x = renderer.sample(jax.random.key(1), z)
    each = [renderer.log_prob_of(x, renderer.draw(z, m)) for m in (jnp.eye(2), *renderer.maps)]
    np.testing.assert_allclose(renderer.log_prob(x, z), logsumexp(each) - np.log(3), rtol=1e-5)


def test_a_map_is_another_bank_of_strokes():
    # A model with maps is a mixture of models without, whose strokes have the displacements that a map makes of them.
    keys, z = jax.random.split(jax.random.key(0)), jnp.array([1, 2, 0])
    with_maps, plain = (Renderer(keys[0], 3, 1, maps=m) for m in (2, 0))
    x, terms = with_maps.sample(keys[1], z), [plain.log_prob(with_maps.sample(keys[1], z), z)]
    for linear in with_maps.maps:
        bent = jnp.arctanh(plain.bank[0] @ linear.T / MOST_DISPLACEMENT)
        terms.append(eqx.tree_at(lambda r: r.displacement, plain, bent).log_prob(x, z))
    np.testing.assert_allclose(with_maps.log_prob(x, z), logsumexp(terms) - np.log(3), rtol=1e-5)
    slopes = eqx.filter_grad(lambda r: r.log_prob(x, z))(with_maps)
    assert np.isfinite(slopes.maps).all()
    assert np.abs(slopes.maps).max() > 0


def test_paper_is_the_same_for_a_blank_program_and_a_drawn_one(renderer):
    blank, small = renderer.draw(jnp.zeros(3, int)), renderer.draw(jnp.array([1, 0, 0]))
    assert np.all(np.asarray(blank) == 0)
    assert float(small[0, 0]) < 1e-6
    x = jnp.zeros((SIDE, SIDE), jnp.int8)
    expected = SIDE**2 * float(jax.nn.log_sigmoid(-renderer.paper))
    np.testing.assert_allclose(renderer.log_prob(x, jnp.zeros(3, int)), expected, rtol=1e-5)


def test_position_and_what_is_not_drawn_do_not_matter(renderer):
    canvas = np.asarray(renderer.draw(jnp.array([2, 4, 1])))
    rows, columns = np.nonzero(canvas > 0.5)
    for found in (rows, columns):
        assert abs((found.min() + found.max()) / 2 - (SIDE - 1) / 2) <= 1.5


def test_prior_and_recognition_sum_to_one_over_all_well_formed_programs():
    every = jnp.asarray(list(itertools.product(range(5), repeat=3)))
    prior = StrokePrior(jax.random.key(0), 2, 3, 4, alphabets=2)
    recognition = StrokeRecognition(jax.random.key(1), 2, 3, 4, 2)
    h = recognition.encode(jnp.ones((SIDE, SIDE), jnp.int8), None)
    for log_p in (
        jax.vmap(lambda z: prior.log_prob(z, 1))(every),
        jax.vmap(lambda z: recognition.log_prob(z, h))(every),
    ):
        np.testing.assert_allclose(np.exp(log_p).sum(), 1.0, rtol=1e-5)
    possible = np.asarray(every)[np.isfinite(np.asarray(log_p))]
    assert all(z[0] in (0, 1, 2) for z in possible)
    assert [0, 0, 0] in possible.tolist()
    assert [3, 1, 0] not in possible.tolist()
    assert [1, 3, 0] not in possible.tolist()
    assert [1, 3, 2] in possible.tolist()


def test_an_alphabet_changes_the_prior():
    prior = StrokePrior(jax.random.key(0), 2, 3, 4, alphabets=2)
    z = jnp.array([1, 2, 0])
    assert float(prior.log_prob(z, 0)) != float(prior.log_prob(z, 1))


def test_revisions_are_one_token_away():
    z, found = np.array([1, 5, 3, 0]), set()
    revise = jax.jit(lambda key: edit(key, jnp.asarray(z), rules(3)))
    for key in jax.random.split(jax.random.key(0), 300):
        found.add(tuple(np.asarray(revise(key)).tolist()))
    words_ = z[z > 0].tolist()
    left_out = {tuple(words_[:i] + words_[i + 1 :]) for i in range(3)}
    replaced = {(*words_[:i], t, *words_[i + 1 :]) for i in range(3) for t in range(1, 7)}
    inserted = {(*words_[:i], t, *words_[i:]) for i in range(4) for t in range(1, 7)}
    assert {tuple(t for t in f if t) for f in found} == left_out | replaced | inserted


def test_programs_are_spelled_with_moves_in_brackets():
    z = np.array([1, 66, 64, 0])
    assert spell(z) == "0 (1) 63"
    assert show(np.zeros(4, int)) == "blank"
    assert np.asarray(drawn(jnp.asarray(z), 64)).tolist() == [True, False, True, False]
    assert rules(64).kind.shape == (129,)


@pytest.mark.parametrize("name", ["mws", "vimco"])
def test_algorithms_learn_made_images(name):
    data = load(TINY).train
    model = build(jax.random.key(0), TINY, data)
    algorithm = {"mws": mws(optax.adam(1e-2), 2, 2), "vimco": vimco(optax.adam(1e-2), 2)}[name]
    bounds = []
    for state, info in fit(
        algorithm, algorithm.init(model, data), data, key=jax.random.key(0), steps=40, batch_size=3, every=20
    ):
        bounds.append(float(info.bound))
    assert bounds[-1] > bounds[0]
    assert all(np.all(np.isfinite(a)) for a in jax.tree.leaves(eqx.filter(state.model, eqx.is_array)))


def test_made_images_are_drawings_and_are_the_same_again():
    first, again = load(TINY), load(TINY)
    images = np.asarray(first.train.x)
    assert images.shape == (6, SIDE, SIDE)
    assert images.sum(axis=(1, 2)).min() > 3
    np.testing.assert_array_equal(images, again.train.x)
    assert not np.array_equal(images, first.test.x)


def save_png(path, pixels):
    Files.fromarray(pixels.astype(np.uint8)).save(path)


def test_a_drawing_of_ones_own_is_scaled_and_centred(tmp_path):
    page = np.full((300, 400), 250)
    page[50:250, 30:36] = 10
    page[50:56, 30:130] = 10
    save_png(tmp_path / "gamma.png", page)
    save_png(tmp_path / "inverted.png", 255 - page)
    image = read_image(tmp_path / "gamma.png")
    rows, columns = np.nonzero(image)
    assert 19 <= np.ptp(rows) + 1 <= 22
    assert 9 <= np.ptp(columns) + 1 <= 12
    assert abs(rows.min() + rows.max() - SIDE + 1) <= 2
    np.testing.assert_array_equal(image, read_image(tmp_path / "inverted.png"))
    found = load(Settings(data=tmp_path))
    assert found.names == ["gamma.png", "inverted.png"]


def test_images_that_cannot_be_used_are_refused(tmp_path):
    save_png(tmp_path / "white.png", np.full((20, 20), 255))
    (tmp_path / "text.png").write_text("not an image")
    for path, words_ in (("white.png", "one colour"), ("text.png", "cannot be read"), ("none.png", "not a file")):
        with pytest.raises(Refusal, match=words_):
            read_image(tmp_path / path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(Refusal, match="has no images"):
        load(Settings(data=tmp_path / "empty"))
    for wrong in ({"condition": "alphabet"}, {"strokes": 0}, {"reach": 28}, {"images": "mnist"}):
        with pytest.raises(Refusal):
            Settings(**wrong)


def test_official_archives_are_read_in_order(tmp_path):
    archive = tmp_path / "images_background.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for alphabet, character, drawer in (("Zulu", 1, 2), ("Alpha", 2, 1), ("Alpha", 1, 1)):
            page = np.full((105, 105), 255, np.uint8)
            page[10 * drawer, :] = 0
            saved = BytesIO()
            Files.fromarray(page).save(saved, format="PNG")
            file.writestr(
                f"images_background/{alphabet}/character{character:02d}/0001_{drawer:02d}.png", saved.getvalue()
            )
    omniglot.write([archive], tmp_path / "made" / "images.npz")
    with np.load(tmp_path / "made" / "images.npz") as made:
        assert made["alphabet_names"].tolist() == ["Alpha", "Zulu"]
        assert made["character"].tolist() == [1, 2, 1]
        bits = np.unpackbits(made["images_packed"], axis=1, count=105 * 105).reshape(-1, 105, 105)
    assert [int(np.argmax(b.sum(axis=1))) for b in bits] == [10, 10, 20]


def test_data_that_cannot_be_downloaded_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("WAKESLEEP_CACHE", str(tmp_path))
    with pytest.raises(Refusal, match="could not be downloaded"):
        datasets.download((tmp_path / "absent.zip").as_uri().replace("file:", "http:"), "md5:00")


@pytest.fixture
def whole():
    try:
        return datasets.find(omniglot.IMAGES_FILE)
    except Refusal as refusal:
        pytest.skip(str(refusal))


def test_omniglot_is_split_without_overlap(whole):
    data = omniglot.load()
    rows = omniglot.split(data, 10, 0)
    assert len(rows.train) == len(rows.drawers) == 500
    of = lambda some: [(int(data.alphabet[r]), int(data.character[r])) for r in some]  # noqa: E731
    assert of(rows.train) == of(rows.drawers)
    assert not set(of(rows.train)) & set(of(rows.characters))
    assert not set(rows.train) & set(rows.drawers)
    parts, names = splits(Settings(images="omniglot", per_alphabet=1, condition="alphabet"))
    assert parts["train"].x.shape == (50, SIDE, SIDE)
    assert parts["train"].c.tolist() == list(range(50))
    assert names[0].startswith("Alphabet_of_the_Magi")


def test_drawings_are_shown_stroke_by_stroke(tmp_path, renderer):
    z = np.array([1, 5, 3])
    canvases = stages(renderer, z)
    assert len(canvases) == 2
    assert all(c.shape == (SIDE, SIDE, 3) for c in canvases)
    assert len(stages(renderer, np.zeros(3, int))) == 1
    with Files.open(film(renderer, z, tmp_path / "film.gif")) as gif:
        assert gif.n_frames == 3
    x = np.asarray(renderer.sample(jax.random.key(0), jnp.asarray(z)))
    for program, panels in ((z, 6), (np.array([1, 5, 3] * 3 + [1]), 12)):
        DOMAIN.picture(figure := Figure(), x, [(program, 0.7)], renderer)
        assert len(figure.axes) == panels
    assert words(x)[0].count("#") == x[0].sum()


def test_the_shipped_model_explains_a_drawing_and_draws_new_ones(tmp_path):
    page = np.full((60, 60), 255)
    page[10:50, 28:32] = 0
    save_png(tmp_path / "line.png", page)
    pictures = [tmp_path / name for name in ("strip.png", "film.gif", "new.png")]
    options = EXPLAINER.options()
    explained = EXPLAINER.explain(EXPLAINER.read(str(tmp_path / "line.png"), options), options, lambda _: None)
    for name, path in zip(("picture", "film"), pictures, strict=False):
        explained.write(name, path)
    found = explained.rows(2)
    assert found[0]["name"] == "line.png"
    assert 0 < found[0]["programs"][0]["probability"] <= 1
    drawn = asking.sample("characters", 2, 0, None)
    drawn.draw(pictures[2])
    assert len(drawn.rows()) == 2
    assert [line[1].count("\n") for line in drawn.table()[0].rows] == [SIDE - 1] * 2
    assert all(picture.stat().st_size > 0 for picture in pictures)
    with pytest.raises(Refusal, match="not conditioned"):
        asking.sample("characters", 1, 0, 3)


def test_only_domains_with_a_shipped_model_can_be_sampled_without_training():
    with pytest.raises(Refusal, match="No trained model of clusters"):
        asking.sample("clusters", 1, 0, None)
    with pytest.raises(Refusal, match="neither a domain"):
        asking.trained("nowhere")
