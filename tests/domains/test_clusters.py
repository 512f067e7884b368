import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from wakesleep.domains.clusters.data import load, read
from wakesleep.domains.clusters.domain import DOMAIN
from wakesleep.domains.clusters.evaluator import GaussianClusters
from wakesleep.domains.clusters.language import ABSENT, RestaurantPrior, partitions
from wakesleep.domains.clusters.networks import Encoded, LabelTable
from wakesleep.domains.clusters.show import show
from wakesleep.errors import Refusal

J = 5
ALL = jnp.asarray(partitions(J))
SIZE = jnp.asarray(J)


@pytest.mark.parametrize(("points", "bell"), [(1, 1), (2, 2), (3, 5), (5, 52), (7, 877)])
def test_partitions_are_as_many_as_the_bell_number_and_differ(points, bell):
    rows = partitions(points)
    assert len({tuple(r) for r in rows.tolist()}) == len(rows) == bell


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_the_prior_sums_to_one_over_all_partitions(alpha):
    prior = RestaurantPrior(J, alpha)
    assert abs(logsumexp(jax.vmap(lambda z: prior.log_prob(z, SIZE))(ALL))) < 1e-5


def test_the_prior_of_a_smaller_group_sums_to_one_over_its_partitions():
    z = np.full((5, J), ABSENT, np.int32)
    z[:, :3] = partitions(3)
    scores = jax.vmap(lambda z: RestaurantPrior(J, 1.0).log_prob(z, jnp.asarray(3)))(jnp.asarray(z))
    assert abs(logsumexp(scores)) < 1e-5


@pytest.mark.parametrize("z", [[0, 2, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, ABSENT], [0, -2, 0, 0, 0]])
def test_labels_out_of_order_are_impossible(z):
    assert float(RestaurantPrior(J, 1.0).log_prob(jnp.asarray(z), SIZE)) == -np.inf


def test_prior_samples_have_the_frequencies_of_their_probabilities():
    prior, draws = RestaurantPrior(3, 2.0), 20_000
    z = jax.vmap(lambda k: prior.sample(k, jnp.asarray(3)))(jax.random.split(jax.random.key(0), draws))
    for program in partitions(3):
        expected = float(jnp.exp(prior.log_prob(jnp.asarray(program), jnp.asarray(3))))
        found = float(jnp.mean(jnp.all(z == jnp.asarray(program)[None, :], axis=1)))
        assert abs(found - expected) < 5 * np.sqrt(expected / draws)


def dense(x, z, sigma):
    """log N(x; 0, I (x) Sigma + S_z (x) I) with the full covariance matrix."""
    d = x.shape[1]
    same = (z[:, None] == z[None, :]).astype(float)
    covariance = np.kron(np.eye(len(z)), sigma) + np.kron(same, np.eye(d))
    return multivariate_normal(np.zeros(x.size), covariance).logpdf(x.reshape(-1))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_likelihood_equals_a_dense_multivariate_normal(d):
    rng = np.random.default_rng(d)
    theta = rng.normal(size=(d, d)) + np.eye(d)
    evaluator = GaussianClusters(d)
    object.__setattr__(evaluator, "theta", jnp.asarray(theta, jnp.float32))
    x = rng.normal(size=(J, d)).astype(np.float32)
    found = jax.vmap(lambda z: evaluator.log_prob(jnp.asarray(x), z))(ALL)
    expected = [dense(x, z, theta @ theta.T) for z in partitions(J)]
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-3)


def test_absent_points_do_not_count():
    x = np.random.default_rng(0).normal(size=(J, 2)).astype(np.float32)
    x[3:] = 0
    z = np.asarray([0, 1, 0, ABSENT, ABSENT], np.int32)
    found = GaussianClusters(2, 0.5).log_prob(jnp.asarray(x), jnp.asarray(z))
    assert abs(float(found) - dense(x[:3], z[:3], 0.5 * np.eye(2))) < 1e-3


def test_the_gradient_of_the_likelihood_agrees_with_finite_differences():
    x = jax.random.normal(jax.random.key(1), (J, 2))
    z = jnp.asarray([0, 1, 0, 1, 2])

    def value(theta):
        evaluator = GaussianClusters(2)
        object.__setattr__(evaluator, "theta", theta)
        return evaluator.log_prob(x, z)

    theta = jnp.asarray([[0.7, 0.2], [-0.3, 0.9]])
    gradient = np.asarray(jax.grad(value)(theta))
    for i in range(2):
        for j in range(2):
            step = jnp.zeros((2, 2)).at[i, j].set(1e-2)
            slope = float(value(theta + step) - value(theta - step)) / 2e-2
            assert abs(slope - gradient[i, j]) < 2e-2 * max(1.0, abs(slope))


def test_points_are_sampled_with_the_covariance_that_is_scored():
    z = jnp.asarray([0, 0, 1])
    x = jax.vmap(lambda k: GaussianClusters(1, 0.3).sample(k, z))(jax.random.split(jax.random.key(0), 20_000))
    covariance = np.cov(np.asarray(x)[:, :, 0].T)
    np.testing.assert_allclose(covariance, [[1.3, 1, 0], [1, 1.3, 0], [0, 0, 1.3]], atol=0.06)


def test_recognition_sums_to_one_and_samples_what_it_scores():
    recognition = LabelTable(jax.random.key(0), 3, 2)
    h = recognition.encode(5 * jax.random.normal(jax.random.key(1), (3, 2)), jnp.asarray(3))
    programs = jnp.asarray(partitions(3))
    log_r = np.asarray(jax.vmap(lambda z: recognition.log_prob(z, h))(programs))
    assert abs(logsumexp(log_r)) < 1e-5
    draws = 20_000
    z = jax.vmap(lambda k: recognition.sample(k, h))(jax.random.split(jax.random.key(2), draws))
    for program, expected in zip(programs, np.exp(log_r), strict=True):
        found = float(jnp.mean(jnp.all(z == program[None, :], axis=1)))
        assert abs(found - expected) < 5 * np.sqrt(expected / draws) + 1e-4


def test_recognition_samples_what_it_scores_however_likely_a_label_is_that_is_not_allowed():
    network = LabelTable(jax.random.key(0), points=4)
    table = jnp.full((4, 4), -500.0).at[:, 3].set(500.0).at[:, 1].set(0.0)
    h = Encoded(table, jnp.asarray(4))
    draws = jax.vmap(lambda key: network.sample(key, h))(jax.random.split(jax.random.key(1), 50))
    assert np.array_equal(draws, np.tile([0, 1, 1, 1], (50, 1)))  # label 3 is the likeliest, and never the next
    assert float(network.log_prob(draws[0], h)) == pytest.approx(0.0)


def test_recognition_of_a_smaller_group_labels_only_its_points():
    recognition = LabelTable(jax.random.key(0), J, 2)
    h = recognition.encode(jnp.zeros((J, 2)), jnp.asarray(2))
    z = jax.vmap(lambda k: recognition.sample(k, h))(jax.random.split(jax.random.key(2), 50))
    assert np.all(np.asarray(z[:, 2:]) == ABSENT)
    some = jnp.asarray([[0, 0, ABSENT, ABSENT, ABSENT], [0, 1, ABSENT, ABSENT, ABSENT]])
    assert abs(logsumexp(jax.vmap(lambda z: recognition.log_prob(z, h))(some))) < 1e-5


def test_clusters_are_shown_as_sets_of_point_numbers():
    assert show(np.asarray([0, 1, 0, 2, ABSENT])) == "{1,3} {2} {4}"


def test_groups_of_different_sizes_are_read_from_a_file(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text("group,x,y\na,1,2\na,2,3\nb,0,1\nb,3,3\nb,4,5\n")
    dataset = read(file)
    assert dataset.names == ["a", "b"]
    assert dataset.train.x.shape == (2, 3, 2)
    np.testing.assert_array_equal(dataset.train.c, [2, 3])
    np.testing.assert_array_equal(dataset.train.x[0, 2], [0, 0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("group,x\n", "no rows"),
        ("name,x\na,1\n", "no column 'group'"),
        ("group\na\n", "no coordinates"),
        ("group,x\na,1\na,NaN\n", "not a finite number .row 2."),
        ("group,x\na,1\na,\n", "not a finite number .row 2."),
        ("group,x\na,one\n", "not numeric"),
        ("group,x\na,1\na,1\n", "is constant"),
        ("group,x\n" + "".join(f"a,{i}\n" for i in range(40)), "at most 30"),
    ],
)
def test_a_bad_file_is_refused_in_a_sentence(tmp_path, text, words):
    file = tmp_path / "points.csv"
    file.write_text(text)
    with pytest.raises(Refusal, match=words):
        read(file)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"size": "3"}, "no setting 'size'; its settings are observations, points"),
        ({"points": "many"}, "points must be a whole number"),
        ({"points": None}, "points must be a whole number, but None was given"),
        ({"points": 3.5}, "points must be a whole number, but 3.5 was given"),
        ({"group": None}, "group must be a word"),
        ({"points": "0"}, "points must be at least 1"),
        ({"variance": "-1"}, "variance must be positive"),
        ({"data": "missing.csv"}, "is not a file"),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(given, words):
    with pytest.raises(Refusal, match=words):
        load(DOMAIN.configure(given))
