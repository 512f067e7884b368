"""The posterior that the browser computes over clusterings is that of the Python model, enumerated."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from wakesleep.domains.clusters.evaluator import GaussianClusters
from wakesleep.domains.clusters.language import RestaurantPrior, partitions

from .scripts import call, needs_node

SCRIPT = "clusters/page/posterior.mjs"


@needs_node
@pytest.mark.parametrize(("points", "variance", "alpha"), [(1, 0.5, 1.0), (2, 1.0, 3.0), (5, 0.03, 0.4), (7, 0.3, 1.7)])
def test_the_posterior_is_that_of_the_enumeration(points, variance, alpha):
    x = np.random.default_rng(points).normal(size=(points, 2)).round(3)
    found = call(SCRIPT, "posterior", x.tolist(), variance, alpha)
    z, c = jnp.asarray(partitions(points)), jnp.asarray(points)
    prior, evaluator = RestaurantPrior(points, alpha), GaussianClusters(2, variance)
    log_joint = jax.jit(
        jax.vmap(lambda one: prior.log_prob(one, c) + evaluator.log_prob(jnp.asarray(x, jnp.float32), one))
    )(z)
    expected = {tuple(labels): float(p) for labels, p in zip(np.asarray(z).tolist(), log_joint, strict=True)}
    assert {tuple(each["labels"]) for each in found["clusterings"]} == set(expected)
    for each in found["clusterings"]:
        assert each["logJoint"] == pytest.approx(expected[tuple(each["labels"])], rel=2e-4, abs=2e-3)
    assert found["logEvidence"] == pytest.approx(float(jax.nn.logsumexp(log_joint)), abs=2e-3)
    assert sum(each["probability"] for each in found["clusterings"]) == pytest.approx(1)


@needs_node
def test_pairs_and_counts_are_sums_over_the_clusterings():
    x = np.random.default_rng(1).normal(size=(5, 2)).tolist()
    clusterings = call(SCRIPT, "posterior", x, 0.2, 1.0)["clusterings"]
    found = call(SCRIPT, "summaries", clusterings, 5)
    labels, p = np.array([c["labels"] for c in clusterings]), np.array([c["probability"] for c in clusterings])
    together = np.einsum("n,nij->ij", p, labels[:, :, None] == labels[:, None, :])
    assert np.allclose(found["together"], together)
    assert np.allclose(found["counts"], np.bincount(labels.max(axis=1) + 1, p, 6))
